"""The address at which the study is served, for links made on the command line."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("study", sa.Column("address", sa.Text(), nullable=True))
