"""Alembic's door: the steps run on the connection and in the transaction that they are given."""

from alembic import context

from judgewell.server.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"], target_metadata=metadata, transaction_per_migration=False
)
context.run_migrations()
