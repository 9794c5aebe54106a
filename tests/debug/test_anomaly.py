import copy
import importlib
import inspect
import itertools
import re
import threading
import warnings

import numpy as np
import pytest

import gradwright
from gradwright.autograd import AnomalyError, Function, detect_anomaly, set_detect_anomaly
from gradwright.engine.saved_hooks import saved_tensors_hooks
from tests.functions import function

INF = float("inf")


def t(*values, grad=True, dtype=None):
    return gradwright.tensor(values, dtype=dtype or gradwright.float64, requires_grad=grad)


def line_of(text):
    """The line of this file that holds ``text``, as messages give it."""
    caller = inspect.currentframe().f_back.f_code
    lines, first = inspect.getsourcelines(caller)
    (k,) = [k for k, line in enumerate(lines) if text in line and "line_of" not in line]
    return f"{caller.co_filename}:{first + k}: "


# -- pain point 13: the wrong program, on PyTorch, then here --


def train(T):
    """Forward and backward of a loss in which a ratio of sums is 0/0 long before the loss is looked at."""
    x = T.tensor([0.0, 3.0], dtype=T.float64, requires_grad=True)
    counts = T.tensor([0.0, 2.0], dtype=T.float64)
    mean = x / counts  # here is the mistake
    hidden = T.exp(mean) * 2.0
    loss = T.where(counts > 0, hidden, T.zeros(2, dtype=T.float64)).sum()
    loss.backward()
    return x.grad


def test_pytorch_says_nothing_of_the_forward_pass_and_names_a_late_operation(torch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert torch.isnan(train(torch)).any()  # without anomaly mode: silence
        with torch.autograd.detect_anomaly(), pytest.raises(RuntimeError) as caught:
            train(torch)
    assert "Function 'MulBackward0' returned nan" not in str(caught.value)
    assert re.fullmatch(r"Function '(Exp|Div)Backward0' returned nan values in its 0th output\.", str(caught.value))
    assert "counts" not in str(caught.value)


def test_the_first_operation_that_makes_a_nan_is_named_with_its_line_and_inputs():
    with detect_anomaly(), pytest.raises(AnomalyError) as caught:
        train(gradwright)
    error = caught.value
    assert (error.operation, error.backward, error.what, error.index, error.count) == ("divide", False, "nan", (0,), 1)
    line = inspect.getsourcelines(train)[1] + 4
    assert error.place == f"{__file__}:{line}: mean = x / counts  # here is the mistake"
    assert str(error) == (
        "divide made NaN, of inputs without.\n"
        "  1 of 2 values, the first at [0]: nan\n"
        f"  run at {error.place}\n"
        "  input 0: float64 [2], 0.0 to 3.0\n"
        "  input 1: float64 [2], 0.0 to 2.0"
    )
    assert isinstance(error, RuntimeError)
    assert str(copy.copy(error)) == str(error)
    assert copy.copy(error).inputs == error.inputs


# -- backward, against PyTorch --


@pytest.mark.parametrize(
    ("program", "name", "output"),
    [
        (lambda T, x: T.where(x > 0, x.sqrt(), T.zeros_like(x)).sum(), "SqrtBackward0", 0),
        (lambda T, x: (x * x).sqrt().sum() * 0, "SqrtBackward0", 0),
        (lambda T, x: (T.ones_like(x) ** x * 1.0 + x**0.5).sum() * 0, "PowBackward0", 0),
    ],
)
def test_backward_begins_with_the_words_of_pytorch(T, leaf, program, name, output):
    x = leaf([0.0, 4.0])
    with T.autograd.detect_anomaly():
        y = program(T, x)
        with pytest.raises(RuntimeError, match=f"Function '{name}' returned nan values in its {output}th output"):
            y.backward()
    assert x.grad is None


def test_the_gradient_of_a_second_input_is_its_1st_output(T, leaf):
    base, exponent = T.tensor([-1.0], dtype=T.float64), leaf([2.0])
    with T.autograd.detect_anomaly():
        y = base**exponent
        with pytest.raises(RuntimeError, match="Function 'PowBackward1' returned nan values in its 1th output"):
            y.backward()


def test_a_message_of_backward_gives_both_lines_and_the_ranges():
    x = t(4.0, 0.0)
    with detect_anomaly():
        y = x.sqrt()
        with pytest.raises(AnomalyError) as caught:
            y.sum().backward()
    error = caught.value
    assert (error.operation, error.backward, error.what, error.output) == ("SqrtBackward0", True, "inf", 0)
    assert (error.index, error.count) == ((1,), 1)
    assert error.recorded == line_of("x.sqrt()") + "y = x.sqrt()"
    assert error.place == line_of("y.sum()") + "y.sum().backward()"
    assert str(error).splitlines() == [
        "Function 'SqrtBackward0' returned inf values in its 0th output.",
        "  1 of 2 values, the first at [1]: inf",
        f"  recorded at {error.recorded}",
        f"  backward run at {error.place}",
        "  grad_output 0: float64 [2], 1.0 to 1.0",
        "  saved out: float64 [2], 0.0 to 2.0",
    ]
    assert error.inputs["saved out"].high == 2.0


def test_create_graph_names_the_same_node():
    x = t(4.0, 0.0)
    with detect_anomaly(), pytest.raises(AnomalyError, match="Function 'SqrtBackward0' returned inf"):
        gradwright.autograd.grad(x.sqrt().sum(), x, create_graph=True)


def test_the_second_backward_is_checked_too():
    x = t(0.0)
    with detect_anomaly():
        y = x**1.5
        (g,) = gradwright.autograd.grad(y.sum(), x, create_graph=True)
        with pytest.raises(AnomalyError, match="returned inf"):
            g.sum().backward()


# -- what makes one --


Bad = function("Bad", lambda ctx, x: gradwright.tensor(x.detach().numpy() * np.nan), lambda ctx, g: g)
BadInside = function("BadInside", lambda ctx, x: x * 1.0, lambda ctx, g: (g * 0).log())


BadOut = function("BadOut", lambda ctx, x: x * 1.0, lambda ctx, g: gradwright.tensor(np.full(g.shape, np.nan)))


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize(
    ("program", "name", "what"),
    [
        (lambda x: x / 0, "divide", "inf"),
        (lambda x: 1 / (x * 0), "divide", "inf"),
        (lambda x: (x - 10).log(), "log", "nan"),
        (lambda x: (x - x).log(), "log", "inf"),
        (lambda x: (x * 1000).exp(), "exp", "inf"),
        (lambda x: (x * 1e300).float(), "astype", "inf"),
        (lambda x: x * INF - x * INF, "subtract", "nan"),
        (lambda x: (x * -INF).softmax(0), "softmax", "nan"),
        (lambda x: (x.half() * 60000).sum(), "astype", "inf"),
        (lambda x: x.detach().div_(0), "divide", "inf"),
        (lambda x: gradwright.stack([x, x]).unbind()[0].sub(5).sqrt(), "sqrt", "nan"),
        (Bad.apply, "Bad", "nan"),
    ],
)
def test_the_forward_pass_is_checked_recorded_or_not(program, name, what, grad):
    x = t(1.0, 2.0, grad=grad)
    with detect_anomaly(), gradwright.set_grad_enabled(grad), pytest.raises(AnomalyError) as caught:
        program(x)
    assert (caught.value.operation, caught.value.what, caught.value.backward) == (name, what, False)
    assert program(x) is not None  # it is off again


def test_a_function_backward_is_checked_inside_and_as_a_whole():
    with detect_anomaly():
        y = BadInside.apply(t(1.0))
        with pytest.raises(AnomalyError, match=r"of inputs without, in BadInsideBackward\.") as caught:
            y.sum().backward()
        error, recorded = caught.value, f"{line_of('y = ')}y = BadInside.apply(t(1.0))"
        assert "(g * 0).log()" in error.place
        assert (error.function, error.recorded) == ("BadInsideBackward", recorded)
        assert f"\n  recorded at {recorded}\n  run at {error.place}\n" in str(error)
        with pytest.raises(AnomalyError, match="Function 'BadOutBackward' returned nan values in its 0th output"):
            BadOut.apply(t(1.0)).sum().backward()


def test_a_change_in_place_raises_before_it_is_made():
    x = t(1.0, 0.0, grad=False)
    with detect_anomaly(), pytest.raises(AnomalyError, match="log made an infinity"):
        x.log_()
    assert x.tolist() == [1.0, 0.0]
    assert x._version == 0


def test_a_hook_is_checked():
    x = t(1.0)
    y = x * 2
    y.register_hook(lambda g: gradwright.tensor([np.nan], dtype=gradwright.float64))
    with detect_anomaly(), pytest.raises(AnomalyError, match=r"hook '<lambda>' .* on MulBackward0 made NaN"):
        y.backward()
    assert x.grad is None


def test_a_sum_of_gradients_is_checked():
    x = t(0.0)
    y = x * 1.0
    with detect_anomaly():
        z = (y * 1e308).sum() + (y * 1e308).sum()
        with pytest.raises(AnomalyError, match="add made an infinity"):
            z.backward()


def test_adding_to_a_gradient_is_checked():
    x = t(1.0)
    with detect_anomaly():
        (x * 1e308).sum().backward()
        with pytest.raises(AnomalyError, match="Function 'AccumulateGrad' returned inf"):
            (x * 1e308).sum().backward()


def test_the_output_of_several_is_named():
    with detect_anomaly(), pytest.raises(AnomalyError, match="in its output 1") as caught:
        Second.apply(t(1.0))
    assert caught.value.output == 1


class Writes(Function):
    @staticmethod
    def forward(ctx, x):
        x.detach().numpy()[...] = np.nan
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g


def test_a_function_that_writes_its_input_made_what_it_wrote():
    with detect_anomaly():
        x = t(1.0) * 2
        with pytest.raises(AnomalyError, match="Writes made NaN"):
            Writes.apply(x)


Second = function("Second", lambda ctx, x: (x * 1.0, gradwright.tensor([np.nan])), lambda ctx, g, h: g)


# -- what must not raise --

MASK = gradwright.tensor([True, False, True])


def passes_on(x):
    return (x * gradwright.tensor([1.0, np.nan, INF])).cumsum(0).sum()


@pytest.mark.parametrize(
    "program",
    [
        lambda x: x.masked_fill(MASK, -INF).softmax(0).sum(),
        lambda x: x.masked_fill(MASK, -INF).log_softmax(0)[1],
        lambda x: gradwright.where(MASK, x, -INF).logsumexp(0),
        lambda x: gradwright.where(MASK, x, gradwright.tensor(-INF)).amax(),
        lambda x: (x + gradwright.tensor([0.0, -INF, 0.0])).softmax(0)[0],
        lambda x: gradwright.full((3,), -INF).scatter(0, gradwright.tensor([0, 2]), x[:2]).logsumexp(0),
        lambda x: x.clamp(-INF, INF).sum(),
        lambda x: x.clamp(max=INF).sum(),
        lambda x: gradwright.nn.functional.pad(x, (1, 1), value=-INF)[1:-1].sum(),
        lambda x: (x * 0).xlogy(x * 0 + gradwright.tensor([1.0, 0.5, 2.0])).sum(),
        lambda x: gradwright.xlogy(gradwright.zeros(3), x).sum(),
        lambda x: gradwright.special.entr(x.detach() * 0 + 0).sum() + x.sum(),
        lambda x: gradwright.logaddexp(x, gradwright.tensor([-INF, 0.0, -INF])).sum(),
        lambda x: (x * 1000).sigmoid().sum() + (x * -1000).sigmoid().sum(),
        lambda x: gradwright.nn.functional.softplus(x * 1000).sum(),
        lambda x: gradwright.nn.functional.logsigmoid(x * -1000).sum(),
        lambda x: gradwright.nn.functional.cross_entropy(x[None] * 1000, gradwright.tensor([1])),
        lambda x: gradwright.nn.functional.binary_cross_entropy_with_logits(x * 1000, gradwright.zeros(3)),
        lambda x: gradwright.nn.functional.binary_cross_entropy((x * 0).detach(), gradwright.zeros(3)) + x.sum(),
        lambda x: gradwright.nn.functional.kl_div(x, gradwright.tensor([0.0, 1.0, 0.0]), reduction="sum"),
        lambda x: gradwright.nn.functional.max_pool1d(x[None, None], 3, padding=1).sum(),
        lambda x: gradwright.nn.functional.layer_norm(x * 0 + 1, (3,)).sum(),
        lambda x: gradwright.nn.functional.normalize(x * 0, dim=0).sum(),
        lambda x: gradwright.nn.functional.gelu(x * 1000).sum() + gradwright.nn.functional.silu(x * -1000).sum(),
        lambda x: gradwright.nn.functional.scaled_dot_product_attention(
            x[None, :, None], x[None, :, None], x[None, :, None], is_causal=True).sum(),
        lambda x: gradwright.tensor([INF, -INF, np.nan]).nan_to_num(0.0).sum() + x.sum(),
        lambda x: (x / INF).sum(),
        lambda x: gradwright.isinf(x * INF).sum() + x.sum(),
        lambda x: x.sort()[0].cummax(0)[0].sum() + x.norm(p=INF) + (x * 0).norm(),
        lambda x: gradwright.sinc(x * 0).sum() + (x * 0).prod(),
        passes_on,
    ],
)  # fmt: skip
def test_ordinary_programs_do_not_raise(program):
    for create_graph in (False, True):
        x = gradwright.tensor([0.5, 1.5, 2.5], requires_grad=True)
        with detect_anomaly():
            program(x).backward(create_graph=create_graph)
        assert x.grad is not None


def test_a_singular_matrix_raises_what_it_raises_without():
    with detect_anomaly():
        with pytest.raises(gradwright.linalg.LinAlgError):
            gradwright.linalg.cholesky(gradwright.zeros(2, 2))
        assert gradwright.linalg.inv_ex(gradwright.zeros(2, 2)).info.item() > 0


def test_infinities_may_be_meant():
    x = t(1.0, 0.0)
    with detect_anomaly(check_inf=False):
        (1 / x).sum().backward()
        with pytest.raises(AnomalyError, match="divide made NaN"):
            (x * 0) / (x * 0)


# -- the line that recorded --


def test_the_error_for_a_changed_value_gives_the_line_that_saved_it():
    with detect_anomaly():
        x = t(1.0)
        w = x * 1
        y = w * w
        w.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
            y.backward()
    assert f"saved at {line_of('y = w * w')}y = w * w" in str(caught.value)
    assert f"changed at {line_of('w.add_(1)')}w.add_(1)" in str(caught.value)


def test_the_error_for_a_freed_graph_gives_the_line_that_recorded_it():
    with detect_anomaly():
        y = t(1.0).exp()
    y.backward()
    with pytest.raises(RuntimeError, match="second time") as caught:
        y.backward()
    assert f"ExpBackward0, recorded at {line_of('t(1.0)')}y = t(1.0).exp()" in str(caught.value)


class Raises(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1.0

    @staticmethod
    def backward(ctx, g):
        raise ZeroDivisionError("mine")


@pytest.mark.parametrize("check_nan", [True, False])
def test_an_exception_in_backward_carries_the_line_as_a_note(check_nan):
    with detect_anomaly(check_nan):
        y = Raises.apply(t(1.0))
        with pytest.raises(ZeroDivisionError, match="mine") as caught:
            y.backward()
    assert caught.value.__notes__ == [f"in RaisesBackward, recorded at {line_of('y = ')}y = Raises.apply(t(1.0))"]


def test_a_node_recorded_before_it_was_on_says_so():
    y = t(0.0).sqrt()
    with detect_anomaly(), pytest.raises(AnomalyError, match="recorded at a line that was not noted") as caught:
        y.backward()
    assert caught.value.recorded is None


# -- switching --


def test_the_innermost_counts_and_the_outer_comes_back(T):
    state = lambda: (T.is_anomaly_enabled(), T.is_anomaly_check_nan_enabled())
    assert state() == (False, True)
    with T.autograd.detect_anomaly():
        assert state() == (True, True)
        with T.autograd.detect_anomaly(check_nan=False):
            assert state() == (True, False)
            with T.autograd.set_detect_anomaly(False):
                assert state()[0] is False
            assert state() == (True, False)
        assert state() == (True, True)
    assert state() == (False, True)


def test_set_detect_anomaly_is_a_function_too(T):
    try:
        T.autograd.set_detect_anomaly(True)
        assert T.is_anomaly_enabled()
        T.autograd.set_detect_anomaly(True, check_nan=False)
        assert not T.is_anomaly_check_nan_enabled()
    finally:
        T.set_anomaly_enabled(False)
    assert not T.is_anomaly_enabled()


def test_one_may_be_entered_again_and_inside_itself():
    mode = detect_anomaly()
    with mode, mode:
        assert gradwright.is_anomaly_enabled()
    assert not gradwright.is_anomaly_enabled()
    with mode, pytest.raises(AnomalyError):
        t(1.0) / 0
    assert not gradwright.is_anomaly_enabled()


@pytest.mark.parametrize("order", [*itertools.permutations(range(3))])
def test_blocks_may_be_left_in_any_order(order):
    blocks = [detect_anomaly(), detect_anomaly(check_nan=False), detect_anomaly()]
    for block in blocks:
        block.__enter__()
    still = {0, 1, 2}
    for k in order:
        assert gradwright.is_anomaly_enabled()
        assert gradwright.is_anomaly_check_nan_enabled() is (max(still) != 1)
        blocks[k].__exit__()
        still.remove(k)
    assert not gradwright.is_anomaly_enabled()


def test_it_holds_in_its_own_thread_only():
    seen = []
    with set_detect_anomaly(True):
        other = threading.Thread(target=lambda: seen.append((1 / t(0.0)).item()))
        other.start()
        other.join()
    assert seen == [INF]


def test_check_nan_false_checks_nothing():
    with detect_anomaly(check_nan=False):
        x = t(0.0)
        x.sqrt().backward()
    assert x.grad.item() == INF


def test_it_goes_with_saved_tensors_hooks():
    with detect_anomaly(), saved_tensors_hooks(lambda s: s.clone(), lambda s: s):
        y = t(0.0).sqrt()
        with pytest.raises(AnomalyError, match="saved out: float64") as caught:
            y.backward()
    assert caught.value.inputs["saved out"].low == 0.0


def test_numbers_of_another_library_are_looked_at():
    strict = pytest.importorskip("array_api_strict")
    importlib.import_module("gradwright.backends.strict")
    x = gradwright.tensor([-1.0, 2.0], device=strict.Device("device1"), requires_grad=True)
    with (
        pytest.raises(AnomalyError, match=r"sqrt made NaN, of inputs without\.\n  1 of 2 values"),
        detect_anomaly(),
    ):
        x.sqrt()
