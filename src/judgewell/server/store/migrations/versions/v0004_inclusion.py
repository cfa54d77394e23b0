"""The probability with which a document was drawn into the pool."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("items", sa.Column("inclusion", sa.Float(), nullable=True))
