"""HTML documents are stored as they are shown: made harmless."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from judgewell.server.cleaning import clean_document

revision = "0003"
down_revision = "0002"

DOCUMENTS = sa.table("documents", sa.column("number"), sa.column("text"), sa.column("kind"))


def upgrade() -> None:
    """Clean one document after another, so that no more than one is in memory."""
    connection, number, text = op.get_bind(), DOCUMENTS.c.number, DOCUMENTS.c.text
    for one in connection.execute(sa.select(number).where(DOCUMENTS.c.kind == "html")).scalars().all():
        found = connection.execute(sa.select(text).where(number == one)).scalar_one()
        connection.execute(sa.update(DOCUMENTS).where(number == one).values(text=clean_document(found)))
