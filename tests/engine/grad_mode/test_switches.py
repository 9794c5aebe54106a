"""Grad modes: what they record, how they nest, where they hold."""

import asyncio
import contextlib
import threading
import warnings

import pytest

import gradwright
from tests.functions import Function, functions

# ---- context managers ------------------------------------------------------------------------------------


def test_no_grad_records_nothing(T, leaf):
    x = leaf([1.0, 2.0])
    with T.no_grad():
        assert not T.is_grad_enabled()
        y = x * 2
        assert x.requires_grad
    assert T.is_grad_enabled()
    assert not y.requires_grad
    assert y.grad_fn is None
    assert y.is_leaf


def test_leaves_can_be_made_and_used_inside(T):
    with T.no_grad():
        x = T.tensor([1.0, 2.0], requires_grad=True)
        y = T.ones(2, requires_grad=True)
        with T.enable_grad():
            (x * y).sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_the_modes_nest(T):
    with T.no_grad():
        with T.enable_grad():
            assert T.is_grad_enabled()
            with T.set_grad_enabled(False):
                assert not T.is_grad_enabled()
            assert T.is_grad_enabled()
        assert not T.is_grad_enabled()
    assert T.is_grad_enabled()


def test_one_object_can_be_entered_again(T):
    mode = T.no_grad()
    for _ in range(2):
        with mode:
            assert not T.is_grad_enabled()
        assert T.is_grad_enabled()


def test_one_object_can_be_entered_inside_itself():
    mode = gradwright.no_grad()
    with mode:
        with mode, gradwright.enable_grad():
            assert gradwright.is_grad_enabled()
        assert not gradwright.is_grad_enabled()
    assert gradwright.is_grad_enabled()


def test_an_exception_restores_the_mode(T):
    with pytest.raises(ValueError, match="inside"), T.no_grad():
        raise ValueError("inside")
    assert T.is_grad_enabled()


def test_set_grad_enabled_holds_from_the_call_on(T):
    try:
        T.set_grad_enabled(False)
        assert not T.is_grad_enabled()
        T.set_grad_enabled(mode=True)
        assert T.is_grad_enabled()
    finally:
        T.set_grad_enabled(True)


def test_set_grad_enabled_as_a_block_ends_with_it(T):
    for mode in (True, False):
        with T.set_grad_enabled(mode):
            assert T.is_grad_enabled() == mode
        assert T.is_grad_enabled()


# ---- inference mode --------------------------------------------------------------------------------------


def test_inference_mode_records_nothing(T, leaf):
    x = leaf([1.0, 2.0])
    with T.inference_mode():
        assert T.is_inference_mode_enabled()
        assert not T.is_grad_enabled()
        y = x * 2
        with T.enable_grad():
            z = x * 2
    assert not T.is_inference_mode_enabled()
    assert T.is_grad_enabled()
    assert not y.requires_grad
    assert not z.requires_grad


def test_inference_mode_can_be_off(T, leaf):
    x = leaf([1.0, 2.0])
    with T.inference_mode(False):
        assert not T.is_inference_mode_enabled()
        assert (x * 2).requires_grad
    with T.inference_mode(), T.inference_mode(mode=False):
        assert T.is_grad_enabled()
        assert (x * 2).requires_grad


# ---- decorators ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decorator", [
    lambda T: T.no_grad(),
    lambda T: T.no_grad,
    lambda T: T.set_grad_enabled(False),
    lambda T: T.inference_mode(),
    lambda T: T.inference_mode,
])  # fmt: skip
def test_as_decorators(T, decorator):
    @decorator(T)
    def enabled(a, *, b):
        """What it does."""
        return T.is_grad_enabled(), a + b

    assert T.is_grad_enabled()
    assert enabled(1, b=2) == (False, 3)
    assert enabled.__name__ == "enabled"
    assert enabled.__doc__ == "What it does."
    assert T.is_grad_enabled()


def test_a_decorated_function_is_recursive_and_reentrant(T):
    @T.no_grad()
    def outer(n):
        with T.enable_grad():
            inside = inner(n) if n else True
        return inside and not T.is_grad_enabled()

    @T.enable_grad()
    def inner(n):
        return outer(n - 1) and T.is_grad_enabled()

    assert outer(5)
    assert T.is_grad_enabled()


def test_a_decorated_function_that_raises(T):
    @T.no_grad()
    def fail():
        raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        fail()
    assert T.is_grad_enabled()


def test_a_decorated_method(T):
    class Model:
        @T.no_grad()
        def predict(self, x):
            return x * 2

    assert not Model().predict(T.ones(2, requires_grad=True)).requires_grad


def test_a_decorated_generator_runs_in_the_mode_and_suspends_out_of_it(T):
    log = []

    @T.no_grad()
    def steps(n):
        try:
            for k in range(n):
                log.append(T.is_grad_enabled())
                got = yield k
                log.append(got)
        finally:
            log.append(("end", T.is_grad_enabled()))
        return "done"

    generator = steps(2)
    assert next(generator) == 0
    assert T.is_grad_enabled()
    assert generator.send("sent") == 1
    assert T.is_grad_enabled()
    with pytest.raises(StopIteration) as stop:
        generator.send("again")
    assert stop.value.value == "done"
    assert log == [False, "sent", False, "again", ("end", False)]
    assert T.is_grad_enabled()


def test_a_decorated_generator_that_is_thrown_into_or_closed(T):
    log = []

    @T.no_grad()
    def steps():
        try:
            yield 1
        except KeyError:
            log.append(T.is_grad_enabled())
            yield 2
        finally:
            log.append(("end", T.is_grad_enabled()))

    generator = steps()
    next(generator)
    assert generator.throw(KeyError("k")) == 2
    assert T.is_grad_enabled()
    generator.close()
    assert log == [False, ("end", False)]
    assert T.is_grad_enabled()


def test_functions_in_forward_and_backward(T, leaf):
    modes = []

    class Watch(functions(T)):
        def forward(ctx, x):
            modes.append((T.is_grad_enabled(), x.requires_grad))
            return x * 1

        def backward(ctx, g):
            modes.append(T.is_grad_enabled())
            return g

    x = leaf(1.0)
    Watch.apply(x).backward()
    Watch.apply(x).backward(create_graph=True)
    assert modes == [(False, True), False, (False, True), True]


# ---- threads and tasks -----------------------------------------------------------------------------------


def test_each_thread_has_its_own_mode(T):
    seen = {}
    inside, leave = threading.Event(), threading.Event()

    def other():
        seen["at start"] = T.is_grad_enabled()
        with T.no_grad():
            inside.set()
            leave.wait(10)
            seen["still off"] = not T.is_grad_enabled()

    with T.no_grad():
        thread = threading.Thread(target=other)
        thread.start()
        assert inside.wait(10)
        with T.enable_grad():
            leave.set()
            thread.join(10)
    assert seen == {"at start": True, "still off": True}
    assert T.is_grad_enabled()


def test_backward_in_several_threads_on_separate_graphs():
    results = {}

    def work(k):
        x = gradwright.tensor(float(k), dtype=gradwright.float64, requires_grad=True)
        for _ in range(50):
            y = (x * x).exp().log()
            x.grad = None
            y.backward()
        results[k] = x.grad.item()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(30)
    assert results == pytest.approx({k: 2.0 * k for k in range(1, 5)}, rel=1e-12)


def test_each_asyncio_task_has_its_own_mode():
    async def off(order):
        with gradwright.no_grad():
            order.append(gradwright.is_grad_enabled())
            await asyncio.sleep(0)
            order.append(gradwright.is_grad_enabled())

    async def on(order):
        order.append(gradwright.is_grad_enabled())
        await asyncio.sleep(0)
        order.append(gradwright.is_grad_enabled())

    async def main():
        a, b = [], []
        await asyncio.gather(off(a), on(b))
        return a, b

    assert asyncio.run(main()) == ([False, False], [True, True])


def test_a_task_starts_with_the_mode_it_was_made_in():
    async def mode():
        return gradwright.is_grad_enabled()

    async def main():
        with gradwright.no_grad():
            task = asyncio.create_task(mode())
        return await task

    assert asyncio.run(main()) is False


@pytest.mark.parametrize("first", ["no_grad", "enable_grad"])
@pytest.mark.parametrize("second", ["no_grad", "enable_grad"])
def test_blocks_left_out_of_order_inside_inference_mode_record_nothing(T, leaf, first, second):
    x = leaf([1.0, 2.0])
    blocks = [getattr(T, first)(), getattr(T, second)()]
    for block in blocks:
        block.__enter__()
    aside = T.inference_mode()
    aside.__enter__()
    for block in blocks:
        block.__exit__(None, None, None)
        y = x * 2
        assert y.is_inference()
        assert not y.requires_grad
    aside.__exit__(None, None, None)
    T.set_grad_enabled(True)
    assert not T.is_inference_mode_enabled()
    assert (x * 2).requires_grad


def test_set_grad_enabled_knows_what_was_before(T):
    with T.set_grad_enabled(False) as off:
        assert T.set_grad_enabled(True).prev is False
    assert off is None or off.prev is True
    assert T.set_grad_enabled(True).prev is True


# ---- generators that are suspended inside ----------------------------------------------------------------

MODES = {
    "no_grad": gradwright.no_grad,
    "inference_mode": gradwright.inference_mode,
    "set_grad_enabled": lambda: gradwright.set_grad_enabled(False),
}


def two():
    return gradwright.tensor(2.0, requires_grad=True)


def said(mode):
    match = rf"'batches' is subject to its {mode}[^$]*entered at .*_switches.py"
    return pytest.warns(gradwright.errors.GradientWarning, match=match)


@pytest.mark.parametrize("name", MODES)
@pytest.mark.parametrize("drive", ["for", "next", "inner"])
def test_the_caller_is_warned(name, drive):
    def batches():
        with MODES[name]():
            yield from range(3)

    def around():
        yield from batches()

    w, total = two(), 0
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
    assert gradwright.is_grad_enabled()
    assert (w * 2).requires_grad
    assert gradwright.is_grad_enabled()


def test_functions_of_users_and_other_modes():
    class Double(Function):
        def forward(ctx, x):
            return gradwright.tensor(2 * x.item())

        def backward(ctx, g):
            return 2 * g

    def batches():
        with gradwright.no_grad():
            yield 1

    with said("no_grad"):
        for _ in batches():
            Double.apply(two())

    def recorded():
        with gradwright.enable_grad():
            yield 1

    w = two()
    steps = recorded()
    with gradwright.no_grad():
        next(steps)
        with pytest.warns(gradwright.errors.GradientWarning, match="its enable_grad"):
            w * 2
        next(steps, None)
    steps = batches()
    next(steps)
    with gradwright.autograd.strict(True), pytest.raises(RuntimeError, match="generator 'batches'"):
        w * 2
    steps = None
    assert gradwright.is_grad_enabled()


def test_right_ones():
    w = two()

    @gradwright.no_grad()
    def decorated():
        for k in range(3):
            yield w * k

    def left():
        for k in range(3):
            with gradwright.no_grad():
                y = w * k
            yield y

    def without_history():
        with gradwright.no_grad():
            yield w.item()

    @contextlib.contextmanager
    def context():
        with gradwright.no_grad():
            yield

    def parts():
        with gradwright.no_grad():
            yield

    @contextlib.contextmanager
    def nested():
        yield from parts()

    @contextlib.asynccontextmanager
    async def later():
        with gradwright.no_grad():
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
            gradwright.tensor(x) * 2  # nothing would be recorded anyway
        for manager in (context, nested):
            with manager():
                assert not (w * 2).requires_grad
        assert not asyncio.run(run()).requires_grad
        with gradwright.no_grad():
            for _ in parts():
                w * 2
    assert gradwright.is_grad_enabled()


@pytest.fixture
def quiet_mode():
    with gradwright.no_grad():
        yield


def test_fixtures(quiet_mode):
    assert not (two() * 2).requires_grad


def test_an_abandoned_generator_gives_the_mode_back():
    def batches():
        with gradwright.no_grad():
            while True:
                yield 1

    for _ in batches():
        break
    assert gradwright.is_grad_enabled()
    assert (two() * 2).requires_grad
