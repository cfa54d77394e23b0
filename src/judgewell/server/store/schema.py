"""The database: what is asked (study, topics, documents, units, items), who answers, everything they do, who runs it.

`units.free` is the unit's need less its live reservations less its finished ones that are not excluded; it changes in
the transaction that changes a reservation. It falls below zero only where late work was kept. Times are seconds since
1970.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    and_,
    case,
    false,
    text,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

Number = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts up only what it calls INTEGER

study = Table(
    "study",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False),
    Column("frozen", JSON, nullable=False),  # the settings and the hashes of the files, as study.frozen makes them
    Column("hash", Text, nullable=False),
    Column("texts", JSON, nullable=False),
    Column("secret", Text, nullable=False),
    Column("created", Float, nullable=False),
    Column("first_judgment", Float),
    Column("address", Text),  # where the server that started last is reached; null where it listens everywhere
    CheckConstraint("number = 1", name="one"),
)

topics = Table(
    "topics",
    metadata,
    Column("topic", Text, primary_key=True),
    Column("title", Text),
    Column("description", Text),
    Column("narrative", Text),
)

documents = Table(
    "documents",
    metadata,
    Column("number", Number, primary_key=True, autoincrement=False),
    Column("doc", Text, nullable=False, unique=True),
    Column("title", Text),
    Column("text", Text, nullable=False),  # as it is shown: HTML went through `cleaning` on its way in
    Column("kind", Text, nullable=False),
)

units = Table(
    "units",
    metadata,
    Column("number", Number, primary_key=True, autoincrement=False),
    Column("unit", Text, nullable=False, unique=True),
    Column("topic", Text, ForeignKey("topics.topic"), nullable=False),
    Column("scale", Text),
    Column("template", Text),
    Column("partition", Integer),
    Column("size", Integer, nullable=False),
    Column("need", Integer, nullable=False),
    Column("free", Integer, nullable=False),
    Column("place", Integer, nullable=False, unique=True),  # the order in which units are handed out
    Column("batch", Integer),  # of a study with a goal: the batch it was made for
    Index("ix_units_open", "place", sqlite_where=text("free > 0"), postgresql_where=text("free > 0")),
    Index("ix_units_topic", "topic"),
)

items = Table(
    "items",
    metadata,
    Column("unit", Number, ForeignKey("units.number"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("doc", Number, ForeignKey("documents.number"), nullable=False),  # of a pair: the left one
    Column("other", Number, ForeignKey("documents.number")),  # of a pair: the right one
    Column("new", Text),
    Column("known", Text),
    Column("inclusion", Float),  # the probability with which the document was drawn into the pool
)

goals = Table(  # a study that stops when it is sure: how it decides, and when it did
    "goals",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("plan", JSON, nullable=False),  # as analysis.goals.plan dumps it
    Column("known", JSON, nullable=False),  # the known documents of each topic, with their grades
    Column("ended", Float),
    CheckConstraint("number = 1", name="one"),
)

batches = Table(  # documents that a study with a goal asks about at once
    "batches",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("made", Float, nullable=False),
    Column("size", Integer),  # documents that were wanted; none: as many as the recipe says
    Column("after", Integer, nullable=False),  # the last complete batch when this one was made
    Column("documents", JSON, nullable=False),  # rows of the plan's pool
    Column("inclusion", JSON, nullable=False),  # of every document of the pool after this batch
    Column("completed", Float),
    Column("look", JSON),  # what the answers said when it was complete
)

assessors = Table(
    "assessors",
    metadata,
    Column("number", Number, primary_key=True),
    Column("pseudonym", Text, nullable=False, unique=True),
    Column("origin", Text, nullable=False),
    Column("label", Text),
    Column("created", Float, nullable=False),
    Column("consented", Float),
    Column("stage", Text, nullable=False),
    Column("position", Integer, nullable=False),
    Column("turn", Integer, nullable=False),  # counts accepted steps; a step is taken only at its own turn
    Column("reservation", Number),
    Column("scratch", JSON, nullable=False),  # what the current stage has gathered and which door checks are passed
    Column("moved", Float, nullable=False),
    Column("excluded", Boolean, nullable=False, default=False, server_default=false()),  # all their work is excluded
    Column("forgotten", Float),  # their personal data is deleted; link and session open nothing
)

# Who is no person, by origin: made up by a simulation, or a model that `judgewell judge` asks.
SYNTHETIC, MACHINE = "synthetic", "machine"
ASSESSOR_KIND = case((assessors.c.origin.in_((SYNTHETIC, MACHINE)), assessors.c.origin), else_="person")

identities = Table(
    "identities",
    metadata,
    Column("platform", Text, primary_key=True),
    Column("outside", Text, primary_key=True),  # the platform's id of the person
    Column("assessor", Number, ForeignKey("assessors.number"), nullable=False, unique=True),
    Column("session", Text),
    Column("study", Text),
    Column("arrived", Float, nullable=False),
    Column("status", Text),  # the submission's, as the platform last reported it
)

reservations = Table(
    "reservations",
    metadata,
    Column("number", Number, primary_key=True),
    Column("assessor", Number, ForeignKey("assessors.number"), nullable=False),
    Column("unit", Number, ForeignKey("units.number"), nullable=False),
    Column("topic", Text, nullable=False),
    Column("round", Integer, nullable=False),  # which of the assessor's units on this topic
    Column("state", Text, nullable=False),
    Column("ending", Text),  # why it ended: completed, failed_quality, failed_comprehension, …
    Column("created", Float, nullable=False),
    Column("seen", Float, nullable=False),  # the last sign of life
    Column("expires", Float, nullable=False),
    Column("finished", Float),
    Column("held_until", Float),  # the owner's word that it does not expire before
    Column("late", Boolean, nullable=False),  # its place had gone to somebody else
    Column("excluded", Boolean, nullable=False, default=False, server_default=false()),  # takes no place
    Column("revisions", Integer, nullable=False),
    Column("backs", Integer, nullable=False),
    UniqueConstraint("assessor", "unit"),
    UniqueConstraint("assessor", "topic", "round"),
    CheckConstraint("state IN ('live', 'expired', 'late', 'done', 'failed')", name="state"),
    Index("ix_reservations_state_expires", "state", "expires"),
    Index("ix_reservations_unit", "unit"),
)

answers = Table(
    "answers",
    metadata,
    Column("number", Number, primary_key=True),
    Column("reservation", Number, ForeignKey("reservations.number"), nullable=False),
    Column("assessor", Number, ForeignKey("assessors.number"), nullable=False),
    Column("unit", Number, ForeignKey("units.number"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("current", Boolean, nullable=False),
    Column("value", Float),
    Column("preferred", Text),
    Column("left_relevant", Boolean),
    Column("right_relevant", Boolean),
    Column("left_score", Float),
    Column("right_score", Float),
    Column("unrateable", Text),  # why a machine gave no answer; the row then holds none
    Column("expected", Float),  # of a machine: the mean over its token probabilities,
    Column("spread", Float),  # and their standard deviation
    Column("swapped", Text),  # of a machine: the side it preferred with the two documents in the other order
    Column("typed", JSON, nullable=False),
    Column("comment", Text),
    Column("seconds", Float, nullable=False),  # active, over all visits
    Column("idle", Float, nullable=False),  # idle, over all visits
    Column("visit", Float, nullable=False),  # active, on this visit alone
    Column("highlight", Boolean, nullable=False),
    Column("at", Float, nullable=False),
    UniqueConstraint("reservation", "position", "revision"),
    Index(
        "uq_answers_current",
        "assessor",
        "unit",
        "position",
        unique=True,
        sqlite_where=text("current"),
        postgresql_where=text("current"),
    ),
)

# What an answer is about: its place in the unit, with the document, or the left and the right one of a pair.
ANSWERED = and_(items.c.unit == answers.c.unit, items.c.position == answers.c.position)
LEFT, RIGHT = documents.alias("left_document"), documents.alias("right_document")

machines = Table(  # a model with its settings, as an assessor
    "machines",
    metadata,
    Column("assessor", Number, ForeignKey("assessors.number"), primary_key=True),
    Column("fingerprint", Text, nullable=False, unique=True),  # of model, sample, prompts and settings
    Column("model", Text, nullable=False),
    Column("sample", Integer, nullable=False),
    Column("endpoint", Text, nullable=False),
    Column("prompts", JSON, nullable=False),  # the hash of each prompt file by its name
    Column("settings", JSON, nullable=False),
    Column("currency", Text, nullable=False),
    Column("held_by", Text),  # the host, process and run of `judgewell judge` that lets it judge
    Column("held_since", Float),
    Column("held_until", Float),  # renewed while the run lives
)

replies = Table(  # what a machine replied, stored before the step it is for is taken
    "replies",
    metadata,
    Column("number", Number, primary_key=True),
    Column("assessor", Number, ForeignKey("machines.assessor"), nullable=False),
    Column("unit", Number, ForeignKey("units.number"), nullable=False),
    Column("purpose", Text, nullable=False),  # document, pair, practice, comprehension or quiz
    Column("position", Integer, nullable=False),
    Column("revision", Integer, nullable=False),  # which time the place was judged, counted from 1
    Column("swapped", Boolean, nullable=False),  # of a pair: the right document came first
    Column("attempt", Integer, nullable=False),
    Column("outcome", Text, nullable=False),  # read, refused, unreadable, cut or rejected
    Column("form", JSON, nullable=False),  # the answer as it is sent; empty where it could not be read
    Column("expected", Float),
    Column("spread", Float),
    Column("model", Text, nullable=False),  # as the server named it
    Column("prompt", Text, nullable=False),  # the hash of the prompt file
    Column("tokens_in", Integer, nullable=False),
    Column("tokens_out", Integer, nullable=False),
    Column("estimated", Boolean, nullable=False),  # the tokens: the server did not count them
    Column("cost", Float, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("text", Text, nullable=False),
    Column("at", Float, nullable=False),
    UniqueConstraint(
        *("assessor", "unit", "purpose", "position", "revision", "swapped", "attempt"), name="uq_replies_place"
    ),
)

verdicts = Table(
    "verdicts",
    metadata,
    Column("number", Number, primary_key=True),
    Column("assessor", Number, ForeignKey("assessors.number"), nullable=False),
    Column("reservation", Number, ForeignKey("reservations.number")),
    Column("name", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("passed", Boolean, nullable=False),
    Column("reason", Text),
    Column("at", Float, nullable=False),
    Index("ix_verdicts_reservation", "reservation"),
)

closing = Table(
    "closing",
    metadata,
    Column("number", Number, primary_key=True),
    Column("assessor", Number, ForeignKey("assessors.number"), nullable=False),
    Column("reservation", Number, ForeignKey("reservations.number"), nullable=False),
    Column("name", Text, nullable=False),
    Column("answer", JSON, nullable=False),
    Column("at", Float, nullable=False),
    UniqueConstraint("reservation", "name"),
)

events = Table(
    "events",
    metadata,
    Column("number", Number, primary_key=True),
    Column("at", Float, nullable=False),
    Column("kind", Text, nullable=False),
    Column("assessor", Number, ForeignKey("assessors.number")),
    Column("reservation", Number, ForeignKey("reservations.number")),
    Column("position", Integer),
    Column("data", JSON, nullable=False),
    Index("ix_events_reservation", "reservation"),
)

pauses = Table(
    "pauses",
    metadata,
    Column("topic", Text, primary_key=True),  # "" means the whole study
    Column("at", Float, nullable=False),
    Column("reason", Text),
)

exclusions = Table(
    "exclusions",
    metadata,
    Column("number", Number, primary_key=True),
    Column("assessor", Number, ForeignKey("assessors.number"), nullable=False),
    Column("reservation", Number, ForeignKey("reservations.number")),  # none: all of the assessor's work
    Column("source", Text, nullable=False),  # owner, or review
    Column("reason", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("undone", Float),
    Index("ix_exclusions_assessor", "assessor"),
)

accounts = Table(
    "accounts",
    metadata,
    Column("number", Number, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("role", Text, nullable=False),
    Column("password", Text),  # an argon2 hash; none until the account's first link is used
    Column("created", Float, nullable=False),
    Column("disabled", Float),
    CheckConstraint("role IN ('owner', 'reviewer')", name="role"),
)

keys = Table(  # what lets an account in: a browser's session, a token of the API, or the link that sets a password
    "keys",
    metadata,
    Column("number", Number, primary_key=True),
    Column("hash", Text, nullable=False, unique=True),  # the secret itself is never stored
    Column("account", Number, ForeignKey("accounts.number"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("label", Text),
    Column("scopes", JSON, nullable=False),
    Column("created", Float, nullable=False),
    Column("seen", Float),
    Column("expires", Float, nullable=False),
    Column("revoked", Float),
    CheckConstraint("kind IN ('session', 'token', 'link')", name="kind"),
    Index("ix_keys_account", "account"),
)

audit = Table(
    "audit",
    metadata,
    Column("number", Number, primary_key=True),
    Column("at", Float, nullable=False),
    Column("account", Number, ForeignKey("accounts.number")),  # none: the command line, or nobody who is known
    Column("action", Text, nullable=False),
    Column("target", Text),
    Column("data", JSON, nullable=False),
    Column("address", Text),
    Index("ix_audit_at", "at"),
)

reviews = Table(
    "reviews",
    metadata,
    Column("number", Number, primary_key=True),
    Column("reservation", Number, ForeignKey("reservations.number"), nullable=False),
    Column("account", Number, ForeignKey("accounts.number"), nullable=False),
    Column("objects", Boolean),  # none while the reviewer still reads
    Column("reason", Text),
    Column("created", Float, nullable=False),
    Column("at", Float),
    UniqueConstraint("reservation", "account"),
)

arrivals = Table(  # tokens of a platform that were used, so that none is used twice
    "arrivals",
    metadata,
    Column("token", Text, primary_key=True),
    Column("expires", Float, nullable=False),
)

notices = Table(  # notices from a platform, each once
    "notices",
    metadata,
    Column("event", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("assessor", Number, ForeignKey("assessors.number")),
    Column("data", JSON, nullable=False),
    Column("at", Float, nullable=False),
)
