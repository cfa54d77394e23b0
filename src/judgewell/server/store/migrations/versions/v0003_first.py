"""The oldest version that can be brought up to date. A new database gets its tables from the schema, not from steps."""

revision = "0003"
down_revision = None


def upgrade() -> None:
    """Do nothing: a database of this version has these tables."""
