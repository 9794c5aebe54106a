"""Generators that are suspended inside of a mode: whoever iterates is warned, once, and only where it matters."""

import asyncio
import contextlib
import warnings

import pytest

import gradwright as gw

MODES = {
    "no_grad": gw.no_grad, "inference_mode": gw.inference_mode, "set_grad_enabled": lambda: gw.set_grad_enabled(False)
}  # fmt: skip


def leaf():
    return gw.tensor(2.0, requires_grad=True)


def said(mode):
    match = rf"'batches' is subject to its {mode}[^$]*entered at .*_suspended.py"
    return pytest.warns(gw.errors.GradientWarning, match=match)


@pytest.mark.parametrize("name", MODES)
@pytest.mark.parametrize("drive", ["for", "next", "inner"])
def test_the_caller_is_warned(name, drive):
    def batches():
        with MODES[name]():
            yield from range(3)

    def around():
        yield from batches()

    w, total = leaf(), 0
    with said(name) as found:
        if drive == "next":
            steps = batches()
            next(steps)
            y = w * 3
            next(steps, None)
        else:
            for k in around() if drive == "inner" else batches():
                y = w * k
                total = total + y
    assert len(found) == 1
    assert found[0].filename == __file__
    assert not y.requires_grad
    steps = None
    assert gw.is_grad_enabled()
    assert (w * 2).requires_grad
    assert gw.is_grad_enabled()


def test_functions_of_users_and_other_modes():
    class Double(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return gw.tensor(2 * x.item())

        @staticmethod
        def backward(ctx, g):
            return 2 * g

    def batches():
        with gw.no_grad():
            yield 1

    with said("no_grad"):
        for _ in batches():
            Double.apply(leaf())

    def recorded():
        with gw.enable_grad():
            yield 1

    w = leaf()
    steps = recorded()
    with gw.no_grad():
        next(steps)
        with pytest.warns(gw.errors.GradientWarning, match="its enable_grad"):
            w * 2
        next(steps, None)
    steps = batches()
    next(steps)
    with gw.autograd.strict(True), pytest.raises(RuntimeError, match="generator 'batches'"):
        w * 2
    steps = None
    assert gw.is_grad_enabled()


def test_right_ones():
    w = leaf()

    @gw.no_grad()
    def decorated():
        for k in range(3):
            yield w * k

    def left():
        for k in range(3):
            with gw.no_grad():
                y = w * k
            yield y

    def without_history():
        with gw.no_grad():
            yield w.item()

    @contextlib.contextmanager
    def context():
        with gw.no_grad():
            yield

    def parts():
        with gw.no_grad():
            yield

    @contextlib.contextmanager
    def nested():
        yield from parts()

    @contextlib.asynccontextmanager
    async def later():
        with gw.no_grad():
            yield

    async def run():
        async with later():
            return w * 2

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for y in [*decorated(), *left()]:
            assert not y.requires_grad
        for y in decorated():
            assert (w * y).requires_grad
        for x in without_history():
            gw.tensor(x) * 2  # nothing would be recorded anyway
        for manager in (context, nested):
            with manager():
                assert not (w * 2).requires_grad
        assert not asyncio.run(run()).requires_grad
        with gw.no_grad():
            for _ in parts():
                w * 2
    assert gw.is_grad_enabled()


@pytest.fixture
def quiet_mode():
    with gw.no_grad():
        yield


def test_fixtures(quiet_mode):
    assert not (leaf() * 2).requires_grad


def test_an_abandoned_generator_gives_the_mode_back():
    def batches():
        with gw.no_grad():
            while True:
                yield 1

    for _ in batches():
        break
    assert gw.is_grad_enabled()
    assert (leaf() * 2).requires_grad
