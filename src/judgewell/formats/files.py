"""Opening files: plain or compressed (gzip, Zstandard, bzip2, xz, a zip archive of one file), recognised by their first
bytes, and `-` for standard input."""

from __future__ import annotations

import glob
import io
import mmap
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from judgewell.errors import InputError
from judgewell.executors.local import FOLDER
from judgewell.formats.remote import is_remote, opened_remote, remote_mark, remote_matching

GZIP, ZSTD, BZIP2, XZ, ZIP = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ\0", b"PK\x03\x04"
PI = b"1AY&SY"  # begins the first block of a bzip2 file, behind one digit
CHUNK = 1 << 18  # bytes read at a time
COMPRESSED = (".gz", ".zst", ".zstd", ".bz2", ".xz", ".zip")
EXCEL = "this is an Excel workbook"
PACKED = {b"7z\xbc\xaf": ("this is a 7-Zip archive", "unpack it first"), b"\xd0\xcf\x11\xe0": (EXCEL, "save it as CSV")}


def place(path: str | Path) -> str:
    """The full path of a file: a relative path begins in the folder of the client, also on a worker."""
    return str(path) if is_remote(path) else os.path.join(FOLDER.get(), path)


def open_bytes(path: str | Path) -> bytes:
    """All of a file, decompressed."""
    if str(path) == "-":
        return b"".join(_decompressed(iter([sys.stdin.buffer.read()]), path))
    with opened(path) as file:
        return b"".join(_decompressed(iter([file.read()]), path))


def stream(path: str | Path, size: int = CHUNK) -> Iterator[bytes]:
    """The bytes of a file piece by piece, decompressed; pieces of a compressed file are as long as they come."""
    with opened(path) as file:
        yield from _decompressed(iter(partial(file.read, size), b""), path)


def read_range(path: str | Path, start: int, end: int, *, to_line_end: bool = False) -> bytes:
    """The bytes of a plain file between two places, on request up to the end of the last line."""
    with opened(path) as file:
        file.seek(start)
        return file.read(end - start) + (file.readline() if to_line_end else b"")


def map_bytes(path: str | Path) -> bytes | mmap.mmap:
    """All of a file, decompressed; a plain file is mapped, so that only what is looked at is read."""
    if str(path) == "-":
        return open_bytes(path)
    with opened(path) as file:
        if is_remote(path) or not file.seekable():
            return b"".join(_decompressed(iter([file.read()]), path))
        if os.fstat(file.fileno()).st_size == 0:
            return b""
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return open_bytes(path) if _is_compressed(data[:10]) else data


def is_plain(path: str | Path) -> bool:
    """Whether a file can be read from the middle: on disk and not compressed."""
    if str(path) == "-" or not Path(place(path)).is_file():
        return False
    with opened(path) as file:
        return not _is_compressed(file.read(10))


def _is_compressed(start: bytes) -> bool:
    return start.startswith((GZIP, ZSTD, XZ, ZIP)) or _is_bzip2(start)


def _is_bzip2(start: bytes) -> bool:
    return start.startswith(BZIP2) and start[4:10] == PI


def mark(path: str | Path) -> str:
    """What changes when a file does: its size and time."""
    if is_remote(path):
        return remote_mark(str(path))
    if str(path) == "-" or not Path(path).exists():
        return ""
    stat = Path(path).stat()
    return f"{stat.st_size} {stat.st_mtime_ns}"


def head(path: str | Path, size: int = 65536) -> bytes:
    """The beginning of a file, decompressed: at least `size` bytes and a whole line that says something."""
    data = b""
    for piece in stream(path, max(4096, size // 4)):  # compressed bytes are several times as many when unpacked
        data += piece
        if len(data) >= size and any(_says_something(line) for line in data.split(b"\n")[:-1]):
            break
    return data


def _says_something(line: bytes) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith(b"#")


def matching(path: str | Path) -> list[str]:
    """The files that match a name with *, ? or [, in order; any other name as it is."""
    name = str(path)
    remote = is_remote(name)
    if not any(sign in name for sign in ("*" if remote else "*?[")) or Path(name).exists():
        return [name]
    names = remote_matching(name) if remote else sorted(glob.glob(name, recursive=True))
    if not names:
        raise InputError(f"no file matches {name}")
    return names


def uncompressed(path: str | Path) -> str:
    """A file's path without the ending of its compression."""
    name = str(path)
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    return name


def stem(path: str | Path) -> str:
    """A file's name without folder, compression and one more ending: runs/bm25.run.gz is bm25."""
    name = Path(uncompressed(path)).name
    for ending in (".run", ".txt", ".trec", ".res", ".qrels", ".csv", ".tsv", ".json", ".jsonl", ".parquet"):
        if name.endswith(ending) and name != ending:
            return name.removesuffix(ending)
    return name


def named_file(word: str) -> tuple[str, str]:
    """NAME=FILE as name and file; a file alone is called by its own name without its endings."""
    name, sign, path = word.partition("=")
    return (name, path) if sign and not is_remote(name) and not Path(word).exists() else (stem(word), word)


def named_files(words: Iterable[str]) -> dict[str, str]:
    """Files by name (see `named_file`); by their paths where two files without a given name are called alike."""
    files: dict[str, str] = {}
    pairs = [(*named_file(word), word) for word in words]
    names = [name for name, _, _ in pairs]
    for name, path, word in pairs:
        called = path if names.count(name) > 1 and path == word else name
        if called in files:
            raise InputError(f"two files are called {called}", cure="give each a name of its own: a=FILE b=FILE")
        files[called] = path
    return files


def is_path(data: Any) -> bool:
    """Whether data are named by a path, and not given as a table."""
    return isinstance(data, str | os.PathLike)


def is_given(data: Any) -> bool:
    """Whether an option holds something: a table, even an empty one, or what is neither None nor empty."""
    return data is not None and (hasattr(data, "columns") or bool(data))


def files_among(*sources: Any) -> tuple[str, ...]:
    """The files that are there among paths, NAME=FILE, tables, and mappings or lists of these."""
    files: list[str] = []
    for source in sources:
        if isinstance(source, Mapping):
            files += files_among(*source.values())
        elif is_path(source):
            path = named_file(str(source))[1]
            files += [path] if os.path.exists(path) or "*" in path or is_remote(path) else []
        elif isinstance(source, Iterable) and not hasattr(source, "columns"):
            files += files_among(*source)
    return tuple(files)


@contextmanager
def opened(path: str | Path) -> Iterator[BinaryIO]:
    """A file as it is stored."""
    if is_remote(path):
        with opened_remote(str(path)) as file:
            yield file
        return
    try:
        with open(place(path), "rb") as file:
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
    for mark, (problem, cure) in PACKED.items():
        if start.startswith(mark):
            raise InputError(problem, cure=cure, file=path)


def _decompressed(pieces: Iterator[bytes], path: str | Path) -> Iterator[bytes]:
    first = next(pieces, b"")
    pieces = chain([first], pieces)
    if first.startswith(GZIP):
        return _unpacked(pieces, path, lambda: zlib.decompressobj(31), zlib.error)
    if first.startswith(ZSTD):
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd

        return _unpacked(pieces, path, zstd.ZstdDecompressor, zstd.ZstdError)
    if _is_bzip2(first):
        import bz2

        return _unpacked(pieces, path, bz2.BZ2Decompressor, OSError)
    if first.startswith(XZ):
        import lzma

        return _unpacked(pieces, path, lzma.LZMADecompressor, lzma.LZMAError)
    return _unzipped(b"".join(pieces), path) if first.startswith(ZIP) else pieces


def _unzipped(data: bytes, path: str | Path) -> Iterator[bytes]:
    """The one file of a zip archive."""
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX")]
            if "[Content_Types].xml" in names:
                raise InputError(EXCEL, cure="save it as CSV", file=path)
            if len(names) != 1:
                listed = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
                problem = f"this zip archive holds {len(names)} files ({listed})"
                raise InputError(problem, cure="unpack it and name the files", file=path)
            with archive.open(names[0]) as file:
                yield from iter(partial(file.read, CHUNK), b"")
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as problem:  # RuntimeError: a password is needed
        raise _broken(path, problem) from None


def _unpacked(
    pieces: Iterator[bytes],
    path: str | Path,
    reader_of_member: Callable[[], Any],
    problem_of_reader: type[Exception],
) -> Iterator[bytes]:
    """One compressed member after the other; zeros behind the last one are padding."""
    reader = None
    for piece in pieces:
        while piece := piece if reader else piece.lstrip(b"\0"):
            reader = reader or reader_of_member()
            try:
                yield reader.decompress(piece)
            except problem_of_reader as problem:
                raise _broken(path, problem) from None
            piece = reader.unused_data
            reader = None if reader.eof else reader
    if reader is not None:
        raise _broken(path, "it ends before its last part is complete")


def _broken(path: str | Path, problem: Exception | str) -> InputError:
    return InputError(f"the compressed file is broken or cut short ({problem})", cure="get it again", file=path)
