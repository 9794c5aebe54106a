"""Forms of calls that have an early way do what the same calls do in full, spelled so that they have none."""

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.engine.apply import apply
from gradwright.face.functions.algebra import linalg
from gradwright.ops.declare import table

Form = Callable[[Any], Any]
F = gw.nn.functional


class Int:
    """A number that is read as an index, but is none of the usual class."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __index__(self) -> int:
        return self.n


def reductions() -> Iterator[tuple[Form, Form]]:
    for name in ("sum", "mean"):
        yield lambda x, f=name: getattr(x, f)(), lambda x, f=name: getattr(x, f)(dim=None, keepdim=False)
        for dim in (0, 1, -1, -2, 2, 7):
            yield lambda x, f=name, d=dim: getattr(x, f)(d), lambda x, f=name, d=dim: getattr(x, f)(d, False)
            yield lambda x, f=name, d=dim: getattr(gw, f)(x, dim=d), lambda x, f=name, d=dim: getattr(x, f)(Int(d))
            yield lambda x, f=name, d=dim: getattr(x, f)(d), lambda x, f=name, d=dim: getattr(gw, f)(x=x, axis=d)


def shapes() -> Iterator[tuple[Form, Form]]:
    for shape in ((4, 3), (-1,), (2, -1), (12,), ((),), (0,), (-1, 0), (-1, -1), (5, -1), (-2, 6), (2.0, 6), (True, 12),
                  ((3, 4),), ([-1, 2],), ((3, 4), 1), (gw.Size((12,)),)):  # fmt: skip
        yield lambda x, s=shape: x.reshape(*s), lambda x, s=shape: x.reshape(shape=s[0] if is_list(s) else s)
        yield lambda x, s=shape: x.view(*s), lambda x, s=shape: x.view(size=s[0] if is_list(s) else s)
    for a, b in ((0, 1), (-1, 0), (1, 1), (-2, 0), (0, 2), (-3, 1)):
        yield lambda x, a=a, b=b: x.transpose(a, b), lambda x, a=a, b=b: x.transpose(Int(a), Int(b))


def is_list(shape: Any) -> bool:
    return len(shape) == 1 and isinstance(shape[0], (tuple, list))


def indices() -> Iterator[tuple[Form, Form]]:
    for key in (slice(1, 3), slice(None), slice(None, -1), slice(9, 12), slice("a", 2), slice(1.5)):
        yield lambda x, k=key: x[k], lambda x, k=key: x[k, ...]
    for key in ((slice(None), 1), (0, slice(1, 2)), (1, 2), (slice(0, 2), slice(1, 3)), (0, 0, 0), (9, 0)):
        yield lambda x, k=key: x[k], lambda x, k=key: x[*k, ...]


def joins() -> Iterator[tuple[Form, Form]]:
    for join in (gw.cat, gw.stack):
        for dim in (0, 1, -1, 2, 9):
            for many in (lambda x: [x, x * 2, x], lambda x: (x, x.detach(), x[:]), lambda x: [x]):
                yield lambda x, j=join, m=many, d=dim: j(m(x), d), lambda x, j=join, m=many, d=dim: j(m(x), axis=d)
        yield lambda x, j=join: j([x, x]), lambda x, j=join: j([x, x], axis=0)
        yield lambda x, j=join: j([x, 1]), lambda x, j=join: j([x, 1], axis=0)


def products() -> Iterator[tuple[Form, Form]]:
    for other in (lambda x: x.mT, lambda x: x, lambda x: gw.ones(4, 2, dtype=x.dtype), lambda x: x.double().mT):
        yield lambda x, o=other: x @ o(x), lambda x, o=other: product(x, o(x))
    for bias in (lambda x: x[:, 0], lambda x: x[0], lambda x: x.detach()[:, 1], lambda x: x.double()[:, 0]):
        yield lambda x, b=bias: F.linear(x, x, b(x)), lambda x, b=bias: affine(x, b(x))


def product(x: Any, y: Any) -> Any:
    """x y, as all but the usual products are read."""
    return linalg._product("matmul", linalg._mm, x, y, None, "other") if x.ndim == y.ndim == 2 else x @ y


def affine(x: Any, bias: Any) -> Any:
    """x x^T + bias by the operation itself, where nothing is to be said before."""
    fits = x.ndim == 2 and bias.dtype is x.dtype and bias.shape == x.shape[:1]
    return apply(table["linear"], (bias, x, x), {}) if fits else F.linear(x, x, bias)


def tensors() -> Iterator[tuple[str, Callable[[], Any]]]:
    values = np.random.default_rng(0).standard_normal((3, 4))
    for dtype in (gw.float32, gw.float64, gw.float16, gw.int64, gw.bool, gw.complex64):
        yield str(dtype), lambda d=dtype: gw.tensor(values).to(d)
    for dtype in (gw.float32, gw.float64):
        yield f"{dtype} leaf", lambda d=dtype: gw.tensor(values, dtype=d, requires_grad=True)
    yield "result", lambda: gw.tensor(values, requires_grad=True) * 1
    yield "parameter", lambda: gw.nn.Parameter(gw.tensor(values))
    yield "view", lambda: (gw.tensor(values, requires_grad=True) * 1).t()[:3]
    yield "view, written since", written
    yield "transposed", lambda: gw.tensor(np.asfortranarray(values), requires_grad=True)
    yield "strided", lambda: gw.tensor(np.repeat(values, 2, 1))[:, ::2].requires_grad_()
    yield "expanded", lambda: gw.ones(1, 4, requires_grad=True).expand(3, 4)
    for shape in ((), (4,), (0, 4), (2, 3, 4), (1, 1)):
        yield f"of shape {shape}", lambda s=shape: gw.ones(s, requires_grad=True)


def written() -> Any:
    base = gw.ones(4, 3, requires_grad=True) * 1
    part = base.t()
    base *= 2
    return part


def nodes(node: Any, depth: int = 4) -> Any:
    """The graph behind a node, with what each node has saved."""
    if node is None or not depth:
        return node and node.name()
    saved = {n: shown(getattr(node, n)) for n in dir(node) if n.startswith("_saved_")}
    return node.name(), saved, [(nodes(n, depth - 1), k) for n, k in node.next_functions]


def shown(value: Any) -> Any:
    if not isinstance(value, gw.Tensor):
        return repr(value)
    return type(value).__name__, value.dtype, value.shape, value.array.tobytes() if value.array.size else b""


def outcome(form: Form, make: Callable[[], Any]) -> Any:
    """All that can be seen of a call: the result, its memory, its history, or the error and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        x = make()
        try:
            out = form(x)
        except Exception as e:  # noqa: BLE001 - whatever it is
            return type(e), str(e)
        found = [*shown(out), type(out.array), out.array.strides, out.requires_grad, out.is_inference()]
        if not out.is_inference():
            found += [out._version, nodes(out.grad_fn), out._base is None or out._base.shape]
        if out.grad_fn and gw.is_grad_enabled() and x.is_leaf and not out.is_complex():
            (slope,) = gw.autograd.grad((out * out).sum(), x)
            found += shown(slope)
    return found, [(str(w.message), w.category) for w in caught]


PAIRS = [*reductions(), *shapes(), *indices(), *joins(), *products()]


@pytest.mark.parametrize(("name", "make"), [*tensors()])
def test_a_usual_form_does_what_the_call_in_full_does(name: str, make: Callable[[], Any]) -> None:
    others = (gw.no_grad, gw.inference_mode) if name in ("result", "view", "parameter") else ()
    for usual, in_full in PAIRS:
        for mode in (gw.enable_grad, *others):
            with mode():
                assert outcome(usual, make) == outcome(in_full, make)


@pytest.mark.parametrize("inside", [gw.func.vmap, lambda f: lambda x: gw.func.jvp(f, (x,), (x * 0.5,))[1]])
def test_so_it_does_inside_transforms(inside: Callable[[Form], Form]) -> None:
    for shape in ((3, 4), (2, 3, 4)):
        for usual, in_full in PAIRS:
            make = partial(gw.full, shape, 0.5)
            assert outcome(inside(usual), make) == outcome(inside(in_full), make)


LOSSES: list[Form] = [
    lambda x: (x * x).sum(), lambda x: (x * x).sum().reshape(1, 1), lambda x: x * 2, lambda x: x, lambda x: x[0, :1],
    lambda x: (x[0, :1] * 2)[0], lambda x: x.detach().sum(), lambda x: x.sum().double(), lambda x: x.sum() * 1j,
    lambda x: (x * 0).int().sum(), lambda x: gw.where(x > 9, (x * 0).sqrt(), x * 0).sum(),
]  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"retain_graph": True}, {"create_graph": True}], ids=str)
def test_backward_of_one_tensor_does_what_that_of_several_does(options: dict[str, Any]) -> None:
    def passes(y: Any, several: bool, times: int) -> None:
        for _ in range(times):
            gw.autograd.backward((y,), **options) if several else y.backward(**options)

    def slope(x: Any, loss: Form, several: bool, times: int) -> Any:
        passes(loss(x), several, times)
        return x.grad

    for loss in LOSSES:
        for dtype, times in ((gw.float32, 1), (gw.float64, 1), (gw.float64, 2)):
            make = partial(gw.ones, 2, 2, dtype=dtype, requires_grad=True)
            one, several = (partial(slope, loss=loss, several=s, times=times) for s in (False, True))
            assert outcome(one, make) == outcome(several, make)
