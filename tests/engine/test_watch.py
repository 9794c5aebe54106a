import threading

import pytest

import gradwright
from gradwright.engine.mode import PLAIN, now
from gradwright.engine.watch import Watch
from tests.functions import Function


class Log(Watch):
    """Writes down all that it sees."""

    def __init__(self, name="", log=None):
        self.name, self.log = name, [] if log is None else log

    def compute(self, name, inputs, call):
        self.log.append(f"{self.name}{name}")
        return call()

    def recorded(self, node):
        self.log.append(f"{self.name}+{type(node).__name__}")

    def run(self, node, g, call):
        self.log.append(f"{self.name}-{type(node).__name__}")
        return call()

    def writing(self, t):
        self.log.append(f"{self.name}!")


def leaf():
    return gradwright.ones(2, requires_grad=True)


class Double(Function):
    def forward(ctx, x):
        return x + x

    def backward(ctx, g):
        return 2 * g


def test_all_forms_of_operations_are_seen():
    x = leaf()
    with Log() as seen:
        y = x * 2  # binary
        y = y.exp()  # unary
        y = y.sum()  # one argument
        y = gradwright.stack([y, y])  # several
        y = Double.apply(y)
        with gradwright.no_grad():
            y.detach().neg()
    assert seen.log == [
        "multiply", "+MulBackward0", "exp", "+ExpBackward0", "sum", "+SumBackward0", "stack", "+StackBackward0",
        "Double", "add", "+DoubleBackward", "negative",
    ]  # fmt: skip


def test_a_backward_pass_is_seen():
    x = leaf()
    y = (Double.apply(x) * x).sum()
    with Log() as seen:
        y.backward()
    assert seen.log[:4] == ["-SumBackward0", "-MulBackward0", "-DoubleBackward", "multiply"]
    assert seen.log[-2:] == ["add", "-AccumulateGrad"]  # both ways into the leaf joined


def test_hooks_are_seen_with_their_names():
    y = leaf() * 2
    y.register_hook(lambda g: g + 1)
    with Log() as seen:
        y.sum().backward()
    assert any(name.startswith("hook '<lambda>'") and name.endswith("on MulBackward0") for name in seen.log)


def test_writes_in_place_are_seen_before_they_are_made():
    class Before(Watch):
        def writing(self, t):
            seen.append(t.tolist())

    seen = []
    x = gradwright.tensor([1.0, 2.0])
    with Before():
        x.add_(1)
        x[0] = 7
    assert seen == [[1.0, 2.0], 2.0]  # the second through the view x[0]
    assert x.tolist() == [7.0, 3.0]


def test_what_a_write_through_a_view_records_is_seen():
    view = (leaf() * 1)[:1]
    with Log() as seen:
        view.mul_(2)
        view.fill_(3)
    written = [line for line in seen.log if line in ("!", "+MulBackward0", "+CopySlices")]
    assert written == ["+MulBackward0", "!", "+CopySlices", "!", "+CopySlices"]


def test_static_arguments_are_among_the_inputs():
    class Inputs(Watch):
        def compute(self, name, inputs, call):
            seen.append((name, inputs[1:]))
            return call()

    seen = []
    with Inputs():
        gradwright.ones(2).softmax(0)
    assert seen == [("softmax", (0,))]


def test_the_newest_is_outermost():
    log = []
    with Log("a ", log), Log("b ", log):
        leaf().exp()
    assert log == ["b exp", "a exp", "b +ExpBackward0", "a +ExpBackward0"]


def test_one_may_be_on_twice_and_they_may_end_in_any_order():
    a, b = Log(), Log()
    a.__enter__()
    b.__enter__()
    a.__enter__()
    a.__exit__()
    assert now().watches == (a, b)
    a.__exit__()
    leaf().exp()
    assert a.log == []
    assert b.log == ["exp", "+ExpBackward0"]
    b.__exit__()
    assert now().watches == ()
    assert now() is PLAIN


def test_it_ends_with_an_exception_and_leaves_the_grad_mode_alone():
    seen = Log()
    with gradwright.no_grad():
        with pytest.raises(ZeroDivisionError), seen:
            raise ZeroDivisionError
        assert not gradwright.is_grad_enabled()
    with seen, gradwright.no_grad(), gradwright.enable_grad():
        leaf().exp()
    leaf().exp()
    assert seen.log == ["exp", "+ExpBackward0"]


def test_one_that_is_turned_on_inside_a_grad_mode_stays_on():
    for mode in (gradwright.no_grad, gradwright.inference_mode, lambda: gradwright.set_grad_enabled(False)):
        seen, x = Log(), leaf()
        with mode():
            seen.__enter__()
        x.exp()
        with mode():
            seen.__exit__()
        x.exp()
        assert seen.log == ["exp", "+ExpBackward0"]
    assert now() is PLAIN


def test_one_that_a_hook_turns_on_stays_on():
    seen = Log()
    y = leaf() * 2
    y.register_hook(lambda g: seen.__enter__() and None)
    y.sum().backward()
    seen.log.clear()
    leaf().exp()
    seen.__exit__()
    assert seen.log == ["exp", "+ExpBackward0"]
    assert now() is PLAIN


def test_other_threads_are_not_seen():
    with Log() as seen:
        thread = threading.Thread(target=lambda: leaf().exp())
        thread.start()
        thread.join()
    assert seen.log == []
