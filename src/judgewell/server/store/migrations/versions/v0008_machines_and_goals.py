"""Probabilities of documents that were drawn, machines as assessors, studies with a goal, and the server's address."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0003"

NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
ADDED: dict[str, dict[str, Any]] = {
    "items": {"inclusion": sa.Float},
    "answers": {"unrateable": sa.Text, "expected": sa.Float, "spread": sa.Float, "swapped": sa.Text},
    "units": {"batch": sa.Integer},
    "study": {"address": sa.Text},
}


def upgrade() -> None:
    for table, columns in ADDED.items():
        for name, kind in columns.items():
            op.add_column(table, sa.Column(name, kind(), nullable=True))
    _machines()
    _goals()


def _machines() -> None:
    op.create_table(
        "machines",
        sa.Column("assessor", NUMBER, primary_key=True),
        *_columns(sa.Text(), "fingerprint", "model", "endpoint", "currency"),
        *_columns(sa.Integer(), "sample"),
        *_columns(sa.JSON(), "prompts", "settings"),
        *_columns(sa.Text(), "held_by", nullable=True),
        *_columns(sa.Float(), "held_since", "held_until", nullable=True),
        sa.ForeignKeyConstraint(["assessor"], ["assessors.number"], name="fk_machines_assessor"),
        sa.UniqueConstraint("fingerprint", name="uq_machines_fingerprint"),
    )
    place = ("assessor", "unit", "purpose", "position", "revision", "swapped", "attempt")
    op.create_table(
        "replies",
        sa.Column("number", NUMBER, primary_key=True),
        *_columns(NUMBER, "assessor", "unit"),
        *_columns(sa.Text(), "purpose", "outcome", "model", "prompt", "text"),
        *_columns(sa.Integer(), "position", "revision", "attempt", "tokens_in", "tokens_out"),
        *_columns(sa.Boolean(), "swapped", "estimated"),
        *_columns(sa.Float(), "cost", "seconds", "at"),
        *_columns(sa.Float(), "expected", "spread", nullable=True),
        *_columns(sa.JSON(), "form"),
        sa.ForeignKeyConstraint(["assessor"], ["machines.assessor"], name="fk_replies_assessor"),
        sa.ForeignKeyConstraint(["unit"], ["units.number"], name="fk_replies_unit"),
        sa.UniqueConstraint(*place, name="uq_replies_place"),
    )


def _goals() -> None:
    op.create_table(
        "goals",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        *_columns(sa.JSON(), "plan", "known"),
        *_columns(sa.Float(), "ended", nullable=True),
        sa.CheckConstraint("number = 1", name=op.f("ck_goals_one")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_goals")),
    )
    op.create_table(
        "batches",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        *_columns(sa.Float(), "made"),
        *_columns(sa.Integer(), "after"),
        *_columns(sa.JSON(), "documents", "inclusion"),
        *_columns(sa.Integer(), "size", nullable=True),
        *_columns(sa.Float(), "completed", nullable=True),
        *_columns(sa.JSON(), "look", nullable=True),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_batches")),
    )


def _columns(kind: Any, *names: str, nullable: bool = False) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind, nullable=nullable) for name in names]
