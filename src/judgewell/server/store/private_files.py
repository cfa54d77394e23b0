"""Files with personal data or secrets: only the account that runs judgewell may read them."""

from __future__ import annotations

import os
from pathlib import Path

OWNER_ONLY = 0o600


def create_private(path: str | Path) -> None:
    """Create an empty file that only its owner may read, or make an existing one so; what it holds stays."""
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, OWNER_ONLY))
    keep_private(path)


def keep_private(path: str | Path) -> None:
    """Let only its owner read a file; a file of another account is left as it is."""
    path = Path(path)
    if path.stat().st_uid == os.geteuid() and path.stat().st_mode & 0o077:
        path.chmod(OWNER_ONLY)
