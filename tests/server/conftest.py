"""The two databases, a clock and a small study."""

import pytest
from server_fixtures import begin, clock, database, one_loop, postgres, store, warm_figures

__all__ = ["begin", "clock", "database", "one_loop", "postgres", "store", "warm_figures"]

# The statements of these modules run on PostgreSQL in others too; their own PostgreSQL half is long.
LONG_ON_POSTGRESQL = {
    "test_access.py",
    "test_crash.py",
    "test_forms_fuzzed.py",
    "test_inviting_and_reporting.py",
    "test_platform_links.py",
    "test_platform_notices.py",
    "test_platform_people.py",
    "test_questionnaire.py",
    "test_webhook.py",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.name in LONG_ON_POSTGRESQL and "postgresql" in item.name:
            item.add_marker(pytest.mark.long)
