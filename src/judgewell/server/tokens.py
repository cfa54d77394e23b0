"""What links, cookies and forms carry: signed with the database's own random secret."""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64encode
from functools import lru_cache


@lru_cache(64)
def _key(secret: str, purpose: str) -> bytes:
    return hmac.digest(secret.encode(), f"judgewell.{purpose}".encode(), "sha256")


def signed(secret: str, purpose: str, text: str) -> str:
    """The text with a signature that holds for this purpose only: HMAC-SHA256 under a key made for the purpose."""
    signature = hmac.digest(_key(secret, purpose), text.encode(), "sha256")
    return f"{text}.{urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def opened(secret: str, purpose: str, token: str) -> str | None:
    """The text that was signed, or None where the token was not made by us for this purpose."""
    text, dot, _ = token.rpartition(".")
    try:
        genuine = bool(dot) and hmac.compare_digest(signed(secret, purpose, text).encode(), token.encode())
    except UnicodeError:
        return None
    return text if genuine else None


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
