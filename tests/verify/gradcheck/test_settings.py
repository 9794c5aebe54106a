"""Steps and tolerances that suit a dtype, and inputs that are refused."""

import numpy as np
import pytest

import gradwright
from gradwright.engine.base import wrap
from gradwright.verify.gradcheck.settings import SUITS, Settings, check_inputs, precision_of
from gradwright.verify.numeric.jacobian import Subject

DTYPES = ["float32", "float16"]


def settings(precision, eps=None):
    suit = SUITS[precision]
    return Settings(eps, suit.atol, suit.rtol, 0.0, True, False, False, False, None, precision)


def leaf(data, dtype="float64"):
    return gradwright.tensor(data, dtype=getattr(gradwright, dtype), requires_grad=True)


def test_the_coarsest_dtype_counts():
    x = leaf([1.0])
    assert precision_of(Subject(lambda x: x, x)) == "float64"
    assert precision_of(Subject(lambda x: x.float(), x)) == "float32"
    assert precision_of(Subject(lambda x: x * 1j, x)) == "float64"
    assert precision_of(Subject(lambda a, b: (a, b), (x, leaf([1.0], "float16")))) == "float16"


def test_steps():
    assert settings("float64").steps(leaf([0.0, 1.0])).tolist() == [1e-6, 1e-6]
    assert settings("float64").steps(leaf([1e12]))[0] > 1e-3  # where 1e-6 would be lost
    assert settings("float32").steps(leaf([1.0], "float32")).tolist() == [1 / 64]
    assert settings("float32", eps=1e-3).steps(leaf([0.0, 9.0], "float32")).tolist() == [1e-3, 1e-3]


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["sin", "exp", "log", "sqrt", "tanh", "sigmoid", "square"])
@pytest.mark.filterwarnings("ignore:Input #")
def test_right_derivatives_pass_in_any_precision(dtype, name, fast):
    x = leaf(np.linspace(0.3, 2, 6).reshape(2, 3), dtype)
    for check in (gradwright.autograd.gradcheck, gradwright.autograd.gradgradcheck):
        assert check(getattr(gradwright, name), x, fast_mode=fast)


@pytest.mark.parametrize(("dtype", "factor"), [("float32", 1.01), ("float32", 0.9), ("float16", 1.2), ("float16", -1)])
@pytest.mark.filterwarnings("ignore:Input #")
def test_wrong_ones_do_not(dtype, factor):
    class Wrong(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0].cos() * factor

    with pytest.raises(gradwright.GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradwright.autograd.gradcheck(Wrong.apply, leaf(np.linspace(0.1, 1, 6), dtype))


@pytest.mark.parametrize("eps", [1e-6, 1e-9])
@pytest.mark.filterwarnings("ignore:Input #")
def test_a_step_that_rounding_swallows_judges_nothing(eps):
    x = leaf([0.5, 1.0], "float32")
    with pytest.raises(gradwright.GradcheckError, match=r"Finite differences cannot judge d out.* in float32: with"):
        gradwright.autograd.gradcheck(lambda x: x.sin(), x, eps=eps)


@pytest.mark.filterwarnings("ignore:Input #")
def test_what_rounding_hides_is_no_pass():
    """A sum of 1000 in float16 is a multiple of 0.5: nobody can see the slope 1 of its terms."""
    x = leaf(np.linspace(0.5, 1.5, 300), "float16")
    with pytest.raises(gradwright.GradcheckError, match=r"cannot judge d out / d x.* since outputs are rounded"):
        gradwright.autograd.gradcheck(lambda x: x.sum() + 1000, x)


@pytest.mark.filterwarnings("ignore:Input #")
def test_large_values_in_float64():
    """1e9 + x: the difference is rounded by more than the tolerance, which PyTorch takes for a wrong derivative."""
    assert gradwright.autograd.gradcheck(lambda x: x.sin() + 1e9, leaf([0.5, 1.0]))


def test_the_warning_names_the_argument(T):
    a, b = T.ones(1, dtype=T.float64), T.ones(1, dtype=T.float32, requires_grad=True)
    with pytest.warns(UserWarning, match="Input #2 requires gradient and is not a double precision floating point or"):
        T.autograd.gradcheck(lambda a, k, b: a * b, (a, 3, b), eps=1e-2, atol=0.1)


def test_windows_overlap():
    x = wrap(np.lib.stride_tricks.sliding_window_view(np.arange(6.0), 3))
    x.requires_grad_()
    with pytest.raises(RuntimeError, match="The 0th input overlaps itself"):
        check_inputs((x,))


def test_the_place_of_a_refused_argument(T):
    x = T.ones(1, dtype=T.float64).expand(3).detach().requires_grad_()
    with pytest.raises(RuntimeError, match="The 1th input has a dimension with stride 0"):
        T.autograd.gradcheck(lambda n, x: x * n, (2, x))
