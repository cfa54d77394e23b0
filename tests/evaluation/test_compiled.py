"""The compiled kernel: what it takes is what Python makes of it, and what it turns down is left to Python."""

import pickle
import random
import struct
import subprocess
import sys

import numpy as np
import pytest

from judgewell.errors import JudgewellError, collect_notes
from judgewell.evaluation import compiled
from judgewell.evaluation.judged import Texts, prepare
from judgewell.evaluation.kernel import judged_ranks
from judgewell.evaluation.settings import Settings
from judgewell.formats.gains import read_gains
from judgewell.formats.runs import Lines

pytestmark = pytest.mark.skipif(compiled.extension() is None, reason="the C extension is not built")
GAINS = {"1": {"a": 1.0, "b": 0.5, "é": 2.0}, "22": {"a": 1.0, "x" * 40: 0.0}, "longer-topic": {"c": 3.0}}


@pytest.fixture(scope="module")
def judged():
    return prepare(read_gains(GAINS))


def by_both(data, judged, settings=None):
    """What both kernels make of the lines: their answer, or None where the compiled one turns them down."""
    settings = settings or Settings()
    ours = compiled.judged_ranks(data, judged, settings)
    with collect_notes():
        theirs = judged_ranks(Lines("a.run", data).frame(), judged, settings)
    return (None if ours is None else as_rows(ours[0])), as_rows(theirs)


def as_rows(ranks):
    topics = ranks.topics[ranks.row].tolist()
    columns = (ranks.rank, ranks.item, ranks.first, ranks.size)
    lengths = dict(zip(ranks.topics.tolist(), ranks.lengths.tolist(), strict=True))
    rows = sorted(zip(topics, *(column.tolist() for column in columns), strict=True))
    return rows, lengths, ranks.unknown, ranks.tags, ranks.lines


REGULAR = b"1 Q0 a 1 3.5 t\n1 Q0 b 2 3.5 t\n22 Q0 a 1 1 t\n9 Q0 a 1 1 t\n"


@pytest.mark.parametrize(
    "data",
    [
        REGULAR,
        REGULAR.replace(b" ", b"\t"),
        REGULAR.replace(b"\n", b"\r\n"),
        REGULAR.rstrip(),
        b"\xef\xbb\xbf" + REGULAR,
        b"# c\n\n  \n" + REGULAR.replace(b"Q0 a", b" Q0 \t a"),
        REGULAR.replace(b" t\n", b"\n"),
        REGULAR.replace(b" t\n", b" t and more\n"),
        REGULAR.replace(b"Q0 b", b"Q0\x0bb"),
        REGULAR.replace(b"a", "é".encode()),
        REGULAR.replace(b"a", b"x" * 40),
        REGULAR + b"1 Q0 c 3 1 other\n",
        REGULAR.replace(b"a", b"\x01a\x1f"),
        b"",
        b"# nothing\n",
    ],
)
def test_lines_that_are_taken_mean_what_python_makes_of_them(data, judged):
    ours, theirs = by_both(data, judged)
    assert ours == theirs


@pytest.mark.parametrize(
    "line",
    [
        b"1 Q0 c 3 1.5",
        b"1 Q0 c",
        b"1 Q0 c 3 one t",
        b"1 Q0 c 3 nan t",
        b"1 Q0 c 3 1_0 t",
        b"1 Q0 c\0 3 1 t",
        b"1 Q0 \xff 3 1 t",
        b"1 Q0 \xed\xa0\x80 3 1 t",
        b"1 Q0 b 3 1 t",
        b"1 Q0 c 3 1 t\r1 Q0 d 4 1 t",
        b"1 Q0 c 3 " + b"1" * 500 + b" t",
    ],
)
def test_what_is_turned_down_is_pythons_to_decide(line, judged):
    """Never another answer, only none; and what Python refuses must never be taken."""
    data = b"1 Q0 b 2 3.5 t\n" + line + b"\n"
    ours = compiled.judged_ranks(data, judged, Settings())
    try:
        theirs = by_both(data, judged)[1]
    except JudgewellError:
        theirs = None
    assert ours is None or as_rows(ours[0]) == theirs


@pytest.mark.parametrize("settings", [Settings(), Settings(precision="single"), Settings(order="rank")])
def test_random_runs_are_ranked_alike(judged, settings):
    rng = random.Random(17)
    numbers = ["1", "2.5", "-1", "0", "-0.0", "1e3", "1.5e-7", "26.563915252685547", "inf", "1E5", ".5", "5.", "+3"]
    docs = ["a", "b", "c", "é", "x" * 40, "ab", "a" * 17, "d"]
    for _ in range(150):
        rows = [
            f"{topic} Q0 {doc} {rng.choice(['1', '2', '3.5'])} {rng.choice(numbers)} {rng.choice('tu')}\n"
            for topic in rng.sample(["1", "22", "longer-topic", "unknown", "u2"], 3)
            for doc in rng.sample(docs, rng.randint(1, len(docs)))
        ]
        if rng.random() < 0.3:
            rng.shuffle(rows)
        ours, theirs = by_both("".join(rows).encode(), judged, settings)
        assert ours == theirs


def test_scores_are_read_to_the_last_bit(judged):
    """Two documents tie exactly if their scores are the same double, whatever way they are written."""
    rng = random.Random(5)
    for _ in range(2000):
        value = struct.unpack("d", rng.randbytes(8))[0] if rng.random() < 0.3 else rng.uniform(-1e3, 1e3)
        text = rng.choice([repr(value), f"{value:.6f}", f"{value:.17g}", f"{value:.12e}", f"{value:.19f}"])
        if float(text) != float(text):
            continue
        exact = repr(float(text))
        data = f"1 Q0 a 1 {text} t\n1 Q0 b 2 {exact} t\n".encode()
        ranks, _ = compiled.judged_ranks(data, judged, Settings())
        assert ranks.size.tolist() == [2, 2], text


def test_a_qrels_file_is_read_or_left_to_python():
    judged = compiled.read_qrels(b"1 0 a 2\n2 0 b 0.5\n1\t0\tc\t0\n")
    assert judged.topics == ["1", "2"]
    assert judged.number.tolist() == [0, 1, 0]
    assert judged.docs.to_list() == ["a", "b", "c"]
    assert judged.gains.tolist() == [2, 0.5, 0]
    for data in (b"", b"1 0 a\n", b"1 0 a L2\n", b"1 0 a 1\n1 0 a 1\n", b"1 0 a -1\n", b"1 0 a inf\n", b"1,0,a,1\n"):
        assert compiled.read_qrels(data) is None


def test_columns_that_do_not_fit_together_are_refused():
    kernel = compiled.extension()
    texts = Texts.of(["a", "b"])
    number = np.zeros(2, np.int64)
    kernel.index(b"1", np.array([1]), number, texts.data, texts.ends, 0)
    for bad in ([1, 0], [0, 7], [2, 2, 2]):
        with pytest.raises(ValueError, match="do not fit together"):
            kernel.index(b"1", np.array([1]), number, texts.data, np.array(bad), 0)
    with pytest.raises(ValueError, match="do not fit together"):
        kernel.index(b"1", np.array([1]), number + 1, texts.data, texts.ends, 0)


def test_judged_documents_can_be_sent_to_another_process(judged):
    judged.index  # noqa: B018  # made here, and left here
    again = pickle.loads(pickle.dumps(judged))
    ranks, _ = compiled.judged_ranks(REGULAR, again, Settings())
    assert as_rows(ranks) == as_rows(compiled.judged_ranks(REGULAR, judged, Settings())[0])


@pytest.mark.parametrize(("asked", "kernel"), [("", "compiled"), ("numpy", "numpy")])
def test_the_version_says_which_kernel_is_in_use(asked, kernel, monkeypatch):
    monkeypatch.setenv("JUDGEWELL_KERNEL", asked)
    shown = subprocess.run([sys.executable, "-m", "judgewell", "--version"], capture_output=True, text=True, check=True)
    assert shown.stdout.endswith(f"({kernel} kernel)\n")
