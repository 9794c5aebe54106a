import numpy as np
import pytest

import gradwright as gw
from gradwright import autograd

special = pytest.importorskip("scipy.special", reason="SciPy is not installed")
X = np.array([0.5, -1.5, 0.0, np.nan, 3.0])
WHOLE = np.array([1, 2, -3])


def agree(got, want):
    np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-12)
    assert got.detach().numpy().dtype.kind == want.dtype.kind


def test_power_of_whole_numbers_refuses_negative_exponents_as_numpy():
    for pair in ((gw.tensor(WHOLE), gw.tensor(WHOLE)), (2, gw.tensor(WHOLE)), (gw.tensor(WHOLE), -1)):
        with pytest.raises(ValueError, match="Integers to negative integer powers"):
            np.power(*pair)
    agree(np.power(gw.tensor(WHOLE), 2), WHOLE**2)


def test_what_numpy_means_by_its_names():
    agree(np.heaviside(gw.tensor(X), 0.5), np.heaviside(X, 0.5))
    agree(np.heaviside(gw.tensor(WHOLE), 1), np.heaviside(WHOLE, 1))
    agree(np.fabs(gw.tensor(WHOLE)), np.fabs(WHOLE))
    agree(np.rint(gw.tensor(WHOLE)), np.rint(WHOLE))
    agree(np.ldexp(gw.tensor(X), 3), np.ldexp(X, 3))
    far = np.array([1100, -1100, 200], np.int64)
    agree(np.ldexp(gw.tensor([1e-30, 1e20, 0.0], dtype=gw.float64), far), np.ldexp([1e-30, 1e20, 0.0], far))


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (np.reciprocal, (gw.tensor(WHOLE),)),
        (np.fabs, (gw.tensor([1j]),)),
        (np.ldexp, (gw.tensor(X), gw.tensor(X))),
        (special.jv, (1, gw.tensor(X, requires_grad=True))),
        (special.zeta, (gw.tensor(X, requires_grad=True),)),
    ],
)
def test_what_is_refused_is_called_by_its_full_name(f, args):
    home = "numpy" if getattr(np, f.__name__, None) is f else "scipy.special"
    with pytest.raises(TypeError, match=rf"{home}\.{f.__name__}: "):
        f(*args)


def test_a_ufunc_of_someone_else_is_not_taken_for_numpys():
    def exp(x):
        return x + 1

    with pytest.raises(TypeError, match=r"^exp.*: not defined for Tensors"):
        np.frompyfunc(exp, 1, 1)(gw.tensor(X))


@pytest.mark.parametrize("name", ["i0e", "i1e", "j0", "y1", "k0", "k1e", "ndtr", "log_ndtr", "erfinv", "erfcx", "psi",
                                  "digamma", "entr", "expit", "gammaln", "ndtri"])  # fmt: skip
def test_scipys_functions_of_the_same_meaning(name):
    at = np.array([0.2, 0.5, 0.8])
    f = getattr(special, name)
    x = gw.tensor(at, requires_grad=True)
    np.testing.assert_allclose(f(x).detach().numpy(), f(at), rtol=1e-12)
    assert autograd.gradcheck(f, (x,))


def test_scipys_functions_of_two_arguments():
    at = np.array([1.5, 2.5])
    for f in (special.zeta, special.xlogy, special.xlog1py, special.gammainc):
        np.testing.assert_allclose(f(at, gw.tensor(at)).numpy(), f(at, at), rtol=1e-12)


def test_reductions_over_no_axis():
    agree(np.add.reduce(gw.tensor(X), axis=()), np.add.reduce(X, axis=()))


@pytest.mark.parametrize("call", [
    lambda x: special.binom(x, 2), lambda x: special.jv(1, x), np.cbrt, np.modf, np.spacing,
    lambda x: special.ellipk(x[0] / 10), lambda x: special.zeta(x),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:__array_wrap__:DeprecationWarning")
def test_what_has_no_operation_is_computed_where_no_gradient_is_wanted(torch, call):
    def called(x):
        out = call(x)
        return [(str(x.dtype), str(x.tolist())) for x in (out if isinstance(out, tuple) else (out,))]

    for dtype in ("float32", "float64"):
        assert called(gw.tensor(X, dtype=getattr(gw, dtype))) == called(torch.tensor(X, dtype=getattr(torch, dtype)))
    with pytest.raises(TypeError, match="not defined for Tensors"):
        call(gw.tensor(X, requires_grad=True))
