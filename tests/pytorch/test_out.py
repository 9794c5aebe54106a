"""``out=`` as PyTorch has it."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.pytorch.known import WITH_OUT, table
from gradwright.pytorch.out import COMPUTED_IN, taking_out

CALLS = {
    "add": lambda f, t: f(t.tensor([1.0, 2.0]), t.tensor([3.0, 4.0]), out=t.empty(2)),
    "exp": lambda f, t: f(t.tensor([1, 2]), out=t.empty(0)),
    "add, cast": lambda f, t: f(t.tensor([1, 2]), 1, out=t.empty(2, dtype=t.float64)),
    "cat": lambda f, t: f([t.ones(2), t.zeros(1)], out=t.empty(3)),
    "matmul": lambda f, t: f(t.ones(2, 3), t.ones(3, 2), out=t.empty(2, 2)),
    "max": lambda f, t: f(t.tensor([[1.0, 3.0], [2.0, 0.0]]), 1, out=(t.empty(0), t.empty(0, dtype=t.int64))),
    "arange": lambda f, t: f(4, out=t.empty(4, dtype=t.int64)),
    "cumsum": lambda f, t: f(t.ones(3), 0, out=t.empty(3)),
    "sum": lambda f, t: f(t.ones(2, 3), 1, out=t.empty(2)),
    "clamp": lambda f, t: f(t.arange(4.0), 1, 2, out=t.empty(2, 4)[0]),
}


@pytest.mark.parametrize("case", CALLS)
def test_results_are_pytorchs(torch, case):
    name = case.partition(",")[0]
    found = []
    for t in (gw, torch):
        f = getattr(t, name)
        out = CALLS[case](taking_out(f, name) if t is gw else f, t)
        found.append([(x.numpy(), str(x.dtype)) for x in (out if isinstance(out, tuple) else (out,))])
    for (ours, kind), (theirs, wanted) in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)
        assert kind == wanted


X, SQUARE = np.array([[1.0, 3.0], [2.0, 0.5]], "f4"), np.array([[4.0, 1.0], [1.0, 3.0]], "f4")
V = np.array([1.25, 0.1, 3.0], "f4")
CUBE, AT = np.stack([X, X]), np.array([[0], [1]])
ONE = {
    "linspace": (0, 1, 11), "logspace": (0, 0.1, 3), "arange": (0, 1, 0.1), "full": ((2,), 0.1), "zeros": (2,),
    "ones": (2,), "eye": (2,), "fft.fftfreq": (5,), "fft.rfftfreq": (5,),
    "cumsum": (V, 0), "cumprod": (V, 0), "sum": (X, 1), "prod": (X, 1), "mean": (X, 1),
    "add": (V, 0.2), "exp": (V,), "eq": (V, 3), "cat": ([X, X],), "stack": ([X, X],), "var": (X, 1), "std": (X, 1),
    "logsumexp": (X, 1), "lerp": (V, V, 0.5), "outer": (V, V), "kron": (X, X), "addr": (X, X[0], X[0]), "abs": (V,),
    "maximum": (X, X), "linalg.pinv": (SQUARE,), "logical_not": (V,), "pow": (V, 2), "atan2": (V, V),
    "matmul": (X, X), "mm": (X, X), "bmm": (CUBE, CUBE), "mv": (X, X[0]), "dot": (V, V), "vdot": (V, V),
    "inner": (X, X), "addmm": (X, X, X), "addmv": (X[0], X, X[0]), "baddbmm": (CUBE, CUBE, CUBE),
    "addbmm": (X, CUBE, CUBE), "tensordot": (X, X), "cross": (V, V), "linalg.multi_dot": ([X, X],),
    "linalg.matmul": (X, X), "linalg.vecdot": (V, V), "linalg.cross": (V, V), "linalg.inv": (SQUARE,),
    "linalg.cholesky": (SQUARE,), "linalg.det": (SQUARE,), "linalg.solve": (SQUARE, X), "linalg.norm": (X,),
    "linalg.matrix_power": (X, 2), "linalg.eigvalsh": (SQUARE,), "linalg.svdvals": (X,), "linalg.vector_norm": (V,),
    "linalg.matrix_norm": (X,), "norm": (X,), "inverse": (SQUARE,),
    "linalg.tensorinv": (SQUARE, 1), "linalg.tensorsolve": (SQUARE, V[:2]), "linalg.solve_triangular": (X, X),
    "all": (X, 1), "any": (X, 1), "amax": (X, 1), "amin": (X, 1), "argmax": (X, 1), "argmin": (X, 1),
    "bucketize": (X, X[0]), "searchsorted": (X[0], X), "histc": (X, 2), "isin": (X, X), "quantile": (X, 0.5),
    "nanquantile": (X, 0.5), "log_softmax": (X, 1), "softmax": (X, 1), "logcumsumexp": (X, 1), "nonzero": (X,),
    "clamp": (X, X, 2 * X), "clip": (X, X, 2 * X), "complex": (X, X), "polar": (X, X),
    "diag": (X,), "tril": (X,), "triu": (X,), "hardshrink": (X,), "renorm": (X, 2, 0, 1.0), "where": (X > 1, X, X),
    "gather": (X, 1, AT), "index_add": (X, 1, AT[:, 0], X), "index_copy": (X, 1, AT[:, 0], X),
    "index_select": (X, 1, AT[0]), "masked_select": (X, X > 1), "scatter": (X, 1, AT, 9.0), "take": (X, AT),
    "scatter_add": (X, 1, AT, X), "scatter_reduce": (X, 1, AT, X, "sum"), "take_along_dim": (X, AT, 1),
    "index_reduce": (X, 1, AT[:, 0], X, "prod"), "unsqueeze_copy": (X, 1), "squeeze_copy": (X,),
    "permute_copy": (X, (1, 0)), "nansum": (X, 1), "special.expit": (V,), "frac": (V,), "diff": (V,), "hypot": (V, V),
    "sort": (X, 1), "max": (X, 1), "min": (X, 1), "topk": (X, 1), "kthvalue": (X, 1), "median": (X, 1),
    "mode": (X, 1), "cummax": (X, 1), "cummin": (X, 1), "frexp": (X,),
    "linalg.qr": (SQUARE,), "linalg.slogdet": (SQUARE,),
    **dict.fromkeys(("absolute", "ceil", "conj_physical", "fix", "floor", "isneginf", "isposinf", "nan_to_num", "neg",
                     "msort", "negative", "round", "sgn", "sign", "signbit", "trunc", "erf", "sin", "sqrt"), (V,)),
    "heaviside": (V, V),
}  # fmt: skip
TWO = ("sort", "max", "min", "topk", "kthvalue", "median", "mode", "cummax", "cummin", "frexp", "linalg.qr",
       "linalg.slogdet")  # fmt: skip
UNLIKE = {("arange", "int64"), ("sum", "bool"), ("prod", "bool")}
"""A step of 0 is refused there, and sums into booleans here."""


def tensors(t, value):
    """Arrays as tensors, in lists too."""
    if isinstance(value, list):
        return [tensors(t, v) for v in value]
    return t.tensor(value.copy()) if isinstance(value, np.ndarray) else value


def written(t, name, dtype):
    """The tensors that a function has written to, or its error."""
    module, _, last = name.rpartition(".")
    f = getattr(getattr(t, module) if module else t, last)
    outs = tuple(t.empty(0, dtype=getattr(t, dtype)) for _ in range(2 if name in TWO else 1))
    try:
        (taking_out(f, last) if t is gw else f)(
            *[tensors(t, v) for v in ONE[name]], out=outs if name in TWO else outs[0]
        )
    except (RuntimeError, TypeError) as error:
        return error
    return outs


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ONE)
def test_the_dtype_of_out(torch, name):
    for dtype in ("float32", "float64", "int64", "complex64", "bool"):
        if (name, dtype) in UNLIKE:
            continue
        ours, theirs = (written(t, name, dtype) for t in (gw, torch))
        if isinstance(theirs, NotImplementedError):
            continue  # it has no kernel
        assert isinstance(ours, Exception) == isinstance(theirs, Exception), (dtype, ours, theirs)
        for a, b in () if isinstance(theirs, Exception) else zip(ours, theirs, strict=True):
            tight = 1e-12 if dtype == "float64" and name in COMPUTED_IN else 1e-5
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=tight, atol=tight / 10, err_msg=dtype)


def test_of_a_dtype_that_is_named_too(torch):
    here = (gw, taking_out(gw.zeros, "zeros"), taking_out(gw.sum, "sum"))
    for t, zeros, total in (here, (torch, torch.zeros, torch.sum)):
        assert zeros(2, dtype=t.float64, out=t.empty(0, dtype=t.float64)).tolist() == [0.0, 0.0]
        with pytest.raises(RuntimeError, match="dtype"):
            zeros(2, dtype=t.float32, out=t.empty(0, dtype=t.float64))
        with pytest.raises(RuntimeError, match="dtype"):
            total(t.ones(2), 0, dtype=t.float32, out=t.empty(0, dtype=t.float64))
        for many in ([t.empty(2)], (t.empty(2),)):
            with pytest.raises(TypeError, match=r"^zeros\(\): argument 'out' must be Tensor, not "):
                zeros(2, out=many)


@pytest.mark.parametrize("dtype", ["bool", "int64", "float64"])
def test_bernoulli_fills_any_dtype(torch, dtype):
    for library, call in ((torch, torch.bernoulli), (gw, taking_out(gw.bernoulli, "bernoulli"))):
        out = library.empty(3, dtype=getattr(library, dtype))
        assert call(library.tensor([0.0, 1.0, 1.0]), out=out) is out
        assert out.tolist() == [0, 1, 1]


def test_it_is_returned_and_may_be_an_argument(torch):
    for t, add in ((gw, taking_out(gw.add, "add")), (torch, torch.add)):
        x = t.tensor([1.0, 2.0])
        assert add(x, x, out=x) is x
        assert x.tolist() == [2.0, 4.0]
        view = t.zeros(2, 3)
        add(t.ones(3), 1, out=view[1])
        assert view.tolist() == [[0.0] * 3, [2.0] * 3]


def test_what_pytorch_refuses(torch):
    for t, add in ((gw, taking_out(gw.add, "add")), (torch, torch.add)):
        x = t.ones(2, requires_grad=True)
        message = r"^add\(\): functions with out=\.\.\. arguments don't support automatic differentiation"
        for arguments, out in (((x, 1), t.empty(2)), ((t.ones(2), 1), x)):
            with pytest.raises(RuntimeError, match=message):
                add(*arguments, out=out)
        with t.no_grad():
            assert add(x, 1, out=t.empty(2)).tolist() == [2.0, 2.0]
        with pytest.raises(RuntimeError, match=r"^result type Float can't be cast to the desired output type Long"):
            add(t.ones(2), 1, out=t.empty(2, dtype=t.int64))
        out = t.empty(3)
        with pytest.warns(UserWarning, match="An output with one or more elements was resized since it had shape"):
            add(t.ones(2), 1, out=out)
        assert out.tolist() == [2.0, 2.0]


def test_a_write_is_noticed():
    x = gw.ones(2, requires_grad=True)
    scale = gw.ones(2)
    y = (x * scale).sum()
    taking_out(gw.add, "add")(scale, 1, out=scale)
    with pytest.raises(RuntimeError, match=r"in.?place"):
        y.backward()


def test_the_number_and_kind_of_results():
    with pytest.raises(TypeError, match=r"^add\(\): argument 'out' must be Tensor, not int"):
        taking_out(gw.add, "add")(gw.ones(2), 1, out=5)
    with pytest.raises(TypeError, match=r"^max\(\): argument 'out' must be 2 tensors, but got 1"):
        taking_out(gw.max, "max")(gw.ones(2, 2), 1, out=gw.empty(0))


def test_the_functions_that_take_it_are_known():
    for module in WITH_OUT:
        assert table()[f"{module}:out"].public
    known = table()["torch:out"].public
    assert {"add", "cat", "arange", "sort", "sum", "prod", "argmax", "scatter", "unsqueeze_copy", "norm"} <= known
    assert not {"relu", "ones_like", "var_mean"} & known


def test_other_names_of_arguments():
    """PyTorch takes NumPy's names, and ``*size`` as ``size=``."""
    zeros, norm = taking_out(gw.zeros, "zeros"), taking_out(gw.linalg.norm, "norm")
    assert zeros(size=(2, 3), dtype=gw.int64).shape == (2, 3)
    x = gw.tensor([[3.0, 4.0]])
    assert norm(x, axis=1, keepdims=True).tolist() == [[5.0]]
    assert taking_out(gw.exp, "exp")(a=gw.zeros(1)).tolist() == [1.0]
    with pytest.raises(TypeError):
        zeros(2, size=(2,))


@pytest.mark.parametrize(("name", "twice"), [("add", {"x2": 5.0, "other": 1.0}), ("norm", {"axis": 0, "dim": 0})])
def test_two_names_of_one_argument(name, twice):
    given, stands_for = twice
    with pytest.raises(TypeError, match=rf"^{name}\(\): '{given}' is another name of '{stands_for}'; both given"):
        taking_out(getattr(gw, name), name)(gw.ones(2), **twice)
