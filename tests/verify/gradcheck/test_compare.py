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
