"""Every function of linalg, fft and special over array-api-strict arrays on another device, beside the NumPy run.

Compared are values, gradients, dtypes, and that library and device stay. The databases of PyTorch have more samples, on
the usual device: see tests/face/test_any_library.py.
"""

from typing import Any

import array_api_strict
import numpy as np
import pytest

import gradwright as gw
from gradwright import backends, xp
from gradwright.backends.strict import namespace as strict
from gradwright.engine.base import wrap

DEVICE = array_api_strict.Device("device1")
DRAWN = np.random.default_rng(0).standard_normal
S = DRAWN((2, 4, 4)) / 3 + np.eye(4)
P = S @ S.swapaxes(-1, -2) + np.eye(4)
T, B, V, SIGNAL = DRAWN((2, 5, 3)), DRAWN((2, 4, 3)), DRAWN((2, 4)), DRAWN((2, 40))
Z = S + 1j * DRAWN((2, 4, 4)) / 3
REAL, UNIT, COUNT = DRAWN(6) * 0.8, np.linspace(0.1, 0.9, 5), np.array([0, 1, 2, 3, 5, 7])

LINALG: dict[str, list[tuple[Any, ...]]] = {
    "cholesky": [(P,)], "cholesky_ex": [(P,), (-P,)], "cond": [(S,), (S, 1)], "cross": [(T, T + 1)],
    "det": [(S,), (Z,)], "diagonal": [(S,)], "eigh": [(P,)], "eigvals": [(S,)], "eigvalsh": [(P,)],
    "householder_product": [(T, DRAWN((2, 3)))], "inv": [(S,), (Z,)], "inv_ex": [(S,), (0 * S,)], "ldl_factor": [(P,)],
    "ldl_factor_ex": [(P,)], "lstsq": [(T, DRAWN((2, 5, 2)))], "lu": [(S,), (T,)], "lu_factor": [(S,)],
    "lu_factor_ex": [(S,), (0 * S,)], "matmul": [(S, B)], "matrix_exp": [(S,), (9 * Z,)],
    "matrix_function": [(P, gw.sin), (P, gw.sqrt)], "matrix_log": [(P,)], "matrix_sqrt": [(P,)],
    "matrix_norm": [(S,), (S, "nuc"), (S, 1)], "matrix_power": [(S, 3), (S, -2), (P, 0.5)],
    "matrix_rank": [(S,), (T, 0.5)],
    "norm": [(S,), (V, 1, 1)], "pinv": [(T,), (Z,)], "qr": [(T,), (S, "r")], "slogdet": [(S,), (Z,)], "solve": [(S, B)],
    "solve_ex": [(S, B)], "svd": [(T, False)], "svdvals": [(T,)], "tensorinv": [(S[:1].reshape(2, 2, 4), 2)],
    "tensorsolve": [(S[0], V[0])], "vander": [(V,)], "vecdot": [(V, V + 1)], "vector_norm": [(V,), (V, 1, 0)],
}  # fmt: skip
OLD = {
    "cholesky_inverse": [(P[0],)], "cholesky_solve": [(B, S)], "pinverse": [(T,)], "qr": [(T,)],
    "svd": [(T,), (T, True, False)], "svd_lowrank": [(T, 2)], "pca_lowrank": [(T, 2)], "triangular_solve": [(B, S)],
    "einsum": [("bij,bjk,bk->bi", S, B, DRAWN((2, 3))), ("bii->b", S)], "ormqr": [(T, DRAWN((2, 3)), T)],
    "addmm": [(S[0], S[0], S[1])], "addr": [(S[0], V[0], V[1])], "baddbmm": [(S, S, P)], "addbmm": [(S[0], S, P)],
    "addmv": [(V[0], S[0], V[1])], "outer": [(V[0], V[1])], "kron": [(S[0], B[0])], "tensordot": [(S, B, ([1], [1]))],
    "chain_matmul": [(S[0], S[1], B[0])], "inner": [(S, P)], "vdot": [(Z[0, 0], Z[0, 1])], "logdet": [(P,)],
    "stft": [(SIGNAL, 8, 2, 8, np.hanning(8), True, "reflect", False, True, True)], "complex": [(S, P)],
    "istft": [(DRAWN((2, 5, 8)) + 1j * DRAWN((2, 5, 8)), 8, 2)], "polar": [(UNIT, UNIT)], "angle": [(Z,)],
}  # fmt: skip
FFT = {name: [(SIGNAL,)] for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fftshift", "ifftshift")}
FFT |= {f"{name}{n}": [(B,)] for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft") for n in ("2", "n")}
SPECIAL = {name: [(REAL, COUNT) if "polynomial" in name else (UNIT,)] for name in gw.special.__all__}
SPECIAL |= {
    "gammainc": [(UNIT, UNIT + 1)], "gammaincc": [(UNIT, UNIT + 1)], "log_softmax": [(V, 1)], "logsumexp": [(V, 1)],
    "multigammaln": [(UNIT + 3, 2)], "polygamma": [(1, UNIT)], "softmax": [(V, 1)], "xlog1py": [(UNIT, UNIT)],
    "xlogy": [(UNIT, UNIT)], "zeta": [(UNIT + 2, UNIT)],
}  # fmt: skip
L = gw.linalg
COMBINED: dict[str, tuple[Any, ...]] = {
    "eig": (lambda a: [(found := L.eig(a))[0], found[1].abs()], S),  # the vectors' phases are open
    "lu_solve": (lambda a, b: L.lu_solve(*L.lu_factor(a), b), S, B),
    "lu_unpack": (lambda a: gw.lu_unpack(*gw.lu(a)), S),
    "ldl_solve": (lambda a, b: L.ldl_solve(*L.ldl_factor(a.detach()), b.detach()), P, B),
    "multi_dot": (lambda a, b: L.multi_dot([a, a, b]), S[0], B[0]),
    "solve_triangular": (lambda a, b: L.solve_triangular(a, b, upper=False, unitriangular=True), S, B),
    "geqrf": (lambda a: gw.geqrf(a.detach()), T),
}
SOURCES = {"linalg": (gw.linalg, LINALG), "gw": (gw, OLD), "fft": (gw.fft, FFT), "special": (gw.special, SPECIAL)}
XP = {"matrix_rank", "pinv", "matrix_norm", "vector_norm", "eigh", "svdvals", "qr", "solve", "inv", "det", "cholesky"}
SOURCES |= {"xp.linalg": (xp.linalg, {n: LINALG[n][:1] for n in sorted(XP)})}
CALLS = [pytest.param(getattr(space, name), args, id=f"{where}.{name}-{k}")
         for where, (space, table) in SOURCES.items()
         for name, calls in table.items() for k, args in enumerate(calls)]  # fmt: skip
CALLS += [pytest.param(f, args, id=name) for name, (f, *args) in COMBINED.items()]


def tensors(out: Any) -> list[Any]:
    if isinstance(out, (tuple, list)):
        return [t for o in out for t in tensors(o)]
    return [out]


def run(f: Any, args: tuple[Any, ...], convert: Any) -> tuple[list[Any], list[Any]]:
    """The results of a call and their gradients, for cotangents of ones."""
    gw.manual_seed(0)
    xs = [wrap(convert(a)) if isinstance(a, np.ndarray) else a for a in args]
    leaves = [x.requires_grad_() for x, a in zip(xs, args, strict=True) if isinstance(a, np.ndarray) and a.dtype != int]
    try:
        outs = tensors(f(*xs))
    except NotImplementedError:  # it has no derivative
        outs, leaves = tensors(f(*[x.detach() if isinstance(x, gw.Tensor) else x for x in xs])), []
    reached = [o for o in outs if o.requires_grad]
    ones = [gw.ones_like(o) for o in reached]
    try:
        return outs, [*gw.autograd.grad(reached, leaves, ones, allow_unused=True)] if reached else []
    except NotImplementedError:
        return outs, []


@pytest.mark.parametrize(("f", "args"), CALLS)
def test_as_over_numpy(f: Any, args: tuple[Any, ...]) -> None:
    here = run(f, args, lambda a: a)
    there = run(f, args, lambda a: strict.asarray(a, device=DEVICE))
    for wanted, got in zip(here, there, strict=True):
        assert len(wanted) == len(got)
        for w, g in zip(wanted, got, strict=True):
            assert (w is None) == (g is None)
            if w is None:
                continue
            assert backends.namespace(g.array) is strict
            assert g.array.device == DEVICE
            assert g.dtype is w.dtype
            np.testing.assert_allclose(backends.to_host(g.array), w.array, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("space", [gw.linalg, gw.fft, gw.special])
def test_every_function_is_called(space: Any) -> None:
    table = next(table for one, table in SOURCES.values() if one is space)
    assert set(space.__all__) - {*table, *COMBINED} <= {"LinAlgError", "fftfreq", "rfftfreq"}


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
@pytest.mark.parametrize("space", [gw.fft, xp.fft], ids=["fft", "xp.fft"])
def test_frequencies_are_made_on_a_device(space: Any, name: str) -> None:
    made = getattr(space, name)(5, d=0.5, dtype=gw.float64, device=DEVICE)
    assert made.array.device == DEVICE
    np.testing.assert_allclose(backends.to_host(made.array), getattr(np.fft, name)(5, 0.5))


def test_failures_are_those_over_numpy() -> None:
    x = wrap(strict.asarray(0 * S, device=DEVICE))
    singular = "diagonal element 1 is zero"
    for f, message in ((L.inv, singular), (L.cholesky, "leading minor of order 1"), (L.lu_factor, r"U\[1,1\] is zero"),
                       (lambda x: L.eig(x + float("nan")), "should not contain infs or NaNs"),
                       (lambda x: gw.istft(gw.complex(x, x), 6, 2, window=x[0, 0].repeat(2)[:6]), "overlap add min: 0"),
                       (lambda x: L.solve(x, x), r"\(Batch element 0\): The solver failed")):  # fmt: skip
        with pytest.raises(RuntimeError, match=message):
            f(x)


@pytest.mark.parametrize("dtype", [gw.float16, gw.bfloat16])
def test_a_dtype_that_a_library_lacks_is_named(dtype: Any) -> None:
    x = wrap(strict.asarray(S, device=DEVICE))
    for f in (lambda: x.to(dtype), lambda: L.vector_norm(x.to(gw.float32), dtype=gw.float64).to(dtype)):
        with pytest.raises(TypeError, match=f"array_api_strict has no torch.{dtype.name}: take another dtype, such as"):
            f()
