"""Files that lie elsewhere: a real HTTP server and a real S3-compatible one, both on the loopback."""

import gzip
import http.server
import json
import os
import re
import subprocess
import sys
import threading
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

import pytest

import judgewell
from judgewell.errors import InputError
from judgewell.formats.files import mark, matching, named_file, open_bytes
from judgewell.formats.provenance import digest
from judgewell.formats.remote import is_remote

pytest.importorskip("s3fs")
EXAMPLES = Path(__file__).parents[2] / "examples"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words: object) -> None:
        pass


def copies(folder: Path) -> None:
    """The examples, two of the runs compressed."""
    for path in (EXAMPLES / "tiny.qrels", EXAMPLES / "reranked.run"):
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "keywords.run.gz").write_bytes(gzip.compress((EXAMPLES / "keywords.run").read_bytes()))
    zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    packed = zstd.compress((EXAMPLES / "expanded.run").read_bytes())
    (folder / "expanded.run.zst").write_bytes(packed)


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    folder = tmp_path_factory.mktemp("web")
    copies(folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def bucket(tmp_path_factory):
    """s3://runs on moto's server; where it is and who we are stands in the environment, as fsspec reads it."""
    import boto3
    from moto.server import ThreadedMotoServer

    folder = tmp_path_factory.mktemp("bucket")
    copies(folder)
    server = ThreadedMotoServer("127.0.0.1", 0)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "us")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "ours")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        client = boto3.client("s3")
        client.create_bucket(Bucket="runs")
        for path in folder.iterdir():
            client.put_object(Bucket="runs", Key=f"all/{path.name}", Body=path.read_bytes())
        yield "s3://runs/all"
    server.stop()


@pytest.mark.parametrize("where", ["web", "bucket"])
def test_runs_and_gains_are_read_where_they_lie(where, request):
    there = request.getfixturevalue(where)
    here = judgewell.evaluate(str(EXAMPLES / "*.run"), str(EXAMPLES / "tiny.qrels"), "nDCG@5")
    runs = [f"{there}/{name}" for name in ("expanded.run.zst", "keywords.run.gz", "reranked.run")]
    assert (
        judgewell.evaluate(runs, f"{there}/tiny.qrels", "nDCG@5")
        .sort("system", "topic")
        .equals(here.sort("system", "topic"))
    )
    assert digest(f"{there}/tiny.qrels") == digest(EXAMPLES / "tiny.qrels")
    assert open_bytes(f"{there}/keywords.run.gz") == (EXAMPLES / "keywords.run").read_bytes()
    assert mark(f"{there}/tiny.qrels")
    with pytest.raises(InputError, match=r"none\.run: there is no such file"):
        open_bytes(f"{there}/none.run")


def test_patterns_in_a_bucket(bucket):
    assert matching(f"{bucket}/*.run*") == [
        f"{bucket}/{name}" for name in ("expanded.run.zst", "keywords.run.gz", "reranked.run")
    ]
    with pytest.raises(InputError, match="no file matches"):
        matching(f"{bucket}/*.parquet")


def test_a_bucket_that_may_not_be_read(bucket):
    with pytest.raises(InputError, match=r"s3://others/x\.run: "):
        open_bytes("s3://others/x.run")


def test_an_error_of_a_library_that_the_first_use_loads(monkeypatch):
    monkeypatch.delitem(sys.modules, "botocore.exceptions", raising=False)
    loaded = ModuleType("botocore.exceptions")
    loaded.BotoCoreError = type("BotoCoreError", (Exception,), {})

    def place(path):
        monkeypatch.setitem(sys.modules, loaded.__name__, loaded)
        raise loaded.BotoCoreError("Unable to locate credentials")

    monkeypatch.setattr("judgewell.formats.remote._place", place)
    with pytest.raises(InputError, match=r"s3://a/b: this file cannot be read \(Unable to locate credentials\)"):
        open_bytes("s3://a/b")


def test_the_record_names_the_addresses(bucket, tmp_path):
    from click.testing import CliRunner

    from judgewell.cli import app

    scores = tmp_path / "scores.csv"
    words = ["evaluate", f"{bucket}/tiny.qrels", f"{bucket}/*.run*", "-m", "nDCG@5", "-o", str(scores)]
    CliRunner().invoke(app, words, catch_exceptions=False, standalone_mode=False)
    assert f"{bucket}/reranked.run" in json.loads((tmp_path / "scores.csv.meta.json").read_text())["inputs"]


def test_a_missing_package_is_named_with_its_cure(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(
        InputError, match=r"s3:// needs packages that are not installed; pip install 'judgewell\[remote"
    ):
        open_bytes("s3://runs/x.run")
    with pytest.raises(InputError, match="https:// needs packages"):
        matching("https://host/*.run")


@pytest.mark.parametrize(
    ("kind", "package"),
    [
        ("gs", "gcsfs"),
        ("gcs", "gcsfs"),
        ("hf", "huggingface_hub"),
        ("az", "adlfs"),
        ("abfs", "adlfs"),
    ],
)
def test_the_package_of_a_store_is_named_where_it_is_missing(kind, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    install = rf"pip install 'judgewell\[remote\]' {package}$"
    for read in (open_bytes, matching):
        with pytest.raises(InputError, match=rf"{kind}:// needs packages that are not installed; {install}"):
            read(f"{kind}://place/of/*.run" if read is matching else f"{kind}://place/of/x.run")


def test_other_stores_say_what_fsspec_says(monkeypatch):
    monkeypatch.setitem(sys.modules, "paramiko", None)
    with pytest.raises(InputError, match=r"sftp:// needs packages that are not installed; .*paramiko"):
        open_bytes("sftp://host/x.run")


def command_line(environment: dict[str, str], *words: str) -> tuple[str, str]:
    """What a process of its own prints: these libraries read where their store is when they are imported."""
    done = subprocess.run(
        [sys.executable, "-m", "judgewell", *words],
        env={**os.environ, **environment},
        cwd=EXAMPLES,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout, done.stderr


def same_scores(environment: dict[str, str], there: str) -> None:
    """Runs and qrels under an address give the scores that they give here; a file that is not there is named."""
    local, _ = command_line({}, "evaluate", "tiny.qrels", "*.run", "-m", "nDCG@5", "-q")
    remote, _ = command_line(environment, "evaluate", f"{there}/tiny.qrels", f"{there}/*.run*", "-m", "nDCG@5", "-q")
    assert local.count("\n") > 3
    assert remote == local
    missing = command_line(environment, "evaluate", f"{there}/tiny.qrels", f"{there}/none.run")[1]
    assert missing.splitlines()[-1].startswith(f"judgewell: {there}/none.run: there is no such file")
    assert "Traceback" not in missing


def test_google_storage(tmp_path):
    pytest.importorskip("gcsfs")
    emulator = pytest.importorskip("gcp_storage_emulator.server")
    copies(tmp_path)
    server = emulator.create_server("127.0.0.1", 0, in_memory=True, default_bucket="runs")
    server.start()
    try:
        address = f"http://127.0.0.1:{server._api._httpd.server_port}"
        for path in tmp_path.iterdir():
            to = f"{address}/upload/storage/v1/b/runs/o?uploadType=media&name=all/{path.name}"
            urlopen(Request(to, path.read_bytes(), {"Content-Type": "application/octet-stream"})).close()
        same_scores({"STORAGE_EMULATOR_HOST": address}, "gs://runs/all")
    finally:
        server.stop()


class Hub(Quiet):
    """What huggingface_hub asks to read a dataset: is it there, what files has it, and a file or a range of it."""

    def do_GET(self) -> None:
        asked = unquote(urlsplit(self.path).path)
        folder = Path(self.directory)
        if asked == "/api/datasets/us/runs":
            self.answer(json.dumps({"id": "us/runs", "sha": "0" * 40}).encode())
        elif asked.startswith("/api/datasets/us/runs/tree/main"):
            names = sorted(folder.iterdir())
            rows = [{"type": "file", "oid": "0" * 40, "size": one.stat().st_size, "path": one.name} for one in names]
            self.answer(json.dumps(rows).encode())
        elif (folder / asked.removeprefix("/datasets/us/runs/resolve/main/")).is_file():
            data = (folder / asked.rpartition("/")[2]).read_bytes()
            part = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["Range"] or "")
            self.answer(data[int(part[1]) : int(part[2]) + 1] if part else data, 206 if part else 200)
        else:
            self.answer(b"{}", 404)

    def answer(self, body: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def test_a_dataset_of_hugging_face(tmp_path):
    pytest.importorskip("huggingface_hub")
    copies(tmp_path)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Hub, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        address = f"http://127.0.0.1:{server.server_port}"
        same_scores({"HF_ENDPOINT": address, "HF_HUB_DISABLE_XET": "1"}, "hf://datasets/us/runs")
    finally:
        server.shutdown()
        server.server_close()


def test_places_that_are_none():
    with pytest.raises(InputError, match="nowhere:// is not a place that files can be read from"):
        open_bytes("nowhere://x.run")
    with pytest.raises(InputError, match=r"http://127\.0\.0\.1:9/x\.run: there is no such file \("):
        open_bytes("http://127.0.0.1:9/x.run")


def test_addresses_and_names():
    assert is_remote("s3://a/b.run")
    assert not is_remote("C:/a.run")
    assert not is_remote("name=s3://a/b.run")
    assert named_file("crowd=s3://a/b.csv") == ("crowd", "s3://a/b.csv")
    assert named_file("https://host/b.csv?key=1&x=2")[1] == "https://host/b.csv?key=1&x=2"
    assert matching("https://host/b.csv?key=[1]") == ["https://host/b.csv?key=[1]"]
