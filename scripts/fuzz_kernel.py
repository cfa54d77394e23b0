"""Fuzz the compiled kernel under AddressSanitizer against the Python path: fuzz_kernel.py KERNEL.so SECONDS [SEED].

`make fuzz` builds the extension and calls this. Lines are made well, badly and broken; what the kernel takes must be
what Python reads, and what Python refuses must never be taken.
"""

from __future__ import annotations

import importlib.util
import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from judgewell import evaluation
from judgewell.errors import InputError, collect_notes
from judgewell.evaluation import compiled
from judgewell.evaluation.judged import Judged, prepare
from judgewell.evaluation.kernel import judged_ranks
from judgewell.evaluation.ranks import JudgedRanks
from judgewell.evaluation.settings import Settings
from judgewell.formats.gains import read_gains
from judgewell.formats.runs import Lines
from judgewell.formats.trec import QRELS, read_fields

DOCS = [f"d{n}" for n in range(12)] + ["x" * n for n in (7, 8, 9, 15, 16, 17, 33, 64)] + ["ü€😀", "a", "aa", "u" * 100]
TOPICS = ["1", "2", "12345678", "123456789", "t", "topic-17-with-a-long-name", "é"]
NUMBERS = [
    "1",
    "2.5",
    "-1",
    "0",
    "-0.0",
    "1e3",
    "1.5e-7",
    "26.563915252685547",
    "3.14159274101257324",
    "inf",
    ".5",
    "5.",
]
NUMBERS += [
    "12345678901234567890123",
    "0.1",
    "0.10",
    "1e-320",
    "1e400",
    "+1",
    "nan",
    "1_0",
    "0x1",
    "e5",
    "-",
    "1e",
    "١",
]
BYTES = b" \n\r\t\x00\xff\xc3\x0b\x0c\x1f.e-+9#a\xed\xa0\x80"


def load(path: Path) -> None:
    """Let the package use this build of the extension."""
    name = "judgewell.evaluation._kernel"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[name] = module
    evaluation._kernel = module  # type: ignore[attr-defined]


def made_run(rng: random.Random, odd: bool) -> bytes:
    lines = []
    for topic in rng.sample(TOPICS, rng.randint(1, 5)):
        docs = rng.sample(DOCS, rng.randint(1, len(DOCS)))
        docs += docs[:1] if rng.random() < 0.03 else []
        for rank, doc in enumerate(docs):
            fields = [
                topic,
                "Q0",
                doc,
                str(rank + 1),
                rng.choice(NUMBERS[:12] if rng.random() < 0.98 else NUMBERS),
                "tag",
            ]
            blank = " "
            if odd and rng.random() < 0.1:
                fields = rng.choice([fields[:5], fields[:4], [*fields, "more"], ["#", *fields], []])
                blank = rng.choice(["  ", "\t", " \t ", "\x0b", "\x0c"])
            lines.append(blank.join(fields) + ("\r\n" if odd and rng.random() < 0.1 else "\n"))
    if rng.random() < 0.15:
        rng.shuffle(lines)
    return "".join(lines).encode()


def broken(rng: random.Random, data: bytes) -> bytes:
    """Truncated, overwritten, repeated, or with a line that is long."""
    kind = rng.randrange(6)
    if not data or kind == 0:
        return rng.randbytes(rng.randint(0, 300))
    at = rng.randrange(len(data))
    if kind == 1:
        return data[:at]
    if kind == 2:
        return data[:at] + b"y" * rng.choice([63, 64, 65, 1000, 70_000]) + data[at:]
    if kind == 3:
        return data[at:] + data
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        changed[rng.randrange(len(changed))] = rng.choice(BYTES)
    return bytes(changed)


def rows_of(ranks: JudgedRanks) -> Any:
    columns = (ranks.topics[ranks.row], ranks.rank, ranks.item, ranks.first, ranks.size)
    lengths = dict(zip(ranks.topics.tolist(), ranks.lengths.tolist(), strict=True))
    return sorted(zip(*map(list, columns), strict=True)), lengths, ranks.unknown, ranks.tags, ranks.lines


def by_python(data: bytes, judged: Judged, settings: Settings) -> Any:
    try:
        return rows_of(judged_ranks(Lines("run", data).frame(), judged, settings))
    except InputError:
        return None


def check_run(rng: random.Random, judged: Judged) -> str:
    data = made_run(rng, odd=rng.random() < 0.5)
    data = broken(rng, data) if rng.random() < 0.5 else data
    settings = Settings(rng.choice(["score", "score", "rank"]), rng.choice(["double", "single"]))
    ours = compiled.judged_ranks(data, judged, settings)
    if ours is None:
        return "runs turned down"
    if rows_of(ours[0]) != by_python(data, judged, settings):
        sys.exit(f"different under {settings}: {data!r}")
    return "runs taken"


def check_qrels(rng: random.Random, data: bytes) -> str:
    data = broken(rng, data)
    judged = compiled.read_qrels(data)
    if judged is None:
        return "qrels turned down"
    table = read_fields(data, QRELS, "qrels")
    topics = [judged.topics[number] for number in judged.number]
    if list(zip(topics, judged.docs.to_list(), judged.gains.tolist(), strict=True)) != table.rows():
        sys.exit(f"different qrels: {data!r}")
    return "qrels taken"


def check_long_lines(judged: Judged) -> None:
    """Lines of 64 MB, with and without anything in them."""
    long = b"z" * (1 << 26)
    for data in (long, long + b"\n", b"1 Q0 " + long + b" 1 1 t\n", b"1 Q0 d1 1 1 t\n" + long, b" " * (1 << 26)):
        compiled.judged_ranks(data, judged, Settings())
        compiled.read_qrels(data)


def main() -> None:
    load(Path(sys.argv[1]))
    seconds, seed = float(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0
    rng = random.Random(seed)
    counted: Counter[str] = Counter()
    end = time.monotonic() + seconds
    with collect_notes():
        while time.monotonic() < end:
            gains = {
                topic: {doc: rng.choice([0.0, 0.5, 1.0, 2.0]) for doc in rng.sample(DOCS, rng.randint(1, len(DOCS)))}
                for topic in rng.sample(TOPICS, rng.randint(1, len(TOPICS)))
            }
            judged = prepare(read_gains(gains))
            text = "".join(f"{topic} 0 {doc} {gain}\n" for topic, docs in gains.items() for doc, gain in docs.items())
            for _ in range(10):
                counted[check_run(rng, judged)] += 1
                counted[check_qrels(rng, text.encode())] += 1
        check_long_lines(judged)
    print(f"seed {seed}: " + ", ".join(f"{count} {what}" for what, count in sorted(counted.items())))


if __name__ == "__main__":
    main()
