"""Studies with a goal: their plan, and the batches of documents they ask about."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("units", sa.Column("batch", sa.Integer(), nullable=True))
    op.create_table(
        "goals",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("plan", sa.JSON(), nullable=False),
        sa.Column("known", sa.JSON(), nullable=False),
        sa.Column("ended", sa.Float()),
        sa.CheckConstraint("number = 1", name=op.f("ck_goals_one")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_goals")),
    )
    op.create_table(
        "batches",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("made", sa.Float(), nullable=False),
        sa.Column("size", sa.Integer()),
        sa.Column("after", sa.Integer(), nullable=False),
        sa.Column("documents", sa.JSON(), nullable=False),
        sa.Column("inclusion", sa.JSON(), nullable=False),
        sa.Column("completed", sa.Float()),
        sa.Column("look", sa.JSON()),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_batches")),
    )
