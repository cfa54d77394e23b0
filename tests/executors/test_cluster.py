"""A real scheduler with two worker processes: every command gives the bytes it gives alone."""

import http.server
import logging
import sys
import threading
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from local_cluster import Cluster

import judgewell
from judgewell import sample
from judgewell.assessors.value import Alternative, expected_value
from judgewell.cli import app, main
from judgewell.errors import ClusterError, InputError
from judgewell.executors import executor_at
from judgewell.papers import paper as paper_named
from judgewell.papers.data import Asked
from judgewell.papers.items import made_items

pytest.importorskip("distributed")
pytestmark = pytest.mark.long  # three processes that load everything; executors of one machine are tested always
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with Cluster(tmp_path_factory.mktemp("cluster"), 2) as started:
        yield started


@pytest.fixture(scope="module")
def executor(cluster):
    with executor_at(cluster.address, None) as executor:
        yield executor


def run(*words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False, standalone_mode=False)
    return result.output


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def same_bytes(cluster: Cluster, tmp_path: Path, monkeypatch, *words: object, except_for: str = "") -> None:
    """Run a command alone and on the cluster, in two folders where it may write; all it prints and writes is equal,
    but for a database, whose secrets are random."""
    seen = []
    for where in ((), ("--cluster", cluster.address)):
        folder = tmp_path / ("there" if where else "here")
        folder.mkdir()
        monkeypatch.chdir(folder)
        printed = run(*words, *where)
        if except_for:
            Path(except_for).unlink()
        seen.append((printed, contents(folder)))
    assert seen[0][1]
    assert seen[0] == seen[1]


def _magnitudes(levels: pl.DataFrame) -> pl.DataFrame:
    """Every document of five topics judged by four assessors in units of up to eight."""
    rng = np.random.default_rng(1)
    rows = []
    parts = levels.partition_by("topic", as_dict=True, maintain_order=True)
    for (topic,), part in list(parts.items())[:5]:
        for start in range(0, min(24, part.height), 8):
            for who in rng.permutation(9)[:4]:
                for doc, gain in part[start : start + 8].select("doc", "gain").rows():
                    value = round(float(10 * np.exp(0.8 * gain + 0.1 * who + rng.normal(0, 0.5))), 1)
                    rows.append((topic, doc, f"a{who}", f"u{topic}-{start}-{who}", value, int(gain)))
    names = ["topic", "doc", "assessor", "unit", "value", "level"]
    return pl.DataFrame(rows, schema=names, orient="row").with_columns(kind=pl.lit("ratio"))


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The sample's runs, levels and judgments as files, and gains with draws."""
    folder = tmp_path_factory.mktemp("study")
    sample.levels().write_csv(folder / "levels.csv")
    _magnitudes(sample.levels()).write_csv(folder / "judgments.csv")
    for path in (sample.folder() / "runs").glob("*.run.gz"):
        (folder / path.name).write_bytes(path.read_bytes())
    run("scale", folder / "judgments.csv", "--method", "magnitude", "-o", folder / "gains.csv", "--draws", "70",
        "--draws-to", folder / "draws.parquet")  # fmt: skip
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ("-o", "scores.parquet", "-m", "nDCG@10", "-m", "ERR(gmax=3)@5"),
    ],
)
def test_evaluate_writes_the_same(cluster, study, tmp_path, monkeypatch, words):
    same_bytes(cluster, tmp_path, monkeypatch, "evaluate", study / "levels.csv", study / "*.run.gz", *words)


@pytest.mark.parametrize("words", [
    ("--gains", "levels.csv", "--test", "randomisation", "--worlds", 700, "--replicates", 1300),
    ("--gains", "gains.csv", "--draws", "draws.parquet", "--test", "bootstrap", "--top-test", "bootstrap"),
    ("--gains", "gains.csv", "--judgments", "judgments.csv", "--separate", "latent", "fusion", "--worlds", 150),
])  # fmt: skip
def test_compare_writes_the_same(cluster, study, tmp_path, monkeypatch, words):
    words = [study / word if str(word).endswith((".csv", ".parquet")) else word for word in words]
    same_bytes(
        cluster, tmp_path, monkeypatch, "compare", "--runs", *sorted(study.glob("*.run.gz")), *words, "-o", "out"
    )


@pytest.mark.parametrize("method", ["magnitude", "mean", "two-way(components=separate)"])
def test_scale_writes_the_same(cluster, study, tmp_path, monkeypatch, method):
    words = "--interval", "bootstrap", "--draws", 70, "-o", "gains.csv", "--draws-to", "draws.parquet"
    same_bytes(cluster, tmp_path, monkeypatch, "scale", study / "judgments.csv", "--method", method, *words)


def test_agree_writes_the_same(cluster, study, tmp_path, monkeypatch):
    words = study / "levels.csv", "--replicates", 50, "-o", "agreement", "-v"
    same_bytes(cluster, tmp_path, monkeypatch, "agree", study / "judgments.csv", *words)


def test_report_writes_the_same(cluster, study, tmp_path, monkeypatch):
    words = "--judgments", study / "judgments.csv", "--labels", study / "levels.csv", "--draws", 40, "--worlds", 300
    runs = sorted(study.glob("*.run.gz"))
    same_bytes(cluster, tmp_path, monkeypatch, "report", "-o", "report.html", *words, "--runs", *runs)


def test_reproduce_writes_the_same(cluster, tmp_path, monkeypatch):
    items = "--item", "table 1", "--item", "figure 1"
    same_bytes(cluster, tmp_path, monkeypatch, "reproduce", "prm15", "-o", "paper", "--draws", 20, *items)


def test_items_of_a_paper_are_the_same(executor, study):
    paper, files = paper_named("sigir15"), {"judgments": str(study / "judgments.csv")}
    items = paper.chosen(["table 2", "figure 2"])
    seen = []
    for workers in (None, executor):
        outcomes = list(made_items(paper, items, Asked(**files), workers))
        grids = [
            one.frame.write_csv() for out in outcomes if out.made for one in out.made.shown if hasattr(one, "frame")
        ]
        seen.append((grids, [(one.item, one.reason, one.notes, one.made_from) for one in outcomes]))
    assert seen[0] == seen[1]


def test_designs_are_worth_the_same(executor):
    designs = Alternative("magnitude"), Alternative("pairs", 12)
    given = {"documents": 10, "topics": 2, "hours": 20, "seed": 3, "rounds": 5}
    assert expected_value(designs, **given, executor=executor).equals(expected_value(designs, **given))


def test_design_compares_the_same(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr("judgewell.commands.study.ROUNDS", 4)
    run("new", tmp_path / "study")
    same_bytes(cluster, tmp_path, monkeypatch, "design", tmp_path / "study" / "study.toml", "--compare", "-o", "design")


def test_simulate_writes_the_same(cluster, tmp_path, monkeypatch):
    run("new", tmp_path / "study")
    words = tmp_path / "study" / "study.toml", "--assessors", 20, "--studies", 4, "-o", "data", "--database", "s.sqlite"
    same_bytes(cluster, tmp_path, monkeypatch, "simulate", *words, except_for="s.sqlite")


def test_relative_paths_begin_where_the_command_was_given(cluster, tmp_path, monkeypatch):
    monkeypatch.chdir(EXAMPLES)
    alone = run("evaluate", "tiny.qrels", "*.run", "-q", "-m", "nDCG@5")
    assert run("evaluate", "tiny.qrels", "*.run", "-q", "-m", "nDCG@5", "--cluster", cluster.address) == alone


def test_workers_read_addresses_and_the_client_does_not(cluster, monkeypatch):
    """The server keeps who read which file; on a cluster the runs are read by other processes."""
    pytest.importorskip("aiohttp")
    read: list[tuple[str, int]] = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            read.append((self.path, self.client_address[1]))
            super().do_GET()

        def log_message(self, *words: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(EXAMPLES)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    there = f"http://127.0.0.1:{server.server_port}"
    words = "evaluate", f"{there}/tiny.qrels", f"{there}/keywords.run", f"{there}/reranked.run", "-q"
    alone = run(*words)
    opened = []
    monkeypatch.setattr("judgewell.formats.files.opened_remote", watched(opened))
    try:
        assert run(*words, "--cluster", cluster.address) == alone
    finally:
        server.shutdown()
        server.server_close()
    assert {path for path, _ in read} == {"/tiny.qrels", "/keywords.run", "/reranked.run"}
    assert set(opened) == {f"{there}/tiny.qrels"}  # by this process


def watched(opened: list[str]):
    """`opened_remote`, keeping what it opens."""
    from judgewell.formats.remote import opened_remote

    def open_and_keep(path: str):
        opened.append(path)
        return opened_remote(path)

    return open_and_keep


def test_notes_and_errors_come_back(cluster, tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n")
    (tmp_path / "good.run").write_text("1 Q0 a 1 2.0 x\n1 Q0 b 2 1.0 y\n9 Q0 b 2 1.0 x\n")
    (tmp_path / "bad.run").write_text("1 Q0 a 1 2.0 bad\n1 Q0 b 2 one bad\n")
    words = "evaluate", tmp_path / "qrels", tmp_path / "good.run"
    alone = run(*words)
    assert "note: " in alone
    assert run(*words, "--cluster", cluster.address) == alone
    seen = []
    for where in ((), ("--cluster", cluster.address)):
        with pytest.raises(InputError) as refused:
            run(*words, tmp_path / "bad.run", *where)
        seen.append(str(refused.value))
    assert seen[0] == seen[1]
    assert "bad.run:2:" in seen[0]


def test_a_client_is_an_executor(executor):
    scores = judgewell.evaluate(str(EXAMPLES / "*.run"), str(EXAMPLES / "tiny.qrels"), "nDCG@5")
    for given in (executor.client, executor.client.get_executor(), executor):
        there = judgewell.evaluate(str(EXAMPLES / "*.run"), str(EXAMPLES / "tiny.qrels"), "nDCG@5", executor=given)
        assert there.equals(scores)


def test_the_address_in_dasks_configuration(cluster):
    import dask

    with dask.config.set({"scheduler-address": cluster.address}), executor_at("dask", None) as executor:
        assert executor.address == cluster.address


def test_dask_prints_no_tracebacks_of_its_own(cluster):
    """Its client logs a traceback when the scheduler goes away, at a level that its own configuration sets."""
    logger = logging.getLogger("distributed.client")
    logger.setLevel(logging.WARNING)
    executor_at(cluster.address, None).close()
    assert not logger.isEnabledFor(logging.ERROR)


def test_a_worker_of_another_version_is_refused(cluster, executor):
    other = cluster.worker("import judgewell._version as own; own.__version__ = '0.0.7'\n")
    try:
        executor.client.wait_for_workers(3)
        with pytest.raises(ClusterError, match=rf"has judgewell 0.0.7 and this is judgewell {judgewell.__version__}"):
            executor_at(cluster.address, None)
        with pytest.raises(ClusterError, match=r"has judgewell 0\.0\.7 and this"):  # it joined while work went on
            list(executor.map(pow, range(200), 2))
    finally:
        other.kill()
        other.wait()


@pytest.fixture
def own_cluster(tmp_path):
    with Cluster(tmp_path, 2) as started:
        yield started


def many_runs(folder: Path, count: int = 40) -> None:
    folder.mkdir()
    (folder / "qrels").write_text("".join(f"{topic} 0 d{doc} {doc % 3}\n" for topic in range(9) for doc in range(20)))
    for number in range(count):
        lines = [
            f"{topic} Q0 d{doc} 0 {(7 * doc + number * topic) % 23} s{number}\n"
            for topic in range(9)
            for doc in range(20)
        ]
        (folder / f"{number:02}.run").write_text("".join(lines))


def test_workers_killed_three_times_and_late_ones_change_nothing(own_cluster, tmp_path):
    many_runs(tmp_path / "runs")
    given = str(tmp_path / "runs" / "*.run"), str(tmp_path / "runs" / "qrels"), "nDCG@10"
    killed = []

    def kill(done: int, total: int) -> None:
        if done in (4, 12, 20):
            victim = own_cluster.workers.pop(0)
            victim.kill()
            victim.wait()
            killed.append(victim)
            own_cluster.workers.append(own_cluster.worker())  # joins late; in the end only such workers are left

    with executor_at(own_cluster.address, None) as executor:
        there = judgewell.evaluate(*given, executor=executor, progress=kill)
    assert len(killed) == 3
    assert there.equals(judgewell.evaluate(*given))


def test_when_the_scheduler_goes_away_what_is_finished_is_kept(own_cluster, tmp_path, monkeypatch, capsys):
    many_runs(tmp_path / "runs")
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    words = "evaluate", tmp_path / "runs" / "qrels", tmp_path / "runs" / "*.run", "-m", "nDCG@10", "-o", "scores.csv"
    monkeypatch.chdir(tmp_path / "here")
    alone = run(*words)
    monkeypatch.chdir(tmp_path / "there")

    @contextmanager
    def killing(what: str):
        def show(done: int, total: int) -> None:
            if done == 12:
                own_cluster.scheduler.kill()
                own_cluster.scheduler.wait()

        yield show

    with monkeypatch.context() as patch:
        patch.setattr("judgewell.terminal.progress", killing)
        patch.setattr(sys, "argv", ["judgewell", *map(str, words), "--cluster", own_cluster.address])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1] == f"judgewell: the scheduler at {own_cluster.address} went away before the work was done"
    assert "finished parts are kept in scores.csv.partial" in lines[-2]
    assert Path("scores.csv.partial").is_file()
    resumed = run(*words, "--processes", 1)
    again = [line for line in resumed.splitlines() if line.endswith("parts were finished before (scores.csv.partial)")]
    assert len(again) == 1
    assert resumed.replace(f"{again[0]}\n", "") == alone
    assert contents(tmp_path / "here") == contents(tmp_path / "there")
