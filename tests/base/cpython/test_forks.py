"""Forking while other threads are at work: the child is free to do the same."""

import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from importlib import import_module

import numpy as np
import pytest

import gradwright as gw
from gradwright.base.cpython import forks
from gradwright.base.cpython.forks import cached_property
from gradwright.utils.checkpoint import checkpoint
from gradwright.utils.data import DataLoader
from tests.forks import COUNT, exit_code

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]

SHARED = gw.ones(1000, requires_grad=True)
LINEAR = gw.nn.Linear(3, 3)


def passes():
    x = gw.ones(3, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: g)
    y.retain_grad()
    (g,) = gw.autograd.grad((y * y).sum(), x, create_graph=True)
    (g.sum() + SHARED.sum()).backward()
    assert x.grad.tolist() == [8.0] * 3


def written():
    x = gw.ones(30_000)
    array = x.numpy()
    x.add_(1.0)
    array += 1
    y = gw.ones(30_000, requires_grad=True)
    (x * y).sum().backward()
    assert y.grad[0] == 3.0


def drawn():
    assert gw.randn(30_000).std() > 0.9
    assert gw.nn.functional.dropout(gw.ones(1000)).sum() > 0


def again():
    x = gw.ones(3, requires_grad=True)
    checkpoint(lambda t: (t * t).exp(), x, use_reentrant=False).sum().backward()
    LINEAR.register_forward_hook(lambda *_: None).remove()
    LINEAR(x).sum().backward()


JOBS = [passes, written, drawn, again]


@contextmanager
def busy(jobs):
    """Threads that do these over and over."""
    going, failed = True, []

    def work(job):
        try:
            while going:
                job()
        except BaseException as e:
            failed.append(e)
            raise

    threads = [threading.Thread(target=work, args=(job,)) for job in jobs]
    for t in threads:
        t.start()
    try:
        yield
    finally:
        going = False
        for t in threads:
            t.join()
        assert not failed


def all_of_them():
    for job in JOBS:
        job()


def test_a_child_does_what_the_threads_were_at():
    with busy(JOBS):
        codes = []
        for k in range(COUNT):
            time.sleep(1e-4 * (k % 7))
            codes.append(exit_code(all_of_them))
    assert codes == [0] * COUNT


def test_workers_that_are_forked():
    data = [gw.tensor([float(k)], requires_grad=False) for k in range(8)]
    with busy(JOBS):
        for _ in range(3):
            batches = list(DataLoader(data, batch_size=2, num_workers=2, multiprocessing_context="fork"))
            assert [b.sum().item() for b in batches] == [1.0, 5.0, 9.0, 13.0]


def test_a_child_draws_the_numbers_that_its_parent_would():
    gw.manual_seed(3)
    expected = gw.rand(5).numpy()
    gw.manual_seed(3)

    def child():
        assert (gw.rand(5).numpy() == expected).all()

    assert exit_code(child) == 0
    assert (gw.rand(5).numpy() == np.asarray(expected)).all()


def test_a_cached_property_is_computed_once():
    class Thing:
        @cached_property
        def value(self):
            """Its doc."""
            return object()

    thing = Thing()
    assert thing.value is thing.value
    assert Thing().value is not thing.value
    assert Thing.value.__doc__ == "Its doc."


SAVES = """
import io, os, sys, threading, time
import gradwright as gw
thread = threading.Thread(target=__import__, args=(sys.argv[1],))
thread.start()
time.sleep(float(sys.argv[2]))
pid = os.fork()
if pid == 0:
    gw.save({"a": gw.ones(3)}, io.BytesIO())
    os._exit(0)
end = time.monotonic() + 20
while not os.waitpid(pid, os.WNOHANG)[0]:
    if time.monotonic() > end:
        os.kill(pid, 9)
        sys.exit("the child hangs")
    time.sleep(0.01)
thread.join()
"""


@pytest.mark.parametrize("module", ["gradwright.serialization", "gradwright.nn.parameter"])
@pytest.mark.parametrize("delay", [0, 0.02])
def test_a_child_saves_while_what_that_needs_is_imported(module, delay):
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", SAVES, module, str(delay)], capture_output=True,
                         text=True, check=False)  # fmt: skip
    assert run.returncode == 0, run.stderr


def test_a_fork_waits_for_modules_of_ours_that_are_being_imported(tmp_path, monkeypatch):
    (tmp_path / "slow_to_import.py").write_text("import time\ntime.sleep(0.3)\nvalue = 1\n")
    monkeypatch.setattr(gw, "__path__", [*gw.__path__, str(tmp_path)])

    def imported():
        return import_module("gradwright.slow_to_import").value

    thread = threading.Thread(target=imported)
    thread.start()
    while "gradwright.slow_to_import" not in sys.modules:
        time.sleep(1e-3)

    def child():
        assert imported() == 1
        assert exit_code(imported) == 0  # a child of the child

    assert exit_code(child) == 0
    thread.join()
    del sys.modules["gradwright.slow_to_import"]


def test_but_not_for_ever(tmp_path, monkeypatch):
    (tmp_path / "that_forks.py").write_text("from tests.forks import exit_code\nvalue = exit_code(lambda: None)\n")
    monkeypatch.setattr(gw, "__path__", [*gw.__path__, str(tmp_path)])
    monkeypatch.setattr(forks, "_LONGEST", 0.1)
    assert import_module("gradwright.that_forks").value == 0
    del sys.modules["gradwright.that_forks"]
