"""What the items on predicted relevance are made from: sets of double judgments, one of them with runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from judgewell.agreement.confusion import as_judgments
from judgewell.errors import DataError
from judgewell.evaluation.resampled import Rankings, ranked_items
from judgewell.formats.gains import read_gains
from judgewell.formats.runs import Run, open_runs
from judgewell.papers import synthetic
from judgewell.papers.data import Asked, coded_judgments, read_asked_judgments, read_asked_runs, read_labels

JUDGE = "Olz-exp.txt"  # of LLMJudge: the first by name that uses all four grades more than a few times


@dataclass(frozen=True)
class Doubles:
    """Documents judged by two assessors or more on grades, and runs of them; `name` heads its columns."""

    source: str
    name: str
    judgments: pl.DataFrame
    runs: tuple[Run, ...] = ()

    @cached_property
    def grades(self) -> list[float]:
        return [float(grade) for grade in self.judgments["value"].unique().sort()]

    @property
    def top(self) -> float:
        return self.grades[-1]

    @property
    def marginal(self) -> float:
        return self.grades[1]

    @cached_property
    def assessors(self) -> dict[str, pl.DataFrame]:
        """The grades of the first two assessors for documents that both judged, in one order."""
        names = sorted(self.judgments["assessor"].unique().to_list())[:2]
        if len(names) < 2:
            raise DataError("systems under two assessors' grades need two assessors who graded the same documents")
        one, other = (
            self.judgments.filter(pl.col("assessor") == name).unique(["topic", "doc"], keep="first") for name in names
        )
        both = one.join(other, on=["topic", "doc"], suffix="_other").sort("topic", "doc")
        if both.is_empty():
            raise DataError(
                f"{names[0]} and {names[1]} graded no document both; robustness needs documents that both did"
            )
        return {
            "U1": both.select("topic", "doc", gain="value"),
            "U2": both.select("topic", "doc", gain="value_other"),
        }

    @cached_property
    def first(self) -> pl.DataFrame:
        """Every document with its first judgment as gain, as single judgments would be used."""
        first = self.judgments.unique(["topic", "doc"], keep="first", maintain_order=True)
        return first.select("topic", "doc", gain="value").sort("topic", "doc")

    def ranked(self, gains: pl.DataFrame, depth: int) -> Rankings:
        if not self.runs:
            raise DataError("there are no runs to measure; give --runs")
        return ranked_items(self.runs, gains, depth)


@dataclass(frozen=True)
class Data:
    """`pages` takes the place of the paper's FedWeb13 pages, `snippets` of its snippets, `intent` of INTENT-2."""

    pages: Doubles
    snippets: Doubles
    intent: Doubles
    seed: int = 0

    @property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)


def read(asked: Asked) -> Data:
    """The user's judgments (or two or more sets of labels, each an assessor); else public sets; else synthetic ones."""
    own = read_asked_judgments(asked)
    if own is None and len(asked.labels) > 1:
        own = as_judgments(read_labels(asked))
    if own is not None:
        name = asked.judgments or " and ".join(asked.labels.values())
        given = Doubles(f"the judgments in {name}", "given", own, read_asked_runs(asked))
        return Data(given, given, given, asked.seed)
    return Data(
        _dl21(asked) or _synthetic(asked.seed, 4),
        _llmjudge(asked) or _synthetic(asked.seed + 1, 4),
        _nyt(asked) or _synthetic(asked.seed + 2, 3),
        asked.seed,
    )


def _dl21(asked: Asked) -> Doubles | None:
    grades, runs = asked.data_file("trec-dl21", "qrels.nist.txt"), asked.data_file("trec-dl21", "runs")
    second = asked.data_file("trec-dl21", "labels", "gpt-4o__umbrela__umbrela_zeroshot_dl21.clean.json.gz")
    if grades is None or runs is None or second is None:
        return None
    nist = read_gains(grades)
    other = read_gains(second).join(nist, on=["topic", "doc"], how="semi")
    source = "trec-dl21: the passages' grades by NIST (U1) and by a language model (umbrela, U2), and the 63 runs"
    judgments = as_judgments({"NIST": nist, "umbrela": other})
    return Doubles(source, "DL21 passages", judgments, tuple(open_runs(str(runs / "*"))))


def _llmjudge(asked: Asked) -> Doubles | None:
    human, machine = asked.data_file("llmjudge", "human.qrels"), asked.data_file("llmjudge", "submissions", JUDGE)
    if human is None or machine is None:
        return None
    judgments = as_judgments({"human": read_gains(human), "machine": read_gains(machine)})
    return Doubles(
        f"llmjudge: passages' grades by people and by the machine judge {machine.stem}", "LLMJudge", judgments
    )


def _nyt(asked: Asked) -> Doubles | None:
    path = asked.data_file("nyt-crowd", "judgments.csv.gz")
    if path is None:
        return None
    graded = coded_judgments(path).filter(pl.col("scale") == "ordinal")
    source = (
        "nyt-crowd: news articles on three grades, each by some 15 crowd workers, in the interfaces with three grades"
    )
    return Doubles(source, "NYT articles", graded.with_columns(type=pl.col("pilot")))


def _synthetic(seed: int, grades: int) -> Doubles:
    judgments = synthetic.double_study(seed, grades=grades)
    runs = synthetic.rankings(judgments.select("topic", "doc", "relevance").unique(), seed, systems=20, depth=20)
    source = f"a synthetic study: 50 topics of 60 documents, {grades} grades by two synthetic assessors, made-up runs"
    return Doubles(source, f"synthetic, {grades} grades", judgments.drop("relevance"), runs)
