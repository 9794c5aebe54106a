"""Workers: their errors and deaths arrive, and none outlives its loop."""

import gc
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import gradwright as gw
from gradwright.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

THREAD, PROCESS = {"multiprocessing_context": "thread"}, {}
KINDS = pytest.mark.parametrize("kind", [PROCESS, THREAD], ids=["process", "thread"])


class Does(Dataset):
    """Sample i is ``act(i)``."""

    def __init__(self, act, n=12):
        self.act, self.n = act, n

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        return self.act(index)


@pytest.fixture(scope="module", autouse=True)
def settled():
    """What was there before is not looked at for garbage after each test: that is a million objects with PyTorch."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def nothing_is_left(settled):
    threads = threading.active_count()
    yield
    gc.collect()
    deadline = time.monotonic() + 5
    while (multiprocessing.active_children() or threading.active_count() > threads) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not multiprocessing.active_children()
    assert threading.active_count() == threads


@KINDS
def test_order_is_kept_whatever_the_workers_do(kind):
    def late(i):
        time.sleep(0.02 if i % 5 == 0 else 0)
        return i

    batches = [b.tolist() for b in DataLoader(Does(late), 2, num_workers=3, **kind)]
    assert batches == [[i, i + 1] for i in range(0, 12, 2)]


@KINDS
def test_workers_work_at_the_same_time(kind):
    meeting = multiprocessing.get_context("fork").Barrier(4)  # which lets four pass, and no fewer

    def meet(i):
        meeting.wait(60)
        return i

    assert len(list(DataLoader(Does(meet, 8), num_workers=4, **kind))) == 8


@KINDS
@pytest.mark.parametrize("error", [ValueError, KeyError, UnicodeDecodeError, SystemExit], ids=lambda e: e.__name__)
def test_an_exception_arrives_with_its_traceback_and_sample(kind, error):
    def fail(i):
        if i == 7:
            raise error(*("utf8", b"", 0, 1) if error is UnicodeDecodeError else (), "what went wrong")
        return i

    expected = error if error in (ValueError, KeyError) else RuntimeError
    where = "thread" if kind else "process"
    got = []
    with pytest.raises(expected) as e:
        got.extend(b.tolist() for b in DataLoader(Does(fail), 2, num_workers=2, **kind))
    message = str(e.value)
    assert got == [[0, 1], [2, 3], [4, 5]]
    assert message.startswith(f"Caught {error.__name__} in DataLoader worker {where} 1.\nOriginal Traceback (most")
    assert "in fail\n" in message
    assert "what went wrong" in message
    assert error is SystemExit or "DataLoader was fetching sample 7 of Does" in message


@KINDS
def test_an_exception_while_a_worker_starts(kind):
    def init(worker_id):
        raise ValueError(f"no start for {worker_id}")

    with pytest.raises(ValueError, match="no start for 0"):
        list(DataLoader(range(3), num_workers=2, worker_init_fn=init, **kind))


def test_what_cannot_be_sent_is_said():
    class MineError(Exception):
        pass

    def fail(i):
        raise MineError("here")

    with pytest.raises(RuntimeError, match=r"(?s)worker process 0.*[Pp]ickle"):
        list(DataLoader(range(3), num_workers=1, collate_fn=lambda batch: lambda: batch))
    with pytest.raises(RuntimeError, match=r"(?s)worker process 0.*MineError: here"):
        list(DataLoader(Does(fail), num_workers=1))


@pytest.mark.parametrize(
    ("end", "how"),
    [
        (lambda: os._exit(3), "it ended with code 3"),
        (lambda: os._exit(0), "it ended with code 0"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "it was killed by signal SIGKILL"),
    ],
    ids=["exit", "quiet", "kill"],
)
def test_a_worker_that_dies_is_an_error(end, how):
    loader = DataLoader(Does(lambda i: end() if i == 5 else i), num_workers=2, persistent_workers=True)
    got = []
    with pytest.raises(RuntimeError, match=rf"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly: {how}"):
        got.extend(b.item() for b in loader)
    assert got == [0, 1, 2, 3, 4]
    assert next(iter(loader)).item() == 0  # with new ones


def test_a_worker_killed_between_batches_is_an_error():
    loader = DataLoader(range(100), num_workers=1, prefetch_factor=1)
    batches = iter(loader)
    next(batches)
    os.kill(multiprocessing.active_children()[0].pid, signal.SIGKILL)
    with pytest.raises(RuntimeError, match="exited unexpectedly: it was killed by signal SIGKILL"):
        list(batches)


@KINDS
def test_waiting_has_a_limit(kind):
    release = threading.Event()
    batches = iter(DataLoader(Does(lambda i: release.wait(5 if i else 0) or i), num_workers=1, timeout=0.2, **kind))
    next(batches)
    threading.Timer(0.4, release.set).start()  # for the thread, which must end by itself
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0.2 seconds, waiting for worker \w+ 0"):
        next(batches)


@KINDS
@pytest.mark.parametrize("persistent", [False, True])
def test_a_loop_left_early_leaves_nothing(kind, persistent):
    loader = DataLoader(range(100), 2, num_workers=2, persistent_workers=persistent, **kind)
    for _ in range(3):
        for batch in loader:
            assert batch.tolist() == [0, 1]
            break
    assert [b.tolist() for b in loader] == [[i, i + 1] for i in range(0, 100, 2)]
    assert bool(loader._team) == persistent


@KINDS
def test_two_loops_over_one_loader(kind):
    loader = DataLoader(range(4), num_workers=1, persistent_workers=True, **kind)
    assert [(a.item(), b.item()) for a in loader for b in loader] == [(i, j) for i in range(4) for j in range(4)]


@KINDS
def test_workers_that_persist_are_the_same(kind):
    def who(_):
        return os.getpid(), threading.get_ident(), get_worker_info().id

    loader = DataLoader(Does(who), None, num_workers=2, persistent_workers=True, **kind)
    first, second = set(map(tuple, loader)), set(map(tuple, loader))
    assert first == second
    assert len(first) == 2
    fresh = DataLoader(Does(who), None, num_workers=2)
    assert not {pid for pid, *_ in fresh} & {pid for pid, *_ in fresh}


@KINDS
def test_a_worker_knows_itself_and_nobody_else_does(kind):
    class Info(IterableDataset):
        def __iter__(self):
            info = get_worker_info()
            yield info.id, info.num_workers, info.seed, info.dataset is self

    seen = list(DataLoader(Info(), None, num_workers=2, generator=gw.Generator().manual_seed(1), **kind))
    (a, b) = sorted(seen)
    assert (a[:2], b[:2]) == ([0, 2], [1, 2])
    assert b[2] == a[2] + 1
    assert a[3]
    assert get_worker_info() is None


def test_long_requests_and_large_batches_do_not_wait_for_each_other():
    indices = list(range(50_000))
    loader = DataLoader(
        Does(lambda i: i, 50_000), batch_sampler=[indices] * 8, num_workers=2, prefetch_factor=4,
        collate_fn=lambda batch: np.zeros(300_000),
    )  # fmt: skip
    assert sum(b.size for b in loader) == 2_400_000


def test_ctrl_c_ends_the_loop_and_the_workers():
    program = (
        "import time, signal, os, threading\n"
        "from gradwright.utils.data import DataLoader\n"
        "class Slow:\n"
        "    def __len__(self): return 100\n"
        "    def __getitem__(self, i):\n"
        "        if i: time.sleep(60)\n"
        "        return i\n"
        "try:\n"
        "    for batch in DataLoader(Slow(), num_workers=2):\n"
        "        threading.Timer(0.3, os.killpg, (os.getpgid(0), signal.SIGINT)).start()\n"
        "except KeyboardInterrupt:\n"
        "    import multiprocessing; print('left', multiprocessing.active_children())\n"
    )
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, capture_output=True, text=True, start_new_session=True, timeout=60)
    assert run.stdout == "left []\n"
    assert run.stderr == ""


def test_workers_end_when_their_owner_is_killed():
    program = (
        "import time, multiprocessing\n"
        "from gradwright.utils.data import DataLoader\n"
        "it = iter(DataLoader(range(100), num_workers=3))\n"
        "next(it)\n"
        "print(*[p.pid for p in multiprocessing.active_children()], flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        pids = [int(pid) for pid in process.stdout.readline().split()]
        process.kill()
    assert len(pids) == 3
    deadline = time.monotonic() + 10
    while any(map(runs, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(runs, pids))


def runs(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_spawned_workers(tmp_path):
    (tmp_path / "program.py").write_text(
        "import gradwright as gw\n"
        "from gradwright.utils.data import DataLoader, TensorDataset\n"
        "if __name__ == '__main__':\n"
        "    data = TensorDataset(gw.arange(4.0))\n"
        "    loader = DataLoader(data, 2, num_workers=1, multiprocessing_context='spawn')\n"
        "    print([x.tolist() for (x,) in loader])\n"
    )
    run = subprocess.run([sys.executable, tmp_path / "program.py"], capture_output=True, text=True, timeout=60)
    assert run.stdout == "[[0.0, 1.0], [2.0, 3.0]]\n", run.stderr


class Drawn:
    def __init__(self, t):
        self.t = t

    def __len__(self):
        return 6

    def __getitem__(self, i):
        return i, self.t.rand(()).item(), random.random(), np.random.rand()


@pytest.mark.parametrize("persistent", [False, True])
def test_pytorchs_numbers_in_workers(torch, persistent):
    """Each process is seeded once, before worker_init_fn; workers that live on draw no new seed."""
    def epochs(t):
        t.manual_seed(7)
        loader = t.utils.data.DataLoader(Drawn(t), 2, True, num_workers=2, persistent_workers=persistent,
                                         worker_init_fn=lambda i: t.manual_seed(i) if i else None)  # fmt: skip
        return [[x.tolist() for x in batch] for _ in range(2) for batch in loader] + [t.rand(1).item()]

    gw.random.use("torch")
    try:
        assert epochs(gw) == epochs(torch)
    finally:
        gw.random.use("numpy")
