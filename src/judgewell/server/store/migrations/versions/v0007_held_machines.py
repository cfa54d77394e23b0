"""A machine judges in one run of `judgewell judge` at a time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("machines", sa.Column("held_by", sa.Text(), nullable=True))
    op.add_column("machines", sa.Column("held_since", sa.Float(), nullable=True))
    op.add_column("machines", sa.Column("held_until", sa.Float(), nullable=True))
