"""Where the scores that are compared come from: files of scores, or runs scored under gains and draws of gains."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgewell.commands.common import reading
from judgewell.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from judgewell.comparison.scores import ScoreArray
    from judgewell.comparison.worlds import Worlds
    from judgewell.evaluation.settings import Settings

BLOCK = 64  # gain tables scored at once


class Source:
    """Where the scores come from: files of scores, or runs scored under gains."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given
        self.inputs: list[str] = [*given["scores"], *(_named(word)[1] for word in given["gains"])]
        self.inputs += [path for path in (given["draws"], given["judgments"]) if path]
        self.gains: dict[str, pl.DataFrame] = {}
        self.runs: Any = None
        self.score: Any = None  # gains of the documents (draws × rows) -> scores, once worlds were drawn
        self.documents: Any = None
        self.judged: Any = None

    def sets(self) -> dict[str, ScoreArray]:
        """Every set of scores by name."""
        from judgewell.comparison.scores import score_array
        from judgewell.formats.scores import read_scores

        given = self.given
        if given["runs"]:
            return self._scored()
        if given["draws"] or given["judgments"] or given["simulated"] or given["chance"] or given["gains_as"]:
            raise InputError("scores cannot be worked out anew under other gains", cure="give --runs and --gains")
        from dataclasses import replace

        from judgewell.evaluation.summary import measure_limits

        def limited(one: ScoreArray) -> ScoreArray:
            return replace(one, limits=measure_limits(one.measure))

        how = reading(given, "scores")
        how["measure"] = given["measure"]
        del how["words"]
        return {
            name: limited(score_array(read_scores(path, **how), given["measure"], missing=given["missing"]))
            for name, path in _names(given["scores"]).items()
        }

    def worlds(self, values: ScoreArray) -> dict[str, Worlds]:
        """Over topics; with draws also over judgments, and both."""
        from judgewell.comparison.worlds import all_worlds, topic_worlds

        given = self.given
        if len(values.topics) < 2:
            return {}
        if not (given["draws"] or given["judgments"]):
            return {"topics": topic_worlds(values.systems, values.values, given["worlds"], seed=given["seed"])}
        from judgewell.evaluation.measures import parse
        from judgewell.evaluation.resampled import ranked_items

        measure = parse(given["measure"] or "nDCG@10")
        if measure.cutoff is None:
            raise InputError(f"{measure} looks at whole rankings", cure=f"give it a cutoff to resample: {measure}@100")
        table, blocks = self._draws(next(iter(self.gains.values())))
        rankings = ranked_items(self.runs, table, measure.cutoff, self._settings())
        rows = [rankings.systems.index(name) for name in values.systems]
        columns = [rankings.topics.index(name) for name in values.topics]

        def score(gains: Any) -> Any:
            return rankings.scores(measure, gains)[:, rows][..., columns]

        self.score, self.documents = score, table
        point = score(table["gain"].to_numpy()[None])[0]
        return all_worlds(values.systems, point, score, blocks, given["worlds"], seed=given["seed"])

    def judges_needed(self, values: ScoreArray) -> pl.DataFrame:
        """How sure the order of the two systems is with more or fewer judges of each document."""
        from judgewell.comparison.design import judges_needed

        by_document = self.judged.group_by("topic", "doc").agg("value")
        joined = self.documents.select("topic", "doc").join(
            by_document, on=["topic", "doc"], how="left", maintain_order="left"
        )
        judgments = [one.to_numpy() for one in joined["value"]]
        pair, size, seed = self.given["tell_apart"], self.given["worlds"], self.given["seed"]
        return judges_needed(self.score, judgments, values.systems, *pair, simulations=size, seed=seed)

    def _scored(self) -> dict[str, ScoreArray]:
        """The runs scored under every set of gains."""
        from judgewell.comparison.scores import score_array
        from judgewell.evaluation.evaluate import scores_table, system_scores, topic_names
        from judgewell.evaluation.measures import parse_all
        from judgewell.formats.runs import open_runs
        from judgewell.terminal import progress

        given, settings = self.given, self._settings()
        self.gains = self._gains()
        self.runs = open_runs(list(given["runs"]))
        self.inputs += [run.source for run in self.runs if run.source]
        if given["simulated"]:
            self.runs = self._simulated()
        measures = parse_all([given["measure"] or "nDCG@10"])
        found = {}
        with progress("scoring") as show:
            for name, table in self.gains.items():
                results = list(system_scores(self.runs, table, measures, settings, progress=show))
                found[name] = score_array(
                    scores_table(results, topic_names(table), measures),
                    missing=given["missing"],
                    limits=measures[0].limits,
                )
        return found

    def _settings(self) -> Settings:
        from judgewell.evaluation.settings import Settings

        given = self.given
        return Settings(order=given["order"], precision=given["precision"], unjudged=given["unjudged"])

    def _gains(self) -> dict[str, pl.DataFrame]:
        """Every gains table by name: each file under each transform, and random labels."""
        import numpy as np
        import polars as pl

        from judgewell.comparison.simulated import random_draws
        from judgewell.evaluation.transform import parse_transform
        from judgewell.formats.gains import read_gains

        given = self.given
        found: dict[str, pl.DataFrame] = {}
        words = reading(given, "judgments", "gains")["words"]
        for name, path in _names(given["gains"]).items():
            table = read_gains(path, negative=given["negative"], words=words)
            for text in given["gains_as"] or ("linear",):
                whole = f"{name} {text}" if given["gains_as"] else name
                found[whole] = table if text == "linear" else parse_transform(text)(table)
        if given["chance"]:
            table = found[given["reference"] or next(iter(found))]
            dealt = np.concatenate(list(random_draws(table, 1, seed=given["seed"])))[0]
            found["random"] = table.with_columns(pl.Series("gain", dealt))
        return found

    def _simulated(self) -> Any:
        """Systems made of complete sub-runs under the first gains, their topics the only ones kept."""
        import polars as pl

        from judgewell.comparison.simulated import simulated_systems
        from judgewell.formats.runs import open_runs

        whole = [
            run.frame(ranks=False).select("topic", "doc", "score").with_columns(pl.lit(run.system).alias("system"))
            for run in self.runs
        ]
        runs = simulated_systems(
            pl.concat(whole), next(iter(self.gains.values())), self.given["simulated"], seed=self.given["seed"]
        )
        kept = runs["topic"].unique()
        self.gains = {name: table.filter(pl.col("topic").is_in(kept.implode())) for name, table in self.gains.items()}
        return open_runs(runs)

    def _draws(self, gains: pl.DataFrame) -> tuple[pl.DataFrame, Iterator[Any]]:
        """The documents with their gains, and blocks of other gains for them."""
        from judgewell.comparison.simulated import individual_draws
        from judgewell.formats.frames import read_frame

        given = self.given
        if given["judgments"]:
            from judgewell.formats.judgments import read_judgments

            self.judged = read_judgments(given["judgments"], **reading(given, "judgments"))
            return gains, individual_draws(self.judged, gains, given["worlds"], seed=given["seed"])
        table = read_frame(given["draws"])
        drawn = [name for name in table.columns if name.startswith("draw")]
        if not {"topic", "doc"} <= set(table.columns) or not drawn:
            raise InputError(
                "there are no columns topic, doc, draw1, …",
                cure="write them with judgewell scale --draws-to",
                file=given["draws"],
            )
        documents = table.select("topic", "doc").join(
            gains, on=["topic", "doc"], how="left", maintain_order="left", validate="1:1"
        )
        lost = documents["gain"].null_count(), len(gains) - len(documents) + documents["gain"].null_count()
        if any(lost):
            raise InputError(
                f"{lost[0]} of its documents have no gain and {lost[1]} of the gains' documents are not in it",
                cure="make gains and draws in one go: judgewell scale -o --draws-to",
                file=given["draws"],
            )
        return documents, _blocks(table.select(drawn))


def _blocks(drawn: pl.DataFrame) -> Iterator[Any]:
    for start in range(0, drawn.width, BLOCK):
        yield drawn[:, start : start + BLOCK].to_numpy().T


def _named(word: str) -> tuple[str, str]:
    """NAME=FILE, or a file and no name."""
    name, sign, path = word.partition("=")
    return (name, path) if sign and not Path(word).exists() else ("", word)


def _names(words: tuple[str, ...]) -> dict[str, str]:
    """A name for every file: the one given, or the file's own without its endings; its path where two would clash."""
    from judgewell.formats.files import stem

    pairs = [_named(word) for word in words]
    names = [name or stem(path) for name, path in pairs]
    found = {(name if names.count(name) == 1 else path): path for name, (_, path) in zip(names, pairs, strict=True)}
    if len(found) < len(words):
        raise InputError("a file is named twice", cure="name each once, or give it two names: a=FILE b=FILE")
    return found
