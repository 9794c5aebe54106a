"""Programs in which several threads run backward at once: test_threads.py runs them, and by a free-threaded Python.

Run as a script, it runs them all, and says whether the interpreter has a lock.
"""

import sys
import threading
import warnings

import numpy as np

import gradwright
from gradwright.autograd import Function, grad
from gradwright.engine.edges import register_multi_grad_hook
from gradwright.engine.saved_hooks import saved_tensors_hooks

THREADS = 4


def at_once(work, threads=THREADS):
    """Run ``work(k)`` in each of several threads, all at the same time; raises what one of them raised."""
    start = threading.Barrier(threads)
    errors = []

    def run(k):
        try:
            start.wait()
            work(k)
        except BaseException as e:  # noqa: BLE001 - it is raised below
            errors.append(e)

    workers = [threading.Thread(target=run, args=(k,), daemon=True) for k in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert not any(worker.is_alive() for worker in workers), "a thread hangs"
    if errors:
        raise errors[0]


def leaf(data):
    return gradwright.tensor(data, dtype=gradwright.float64, requires_grad=True)


def separate_graphs():
    """Each thread builds and differentiates graphs of its own, twice, with the results that one thread alone gets."""

    def derivatives(k, step):
        x = leaf([1.0 + k, 2.0 + step])
        y = x
        for _ in range(20):
            y = y * x.sin() + x / (1 + y * y)
        (g,) = grad(y.sum(), x, create_graph=True)
        (h,) = grad(g.sum(), x)
        return g.tolist(), h.tolist()

    expected = [[derivatives(k, step) for step in range(20)] for k in range(THREADS)]

    def work(k):
        assert [derivatives(k, step) for step in range(20)] == expected[k]

    assert np.isfinite(expected).all()
    at_once(work)


def a_shared_leaf(size=1, steps=300):
    """Graphs of their own end in one leaf: no gradient is lost, in place or not."""
    x = gradwright.ones(size, requires_grad=True)

    def work(k):
        for _ in range(steps):
            (x * 2).sum().backward()

    for _ in range(3):
        x.grad = None
        at_once(work)
        assert np.unique(x.grad.numpy()).tolist() == [2 * THREADS * steps]


def a_large_shared_leaf():
    """NumPy gives up the interpreter's lock in large additions."""
    a_shared_leaf(300_000, 10)


def the_first_gradient_of_a_leaf():
    """Two that come at once to a leaf without ``.grad`` both count."""
    for _ in range(200):
        x = leaf(1.0)
        at_once(lambda k: (x * 3).backward(), 2)  # noqa: B023 - it is run here
        assert x.grad.item() == 6


def a_shared_leaf_recorded(steps=30):
    """So with create_graph, where a new ``.grad`` takes the place of the old."""
    x = leaf(3.0)

    def work(k):
        for _ in range(steps):
            (x * x).backward(create_graph=True)

    at_once(work)
    assert x.grad.item() == 6 * THREADS * steps
    assert grad(x.grad, x)[0].item() == 2 * THREADS * steps


def a_shared_graph(steps=50):
    """One retained graph is run by all, hooks and retained gradients included."""
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    a = x * y
    b = a.exp().log()
    a.retain_grad()
    seen, together = [], []
    b.register_hook(lambda g: seen.append(g.tolist()))
    register_multi_grad_hook((a, b), lambda grads: together.append([g is not None for g in grads]))
    z = (b * b).sum()

    def work(k):
        for _ in range(steps):
            z.backward(retain_graph=True)

    at_once(work)
    n = THREADS * steps
    np.testing.assert_allclose(x.grad.numpy(), n * np.array([18.0, 64.0]), rtol=1e-12)
    np.testing.assert_allclose(a.grad.numpy(), n * np.array([6.0, 16.0]), rtol=1e-12)
    assert len(seen) == n
    assert together == [[True, True]] * n


def a_graph_that_is_freed():
    """Only so many passes get through as find the graph whole; the others get the error of a freed graph."""

    class Twice(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2 * ctx.saved_tensors[0] ** 0

    for _ in range(50):
        x = leaf(2.0)
        y = x
        for _ in range(5):
            y = Twice.apply(y * y.cos())
        outcomes = []

        def work(k):
            try:
                y.backward()  # noqa: B023
                outcomes.append("ran")  # noqa: B023
            except RuntimeError as e:
                outcomes.append(str(e)[:49])  # noqa: B023

        at_once(work)
        assert len(outcomes) == THREADS
        assert set(outcomes) <= {"ran", "Trying to backward through the graph a second tim"}
        expected = outcomes.count("ran")
        if expected:
            (once,) = grad(rebuilt(x), x)
            np.testing.assert_allclose(x.grad.item(), expected * once.item(), rtol=1e-12)
        else:
            assert x.grad is None


def rebuilt(x):
    """What `a_graph_that_is_freed` differentiates."""
    y = x
    for _ in range(5):
        y = y * y.cos() * 2
    return y


def modes_are_each_threads_own():
    """Grad modes, watches and NumPy's error state of one thread do not reach another."""

    def work(k):
        x = leaf([1.0, 0.0])
        packed = []
        for step in range(1, 51):
            if k % 4 == 0:
                with gradwright.no_grad():
                    assert not (x * 2).requires_grad
            elif k % 4 == 1:
                with saved_tensors_hooks(lambda t: packed.append(0) or t, lambda t: t):
                    y = x * x
                y.sum().backward()
                assert len(packed) == 2 * step
            elif k % 4 == 2:
                with np.errstate(all="raise"):
                    y = x / x.detach()
                    y.sum().backward()
                    assert np.geterr()["divide"] == "raise"
            else:
                with gradwright.inference_mode():
                    assert not (x.log() * 2).requires_grad
            assert gradwright.is_grad_enabled()
            assert (x * 2).requires_grad

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        at_once(work)


def hooks_that_run_backward():
    """Backward in a hook, into the leaf that other threads write, and waiting for a thread that does."""
    x = leaf(1.0)

    def inner(g):
        with gradwright.enable_grad():
            (x * 1).backward()
        at_once(lambda k: (x * 1).backward(), 1)

    y = leaf(1.0)
    y.register_post_accumulate_grad_hook(inner)
    z = x * 1
    z.register_hook(inner)

    def work(k):
        for _ in range(10):
            (y * 1).backward()
            z.backward(retain_graph=True)

    at_once(work)
    assert x.grad.item() == THREADS * 10 * 5


def hooks_come_and_go():
    """Hooks are registered and removed by some threads while others run them."""
    x = leaf(1.0)
    y = x * 1
    count = [0] * THREADS

    def work(k):
        for _ in range(100):
            if k % 2:
                handle = y.register_hook(lambda g: g * 1)
                y.grad_fn.metadata[k] = k
                handle.remove()
            else:
                y.backward(retain_graph=True)
                count[k] += 1

    at_once(work)
    assert x.grad.item() == sum(count)


PROGRAMS = [
    separate_graphs, a_shared_leaf, a_large_shared_leaf, the_first_gradient_of_a_leaf, a_shared_leaf_recorded,
    a_shared_graph, a_graph_that_is_freed, modes_are_each_threads_own, hooks_that_run_backward, hooks_come_and_go,
]  # fmt: skip

if __name__ == "__main__":
    sys.setswitchinterval(1e-6)
    locked = getattr(sys, "_is_gil_enabled", lambda: True)()
    for program in PROGRAMS:
        program()
    sys.stdout.write(f"{len(PROGRAMS)} programs, {'with' if locked else 'without'} the interpreter's lock\n")
