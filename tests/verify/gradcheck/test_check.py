"""gradcheck and gradgradcheck: right verdicts, PyTorch's messages, and what they refuse to judge."""

import re
import warnings

import numpy as np
import pytest

import gradwright
from examples.wrong_functions import AddBias


@pytest.fixture
def checks(T):
    """``(gradcheck, gradgradcheck)``"""
    return T.autograd.gradcheck, T.autograd.gradgradcheck


def scaled(T, forward, backward):
    """x times ``forward``, whose backward says it were times ``backward``."""

    class Scaled(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * forward

        @staticmethod
        def backward(ctx, g):
            return g * backward

    return Scaled.apply


# ---- what is right passes --------------------------------------------------------------------------------

RIGHT = {
    "one": lambda T, x, y: (x * x).sum(),
    "elementwise": lambda T, x, y: x.exp() * y,
    "several outputs": lambda T, x, y: (x * y, x.sin().sum(), y + 1),
    "an output without grad": lambda T, x, y: (x * y, x.detach()),
    "a list of outputs": lambda T, x, y: [x * y, x],
    "an unused input": lambda T, x, y: x * 2,
    "0-d": lambda T, x, y: x.sum() * y.sum(),
    "in place": lambda T, x, y: (x * 1).mul_(y).sin_(),
    "views": lambda T, x, y: (x.t() @ y).reshape(-1)[::2],
    "empty": lambda T, x, y: x[:0] * y[:0],
}


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("name", RIGHT)
def test_right_derivatives_pass(T, leaf, checks, name, fast):
    x, y = leaf([[0.5, 1.0, 1.5], [2.0, 2.5, 3.0]]), leaf([[1.0, 0.3, 0.2], [0.1, 0.4, 0.7]])
    for check in checks:
        assert check(lambda x, y: RIGHT[name](T, x, y), (x, y), fast_mode=fast) is True
    assert x.tolist() == [[0.5, 1.0, 1.5], [2.0, 2.5, 3.0]]  # not changed by the check
    assert x.grad is None


def test_one_tensor_is_enough(leaf, checks):
    x = leaf([1.0, 2.0])
    for check in checks:
        assert check(lambda x: x**3, x)
        assert check(lambda x: x**3, [x])


def test_other_arguments(T, leaf, checks):
    x, k = leaf([1.0, 2.0]), T.tensor([1, 0])
    for check in checks:
        assert check(lambda x, k, n, text, nothing: x[k] * n, (x, k, 3, "text", None))


def test_non_contiguous_inputs(T, leaf, checks):
    base = T.tensor(np.arange(12.0).reshape(3, 4) + 1)
    for view in (base.t(), base[:, ::2], base[1:, 1]):
        x = view.detach().requires_grad_()
        assert checks[0](lambda x: x.sin() * x, x)
    assert base.tolist() == (np.arange(12.0).reshape(3, 4) + 1).tolist()


def test_cotangents_may_be_given(T, leaf, checks):
    x, v = leaf([1.0, 2.0]), leaf([0.5, 0.25])
    assert checks[1](lambda x: x**3, (x,), (v,))
    assert checks[1](lambda x: x**3, x, v)
    assert checks[1](lambda x: x**3, x, gen_non_contig_grad_outputs=True)


# ---- what is wrong is found ------------------------------------------------------------------------------


@pytest.mark.parametrize("fast", [False, True])
def test_a_wrong_derivative(T, leaf, checks, fast):
    with pytest.raises(RuntimeError) as error:
        checks[0](scaled(T, 5, 1), leaf([1.0, 2.0]), fast_mode=fast)
    assert type(error.value).__name__ == "GradcheckError"
    message = str(error.value)
    assert message.startswith("Jacobian mismatch for output 0 with respect to input 0,\n")
    assert "\nnumerical:" in message or ",\nnumerical:" in message
    assert "\nanalytical:" in message
    assert checks[0](scaled(T, 5, 1), leaf([1.0, 2.0]), fast_mode=fast, raise_exception=False) is False


def test_the_worst_entry_comes_first_then_both_jacobians():
    x = gradwright.tensor([1.0, 2.0], dtype=gradwright.float64, requires_grad=True)
    with pytest.raises(gradwright.GradcheckError) as error:
        gradwright.autograd.gradcheck(scaled(gradwright, 5, 1), x)
    assert re.fullmatch(
        r"Jacobian mismatch for output 0 with respect to input 0,\n"
        r"worst: d out\[(\d)\] / d x\[\1\]: analytical 1, numerical 5 ± \de-\d\d \(allowed: 1e-05 \+ 0.001 \* "
        r"\|numerical\|\)\n"
        r"numerical:tensor\(\[\[5.0000, 0.0000\],\n        \[0.0000, 5.0000\]\], dtype=torch.float64\)\n"
        r"analytical:tensor\(\[\[1., 0.\],\n        \[0., 1.\]\], dtype=torch.float64\)\n",
        str(error.value),
    )


def test_large_jacobians_are_cut_short():
    x = gradwright.ones(40, dtype=gradwright.float64, requires_grad=True)
    with pytest.raises(gradwright.GradcheckError) as error:
        gradwright.autograd.gradcheck(scaled(gradwright, 5, 1), x)
    assert len(str(error.value)) < 1500


def test_which_output_and_input(T, leaf, checks):
    wrong = scaled(T, 5, 1)
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    with pytest.raises(RuntimeError, match="Jacobian mismatch for output 1 with respect to input 1,"):
        checks[0](lambda x, y: (x * 2, x + wrong(y)), (x, y))


def test_a_gradient_that_is_missing(T, leaf, checks):
    class Forgets(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, g):
            return g, None

    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    with pytest.raises(RuntimeError, match="Jacobian mismatch for output 0 with respect to input 1"):
        checks[0](Forgets.apply, (x, y))


def test_a_wrong_second_derivative(T, leaf, checks):
    class Constant(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.x = x.detach()
            return x**3

        @staticmethod
        def backward(ctx, g):
            return 3 * g * ctx.x**2

    assert checks[0](Constant.apply, leaf([1.0, 2.0]))
    with pytest.raises(RuntimeError, match=r"Jacobian mismatch for output 0 with|cut the gradient off with detach\(\)"):
        checks[1](Constant.apply, leaf([1.0, 2.0]))
    assert checks[1](Constant.apply, leaf([1.0, 2.0]), raise_exception=False) is False


def test_a_backward_that_forgets_its_cotangent(T, leaf, checks):
    class Forgets(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.sum()

        @staticmethod
        def backward(ctx, g):
            return T.ones(2, dtype=T.float64)

    class Partly(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.sum()

        @staticmethod
        def backward(ctx, g):
            return T.ones(2, dtype=T.float64) if g == 0 else g.expand(2)

    with pytest.raises(RuntimeError, match=r"backward not multiplied by grad_output|Jacobian mismatch"):
        checks[0](Forgets.apply, leaf([1.0, 2.0]))
    with pytest.raises(RuntimeError, match="backward not multiplied by grad_output"):
        checks[0](Partly.apply, leaf([1.0, 2.0]))


@pytest.mark.parametrize("fast", [False, True])
def test_a_backward_that_differs_from_run_to_run(T, leaf, checks, fast):
    runs = []

    class Noisy(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            runs.append(1)
            return g * (1 + 1e-7 * (len(runs) % 7))

    x = leaf([1.0, 2.0])
    message = "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives"
    with pytest.raises(RuntimeError, match=re.escape(message)):
        checks[0](Noisy.apply, x, fast_mode=fast)
    assert checks[0](Noisy.apply, x, nondet_tol=1e-5, fast_mode=fast)


def test_a_function_that_should_be_constant(T, leaf, checks):
    assert checks[0](lambda x: T.ones(2), leaf([1.0, 2.0]))
    with pytest.raises(RuntimeError, match="Numerical gradient for function expected to be zero"):
        checks[0](lambda x: x.detach() * 2, leaf([1.0, 2.0]))


def test_undefined_cotangents(T, leaf, checks):
    class Fragile(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g, h):
            return g * 2 + h * 3

    x = leaf([1.0, 2.0])
    with pytest.raises((RuntimeError, TypeError)):
        checks[0](Fragile.apply, x)


def test_undefined_cotangents_must_count_as_zeros():
    class Odd(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g, h):
            if g is None or h is None:
                return h * 3 if g is None else g * 2
            return g * 4 + h * 3

    x = gradwright.tensor([1.0, 2.0], dtype=gradwright.float64, requires_grad=True)
    check = gradwright.autograd.gradcheck
    with pytest.raises(gradwright.GradcheckError, match="the same with an undefined output grad as with a zero one"):
        check(Odd.apply, x)
    with pytest.raises(gradwright.GradcheckError, match="for all outputs and x it gives"):
        check(Odd.apply, x, check_undefined_grad=False)


def test_gradients_of_another_dtype():
    class Single(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return (g * 2).float()

    x = gradwright.tensor([1.0, 2.0], dtype=gradwright.float64, requires_grad=True)
    with pytest.raises(gradwright.GradcheckError, match=r"SingleBackward returned a gradient of torch\.float32"):
        gradwright.autograd.gradcheck(Single.apply, x)
    assert not gradwright.autograd.gradcheck(Single.apply, x, raise_exception=False)
    assert gradwright.autograd.diagnose(Single, x).reason == "gradient dtype"


@pytest.mark.parametrize("on", [False, True])
def test_a_missing_sum_over_a_broadcast_dimension_is_found_as_diagnose_finds_it(on):
    inputs = [gradwright.rand(*s, dtype=gradwright.float64, requires_grad=True) for s in ((3, 4), (4,))]
    with gradwright.autograd.strict(on):
        with pytest.raises(gradwright.GradcheckError, match=r"of shape \[3, 4\] for input 1 \('bias'\)") as e:
            gradwright.autograd.gradcheck(AddBias.apply, inputs)
        assert gradwright.autograd.diagnose(AddBias, inputs).verdict == "WRONG"
        assert e.value.diagnosis.reason == "missing sum"
        assert "return grad.sum_to_size(4)" in e.value.diagnosis.hypotheses[0].mend
        assert gradwright.autograd.gradcheck(lambda x, bias: AddBias.apply(x, bias.expand(3, 4)), inputs)


def test_an_operation_whose_gradient_has_the_wrong_size_or_dtype():
    @gradwright.op(kind="general")
    def double(xp, x):
        """2 x."""
        return x * 2

    x = gradwright.tensor([1.0, 2.0], dtype=gradwright.float64, requires_grad=True)
    check = gradwright.autograd.gradcheck
    double.vjp(x=lambda xp, g: xp.astype(g * 2, xp.float32))
    with pytest.raises(gradwright.GradcheckError, match="grad is incorrect type: that of input 0 is float32, not"):
        check(double, x)
    with pytest.raises(gradwright.GradcheckError, match="Gradient has dtype mismatch"):
        check(double, x, check_grad_dtypes=True)
    wrong = double.variant("DoubleBackward1")
    wrong.rules = {}
    wrong.vjp(x=lambda xp, g: xp.sum(g * 2))
    with pytest.raises(gradwright.GradcheckError, match="Analytical gradient has incorrect size"):
        check(wrong, x)


# ---- tolerances ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fast", [False, True])
def test_tolerances(T, leaf, checks, fast):
    slightly = scaled(T, 1, 1.01)
    x = leaf([1.0, 2.0])
    assert not checks[0](slightly, x, raise_exception=False, fast_mode=fast)
    assert checks[0](slightly, x, rtol=0.02, fast_mode=fast)
    assert checks[0](slightly, x, atol=0.02, fast_mode=fast)


def test_the_step(leaf, checks):
    kinked = leaf([1e-5, 1.0])
    assert checks[0](lambda x: x.abs(), kinked, eps=1e-6)
    assert not checks[0](lambda x: x.abs(), kinked, eps=1e-3, raise_exception=False)


@pytest.mark.parametrize("fast", [False, True])
def test_nan_agrees_with_nothing(leaf, checks, fast):
    with pytest.raises(RuntimeError, match=r"Jacobian mismatch|is nan or inf"):
        checks[0](lambda x: x * float("nan"), leaf([1.0, 2.0]), fast_mode=fast)


# ---- what cannot be checked ------------------------------------------------------------------------------


def test_nothing_to_check(T, checks):
    message = "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad"
    for check in checks:
        with pytest.raises(ValueError, match=message):
            check(lambda x: x * 2, T.ones(2, dtype=T.float64))


def test_overlapping_memory(T, checks):
    x = T.ones(1, dtype=T.float64).expand(3).detach().requires_grad_()
    message = "The 0th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping"
    with pytest.raises(RuntimeError, match=re.escape(message)):
        checks[0](lambda x: x * 2, x)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_too_little_precision_is_warned_of(T, checks, dtype):
    x = T.ones(2, dtype=getattr(T, dtype), requires_grad=True)
    with pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double precision floating point or"):
        checks[0](lambda x: x * 2, x, eps=1e-2, atol=0.1, rtol=0.1)


def test_an_exception_in_the_function_passes_through(leaf, checks):
    def fails(x):
        raise KeyError("mine")

    for check in checks:
        with pytest.raises(KeyError, match="mine"):
            check(fails, leaf(1.0), raise_exception=False)


def test_the_input_is_restored_after_an_exception():
    calls = []

    def fails_later(x):
        calls.append(1)
        if len(calls) == 3:
            raise KeyError("third")
        return x * 2

    x = gradwright.tensor([1.0, 2.0], dtype=gradwright.float64, requires_grad=True)
    with pytest.raises(KeyError):
        gradwright.autograd.gradcheck(fails_later, x)
    assert x.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"check_backward_ad": False}, "Expected at least one of check_forward_ad or check_backward_ad to be True"),
        ({"check_forward_ad": True, "check_backward_ad": False, "check_batched_grad": True},
         "Setting check_batched_grad=True requires check_backward_ad to be True"),
        ({"check_batched_forward_grad": True},
         "Setting check_batched_forward_grad=True requires check_forward_ad to be True"),
    ],
)  # fmt: skip
def test_options_that_contradict_each_other(leaf, checks, options, message):
    with pytest.raises(AssertionError, match=message):
        checks[0](lambda x: x * 2, leaf([1.0, 2.0]), **options)


REVERSE = {"check_rev_over_rev": False, "check_fwd_over_rev": True, "check_undefined_grad": False}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"check_rev_over_rev": False}, "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"),
        (REVERSE | {"check_undefined_grad": True},
         "Setting check_undefined_grad=True requires check_rev_over_rev to be True"),
        (REVERSE | {"check_batched_grad": True},
         "Setting check_batched_grad=True requires check_rev_over_rev to be True"),
    ],
)  # fmt: skip
def test_options_of_the_second_order_that_contradict_each_other(leaf, checks, options, message):
    with pytest.raises(AssertionError, match=message):
        checks[1](lambda x: x * 2, leaf([1.0, 2.0]), **options)


# ---- complex numbers -------------------------------------------------------------------------------------

COMPLEX = {
    "holomorphic": lambda T, z, w: z * w + z.exp(),
    "conjugate": lambda T, z, w: z.conj() * w,
    "modulus": lambda T, z, w: z.abs() * w.abs(),
    "parts": lambda T, z, w: (z.real * w.imag, z.imag - w.real),
    "both kinds of output": lambda T, z, w: (z * w, (z * w.conj()).real.sum()),
    "matrix product": lambda T, z, w: z.reshape(2, 1) @ w.reshape(1, 2),
}


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("name", COMPLEX)
def test_right_complex_derivatives_pass(T, checks, name, fast):
    make = lambda *data: T.tensor(data, dtype=T.complex128, requires_grad=True)
    z, w = make(1 + 0.5j, -0.3 + 2j), make(0.7 - 1j, 0.2 + 0.1j)
    for check in checks:
        assert check(lambda z, w: COMPLEX[name](T, z, w), (z, w), fast_mode=fast) is True
    assert z.tolist() == [1 + 0.5j, -0.3 + 2j]


def mapped(T, forward, backward):
    class Mapped(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return forward(x)

        @staticmethod
        def backward(ctx, g):
            return backward(g)

    return Mapped.apply


IMAGINARY = "While considering the imaginary part of complex outputs only, Jacobian mismatch for output 0 with respect"
REAL = "While considering the real part of complex outputs only, Jacobian mismatch for output 0 with respect to input 0"
WRONG = {
    "missing conjugate": (lambda T, x: x * (1 + 2j), lambda g: g * (1 + 2j), True, IMAGINARY),
    "the imaginary part is forgotten": (lambda T, x: T.complex(x, 2 * x), lambda g: g.real, False, IMAGINARY),
    "the real part is forgotten": (lambda T, x: T.complex(x, 2 * x), lambda g: 2 * g.imag, False, REAL),
    "a real output": (lambda T, x: x.abs(), lambda g: g * (1 + 0j), True, "Jacobian mismatch for output 0 with"),
}


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("name", WRONG)
def test_wrong_complex_derivatives_are_found(T, checks, name, fast):
    forward, backward, is_complex, message = WRONG[name]
    x = T.tensor([1 + 1j, 2.0] if is_complex else [1.0, 2.0],
                 dtype=T.complex128 if is_complex else T.float64, requires_grad=True)  # fmt: skip
    with pytest.raises(RuntimeError) as error:
        checks[0](mapped(T, lambda x: forward(T, x), backward), x, fast_mode=fast)
    assert str(error.value).startswith(message)


def test_complex_jacobians_are_shown_as_pytorch_does(torch):
    """The matrices themselves: df/dx + i df/dy, a row for each entry of the input."""
    shown = []
    for T in (gradwright, torch):
        x = T.tensor([1 + 1j, 2.0], dtype=T.complex128, requires_grad=True)
        with pytest.raises(RuntimeError) as error:
            T.autograd.gradcheck(mapped(T, lambda x: x * (1 + 2j), lambda g: g * (1 + 2j)), x)
        shown.append(str(error.value).partition("numerical:tensor")[2])
    assert shown[0] == shown[1]


# ---- the diagnosis ---------------------------------------------------------------------------------------


def test_the_error_carries_a_diagnosis():
    x = gradwright.tensor([1.0, 2.0], dtype=gradwright.float64, requires_grad=True)
    with pytest.raises(gradwright.GradcheckError) as error:
        gradwright.autograd.gradcheck(scaled(gradwright, 5, 1), x)
    assert error.value.diagnosis.verdict == "WRONG"
    assert any("WRONG" in note for note in error.value.__notes__)


def test_of_the_second_derivative_too():
    class Slope(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return 3 * x**2

        @staticmethod
        def backward(ctx, g):
            return 5 * g * ctx.saved_tensors[0]

    class Constant(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            return g * Slope.apply(ctx.saved_tensors[0])

    x = gradwright.tensor([1.0, 2.0], dtype=gradwright.float64, requires_grad=True)
    with pytest.raises(gradwright.GradcheckError) as error:
        gradwright.autograd.gradgradcheck(Constant.apply, x)
    assert error.value.diagnosis.verdict == "WRONG"
    assert any("second derivative" in note for note in error.value.__notes__)


# ---- nested inputs ---------------------------------------------------------------------------------------


def test_nested_inputs():
    make = lambda *data: gradwright.tensor(data, dtype=gradwright.float64, requires_grad=True)
    a, b, c = make(1.0, 2.0), make(3.0, 4.0), make(5.0, 6.0)

    def f(pair, third):
        return pair[0] * pair[1][0] + third

    for check in (gradwright.autograd.gradcheck, gradwright.autograd.gradgradcheck):
        assert check(f, ((a, [b]), c))


def test_the_check_warns_of_nothing_by_itself(leaf, checks):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for check in checks:
            assert check(lambda x: x * x, leaf([1.0, 2.0]))


def test_the_seeds_linear_function(T, checks):
    generator = np.random.default_rng(0)
    x, w, b = (T.tensor(generator.standard_normal(s), requires_grad=True) for s in ((4, 5), (3, 5), (3,)))

    class Linear(T.autograd.Function):
        @staticmethod
        def forward(ctx, input, weight, bias=None):
            ctx.save_for_backward(input, weight, bias)
            output = input.mm(weight.t())
            return output if bias is None else output + bias

        @staticmethod
        def backward(ctx, g):
            input, weight, bias = ctx.saved_tensors
            grads = g.mm(weight), g.t().mm(input)
            return (*grads, g.sum(0)) if bias is not None else grads

    for check in checks:
        assert check(Linear.apply, (x, w), eps=1e-6, atol=1e-4)
        assert check(Linear.apply, (x, w, b), eps=1e-6, atol=1e-4)


# ---- memory that is held as an array, too ------------------------------------------------------------------


def test_a_number_whose_array_the_user_holds():
    class Sine(gradwright.autograd.Function):
        slope = 1.0

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return gradwright.tensor(np.sin(x.numpy()))

        @staticmethod
        @gradwright.autograd.once_differentiable
        def backward(ctx, g):
            return Sine.slope * g * ctx.saved_tensors[0].cos()

    x = gradwright.tensor(0.5, dtype=gradwright.float64, requires_grad=True)
    held = x.detach().numpy()
    for fast in (False, True):
        assert gradwright.autograd.gradcheck(Sine.apply, x, fast_mode=fast)
    Sine.slope = 0.0
    with pytest.raises(gradwright.GradcheckError, match="Jacobian mismatch"):
        gradwright.autograd.gradcheck(Sine.apply, x)
    assert held == x.item() == 0.5


def test_a_graph_outlives_that_its_function_hands_out_what_is_moved():
    class Cube(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return gradwright.from_numpy(x.detach().numpy() ** 3)

        @staticmethod
        def backward(ctx, g):
            return CubeBackward.apply(g, *ctx.saved_tensors)

    class CubeBackward(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, g, x):
            ctx.save_for_backward(g, x)
            return gradwright.from_numpy(g.detach().numpy() * 3 * x.detach().numpy() ** 2)

        @staticmethod
        def backward(ctx, gg):
            g, x = ctx.saved_tensors
            return gg * 3 * x**2, gg * g * 6 * x

    x = gradwright.tensor([0.3, -0.7, 1.1], dtype=gradwright.float64, requires_grad=True)
    assert gradwright.autograd.gradgradcheck(Cube.apply, x)


def test_a_backward_that_differs_where_it_is_recorded():
    class Square(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * g * x if gradwright.is_grad_enabled() else 3 * g * x

    x = gradwright.tensor([1.0, 2.0], dtype=gradwright.float64, requires_grad=True)
    with pytest.raises(gradwright.GradcheckError, match="Where nothing is recorded"):
        gradwright.autograd.gradgradcheck(Square.apply, x)
    with pytest.raises(gradwright.GradcheckError, match="Jacobian mismatch"):
        gradwright.autograd.gradcheck(Square.apply, x)


@pytest.mark.parametrize("write", [lambda g: g.mul_(2), lambda g: g.__imul__(2), lambda g: g.__setitem__(0, 1.0)])
def test_a_write_to_grad_output_is_told_alike_by_both_checks(write):
    """It names grad_output and the mend, and not a leaf that is the checker's own."""

    class Writes(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            write(g)
            return g * 2

    x = gradwright.tensor([0.3, -1.2], dtype=gradwright.float64, requires_grad=True)
    for check in (gradwright.autograd.gradcheck, gradwright.autograd.gradgradcheck):
        with pytest.raises(RuntimeError, match=r"WritesBackward: backward changed its grad_output .*clone\(\)"):
            check(Writes.apply, x)


@pytest.mark.parametrize("p", [0.3, 0.5, 0.9])
def test_of_what_is_not_deterministic_nothing_else_is_said(p):
    gradwright.manual_seed(0)
    x = gradwright.rand(8, dtype=gradwright.float64, requires_grad=True)
    with pytest.raises(gradwright.GradcheckError, match="not deterministic") as caught:
        gradwright.autograd.gradcheck(lambda x: gradwright.nn.functional.dropout(x, p), x)
    assert not any("no known cause" in note for note in getattr(caught.value, "__notes__", []))


def _declared(ctx, x):
    ctx.mark_dirty(x)
    return x.mul_(2)


@pytest.mark.parametrize("forward", [lambda ctx, x: x.mul_(2), _declared, lambda ctx, x: x.clone() + x.add_(1).sum()])
@pytest.mark.parametrize("check", ["gradcheck", "gradgradcheck", "diagnose"])
def test_the_numbers_of_the_input_are_what_they_were(check, forward):
    """Whatever forward writes there, whether it is refused or not: a next check is not of other numbers."""

    class Writes(gradwright.autograd.Function):
        @staticmethod
        def backward(ctx, g):
            return g * 2

    Writes.forward = staticmethod(forward)
    x = gradwright.tensor([0.3, -1.2], dtype=gradwright.float64, requires_grad=True)
    with pytest.raises(RuntimeError):
        getattr(gradwright.autograd, check)(Writes.apply, x)
    assert x.tolist() == [0.3, -1.2]
