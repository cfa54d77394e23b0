"""What links, cookies and forms carry: signed with the database's own random secret."""

from __future__ import annotations

import hashlib
from functools import lru_cache

from itsdangerous import BadSignature, Signer


@lru_cache(64)
def _signer(secret: str, purpose: str) -> Signer:
    return Signer(secret, salt=f"judgewell.{purpose}", key_derivation="hmac", digest_method=hashlib.sha256)


def signed(secret: str, purpose: str, text: str) -> str:
    """The text with a signature that holds for this purpose only."""
    return _signer(secret, purpose).sign(text).decode()


def opened(secret: str, purpose: str, token: str) -> str | None:
    """The text that was signed, or None where the token was not made by us for this purpose."""
    try:
        return _signer(secret, purpose).unsign(token).decode()
    except (BadSignature, UnicodeError):
        return None


def numbered(secret: str, purpose: str, token: str) -> int | None:
    """The number in a token, or None."""
    text = opened(secret, purpose, token)
    return int(text) if text is not None and text.isdecimal() else None


def step_token(secret: str, assessor: int, turn: int) -> str:
    """The guard of one step: this assessor's, at this turn."""
    return signed(secret, "step", f"{assessor}:{turn}")


def read_step(secret: str, assessor: int, token: str) -> int | None:
    """The turn of a step, or None where it is not this assessor's."""
    text = opened(secret, "step", token)
    owner, _, turn = (text or "").partition(":")
    return int(turn) if owner == str(assessor) and turn.isdecimal() else None
