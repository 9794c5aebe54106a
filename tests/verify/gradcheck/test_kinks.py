"""Points without a derivative get a verdict of their own: never a pass, never called wrong."""

import numpy as np
import pytest

import gradwright

check = gradwright.autograd.gradcheck


def leaf(data, dtype="float64"):
    return gradwright.tensor(data, dtype=getattr(gradwright, dtype), requires_grad=True)


KINKS = {
    "relu": (lambda x: x.relu(), 0, 1),
    "abs": (lambda x: x.abs(), -1, 1),
    "maximum": (lambda x: gradwright.maximum(3 * x, x), 1, 3),
    "clamp": (lambda x: x.clamp(min=0), 0, 1),
    "half-way": (lambda x: x.abs() + x, 0, 2),
}


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("name", KINKS)
def test_kinks(name, fast):
    f, left, right = KINKS[name]
    with pytest.raises(gradwright.GradcheckError) as error:
        check(f, leaf([1.0, 0.0, 2.0]), fast_mode=fast)
    assert str(error.value).startswith(f"Output 0[1] has a kink at x[1] = 0: its slope is {left} to the left and "
                                       f"{right} to the right")
    assert not check(f, leaf([1.0, 0.0]), raise_exception=False)
    assert check(f, leaf([1.0, -1.0, 0.01]))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.filterwarnings("ignore:Input #")
def test_in_less_precision(dtype):
    with pytest.raises(gradwright.GradcheckError, match=r"has a kink at x.1. = 0"):
        check(lambda x: x.abs(), leaf([1.0, 0.0], dtype))
    assert check(lambda x: x.abs(), leaf([1.0, -0.5], dtype))


@pytest.mark.parametrize("f", [lambda x: x.sign() * x.cos(), lambda x: x.floor(), lambda x: (x > 0) * x.exp()])
def test_jumps(f):
    with pytest.raises(gradwright.GradcheckError, match=r"Output 0\[0\] jumps at x\[0\] = 0: it has no derivative"):
        check(f, leaf([0.0, 0.5]))


def test_a_kink_of_the_gradient():
    with pytest.raises(gradwright.GradcheckError, match="jumps at x"):
        gradwright.autograd.gradgradcheck(lambda x: x.relu() * x.exp(), leaf([0.0, 1.0]))
    with pytest.raises(gradwright.GradcheckError, match="has a kink at x"):
        gradwright.autograd.gradgradcheck(lambda x: x.abs() * x, leaf([0.0, 1.0]))


def test_what_is_wrong_elsewhere_comes_first():
    class Wrong(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.relu()

        @staticmethod
        def backward(ctx, g):
            return 2 * g * (ctx.saved_tensors[0] > 0)

    with pytest.raises(gradwright.GradcheckError, match=r"Jacobian mismatch[^\n]*\nworst: d out\[1\] / d x\[1\]"):
        check(Wrong.apply, leaf([0.0, 1.0]))


def test_a_slope_beyond_both_sides_is_wrong():
    class Beyond(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.relu()

        @staticmethod
        def backward(ctx, g):
            return 5 * g

    with pytest.raises(gradwright.GradcheckError, match="Jacobian mismatch"):
        check(Beyond.apply, leaf([0.0]))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x**3,
        lambda x: 1e4 * x * x,  # strongly curved where its slope is 0
        lambda x: (30 * x).cos(),
        lambda x: (x * 1e3).tanh(),
        lambda x: x**2 * x.abs(),  # smooth enough: its second derivative has the kink
        lambda x: x * 0 + 7.0,
    ],
)
def test_smooth_functions_have_none(f):
    assert check(f, leaf([0.0, 1e-3, 1.0]))


def test_by_the_parts_of_a_complex_input():
    z = gradwright.tensor([1 + 0j, 2 + 1j], dtype=gradwright.complex128, requires_grad=True)
    with pytest.raises(gradwright.GradcheckError, match=r"has a kink at x.0. = 1"):
        check(lambda x: x.imag.abs() + x.real, z)


def test_within_the_step_that_was_asked_for(T):
    x = T.tensor([1e-5, 1.0], dtype=T.float64, requires_grad=True)
    assert T.autograd.gradcheck(lambda x: x.abs(), x, eps=1e-6)
    assert not T.autograd.gradcheck(lambda x: x.abs(), x, eps=1e-3, raise_exception=False)
    assert np.isfinite(x.array if T is gradwright else x.detach().numpy()).all()
