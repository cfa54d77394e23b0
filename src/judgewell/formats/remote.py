"""Files that lie elsewhere: s3://, gs://, https://, hf:// and whatever else fsspec opens (the extra `remote`).

Credentials and endpoints are fsspec's own: environment variables, the clouds' own files, or fsspec's configuration.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from judgewell.errors import InputError

BLOCK = 8 << 20  # bytes read ahead
INSTALL = "pip install 'judgewell[remote]'"
OF_EXTRA = ("http", "https", "s3", "s3a")
BESIDE = {
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "hf": "huggingface_hub",
    "az": "adlfs",
    "abfs": "adlfs",
}  # packages beside the extra
MARKS = ("size", "ETag", "etag", "LastModified", "mtime", "md5Hash", "blob_id", "last_modified")
# What their libraries raise beside OSError.
PROBLEMS = (
    ("aiohttp", "ClientError"),
    ("botocore.exceptions", "BotoCoreError"),
    ("botocore.exceptions", "ClientError"),
    ("google.auth.exceptions", "GoogleAuthError"),
    ("huggingface_hub.errors", "HfHubHTTPError"),
)


def is_remote(path: object) -> bool:
    """Whether a path is an address."""
    return "://" in str(path).partition("=")[0]


@contextmanager
def opened_remote(path: str) -> Iterator[BinaryIO]:
    """A file to read from its beginning on."""
    with _mended(path):
        system, name = _place(path)
        size = 0 if path.startswith(("http://", "https://")) else BLOCK  # 0: as it comes, which every server can
        with system.open(name, "rb", block_size=size) as file:
            yield file


def remote_matching(path: str) -> list[str]:
    """The addresses that a pattern stands for, in order."""
    with _mended(path):
        system, name = _place(path)
        return sorted(system.unstrip_protocol(one) for one in system.glob(name))


def remote_mark(path: str) -> str:
    """What changes when the file does."""
    with _mended(path):
        system, name = _place(path)
        about = system.info(name)
    return " ".join(str(about.get(key, "")) for key in MARKS)


def _place(path: str) -> tuple[Any, str]:
    import fsspec  # type: ignore[import-untyped]

    system, name = fsspec.core.url_to_fs(path)
    return system, name


@contextmanager
def _mended(path: str) -> Iterator[None]:
    """Problems as one line each."""
    try:
        yield
    except ImportError as problem:
        kind = path.partition("://")[0]
        if kind in OF_EXTRA or "fsspec" in str(problem.name):
            cure = INSTALL
        elif kind in BESIDE:
            cure = f"{INSTALL} {BESIDE[kind]}"
        else:
            cure = _line(problem)  # fsspec's own words
        raise InputError(f"{kind}:// needs packages that are not installed", cure=cure, file=path) from None
    except FileNotFoundError as problem:
        reason = "" if problem.__cause__ is None else f" ({_line(problem.__cause__)})"
        raise InputError(f"there is no such file{reason}", file=path) from None
    except PermissionError as problem:
        raise InputError(f"this file may not be read ({_line(problem)})", cure="check your access", file=path) from None
    except _raised() as problem:
        raise InputError(f"this file cannot be read ({_line(problem)})", file=path) from None
    except ValueError as problem:
        if "rotocol" not in str(problem):
            raise
        kind = path.partition("://")[0]
        raise InputError(
            f"{kind}:// is not a place that files can be read from",
            cure="use one that fsspec knows, such as s3://, gs://, hf:// or https://",
            file=path,
        ) from None


def _raised() -> tuple[type[Exception], ...]:
    """The errors of files, and of the libraries that are loaded by now."""
    return (OSError, *(getattr(sys.modules.get(module), name, OSError) for module, name in PROBLEMS))


def _line(problem: BaseException) -> str:
    return (str(problem) or type(problem).__name__).splitlines()[0]
