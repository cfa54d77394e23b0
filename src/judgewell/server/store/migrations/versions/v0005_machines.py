"""Machines as assessors: who they are, what they replied, and answers that could not be read."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
KEY = ("assessor", "unit", "purpose", "position", "revision", "swapped", "attempt")


def upgrade() -> None:
    for name, kind in (("unrateable", sa.Text), ("expected", sa.Float), ("spread", sa.Float), ("swapped", sa.Text)):
        op.add_column("answers", sa.Column(name, kind(), nullable=True))
    op.create_table(
        "machines",
        sa.Column("assessor", NUMBER, primary_key=True),
        *_columns(sa.Text(), "fingerprint", "model", "endpoint", "currency"),
        *_columns(sa.Integer(), "sample"),
        *_columns(sa.JSON(), "prompts", "settings"),
        sa.ForeignKeyConstraint(["assessor"], ["assessors.number"], name="fk_machines_assessor"),
        sa.UniqueConstraint("fingerprint", name="uq_machines_fingerprint"),
    )
    op.create_table(
        "replies",
        sa.Column("number", NUMBER, primary_key=True),
        *_columns(NUMBER, "assessor", "unit"),
        *_columns(sa.Text(), "purpose", "outcome", "model", "prompt", "text"),
        *_columns(sa.Integer(), "position", "revision", "attempt", "tokens_in", "tokens_out"),
        *_columns(sa.Boolean(), "swapped", "estimated"),
        *_columns(sa.Float(), "cost", "seconds", "at"),
        *(sa.Column(name, sa.Float(), nullable=True) for name in ("expected", "spread")),
        *_columns(sa.JSON(), "form"),
        sa.ForeignKeyConstraint(["assessor"], ["machines.assessor"], name="fk_replies_assessor"),
        sa.ForeignKeyConstraint(["unit"], ["units.number"], name="fk_replies_unit"),
        sa.UniqueConstraint(*KEY, name="uq_replies_place"),
    )


def _columns(kind: Any, *names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind, nullable=False) for name in names]
