"""No NumPy warning leaves an operation, and the user's own NumPy code keeps the user's setting."""

import importlib
import subprocess
import sys
import warnings

import numpy as np
import pytest

import gradwright
from gradwright.autograd import Function
from gradwright.backends import quiet


@pytest.fixture(autouse=True)
def strict():
    """A user for whom every warning is an error, gradwright's own included."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def leaf(*data, dtype=gradwright.float32):
    return gradwright.tensor(data, dtype=dtype, requires_grad=dtype.is_floating_point)


def warns():
    """Whether NumPy's own division by zero warns now, as it does by default."""
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        np.ones(1) / 0


half, long = gradwright.float16, gradwright.int64
FORWARD = {
    "1 / 0": (lambda: 1 / leaf(0.0), np.inf),
    "0 / 0": (lambda: leaf(0.0) / leaf(0.0), np.nan),
    "log(-1)": (lambda: leaf(-1.0).log(), np.nan),
    "log(0)": (lambda: leaf(0.0).log(), -np.inf),
    "exp(1e4)": (lambda: leaf(1e4).exp(), np.inf),
    "float32 product": (lambda: leaf(1e30) * leaf(1e30), np.inf),
    "float16 product": (lambda: leaf(6e4, dtype=half) * leaf(6e4, dtype=half), np.inf),
    "float16 sum": (lambda: leaf(6e4, 6e4, dtype=half).sum(), np.inf),
    "power": (lambda: leaf(1e30) ** 3, np.inf),
    "matmul": (lambda: leaf(1e30) @ leaf(1e30), np.inf),
    "inf - inf": (lambda: leaf(np.inf) - leaf(np.inf), np.nan),
    "variance of one": (lambda: leaf(1.0).var(), np.nan),
    "integers": (lambda: leaf(1, dtype=long) / leaf(0, dtype=long), np.inf),
    "to float16": (lambda: leaf(1e30).half(), np.inf),
    "NaN to int": (lambda: leaf(np.nan).long(), np.iinfo(np.int64).min),
    "a number too large": (lambda: leaf(0.0) + 1e300, np.inf),
    "a negative one": (lambda: leaf(0.0).sum() - 1e300, -np.inf),
    "one to promote": (lambda: leaf(0.0, dtype=half) + 1e300, np.inf),
    "one chosen": (lambda: gradwright.where(leaf(0.0) > 0, leaf(0.0), 1e300), np.inf),
    "one alone": (lambda: gradwright.tensor(1e300), np.inf),
}


@pytest.mark.parametrize("name", FORWARD)
def test_results_are_ieees_without_a_warning(name):
    compute, expected = FORWARD[name]
    np.testing.assert_array_equal(compute().detach().reshape(1).double(), [expected])


BACKWARD = {
    "sqrt at 0": (lambda x: x.sqrt(), 0.0, np.inf),
    "log at 0": (lambda x: x.log(), 0.0, np.inf),
    "1 / x at 0": (lambda x: 1 / x, 0.0, -np.inf),
    "exp at 1e4": (lambda x: x.exp(), 1e4, np.inf),
    "inf - inf": (lambda x: (x * np.inf).exp() - (x * np.inf).exp(), 1.0, np.nan),
    "x y in float16": (lambda x: x.half() * 6e4 * 6e4, 1.0, np.inf),
}


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("name", BACKWARD)
def test_gradients_are_ieees_without_a_warning(name, create_graph):
    f, at, expected = BACKWARD[name]
    x = leaf(at)
    (g,) = gradwright.autograd.grad(f(x).sum(), x, create_graph=create_graph)
    np.testing.assert_array_equal(g.detach(), np.array([expected], np.float32))


def test_the_users_code_keeps_its_setting_around_operations():
    warns()
    x = leaf(0.0)
    (1 / x).sum().backward()
    warns()
    for wrong in (lambda: x + gradwright.ones(2, 3) @ x, lambda: x.sqrt().backward(gradwright.ones(5))):
        with pytest.raises(RuntimeError):
            wrong()
        warns()
    with pytest.raises(OverflowError):
        leaf(1, dtype=gradwright.uint8) + 10**400
    warns()


def test_what_the_user_raises_on_does_not_reach_operations():
    x = leaf(0.0)
    with np.errstate(all="raise"):
        (1 / x).sum().backward()
        assert x.grad.item() == -np.inf
        with pytest.raises(FloatingPointError):
            np.ones(1) / 0


class Reciprocal(Function):
    """1/x in the user's own NumPy, both ways."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return gradwright.from_numpy(1 / x.numpy(force=True))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        inner = 1 / leaf(0.0)  # an operation in the user's code is silent as ever
        assert inner.item() == np.inf
        return gradwright.from_numpy(-g.numpy() / x.numpy(force=True) ** 2)


def test_the_users_code_keeps_its_setting_in_a_backward_pass():
    x = leaf(0.0)
    with np.errstate(all="ignore"):
        y = (Reciprocal.apply(x) * 2).sum()
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        y.backward()
    assert x.grad.item() == -np.inf
    warns()


def test_a_backward_that_raises_leaves_the_setting():
    x = leaf(0.0)
    with np.errstate(all="ignore"):
        y = Reciprocal.apply(x).sum()
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        y.backward()
    warns()


def test_a_numpy_without_the_private_names(monkeypatch):
    """The branch of public functions does the same: here it takes the place of the other one."""
    private = {name: getattr(quiet, name) for name in vars(quiet) if not name.startswith("__")}
    with monkeypatch.context() as m:
        m.delattr("numpy._core.umath._make_extobj")
        try:
            importlib.reload(quiet)
            assert quiet._SILENT == {"all": "ignore"}
            with np.errstate(over="raise"):
                before = np.geterr()
                silent = dict.fromkeys(before, "ignore")
                assert quiet.quietly(np.geterr) == silent
                assert np.geterr() == before
                within = quiet.during_pass(lambda: (np.geterr(), quiet.as_user(np.geterr), np.geterr()))
                assert within == (silent, before, silent)
                assert np.geterr() == before
        finally:
            vars(quiet).update(private)


PROGRAM = """
import numpy as np, gradwright as gw
x = gw.tensor([0.0, 1e30], requires_grad=True)
nasty = gw.tensor([0.0, -1.0, 3e38, 3e38, float("inf"), -float("inf"), float("nan"), -200.0] * 10)
for y in (nasty, nasty.double() * 1e300):
    for name in "expm1 log1p tan atan atanh sinh cosh sum mean prod var norm i0 digamma".split():
        getattr(gw, name)(y)
    z = y.flip(0)
    gw.special.i1(y), gw.special.entr(y), gw.special.xlog1py(y, z), gw.xlogy(y, z), gw.polygamma(1, y)
    y.fmod(z), y.remainder(z), y // z
for y in (1 / x, x * x * x, x.log(), (x - 1).sqrt(), (x * 1e30).sum(), x / x, x**-1, (1 / x).std(), x.log().prod()):
    y.sum().backward()
with np.errstate(all="raise"):
    print((1 / x).tolist(), x.log()[0].item(), (x * x)[1].item())
"""


@pytest.mark.parametrize("warn", ["default", "always"])
def test_a_fresh_program_hears_nothing(warn):
    out = subprocess.run([sys.executable, "-W", warn, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert out.stderr == ""
    assert out.stdout == "[inf, 1.0000000031710769e-30] -inf inf\n"


def test_filters_that_are_gone():
    with warnings.catch_warnings(record=True) as heard:
        warnings.resetwarnings()
        assert (1 / leaf(0.0)).item() == np.inf
        warnings.simplefilter("always")
        assert leaf(0.0).log().item() == -np.inf
    assert heard == []
