"""The way back: one code for each ending, and the platform's link that carries it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote

import sqlalchemy as sa
from markupsafe import Markup

from judgewell.server.platforms.links import IDS
from judgewell.server.session import pages
from judgewell.server.session.served import Served, as_html
from judgewell.server.session.state import State
from judgewell.server.store.prepared import Prepared
from judgewell.server.store.schema import identities, reservations


def ending(connection: sa.Connection, served: Served, state: State, key: str) -> pages.Ending:
    """The code for this way of ending, and the link that carries it; nothing where there is no code.

    A platform's codes are for those whom it sent; who was invited into its study gets none.
    """
    platform = served.study.platform
    code: str = getattr(platform.codes, key)
    if not code or not platform.pays(state.origin):
        return pages.Ending()
    link = ""
    if platform.kind != "invite":
        link = return_link(platform.return_link, {"code": code, **_ids(connection, state.assessor)})
    return pages.Ending(code, served.show("end.code", code=code), link, served.say("end.return_link") if link else "")


def farewell(connection: sa.Connection, served: Served, state: State, key: str, *, last: bool) -> Markup:
    """The words of an ending, what was earned, and where it is the `last` page, that it may be closed."""
    words, earned = served.say(own_words(served, state, f"end.{key}")), earned_text(connection, served, state)
    parts = [words, earned, served.say("end.close") if last else ""]
    return as_html("\n\n".join(part for part in parts if part))


def own_words(served: Served, state: State, key: str) -> str:
    """The key of a text; its own for those who were invited, if there is one: they read nothing about a platform."""
    invited = f"{key}_invited"
    return invited if served.study.platform.invites(state.origin) and invited in served.texts.texts else key


_COMPLETED = Prepared(
    sa.select(sa.func.count()).where(
        reservations.c.assessor == sa.bindparam("person"), reservations.c.ending == "completed"
    )
)


def earned_text(connection: sa.Connection, served: Served, state: State) -> str:
    """What an assessor has earned so far, in words; nothing where units are not paid."""
    pay = served.study.pay
    amount = pay.earned(_completed(connection, state)) if served.study.platform.pays(state.origin) else 0.0
    return served.say("end.earned", amount=f"{amount:.2f}", currency=pay.currency) if amount else ""


def more_text(connection: sa.Connection, served: Served, state: State, key: str) -> str:
    """The words of the button for another unit, with what that pays if it does."""
    pay, done = served.study.pay, _completed(connection, state)
    amount = pay.earned(done + 1) - pay.earned(done) if served.study.platform.pays(state.origin) else 0.0
    return served.say("end.more_paid", amount=f"{amount:.2f}", currency=pay.currency) if amount else served.say(key)


def _completed(connection: sa.Connection, state: State) -> int:
    return int(_COMPLETED.value(connection, person=state.assessor))


_ENDINGS = Prepared(
    sa.select(reservations.c.ending)
    .where(reservations.c.assessor == sa.bindparam("person"), reservations.c.ending.is_not(None))
    .distinct()
)


def best_ending(connection: sa.Connection, assessor: int) -> str:
    """What an assessor has earned so far, the best of their units: completed, failed_quality, … or no_work."""
    endings = [row.ending for row in _ENDINGS.rows(connection, person=assessor)]
    best = next((key for key in ("completed", "failed_quality") if key in endings), None)
    return best or ("failed_comprehension" if endings else "no_work")


def return_link(template: str, values: Mapping[str, str]) -> str:
    """The study file's link with values in place of names in braces, each made harmless; the host is always its own."""
    return re.sub(r"\{(\w+)\}", lambda name: quote(values.get(name[1], ""), safe=""), template)


def _ids(connection: sa.Connection, assessor: int) -> dict[str, str]:
    query = sa.select(identities.c.outside, identities.c.session, identities.c.study)
    row = connection.execute(query.where(identities.c.assessor == assessor)).one_or_none()
    return dict(zip(IDS, (value or "" for value in row or ()), strict=False))
