"""Runs and judgments of the usual shapes, made up from a seed: what the benchmark reads.

many   129 systems, 50 topics, 1000 documents each, about 1,700 judged documents a topic (a TREC ad hoc track); also
       compressed by gzip, as CSV and as Parquet
wide   1 system, 100,000 topics, 100 documents each, a few judged a topic (MS MARCO passages)
long   1 system, 10,000 topics, 1000 documents each, some 30 judged a topic; also its first 10 % and 30 %

Scores have six decimals, one in a hundred ties with the one above it, and every run is sorted.

`--large TOPICS DEPTH` makes one run of any size instead, a thousand topics at a time.
"""

from __future__ import annotations

import argparse
import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

SEED = 20150809
PARTS = ("FBIS3", "FBIS4", "FR940104-0", "FT911", "FT923", "FT934", "FT944", "LA010189", "LA052490", "LA123190")
RUN = ["topic", "q0", "doc", "rank", "score", "tag"]
PRIME = 8_841_787  # about as many passages as MS MARCO has; steps modulo a prime never meet twice


@dataclass(frozen=True)
class Sizes:
    """How much of each shape."""

    systems: int = 129
    topics: int = 50
    candidates: int = 5000
    judged: int = 1700
    wide: int = 100_000
    long: int = 10_000


FULL = Sizes()
QUICK = Sizes(systems=12, wide=4_000, long=500)


def run_scores(first: NDArray[np.float64], shape: tuple[int, int], rng: np.random.Generator) -> NDArray[np.float64]:
    """Falling scores for topics × ranks, each topic beginning near `first`; one in a hundred repeats the one above."""
    steps = rng.exponential(0.01, shape)
    steps[:, 1:][rng.random((shape[0], shape[1] - 1)) < 0.01] = 0.0
    return first[:, None] - np.cumsum(steps, axis=1)


def write_run(path: Path, topic: pl.Series, doc: pl.Series, depth: int, score: NDArray[np.float64], tag: str) -> None:
    """The six columns of a TREC run; the rows are already in order."""
    frame = pl.DataFrame(
        {
            "topic": topic,
            "q0": pl.Series(["Q0"]).new_from_index(0, len(topic)),
            "doc": doc,
            "rank": np.tile(np.arange(1, depth + 1), len(topic) // depth),
            "score": score.ravel(),
            "tag": pl.Series([tag]).new_from_index(0, len(topic)),
        }
    )
    frame.write_csv(path, separator=" ", include_header=False, float_precision=6)


def write_qrels(path: Path, topic: pl.Series, doc: pl.Series, grade: NDArray[np.int64]) -> None:
    frame = pl.DataFrame({"topic": topic, "zero": np.zeros(len(topic), np.int8), "doc": doc, "grade": grade})
    frame.write_csv(path, separator=" ", include_header=False)


def repeated(ids: pl.Series, times: int) -> pl.Series:
    """Each id `times` times in a row."""
    return ids.gather(np.repeat(np.arange(len(ids), dtype=np.uint32), times))


def make_many(folder: Path, sizes: Sizes, rng: np.random.Generator) -> None:
    """Systems of different quality rank the same candidates of each topic.

    A system sees a document's grade, how alluring the document is to every system, and noise of its own; the better
    the system, the more the grade weighs. The pool that was judged holds what is relevant and what is most alluring.
    """
    shape = (sizes.topics, sizes.candidates)
    allure = rng.normal(size=shape)
    relevant = rng.random(shape) < rng.uniform(0.002, 0.04, (sizes.topics, 1))  # 10 to 200 relevant documents a topic
    grade = np.where(relevant, 1 + rng.binomial(2, 0.35, shape), 0)
    likely = allure + 3.0 * (grade > 0)
    judged = np.argsort(-likely, axis=1)[:, : sizes.judged]
    names = pl.DataFrame({"part": np.array(PARTS)[rng.integers(0, len(PARTS), shape)].ravel()})
    numbers = np.concatenate([rng.permutation(90_000)[: sizes.candidates] + 1 for _ in range(sizes.topics)])
    docs = names.select(doc=pl.concat_str("part", pl.lit("-"), pl.Series(numbers)))["doc"]
    topics = pl.Series([str(401 + number) for number in range(sizes.topics)])
    start = np.arange(sizes.topics)[:, None] * sizes.candidates
    write_qrels(
        folder / "many.qrels",
        repeated(topics, sizes.judged),
        docs.gather((start + judged).ravel()),
        np.take_along_axis(grade, judged, axis=1).ravel(),
    )
    for system in range(sizes.systems):
        quality = rng.uniform(0.5, 2.0)
        seen = quality * grade + 0.8 * allure + rng.normal(size=shape)
        ranked = np.argsort(-seen, axis=1)[:, :1000]
        tag = f"sys{system + 1:03d}"
        scores = run_scores(rng.uniform(18, 30, sizes.topics), ranked.shape, rng)
        path = folder / "many" / f"{tag}.run"
        write_run(path, repeated(topics, 1000), docs.gather((start + ranked).ravel()), 1000, scores, tag)


def make_single(
    folder: Path,
    name: str,
    topics: int,
    depth: int,
    judged: int,
    spell: pl.Expr,
    rng: np.random.Generator,
    ids: pl.Series | None = None,
) -> None:
    """One system; `judged` documents a topic, most of them ranked early, every fifth not found at all."""
    if ids is None:
        ids = pl.Series(np.sort(rng.choice(np.arange(100_000, 1_200_000), topics, replace=False))).cast(pl.String)
    offset, step = rng.integers(0, PRIME, (topics, 1)), rng.integers(1, PRIME, (topics, 1))
    docs = pl.DataFrame({"number": ((offset + step * np.arange(depth)) % PRIME).ravel()}).select(spell)["doc"]
    scores = run_scores(rng.uniform(60, 90, topics), (topics, depth), rng)
    write_run(folder / f"{name}.run", repeated(ids, depth), docs, depth, scores, name)

    place = np.cumsum(rng.geometric(min(0.5, 2.0 * judged / depth), (topics, judged)), axis=1) - 1  # distinct ranks
    grade = rng.binomial(3, 0.45 * np.exp(-place / depth * 4))
    missed = rng.random(place.shape) < 0.2
    numbers = (offset + step * np.where(missed, 1000 * depth + place, place)) % PRIME
    grade[:, 0] = np.maximum(grade[:, 0], 1)
    judged_docs = pl.DataFrame({"number": numbers.ravel()}).select(spell)["doc"]
    write_qrels(folder / f"{name}.qrels", repeated(ids, judged), judged_docs, grade.ravel())


def make_copies(folder: Path) -> None:
    """The runs of `many` as other files hold them."""
    for kind in ("gz", "csv", "parquet"):
        (folder / f"many-{kind}").mkdir(exist_ok=True)
    for path in sorted((folder / "many").glob("*.run")):
        data = path.read_bytes()
        (folder / "many-gz" / f"{path.name}.gz").write_bytes(gzip.compress(data, 6))
        frame = pl.read_csv(data, separator=" ", has_header=False, infer_schema=False, new_columns=RUN)
        frame = frame.select("topic", "doc", pl.col("score").cast(pl.Float64))
        frame.write_csv(folder / "many-csv" / f"{path.stem}.csv")
        frame.write_parquet(folder / "many-parquet" / f"{path.stem}.parquet")


def make_large(folder: Path, topics: int, depth: int) -> None:
    """One system, three judged documents a topic; written a block of topics at a time."""
    folder.mkdir(parents=True, exist_ok=True)
    spell = pl.col("number").cast(pl.String).alias("doc")
    block = max(1, 1_000_000 // depth)
    with (folder / "large.run").open("wb") as run, (folder / "large.qrels").open("wb") as qrels:
        for first in range(0, topics, block):
            ids = pl.Series(np.arange(first, min(first + block, topics)) + 1).cast(pl.String)
            made = folder / "block"
            make_single(made.parent, made.name, len(ids), depth, 3, spell, np.random.default_rng([SEED, first]), ids)
            for file, kind in ((run, "run"), (qrels, "qrels")):
                file.write(made.with_suffix(f".{kind}").read_bytes())
                made.with_suffix(f".{kind}").unlink()


def make_part(folder: Path, name: str, share: float) -> None:
    """The first topics of a run and their judgments, for how time grows with size; all topics have as many lines."""
    for kind in ("run", "qrels"):
        whole = pl.read_csv(folder / f"{name}.{kind}", separator=" ", has_header=False, infer_schema=False)
        part = whole.head(round(len(whole) * share))
        part.write_csv(folder / f"{name}-{share * 100:.0f}.{kind}", separator=" ", include_header=False)


def make(folder: Path, sizes: Sizes) -> None:
    """All the files, unless a finished folder of the same sizes and seed is there."""
    mark, made = folder / "made", f"{sizes} seed {SEED} prime {PRIME}\n"
    if mark.exists() and mark.read_text() == made:
        return
    (folder / "many").mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(SEED)
    make_many(folder, sizes, rng)
    make_copies(folder)
    make_single(folder, "wide", sizes.wide, 100, 3, pl.col("number").cast(pl.String).alias("doc"), rng)
    number = pl.col("number")
    long_name = pl.format("msmarco_doc_{}_{}", (number % 60).cast(pl.String).str.zfill(2), number * 97).alias("doc")
    make_single(folder, "long", sizes.long, 1000, 30, long_name, rng)
    make_part(folder, "long", 0.1)
    make_part(folder, "long", 0.3)
    mark.write_text(made)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--large", type=int, nargs=2, metavar=("TOPICS", "DEPTH"), help="one run of this size")
    given = parser.parse_args()
    if given.large:
        make_large(given.folder, *given.large)
    else:
        make(given.folder, QUICK if given.quick else FULL)


if __name__ == "__main__":
    main()
