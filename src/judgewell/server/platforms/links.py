"""Signed links: the platform's signature is checked, and each token admits one assessor once.

A token is a JWT (RFC 7519) signed RS256 with a key of the platform. Its ids must be those of the address. The id of a
used token is kept until the token expires. The same token is accepted again only from a browser that already has its
session: a reload works, and a link that was passed on does not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judgewell.server.platforms.keys import Keys, fetch_keys, keys_of
from judgewell.study.platform import Platform

LEEWAY = 30.0  # seconds that the platform's clock and ours may differ
LONGEST_TOKEN = 8_192
LONGEST_ID = 200
IDS = ("assessor", "session", "study")


class BadLink(Exception):
    """A link that lets nobody in; the reason is for the log and the tests, not for the visitor."""


class KeysAway(Exception):
    """The platform's keys could not be had yet, so that no link can be checked."""


@dataclass(frozen=True)
class Arrival:
    """Whom a platform sent: its ids of person, submission and study, and the token that says so."""

    person: str
    session: str | None = None
    study: str | None = None
    token: str | None = None  # the id of the token: used once
    expires: float = 0.0


def platform_keys(platform: Platform, held: Mapping[str, Any] | None) -> Keys | None:
    """The keys to check links with: `held` where a file was given, else those at the address; None without tokens."""
    if not platform.token:
        return None
    if platform.key_source.startswith("https://"):
        return Keys(lambda: fetch_keys(platform.key_source))
    fixed = keys_of(held)
    return Keys(lambda: fixed)


def read_link(platform: Platform, keys: Keys | None, given: Mapping[str, str], now: float) -> Arrival:
    """Whom an address brings, or :class:`BadLink`."""
    ids = {name: given.get(getattr(platform, name), "").strip() for name in IDS}
    if keys is None:
        return _arrival(ids)
    token = given.get(platform.token, "")
    claims = _checked(platform, keys, token, now)
    vouched = _vouched(platform, claims)
    for name, value in ids.items():
        if value and value != vouched[name]:
            raise BadLink(f"the address's {name} is not the token's")
    own = claims.get("jti")
    identified = f"jti:{own}" if isinstance(own, str) and own else token
    mark = hashlib.sha256(identified.encode()).hexdigest()
    return _arrival(vouched, mark, float(claims["exp"]) + LEEWAY)


def _arrival(ids: Mapping[str, str], token: str | None = None, expires: float = 0.0) -> Arrival:
    if not ids["assessor"]:
        raise BadLink("nobody is named")
    for name, value in ids.items():
        if len(value) > LONGEST_ID or not value.isprintable():
            raise BadLink(f"the {name} is not an id")
    return Arrival(ids["assessor"], ids["session"] or None, ids["study"] or None, token, expires)


def _checked(platform: Platform, keys: Keys, token: str, now: float) -> dict[str, Any]:
    """The claims of a token that is signed, for us, and not run out."""
    import jwt

    if not token or len(token) > LONGEST_TOKEN or not token.isascii():
        raise BadLink("there is no token")
    try:
        head = jwt.get_unverified_header(token)
    except jwt.InvalidTokenError as error:
        raise BadLink(f"not a token: {error}") from None
    kid = head.get("kid")
    if head.get("alg") != "RS256" or not isinstance(kid, str):
        raise BadLink("not signed RS256 by a key with a name")
    key = keys.find(kid)
    if key is None:
        if not keys.known:
            raise KeysAway
        raise BadLink("signed by a key that the platform does not publish")
    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=["RS256"],
            audience=platform.audience,
            issuer=platform.issuer or None,
            # times are held against the server's own clock, below
            options={"require": ["exp", "aud"], "verify_exp": False, "verify_nbf": False, "verify_iat": False},
        )
    except jwt.InvalidTokenError as error:
        raise BadLink(str(error)) from None
    _in_time(claims, now)
    return claims


def _in_time(claims: Mapping[str, Any], now: float) -> None:
    expires, begins = claims["exp"], claims.get("nbf", 0)
    for when in (expires, begins):
        if isinstance(when, bool) or not isinstance(when, int | float) or not 0 <= when < 1e11:
            raise BadLink("the token's time is not a time")
    if now >= expires + LEEWAY:
        raise BadLink("the token has run out")
    if now < begins - LEEWAY:
        raise BadLink("the token is not valid yet")


def _vouched(platform: Platform, claims: Mapping[str, Any]) -> dict[str, str]:
    """The ids in the token."""
    held = claims.get(platform.claims) if platform.claims else claims
    if not isinstance(held, Mapping):
        raise BadLink(f"the token has no claim {platform.claims!r} with ids")
    names = {name: getattr(platform, f"claim_{name}") or getattr(platform, name) for name in IDS}
    vouched = {name: held.get(claim) for name, claim in names.items()}
    return {name: value.strip() if isinstance(value, str) else "" for name, value in vouched.items()}
