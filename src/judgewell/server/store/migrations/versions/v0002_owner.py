"""The owner's side: accounts and their keys, pauses, exclusions, reviews, the audit log, a platform's notices."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "accounts",
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("password", sa.Text(), nullable=True),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("disabled", sa.Float(), nullable=True),
        sa.CheckConstraint("role IN ('owner', 'reviewer')", name=op.f("ck_accounts_role")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_accounts")),
        sa.UniqueConstraint("name", name=op.f("uq_accounts_name")),
    )
    op.create_table(
        "arrivals",
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("token", name=op.f("pk_arrivals")),
    )
    op.create_table(
        "pauses",
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("topic", name=op.f("pk_pauses")),
    )
    op.create_table(
        "audit",
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("account", NUMBER, nullable=True),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=True),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.Column("address", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["account"], ["accounts.number"], name=op.f("fk_audit_account")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_audit")),
    )
    op.create_index("ix_audit_at", "audit", ["at"], unique=False)
    op.create_table(
        "keys",
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("account", NUMBER, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=True),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("seen", sa.Float(), nullable=True),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.Column("revoked", sa.Float(), nullable=True),
        sa.CheckConstraint("kind IN ('session', 'token', 'link')", name=op.f("ck_keys_kind")),
        sa.ForeignKeyConstraint(["account"], ["accounts.number"], name=op.f("fk_keys_account")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_keys")),
        sa.UniqueConstraint("hash", name=op.f("uq_keys_hash")),
    )
    op.create_index("ix_keys_account", "keys", ["account"], unique=False)
    op.create_table(
        "notices",
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("assessor", NUMBER, nullable=True),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["assessor"], ["assessors.number"], name=op.f("fk_notices_assessor")),
        sa.PrimaryKeyConstraint("event", name=op.f("pk_notices")),
    )
    op.create_table(
        "exclusions",
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("assessor", NUMBER, nullable=False),
        sa.Column("reservation", NUMBER, nullable=True),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("undone", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["assessor"], ["assessors.number"], name=op.f("fk_exclusions_assessor")),
        sa.ForeignKeyConstraint(["reservation"], ["reservations.number"], name=op.f("fk_exclusions_reservation")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_exclusions")),
    )
    op.create_index("ix_exclusions_assessor", "exclusions", ["assessor"], unique=False)
    op.create_table(
        "reviews",
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("reservation", NUMBER, nullable=False),
        sa.Column("account", NUMBER, nullable=False),
        sa.Column("objects", sa.Boolean(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("at", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["account"], ["accounts.number"], name=op.f("fk_reviews_account")),
        sa.ForeignKeyConstraint(["reservation"], ["reservations.number"], name=op.f("fk_reviews_reservation")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_reviews")),
        sa.UniqueConstraint("reservation", "account", name=op.f("uq_reviews_reservation_account")),
    )
    op.add_column("identities", sa.Column("status", sa.Text(), nullable=True))
    op.add_column("assessors", sa.Column("excluded", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("assessors", sa.Column("forgotten", sa.Float(), nullable=True))
    op.add_column("reservations", sa.Column("held_until", sa.Float(), nullable=True))
    op.add_column("reservations", sa.Column("excluded", sa.Boolean(), nullable=False, server_default=sa.false()))
