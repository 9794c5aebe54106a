"""The comparison of all entries: order, tolerance, determinism."""

import numpy as np
import pytest

import gradwright
from gradwright.verify.gradcheck.compare import folded, parts_of
from gradwright.verify.numeric.jacobian import Subject

check = gradwright.autograd.gradcheck


def leaf(data, dtype="float64"):
    return gradwright.tensor(data, dtype=getattr(gradwright, dtype), requires_grad=True)


def test_the_parts_come_in_pytorchs_order():
    x = leaf([1.0])
    parts = parts_of(Subject(lambda x: (x * 1j, x * 2, x * 3j), x))
    assert [(p.output, p.name) for p in parts] == [
        (0, "imaginary"), (1, ""), (2, "imaginary"), (0, "real"), (2, "real"),
    ]  # fmt: skip


def test_complex_rows_are_folded():
    z = leaf([1j, 2.0], "complex128")
    assert folded(np.array([[1.0], [2.0], [3.0], [4.0]]), z).tolist() == [[1 + 3j], [2 + 4j]]


@pytest.mark.parametrize("fast", [False, True])
def test_a_function_with_random_results(fast):
    with pytest.raises(gradwright.GradcheckError, match="The function is not deterministic: called again with the"):
        check(lambda x: gradwright.nn.functional.dropout(x, 0.5), leaf(np.ones((5, 5))), fast_mode=fast)


def test_a_function_that_changes_after_it_was_compared():
    """Every call is as it was at first, until all of them have been made: what was compared is not what will be run."""
    calls = []

    def drifts(x):
        calls.append(1)
        return x * 2 + (len(calls) > 8)

    x = leaf([1.0, 2.0, 3.0])
    with pytest.raises(gradwright.GradcheckError, match="The function is not deterministic"):
        check(drifts, x)  # one call for the outputs, one to see whether it repeats, six to compare


def test_noise_far_below_the_tolerance_is_borne():
    noise = np.random.default_rng(0)
    assert check(lambda x: x * 2 + 1e-13 * noise.uniform(), leaf([1.0, 2.0]))


def test_an_argument_that_matters_but_gets_none():
    class Forgets(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, value, weight):
            return value * 2 + weight

        @staticmethod
        def backward(ctx, g):
            return g * 2, None

    with pytest.raises(gradwright.GradcheckError, match=r"/ d weight.*analytical 0, numerical 1"):
        check(Forgets.apply, (leaf([1.0]), leaf([2.0])))


def test_one_wrong_entry_among_many_is_the_one_named():
    class Wrong(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * gradwright.tensor(np.where(np.arange(60).reshape(6, 10) == 47, 2.1, 2.0))

    message = r"worst: d out\[4, 7\] / d x\[4, 7\]: analytical 2.1, numerical 2 ± "
    with pytest.raises(gradwright.GradcheckError, match=message):
        check(Wrong.apply, leaf(np.linspace(0, 1, 60).reshape(6, 10)))


def test_a_step_too_short_for_the_values_is_mended():
    """PyTorch's verdict with the same step is false: rounding of 1e8 makes 1e-2 of an error."""
    assert check(lambda x: (x * 1e-3 + 1e8), leaf([1.0, 2.0]))


def test_inputs_far_from_zero():
    assert check(lambda x: x * 3, leaf([1e14, -1e10]))
    assert check(lambda x: x.log(), leaf([1e12, 1.0]))


def test_nan_among_the_inputs_cannot_be_moved():
    x = gradwright.tensor([float("nan"), 1.0, 2.0], dtype=gradwright.float64, requires_grad=True)
    assert check(lambda x: x.nanmean(), x)
    assert check(lambda x: gradwright.where(x.isnan(), 0.0, x) * 2, x)


def test_the_edge_of_the_domain_is_named():
    class Root(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.sqrt()

        @staticmethod
        def backward(ctx, g):
            return g * 7

    x = gradwright.tensor([0.0], dtype=gradwright.float64, requires_grad=True)
    with pytest.raises(gradwright.autograd.GradcheckError, match=r"is nan or inf at .*= 0 or right beside it"):
        check(Root.apply, x)


def test_strides_are_tried_of_derivatives_of_users_alone():
    x = gradwright.tensor(np.arange(9.0).reshape(3, 3) / 7, requires_grad=True)
    assert gradwright.autograd.gradgradcheck(lambda x: x.as_strided((2, 2), (1, 2), 1) ** 2, x)


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
