"""All tables of the first version."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "assessors",
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("pseudonym", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=True),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("consented", sa.Float(), nullable=True),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("reservation", NUMBER, nullable=True),
        sa.Column("scratch", sa.JSON(), nullable=False),
        sa.Column("moved", sa.Float(), nullable=False),
        sa.Column("excluded", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("forgotten", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_assessors")),
        sa.UniqueConstraint("pseudonym", name=op.f("uq_assessors_pseudonym")),
    )
    op.create_table(
        "documents",
        sa.Column("number", NUMBER, autoincrement=False, nullable=False),
        sa.Column("doc", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_documents")),
        sa.UniqueConstraint("doc", name=op.f("uq_documents_doc")),
    )
    op.create_table(
        "study",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("frozen", sa.JSON(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("texts", sa.JSON(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("first_judgment", sa.Float(), nullable=True),
        sa.CheckConstraint("number = 1", name=op.f("ck_study_one")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_study")),
    )
    op.create_table(
        "topics",
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("narrative", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("topic", name=op.f("pk_topics")),
    )
    op.create_table(
        "identities",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("outside", sa.Text(), nullable=False),
        sa.Column("assessor", NUMBER, nullable=False),
        sa.Column("session", sa.Text(), nullable=True),
        sa.Column("study", sa.Text(), nullable=True),
        sa.Column("arrived", sa.Float(), nullable=False),
        sa.Column("status", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["assessor"], ["assessors.number"], name=op.f("fk_identities_assessor")),
        sa.PrimaryKeyConstraint("platform", "outside", name=op.f("pk_identities")),
        sa.UniqueConstraint("assessor", name=op.f("uq_identities_assessor")),
    )
    op.create_table(
        "units",
        sa.Column("number", NUMBER, autoincrement=False, nullable=False),
        sa.Column("unit", sa.Text(), nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("scale", sa.Text(), nullable=True),
        sa.Column("template", sa.Text(), nullable=True),
        sa.Column("partition", sa.Integer(), nullable=True),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("need", sa.Integer(), nullable=False),
        sa.Column("free", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["topic"], ["topics.topic"], name=op.f("fk_units_topic")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_units")),
        sa.UniqueConstraint("place", name=op.f("uq_units_place")),
        sa.UniqueConstraint("unit", name=op.f("uq_units_unit")),
    )
    op.create_index(
        "ix_units_open",
        "units",
        ["place"],
        unique=False,
        sqlite_where=sa.text("free > 0"),
        postgresql_where=sa.text("free > 0"),
    )
    op.create_index("ix_units_topic", "units", ["topic"], unique=False)
    op.create_table(
        "items",
        sa.Column("unit", NUMBER, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("doc", NUMBER, nullable=False),
        sa.Column("other", NUMBER, nullable=True),
        sa.Column("new", sa.Text(), nullable=True),
        sa.Column("known", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["doc"], ["documents.number"], name=op.f("fk_items_doc")),
        sa.ForeignKeyConstraint(["other"], ["documents.number"], name=op.f("fk_items_other")),
        sa.ForeignKeyConstraint(["unit"], ["units.number"], name=op.f("fk_items_unit")),
        sa.PrimaryKeyConstraint("unit", "position", name=op.f("pk_items")),
    )
    op.create_table(
        "reservations",
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("assessor", NUMBER, nullable=False),
        sa.Column("unit", NUMBER, nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("ending", sa.Text(), nullable=True),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("seen", sa.Float(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.Column("finished", sa.Float(), nullable=True),
        sa.Column("late", sa.Boolean(), nullable=False),
        sa.Column("revisions", sa.Integer(), nullable=False),
        sa.Column("backs", sa.Integer(), nullable=False),
        sa.Column("held_until", sa.Float(), nullable=True),
        sa.Column("excluded", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.CheckConstraint(
            "state IN ('live', 'expired', 'late', 'done', 'failed')", name=op.f("ck_reservations_state")
        ),
        sa.ForeignKeyConstraint(["assessor"], ["assessors.number"], name=op.f("fk_reservations_assessor")),
        sa.ForeignKeyConstraint(["unit"], ["units.number"], name=op.f("fk_reservations_unit")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_reservations")),
        sa.UniqueConstraint("assessor", "topic", "round", name=op.f("uq_reservations_assessor_topic_round")),
        sa.UniqueConstraint("assessor", "unit", name=op.f("uq_reservations_assessor_unit")),
    )
    op.create_index("ix_reservations_state_expires", "reservations", ["state", "expires"], unique=False)
    op.create_index("ix_reservations_unit", "reservations", ["unit"], unique=False)
    op.create_table(
        "answers",
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("reservation", NUMBER, nullable=False),
        sa.Column("assessor", NUMBER, nullable=False),
        sa.Column("unit", NUMBER, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("current", sa.Boolean(), nullable=False),
        sa.Column("value", sa.Float(), nullable=True),
        sa.Column("preferred", sa.Text(), nullable=True),
        sa.Column("left_relevant", sa.Boolean(), nullable=True),
        sa.Column("right_relevant", sa.Boolean(), nullable=True),
        sa.Column("left_score", sa.Float(), nullable=True),
        sa.Column("right_score", sa.Float(), nullable=True),
        sa.Column("typed", sa.JSON(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("idle", sa.Float(), nullable=False),
        sa.Column("visit", sa.Float(), nullable=False),
        sa.Column("highlight", sa.Boolean(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["assessor"], ["assessors.number"], name=op.f("fk_answers_assessor")),
        sa.ForeignKeyConstraint(["reservation"], ["reservations.number"], name=op.f("fk_answers_reservation")),
        sa.ForeignKeyConstraint(["unit"], ["units.number"], name=op.f("fk_answers_unit")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_answers")),
        sa.UniqueConstraint(
            "reservation", "position", "revision", name=op.f("uq_answers_reservation_position_revision")
        ),
    )
    op.create_index(
        "uq_answers_current",
        "answers",
        ["assessor", "unit", "position"],
        unique=True,
        sqlite_where=sa.text("current"),
        postgresql_where=sa.text("current"),
    )
    op.create_table(
        "closing",
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("assessor", NUMBER, nullable=False),
        sa.Column("reservation", NUMBER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["assessor"], ["assessors.number"], name=op.f("fk_closing_assessor")),
        sa.ForeignKeyConstraint(["reservation"], ["reservations.number"], name=op.f("fk_closing_reservation")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_closing")),
        sa.UniqueConstraint("reservation", "name", name=op.f("uq_closing_reservation_name")),
    )
    op.create_table(
        "events",
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("assessor", NUMBER, nullable=True),
        sa.Column("reservation", NUMBER, nullable=True),
        sa.Column("position", sa.Integer(), nullable=True),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["assessor"], ["assessors.number"], name=op.f("fk_events_assessor")),
        sa.ForeignKeyConstraint(["reservation"], ["reservations.number"], name=op.f("fk_events_reservation")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_events")),
    )
    op.create_index("ix_events_reservation", "events", ["reservation"], unique=False)
    op.create_table(
        "verdicts",
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("assessor", NUMBER, nullable=False),
        sa.Column("reservation", NUMBER, nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("passed", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["assessor"], ["assessors.number"], name=op.f("fk_verdicts_assessor")),
        sa.ForeignKeyConstraint(["reservation"], ["reservations.number"], name=op.f("fk_verdicts_reservation")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_verdicts")),
    )
    op.create_index("ix_verdicts_reservation", "verdicts", ["reservation"], unique=False)
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
