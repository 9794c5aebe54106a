"""While a step is traced, other threads read and write the tensors that it meets, and find them as they are."""

import gc
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.compilation.compiled import Programs
from gradwright.compilation.entry import Entry
from gradwright.compilation.trace.per_thread import _SLOTS
from gradwright.compilation.trace.trace import Before, Trace
from gradwright.compilation.trace.traced import Traced


@pytest.fixture(autouse=True)
def _threads_take_turns_often() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(interval)
    assert all(vars(cls)[name] is slot for cls, name, slot in _SLOTS)


def elsewhere(f: Callable[[], Any]) -> Any:
    """What ``f`` returns in another thread."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(f()))
    thread.start()
    thread.join()
    return found[0]


def net_of(n: int = 3) -> Any:
    gw.manual_seed(0)
    return gw.nn.Sequential(gw.nn.Linear(n, n), gw.nn.Tanh(), gw.nn.Linear(n, n)).double()


def in_place(w: Any) -> None:
    with gw.no_grad():
        w.add_(1)


def data_set(w: Any) -> None:
    w.data = gw.full((3,), 7.0, dtype=gw.float64)


def by_data(w: Any) -> None:
    w.data.mul_(2)


def by_entry(w: Any) -> None:
    with gw.no_grad():
        w[1] = 5.0


def a_grad(w: Any) -> None:
    w.grad = gw.full((3,), 3.0, dtype=gw.float64)


def backward(w: Any) -> None:
    (w * w).sum().backward()


WRITES = [in_place, data_set, by_data, by_entry, a_grad, backward]
"""What another thread does to a tensor that a traced run has read."""
TAKEN = [
    lambda w: w.detach(), lambda w: w.data, lambda w: w.view(3), lambda w: w[1:], lambda w: w.detach().numpy(),
    lambda w: gw.nn.Parameter(w.detach()), lambda w: w.detach().T, lambda w: w.requires_grad_(), lambda w: w.clone(),
    lambda w: w.exp(), lambda w: w.reshape(1, 3), lambda w: w.untyped_storage(), lambda w: w.grad,
]  # fmt: skip
"""What it takes of one."""


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("failed", [False, True])
def test_what_another_thread_writes_stays(write: Callable[[Any], None], failed: bool) -> None:
    def leaf() -> Any:
        return gw.tensor([1.0, 2.0, 3.0], dtype=gw.float64, requires_grad=True)

    w, expected = leaf(), leaf()
    write(expected)
    trace = Trace(Before(), set())
    with trace:
        seen = (w * 2).array.node.value.tolist()
        elsewhere(lambda: write(w))
        again = (w * 2).array.node.value.tolist()
    trace.restore(failed)
    assert seen == again == [2.0, 4.0, 6.0]
    assert w.array.tolist() == expected.array.tolist()
    assert w._version == expected._version
    assert (w.grad is None) == (expected.grad is None)
    assert w.grad is None or w.grad.tolist() == expected.grad.tolist()


@pytest.mark.parametrize("take", TAKEN)
def test_what_another_thread_takes_is_no_traced_array(take: Callable[[Any], Any]) -> None:
    w = gw.tensor([1.0, 2.0, 3.0], dtype=gw.float64, requires_grad=True)
    w.grad = gw.ones(3, dtype=gw.float64)
    plain = take(w)
    trace = Trace(Before(), set())
    with trace:
        (w * w).sum().backward()
        in_place(w)
        assert w.array.node.value.tolist() == [2.0, 3.0, 4.0]
        found = elsewhere(lambda: take(w))
    trace.restore()
    del trace
    gc.collect()
    if not isinstance(found, gw.Tensor):
        assert type(found) is type(plain)
        return
    assert not isinstance(found.array, Traced)
    np.testing.assert_array_equal(found.array, plain.array)
    assert np.may_share_memory(found.array, w.array) == np.may_share_memory(plain.array, w.array)
    in_place(w)
    np.testing.assert_array_equal(found.array, plain.array)
    assert found._version == plain._version


@pytest.mark.parametrize("backend", ["plan", "c"])
def test_a_writer_and_a_reader_beside_steps(backend: str, compiler: None) -> None:
    """Each write is there at the end; whatever was read shows the memory of today, or the values of one moment."""
    net, average, count = net_of(), net_of(), gw.zeros((), dtype=gw.float64)
    replay, done, written, faults = gw.zeros(64, 3, dtype=gw.float64), threading.Event(), [0], []
    taken: list[Any] = []

    def write() -> None:
        while not done.is_set():
            with gw.no_grad():
                written[0] += 1
                replay[written[0] % 64] = float(written[0])
                count.add_(1)

    def read() -> None:
        while not done.is_set():
            taken[:] = [*taken[-200:], *net.state_dict().values(), net[0].weight.detach(), net[2].bias.data,
                        net[0].weight[1:], replay.detach(), count.view(1)]  # fmt: skip
            with gw.no_grad():
                for mean, w in zip(average.parameters(), net.parameters(), strict=True):
                    mean.lerp_(w, 0.5)
            if any(not isinstance(t.array, np.ndarray) for t in [*taken, *net.parameters()]):
                faults.append([type(t.array) for t in taken])

    threads = [threading.Thread(target=f) for f in (write, read)]
    for thread in threads:
        thread.start()
    try:
        for rate in (0.5, 0.25, 0.125, 0.0625):
            opt = gw.optim.SGD(net.parameters(), lr=rate)

            def step(x: Any, opt: Any = opt) -> Any:
                opt.zero_grad()
                loss = (net(x) + 0 * replay.mean() + 0 * count).square().mean()
                loss.backward()
                opt.step()
                return loss

            compiled = gw.compile(step, backend=backend)
            for _ in range(6):
                compiled(gw.ones(2, 3, dtype=gw.float64))
                time.sleep(0.002)
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert not faults
    assert count.item() == written[0] > 100
    assert replay.array.max() == written[0]
    assert count._version == written[0]
    for t in taken[-9:]:
        assert isinstance(t.array, np.ndarray)
    np.testing.assert_array_equal(taken[-1].array[0], count.array)
    assert np.shares_memory(taken[-2].array, replay.array)


def test_what_both_write_is_written_by_an_eager_run(monkeypatch: pytest.MonkeyPatch) -> None:
    count, entered = gw.zeros((), dtype=gw.float64), [0]
    made = Programs._entry

    def step(x: Any) -> Any:
        count.add_(1)
        return x * 2

    def beside(*args: Any) -> Any:
        entered[0] += 1
        elsewhere(lambda: count.add_(100))
        return made(*args)

    monkeypatch.setattr(Programs, "_entry", beside)
    compiled = gw.compile(step, backend="plan")
    assert [compiled(gw.ones(2)).tolist() for _ in range(5)] == [[2.0, 2.0]] * 5
    assert entered == [1]
    assert count.item() == 105
    assert count._version == 6
    assert not compiled.programs.reason


def test_what_another_thread_writes_is_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    replay, total = gw.zeros(3, dtype=gw.float64), gw.zeros((), dtype=gw.float64)
    run, beside = Entry.run, [lambda: replay.add_(1), lambda: total.add_(100)]

    def step(x: Any) -> Any:
        total.add_(1)
        return (x * replay).sum() + total

    def touched(entry: Entry, arrays: Any) -> Any:
        try:
            return run(entry, arrays)
        finally:
            elsewhere(beside.pop() if beside else int)

    monkeypatch.setattr(Entry, "run", touched)
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    compiled = gw.compile(step, backend="plan")
    found = [compiled(gw.ones(3, dtype=gw.float64)).item() for _ in range(6)]
    stop.set()
    thread.join()
    assert found == [1, 2, 103, 107, 108, 109]
    assert not compiled.programs.reason
