"""Opening files: plain, gzip and Zstandard told by their first bytes, and `-` for standard input."""

from __future__ import annotations

import glob
import gzip
import mmap
import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from judgewell.errors import InputError

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
COMPRESSED = (".gz", ".zst", ".zstd")
PACKED = {
    b"PK\x03\x04": "a zip archive or an Excel workbook",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ": "compressed by xz",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
}


def open_bytes(path: str | Path) -> bytes:
    """All of a file, decompressed."""
    if str(path) == "-":
        return _decompressed(sys.stdin.buffer.read(), path)
    with _opened(path) as file:
        return _decompressed(file.read(), path)


def map_bytes(path: str | Path) -> bytes | mmap.mmap:
    """All of a file, decompressed; a plain file is mapped, so that only what is looked at is read."""
    if str(path) == "-":
        return open_bytes(path)
    data = _mapped(path)
    return _decompressed(bytes(data), path) if data[:4].startswith((GZIP, ZSTD)) else data


def is_plain(path: str | Path) -> bool:
    """Whether a file can be read from the middle: on disk and not compressed."""
    return str(path) != "-" and not _mapped(path)[:4].startswith((GZIP, ZSTD))


def head(path: str | Path, size: int = 65536) -> bytes:
    """The beginning of a file, decompressed, enough to tell what it is."""
    data = _mapped(path)
    start = bytes(data[:4])
    try:
        if start.startswith(GZIP):
            with gzip.open(path) as unzipped:
                return unzipped.read(size)
        if start.startswith(ZSTD):
            return _decompressed(bytes(data), path)[:size]
    except (EOFError, gzip.BadGzipFile, zlib.error) as problem:
        raise _broken(path, problem) from None
    return bytes(data[:size])


def matching(path: str | Path) -> list[str]:
    """The files that a name with *, ? or [ stands for, in order; any other name as it is."""
    name = str(path)
    if not any(sign in name for sign in "*?[") or Path(name).exists():
        return [name]
    found = sorted(glob.glob(name, recursive=True))
    if not found:
        raise InputError(f"no file matches {name}")
    return found


def stem(path: str | Path) -> str:
    """A file's name without folder, compression and one more ending: runs/bm25.run.gz is bm25."""
    name = Path(path).name
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    for ending in (".run", ".txt", ".trec", ".res", ".qrels", ".csv", ".tsv", ".json", ".jsonl", ".parquet"):
        if name.endswith(ending) and name != ending:
            return name.removesuffix(ending)
    return name


def named_file(word: str) -> tuple[str, str]:
    """NAME=FILE as name and file; a file alone is called by its own name without its endings."""
    name, sign, path = word.partition("=")
    return (name, path) if sign and not Path(word).exists() else (stem(word), word)


def named_files(words: Iterable[str]) -> dict[str, str]:
    """Files by name (see `named_file`); by their paths where two have one name."""
    pairs = [named_file(word) for word in words]
    names = [name for name, _ in pairs]
    files = {(name if names.count(name) == 1 else path): path for name, path in pairs}
    if len(files) < len(pairs):
        raise InputError("a file is named twice", cure="name each once, or give it two names: a=FILE b=FILE")
    return files


def _mapped(path: str | Path) -> bytes | mmap.mmap:
    with _opened(path) as file:
        if not file.seekable():
            return file.read()
        if os.fstat(file.fileno()).st_size == 0:
            return b""
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


@contextmanager
def _opened(path: str | Path) -> Iterator[BinaryIO]:
    try:
        with open(path, "rb") as file:
            if file.seekable():
                _refuse_packed(file.read(8), path)
                file.seek(0)
            yield file
    except IsADirectoryError:
        raise InputError("this is a folder", cure="name the files in it, e.g. runs/*.run", file=path) from None
    except FileNotFoundError:
        raise InputError("there is no such file", file=path) from None
    except PermissionError:
        raise InputError("this file may not be read", cure="check its permissions", file=path) from None


def _refuse_packed(start: bytes, path: str | Path) -> None:
    """What other programs pack is unpacked by them."""
    for mark, name in PACKED.items():
        if start.startswith(mark):
            cure = "save it as CSV" if "Excel" in name else "unpack it first; .gz and .zst are read as they are"
            cure = f"unpack it, or {cure}" if "zip archive" in name else cure
            raise InputError(f"this is {name}", cure=cure, file=path)


def _decompressed(data: bytes, path: str | Path) -> bytes:
    try:
        if data.startswith(GZIP):
            return gzip.decompress(data)
    except (EOFError, gzip.BadGzipFile, zlib.error) as problem:
        raise _broken(path, problem) from None
    return _unzstd(data, path) if data.startswith(ZSTD) else data


def _unzstd(data: bytes, path: str | Path) -> bytes:
    import zstandard

    frames = []
    while data:
        reader = zstandard.ZstdDecompressor().decompressobj()
        try:
            frames.append(reader.decompress(data))
        except zstandard.ZstdError as problem:
            raise _broken(path, problem) from None
        if not reader.eof:
            raise _broken(path, "its last frame does not end")
        data = reader.unused_data
    return b"".join(frames)


def _broken(path: str | Path, problem: Exception | str) -> InputError:
    return InputError(f"the compressed file is broken or cut short ({problem})", cure="get it again", file=path)
