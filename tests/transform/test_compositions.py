"""What composes with what: the table of docs/transforms.md, cell by cell, and transforms of transforms, all pairs."""

import re
from pathlib import Path

import numpy as np
import pytest
from gradwright.tensor import Tensor

import gradwright as gw
from gradwright import custom_op, func, nn, vmap
from gradwright.autograd import forward_ad, functional, grad
from gradwright.utils.checkpoint import checkpoint
from tests.transform.programs import by_slope, function, keeping, kept

PAGE = Path(__file__).resolve().parents[2] / "docs/transforms.md"
X = gw.tensor([0.3, -1.2, 0.8], dtype=gw.float64)
V = gw.tensor([1.0, 0.5, -2.0], dtype=gw.float64)
FACTOR = X.sum().item()
DRAWN = 1.5


def dual(f):
    def moved(x):
        with forward_ad.dual_level():
            return forward_ad.unpack_dual(f(forward_ad.make_dual(x, V))).tangent

    return moved


TRANSFORMS = {
    "grad": lambda f: func.grad(lambda x: (f(x) * V).sum()),
    "vjp": lambda f: lambda x: func.vjp(f, x)[1](V)[0],
    "jacrev": lambda f: lambda x: func.jacrev(f)(x) @ V,
    "jvp": lambda f: lambda x: func.jvp(f, (x,), (V,))[1],
    "jacfwd": lambda f: lambda x: func.jacfwd(f)(x) @ V,
    "linearize": lambda f: lambda x: func.linearize(f, x)[1](V),
    "autograd.forward_ad": dual,
    "autograd.functional": lambda f: lambda x: functional.jvp(f, x, V, create_graph=True)[1],
    "hessian": lambda f: lambda x: func.hessian(lambda x: (f(x) * V).sum())(x) @ V,
    "vmap": lambda f: lambda x: vmap(f)(gw.stack([x, 2 * x]))[1],
    "jet": lambda f: lambda x: func.jet(f, (x,), ([V, gw.zeros_like(V)],))[1][1],
}  # fmt: skip
MAKES_BATCHES = ("jacfwd", "hessian", "vmap")


def plain(x):
    return x.sin() * x.sum()


def close(a, b, tolerance=1e-12):
    assert a.shape == b.shape
    assert gw.allclose(a, b, rtol=tolerance, atol=tolerance), (a, b)


# ---- transforms of transforms --------------------------------------------------------------------------------


def differences(name, f):
    """What a transform of ``f`` is, by finite differences."""
    steps = gw.eye(3, dtype=gw.float64)
    h = 1e-4 if name in ("hessian", "jet") else 1e-6
    if name == "vmap":
        return f(2 * X)
    if name == "jet":
        return (f(X + h * V) - 2 * f(X) + f(X - h * V)) / h**2
    if name == "hessian":
        g = lambda x: (f(x) * V).sum()
        return gw.stack([sum((g(X + h * (e + d * V)) - g(X - h * (e - d * V))) * d for d in (1, -1)) / (4 * h * h)
                         for e in steps])  # fmt: skip
    columns = gw.stack([(f(X + h * e) - f(X - h * e)) / (2 * h) for e in steps], -1)
    return (columns.T if name in ("grad", "vjp") else columns) @ V


@pytest.mark.parametrize("inner", TRANSFORMS)
@pytest.mark.parametrize("outer", TRANSFORMS)
def test_each_of_each(outer, inner):
    f = TRANSFORMS[inner](plain)
    close(TRANSFORMS[outer](f)(X), differences(outer, f), 2e-6)


def test_the_page_names_them():
    part = PAGE.read_text(encoding="utf-8").partition("Transforms of transforms: ")[2].partition("\n\n")[0]
    assert {name for name in re.findall(r"`([\w.]+)`", part) if name != "jvp"} == {*TRANSFORMS} - {"jvp"}


# ---- what may stand in a function ----------------------------------------------------------------------------


cosine = by_slope(gw.cos)
numbers = keeping(lambda x: gw.from_numpy(np.sin(x.numpy())))


def by_numpy(ctx, g):
    (x,) = ctx.saved_tensors
    return gw.from_numpy(g.numpy() * np.cos(x.numpy()))


OLD = function("Sine", keeping(gw.sin), cosine)
NEW = function("Sine", lambda x: x.sin(), cosine, setup_context=kept)
NUMBERS = function("Sine", numbers, cosine)
BACK = function("Sine", numbers, by_numpy)
WITH_JVP = function("Sine", numbers, by_numpy, jvp=cosine)
MODULE = nn.Sequential(nn.Linear(3, 3), nn.Tanh()).double()


@custom_op
def sine(x: Tensor) -> Tensor:
    return gw.from_numpy(np.sin(x.numpy()))


sine.vjp(x=lambda xp, g, x: g * xp.cos(x))


def written(x):
    y = x.clone()
    y[:2].sin_()
    y[2] = x[2].sin()
    return y.mul_(x.sum())


def unrecorded(x):
    with gw.no_grad():
        factor = x.sum()
    return x.sin() * factor


def hooked(x):
    y = x * 1
    if y.requires_grad:
        y.register_hook(lambda g: 3 * g)
    return plain(y)


def derived(x):
    x = x if x.requires_grad else x.clone().requires_grad_()
    return grad((plain(x) ** 2).sum() / 2, x, create_graph=True)[0]


def run_backward(x):
    w = x.detach().clone().requires_grad_()
    (w * w).sum().backward()
    return x.sin() * w.grad


constant = lambda x: x.sin() * FACTOR
IN_FUNCTION = {
    "operations, modules": [(plain, plain), (MODULE, lambda x: (x @ MODULE[0].weight.T + MODULE[0].bias).tanh())],
    "a Function, with or without `setup_context`": [(lambda x, F=F: F.apply(x) * x.sum(), plain) for F in (OLD, NEW)],
    "a Function, its forward in NumPy": [(lambda x: NUMBERS.apply(x) * x.sum(), plain)],
    "a `custom_op`": [(lambda x: sine(x) * x.sum(), plain)],
    "a Function, its backward in NumPy": [(lambda x: BACK.apply(x) * x.sum(), plain)],
    "the same, with a `jvp`": [(lambda x: WITH_JVP.apply(x) * x.sum(), plain)],
    "`utils.checkpoint`": [(lambda x: checkpoint(plain, x, use_reentrant=False), plain)],
    "writes in place, into views too": [(written, plain)],
    "`no_grad`, `detach()`": [(unrecorded, constant), (lambda x: x.sin() * x.sum().detach(), constant)],
    "a hook on a tensor": [(hooked, lambda x: 3 * plain(x))],
    "`autograd.grad` of what is made in it": [(derived, lambda x: func.grad(lambda x: (plain(x) ** 2).sum() / 2)(x))],
    "`backward()` of leaves that are made in it": [(run_backward, lambda x: x.sin() * 2 * X)],
    "random numbers": [(lambda x: plain(x) * gw.rand(()).double(), lambda x: plain(x) * DRAWN)],
    "`if` on its values": [(lambda x: plain(x) if x.sum() < 9 else x, plain)],
    "`item()`, `float(x)`": [(lambda x: x.sin() * x.sum().item(), constant)],
    "`numpy()` without `detach()`, outside of Functions": [(lambda x: x * gw.from_numpy(x.numpy()), plain)],
}  # fmt: skip


def cells():
    """Each cell of the table, for each transform in its column."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|")]  # fmt: skip
    start = next(i for i, row in enumerate(rows) if row[0] == "in the function")
    columns = [re.findall(r"`(\w+)`", cell) for cell in rows[start][1:]]
    for row in rows[start + 2 :]:
        if len(row) != len(columns) + 1:
            return
        for names, cell in zip(columns, row[1:], strict=True):
            for name in names:
                yield pytest.param(row[0], name, re.sub(r" \(\d\)", "", cell), id=f"{row[0]}-{name}")


@pytest.mark.parametrize(("row", "name", "cell"), [*cells()])
@pytest.mark.filterwarnings("ignore::gradwright.errors.GradientWarning")
def test_the_table_of_the_page(row, name, cell):
    refused = {"no": ".", "not `linearize`": "." if name == "linearize" else None}.get(cell)
    if "an argument" in cell and name in MAKES_BATCHES:
        refused = "randomness"
    for f, same in IN_FUNCTION[row]:
        if refused:
            with pytest.raises(RuntimeError, match=refused):
                TRANSFORMS[name](f)(X)
            continue
        gw.manual_seed(0)
        found = TRANSFORMS[name](f)(X)
        gw.manual_seed(0)
        close(found, f(2 * X) if name == "vmap" else TRANSFORMS[name](same)(X) * times(row, name, cell))


def times(row, name, cell):
    """By what to multiply what the plain function gives."""
    if row == "random numbers":
        return gw.rand(()).item() / DRAWN
    return 1 / 3 if cell == "does not run" and name != "linearize" else 1


def test_every_row_is_there():
    assert {cell.values[0] for cell in cells()} == {*IN_FUNCTION}
