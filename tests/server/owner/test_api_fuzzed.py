"""schemathesis over the whole API: whatever is sent, no failure of ours and no answer that is not described."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from databases import new_database
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import one_of
from owner_studies import write_graded_study
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from judgewell.assessors.people import make_people
from judgewell.assessors.simulation import fill
from judgewell.server.app import make_app
from judgewell.server.owner.access import make_key
from judgewell.server.owner.accounts import add_account
from judgewell.server.store.transactions import Store, open_store

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
NOW = 1_800_000_000.0


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.long)])
def kept_in(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A small study with judgments, and one owner."""
    folder = tmp_path_factory.mktemp("fuzzed")
    sqlite = request.param == "sqlite"
    store = open_store(str(folder / "study.sqlite") if sqlite else new_database(request.getfixturevalue("postgres")))
    fill(store, write_graded_study(folder, topics=2, docs=8, redundancy=1), make_people(4, seed=1), seed=1)
    store.write(lambda connection: add_account(connection, NOW, "Olga", "owner")).result()
    yield store
    store.close()


def test_no_answer_is_a_failure_or_undescribed(kept_in: Store) -> None:
    secret = kept_in.write(lambda c: make_key(c, 1, "token", NOW, 9e8, scopes=("read",))).result()
    headers = {"authorization": f"Bearer {secret}"}
    app = make_app(kept_in, requests_per_second=1e6)
    described = schemathesis.openapi.from_asgi("/openapi.json", app, headers=headers)
    operations = [found.ok() for found in described.get_all_operations()]
    assert len(operations) > 20
    for operation in operations:
        _try(kept_in, operation)


def _try(store: Store, operation: Any) -> None:
    """Some right and some wrong requests of one kind; every one with a new token, as any may revoke them all."""

    def token(connection: Any) -> str:
        return make_key(connection, 1, "token", NOW, 9e8, scopes=("read", "write"))

    @settings(max_examples=8, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(case=one_of(operation.as_strategy(generation_mode=mode) for mode in GenerationMode))
    def send(case: schemathesis.Case) -> None:
        secret = store.write(token).result()
        case.call_and_validate(headers={"authorization": f"Bearer {secret}"}, checks=CHECKS)

    send()
