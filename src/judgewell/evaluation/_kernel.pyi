"""What the C extension offers; `(kind, offset)` where it turns the data down and the Python path has to decide."""

from typing import Any

from typing_extensions import Buffer

def qrels(data: Buffer) -> tuple[bytes, bytes, bytes, bytes, bytes, bytes] | tuple[int, int]: ...
def index(
    names: Buffer, name_ends: Buffer, topics: Buffer, docs: Buffer, doc_ends: Buffer, seed: int
) -> Any | tuple[int, int]: ...
def rank(
    data: Buffer, index: Any, flags: int
) -> tuple[bytes, bytes, bytes, int, int, bytes | None, bytes | None] | tuple[int, int]: ...
