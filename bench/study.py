"""From a study file on disk to the finished design, and reading the documents it is made of.

Run as a programme this file is the child that is measured: `study.py make FOLDER …` writes a study, `study.py design
FOLDER` designs it, `study.py read FILE` reads documents.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from measure import Row, read_once, take_turns

HERE = Path(__file__).parent
DESIGN, READING = "design", "reading"
UNITS = '[units]\norder = "{order}"\n[scale]\nkind = "magnitude"\n'
TEXT = "a document helps the person who asked as far as it answers the question " * 15


def rows(quick: bool) -> Iterator[Row]:
    """Every measurement, as it is made."""
    topics, large, many = (5, 300, 5_000) if quick else (50, 3000, 50_000)
    work = HERE / "data" / ("study-quick" if quick else "study")
    cases = {
        f"units of 8, redundancy 10, {topics} topics × 300 documents": (topics, 300, UNITS.format(order="random")),
        f"the same in balanced order, {topics} × 300": (topics, 300, UNITS.format(order="balanced")),
        f"groups of 8, 3 partners, 15 % of pairs, {topics} × 300": (topics, 300, "[groups]\n"),
        f"groups of 8, 3 partners, 15 % of pairs, 1 × {large:,}": (1, large, "[groups]\n"),
    }
    for number, (case, (count, documents, design)) in enumerate(cases.items()):
        folder = work / str(number)
        child("make", folder, str(count), str(documents), design)
        read_once(path for path in folder.iterdir() if path.is_file())
        command = [sys.executable, __file__, "design", folder]
        yield from take_turns(DESIGN, case, {"judgewell": command}, repeats=2 if quick else 5)
    for ending in ("jsonl", "csv", "sgml"):
        path = work / f"documents.{ending}"
        child("write", path, str(many))
        read_once([path])
        command = [sys.executable, __file__, "read", path]
        yield from take_turns(
            READING, f"{many:,} documents, {ending}", {"judgewell": command}, repeats=2 if quick else 5
        )


def section(found: Sequence[Row]) -> str:
    """The rows as Markdown."""
    lines = [
        "## Designing a study",
        "",
        "From the study file, topics, documents, pool and grades on disk to all tables of the design in memory,",
        "process start included; then documents of about 1,000 characters read from disk.",
        "",
        "| | median s | fastest s | peak MB |",
        "|---|---:|---:|---:|",
    ]
    for row in found:
        told = row.failure or f"{row.median:.2f} | {row.fastest:.2f}"
        lines.append(f"| {row.case} | {told} | {row.megabytes:.0f} |")
    return "\n".join((*lines, ""))


def child(*given: str | Path) -> None:
    subprocess.run([sys.executable, __file__, *map(str, given)], check=True)


def make(folder: Path, topics: int, documents: int, design: str) -> None:
    """A study of some size on disk; every fourth document is known to be relevant."""
    folder.mkdir(parents=True, exist_ok=True)
    pairs = [(topic, doc) for topic in range(topics) for doc in range(documents)]
    (folder / "topics.txt").write_text("".join(f"{topic}\ttopic {topic}\n" for topic in range(topics)))
    (folder / "docs.jsonl").write_text("".join(json.dumps({"doc": f"{t}-{d}", "text": TEXT}) + "\n" for t, d in pairs))
    (folder / "pool.csv").write_text("topic,doc\n" + "".join(f"{t},{t}-{d}\n" for t, d in pairs))
    (folder / "grades.qrels").write_text("".join(f"{t} 0 {t}-{d} {0 if d % 4 else 3}\n" for t, d in pairs))
    files = {"topics": "topics.txt", "documents": "docs.jsonl", "pool": "pool.csv", "grades": "grades.qrels"}
    sections = "".join(f'[{name}]\nfile = "{file}"\n' for name, file in files.items())
    (folder / "study.toml").write_text(f'[study]\nname = "bench"\n{sections}[known]\n{design}')


def write(path: Path, documents: int) -> None:
    """A file of documents in the format of its ending."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        if path.suffix == ".csv":
            file.write("doc,title,text\n")
        for number in range(documents):
            if path.suffix == ".jsonl":
                file.write(json.dumps({"doc": f"d{number}", "title": f"title {number}", "text": TEXT}) + "\n")
            elif path.suffix == ".csv":
                file.write(f'd{number},title {number},"{TEXT}"\n')
            else:
                file.write(f"<DOC>\n<DOCNO>d{number}</DOCNO>\n<TEXT>\n<P>{TEXT}</P>\n</TEXT>\n</DOC>\n")


def design(folder: Path) -> None:
    from judgewell.study.check import load_study
    from judgewell.study.design.plan import make_design

    study, inputs = load_study(folder / "study.toml")
    made = make_design(study, inputs)
    if made.units.is_empty():
        sys.exit("the design is empty")


def read(path: Path) -> None:
    from judgewell.formats.documents import read_documents

    if read_documents(path).is_empty():
        sys.exit("no documents were read")


def main(verb: str, path: str, *given: str) -> None:
    if verb == "make":
        make(Path(path), int(given[0]), int(given[1]), given[2])
    elif verb == "write":
        write(Path(path), int(given[0]))
    else:
        {"design": design, "read": read}[verb](Path(path))


if __name__ == "__main__":
    main(*sys.argv[1:])
