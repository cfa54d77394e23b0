"""Executors of one machine: the same results in the same order, whoever does the work."""

import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

from judgewell.errors import ClusterError, DataError, InputError, collect_notes, note
from judgewell.executors import Executor, Pool, Processes, Threads, executor_at, executor_of
from judgewell.executors.kept import Kept


def multiplied(number: int, by: int) -> int:
    if number % 3 == 0:
        note(f"{number} is a multiple of 3")
    if number == 20:
        raise InputError("20 is too much", cure="give less", file="numbers.txt", line=20)
    return number * by


@pytest.fixture(scope="module")
def processes():
    with Processes(2) as executor:
        yield executor


@pytest.mark.parametrize("make", [Executor, lambda: Threads(3), None])
def test_results_notes_and_errors_come_in_the_order_of_the_tasks(make, processes):
    executor = make() if make else processes
    shared = executor.share(10)
    with collect_notes() as notes:
        assert list(executor.map(multiplied, range(17), shared, total=17)) == [10 * number for number in range(17)]
        assert notes == [f"{number} is a multiple of 3" for number in range(0, 17, 3)]
        results = executor.map(multiplied, range(15, 25), shared, total=1000)
        assert [next(results) for _ in range(5)] == [150, 160, 170, 180, 190]
        with pytest.raises(InputError) as refused:
            next(results)
    assert str(refused.value) == "numbers.txt:20: 20 is too much; give less"
    assert (refused.value.problem, refused.value.cure, refused.value.line) == ("20 is too much", "give less", 20)
    assert not list(executor.map(multiplied, [], shared))


def test_only_a_few_tasks_are_taken_ahead_and_whoever_stops_cancels_them():
    taken, begun, go = [], [], threading.Event()

    def tasks():
        for number in range(1000):
            taken.append(number)
            yield number

    def wait(number: int) -> int:
        begun.append(number)
        if number:
            go.wait()
        return number

    with Threads(2) as executor:
        results = executor.map(wait, tasks())
        assert next(results) == 0
        results.close()
        go.set()
    assert len(taken) <= 9
    assert len(begun) <= 4


def test_notes_can_be_refused_whoever_does_the_work(processes):
    for executor in (Executor(), Threads(2), processes):
        with pytest.raises(DataError, match="0 is a multiple of 3"), collect_notes(strict=True):
            list(executor.map(multiplied, range(5), executor.share(1)))


def test_pools_of_others_are_executors():
    with ThreadPoolExecutor(3) as pool:
        assert isinstance(executor := executor_of(pool), Pool)
        assert executor.workers == 3
        assert list(executor.map(multiplied, [1, 2], 5)) == [5, 10]
    with ProcessPoolExecutor(1) as pool:
        assert isinstance(executor_of(pool), Processes)
    assert type(executor_of(None)) is Executor
    with pytest.raises(InputError, match="str is not an executor"):
        executor_of("tcp://scheduler:8786")


def test_kept_results_are_not_made_again(tmp_path):
    done = []

    def work(number: int, power: int) -> int:
        done.append(number)
        note(f"{number} is done")
        if number == fails:
            raise InputError("no")
        return number**power

    file = tmp_path / "scores.csv.partial"
    fails = 3
    kept = Kept(Executor(), str(file), "squares, then cubes", same, same)
    with collect_notes():
        assert list(kept.map(work, range(3), 2)) == [0, 1, 4]
        with pytest.raises(InputError):
            list(kept.map(work, [1, 2, 3, 4], 3))
    kept.close()
    with file.open("ab") as broken:
        broken.write(b"\x80\x05cut short")
    fails = 99
    done.clear()
    kept = Kept(Executor(), str(file), "squares, then cubes", same, same)
    assert kept.resumed == 5
    with collect_notes() as notes:
        assert list(kept.map(work, range(3), 2)) == [0, 1, 4]
        assert list(kept.map(work, [1, 2, 3, 4], 3)) == [1, 8, 27, 64]
    assert done == [3, 4]
    assert notes == ["0 is done", "1 is done", "2 is done", "3 is done", "4 is done"]
    kept.finish()
    assert not file.exists()


def same(value):
    return value


def test_what_was_kept_of_other_work_is_not_used(tmp_path):
    file = tmp_path / "partial"
    for before in (b"", b"not ours", b"\x80\x04cos\nsystem\n.", None):
        if before is None:
            first = Kept(Executor(), str(file), "other", same, same)
            list(first.map(multiplied, [1, 2], 1))
            first.close()
        else:
            file.write_bytes(before)
        kept = Kept(Executor(), str(file), "this", same, same)
        assert kept.resumed == 0
        assert list(kept.map(multiplied, [4, 5], 2)) == [8, 10]
        kept.close()
        assert Kept(Executor(), str(file), "this", same, same).resumed == 2


def test_addresses_that_lead_nowhere(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("judgewell.executors.cluster.SECONDS_TO_CONNECT", 0.5)
    with pytest.raises(ClusterError, match=r"no scheduler answers at tcp://127\.0\.0\.1:9; start one"):
        executor_at("tcp://127.0.0.1:9", None)
    for address in ("scheduler", "tcp://scheduler", ""):
        with pytest.raises(InputError, match="is not an address; give tcp://HOST:8786"):
            executor_at(address, None)
    with pytest.raises(InputError, match="Dask's configuration names no scheduler"):
        executor_at("dask", None)
    with pytest.raises(InputError, match="both say where"):
        executor_at("tcp://127.0.0.1:9", 2)
