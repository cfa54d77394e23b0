"""The keys a platform publishes (a JWKS, RFC 7517): fetched with a limit of time and size, kept, and renewed.

The address comes from the study file alone. It is asked over https, and an answer that sends us elsewhere is not
followed, so nobody can make the server ask addresses of their choice.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from judgewell.errors import DataError, InputError

KeySet = Mapping[str, Any]  # by kid

FETCH_SECONDS = 5.0
LARGEST = 256 * 1024  # bytes of a key set
MOST_KEYS = 100
RENEWED = 86_400.0  # seconds after which the keys are fetched again
PAUSE = 60.0  # seconds that must pass before they are fetched again for a key we do not know
LEAST_BITS = 2048


class Keys:
    """The keys of one platform in one process; what was fetched last serves on while the platform is away."""

    def __init__(self, fetch: Callable[[], KeySet], clock: Callable[[], float] = time.monotonic) -> None:
        self._fetch, self._clock = fetch, clock
        self._held: KeySet = {}
        self._fetched = self._asked = float("-inf")
        self._lock = threading.Lock()

    def find(self, kid: str) -> Any | None:
        """The key of this name; None where the platform has none."""
        with self._lock:
            now = self._clock()
            wanted = kid not in self._held or now - self._fetched >= RENEWED
            if wanted and now - self._asked >= PAUSE:
                self._asked = now
                with suppress(DataError):  # the keys in hand serve on; where there are none yet, `known` says so
                    self._held, self._fetched = self._fetch(), now
            return self._held.get(kid)

    @property
    def known(self) -> bool:
        """Whether there are any keys at all."""
        return bool(self._held)


def fetch_keys(address: str) -> KeySet:
    """The keys at an https address."""
    import httpx

    if not address.startswith("https://"):
        raise InputError(f"{address!r} is not a safe address for keys", cure="use https:// or a file")
    body, until = b"", time.monotonic() + FETCH_SECONDS
    try:
        with (
            httpx.Client(timeout=FETCH_SECONDS, follow_redirects=False) as client,
            client.stream("GET", address, headers={"accept": "application/json"}) as response,
        ):
            if response.status_code != 200:
                raise DataError(f"{address} answered {response.status_code} where keys should be")
            for part in response.iter_bytes(16_384):
                body += part
                if len(body) > LARGEST or time.monotonic() > until:
                    raise DataError(f"{address} gave more than {LARGEST} bytes or took too long")
    except httpx.HTTPError as error:
        raise DataError(f"the keys at {address} cannot be had: {error or type(error).__name__}") from None
    return read_keys(body, address)


def read_key_file(path: Path) -> dict[str, Any]:
    """A key set in a file, as plain data."""
    try:
        held = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"the keys cannot be read: {error.strerror}", file=path) from None
    except ValueError:
        raise InputError("this is not a key set", cure='expected JSON: {"keys": [...]}', file=path) from None
    if not keys_of(held):
        raise InputError("this key set has no RSA key with a kid that signs RS256", file=path)
    return dict(held)


def read_keys(body: bytes, where: str) -> KeySet:
    """The usable keys of a key set as it was sent."""
    try:
        fetched = keys_of(json.loads(body))
    except (ValueError, RecursionError):
        fetched = {}
    if not fetched:
        raise DataError(f"what {where} gave has no RSA key with a kid that signs RS256")
    return fetched


def keys_of(key_set: Any) -> KeySet:
    """The keys that may verify RS256 signatures, by kid; all others are left aside."""
    listed = key_set.get("keys") if isinstance(key_set, dict) else None
    made = [_key(one) for one in listed[:MOST_KEYS]] if isinstance(listed, list) else []
    return {kid: key for kid, key in made if key is not None}


def _key(one: Any) -> tuple[str, Any]:
    from jwt.algorithms import RSAAlgorithm
    from jwt.exceptions import InvalidKeyError

    if not isinstance(one, dict) or one.get("kty") != "RSA" or "d" in one:
        return "", None
    kid, use, algorithm = one.get("kid"), one.get("use", "sig"), one.get("alg", "RS256")
    if not isinstance(kid, str) or not kid or use != "sig" or algorithm != "RS256":
        return "", None
    try:
        key = RSAAlgorithm.from_jwk({name: one[name] for name in ("kty", "n", "e") if name in one})
    except (InvalidKeyError, ValueError, TypeError, KeyError):
        return "", None
    return (kid, key) if key.key_size >= LEAST_BITS else ("", None)
