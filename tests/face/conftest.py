"""Holding a function of the face against PyTorch's function of the same name."""

import warnings
from collections.abc import Callable, Iterator
from itertools import zip_longest
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradwright

_DTYPES = {"float64": 1e-9, "float32": 2e-4, "float16": 3e-2, "complex128": 1e-9, "complex64": 2e-4}


class Same:
    """Runs a call on gradwright and on PyTorch, and compares all that comes out.

    ``same(f, x, y)`` runs ``f(module, x, y)`` with both modules on tensors of the given NumPy arrays (other arguments
    are handed on as they are), and compares: the values, dtypes and shapes of the results, the names of their nodes,
    the gradients of all floating inputs for random cotangents, and the gradients of those. If PyTorch raises, an error
    of the same type is expected.
    """

    def __init__(self, torch: ModuleType) -> None:
        self.torch = torch

    def __call__(self, f: Callable[..., Any], *inputs: Any, order: int = 2, names: bool = True) -> None:
        ours = _attempt(_Side(gradwright), f, inputs, order)
        theirs = _attempt(_Side(self.torch), f, inputs, order)
        if isinstance(theirs, Exception) or isinstance(ours, Exception):
            assert isinstance(theirs, type(ours)), f"gradwright: {ours!r}, PyTorch: {theirs!r}"
            return
        seen = [*inputs, *theirs[0]]
        tolerance = max((_DTYPES.get(_name(x), 0.0) for x in seen if hasattr(x, "dtype")), default=0.0)
        for k, (a, b) in enumerate(zip_longest(ours, theirs, fillvalue=())):  # one may know sooner that all is 0
            assert k == 0 or len(a) == len(b) or not (a and b), f"order {k}: {len(a)} tensors, PyTorch has {len(b)}"
            for j, (mine, other) in enumerate(zip_longest(a, b)):
                _compare(f"order {k}, tensor {j}", mine, other, tolerance, names=names and k == 0)


class _Side:
    """One of the two libraries, with what differs between them."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def tensor(self, value: Any, needs_grad: bool) -> Any:
        if not isinstance(value, (np.ndarray, np.generic)):
            return value
        t = self.module.tensor(value)
        return t.requires_grad_() if needs_grad and t.dtype.is_floating_point else t


def _attempt(side: _Side, f: Callable[..., Any], inputs: tuple[Any, ...], order: int) -> Any:
    try:
        with warnings.catch_warnings():
            if side.module is not gradwright:
                warnings.simplefilter("ignore")  # PyTorch's own deprecations
            return _run(side, f, inputs, order)
    except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError) as e:
        return e


def _run(side: _Side, f: Callable[..., Any], inputs: tuple[Any, ...], order: int) -> list[list[Any]]:
    xs = [side.tensor(x, order > 0) for x in inputs]
    found = [list(_flat(f(side.module, *xs)))]
    leaves = [x for x in xs if getattr(x, "requires_grad", False)]
    for _ in range(order):
        pairs = [
            (y, side.tensor(np.random.default_rng(j).standard_normal(tuple(y.shape)).astype(_name(y)), True))
            for j, y in enumerate(found[-1])
            if y is not None and y.requires_grad
        ]
        if not pairs or not leaves:
            break
        ys, vs = zip(*pairs, strict=True)
        found.append(list(side.module.autograd.grad(ys, leaves, vs, create_graph=True, allow_unused=True)))
        leaves += vs
    return found


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (tuple, list)):
        for v in value:
            yield from _flat(v)
    else:
        yield value


def _name(t: Any) -> str:
    return str(t.dtype).removeprefix("torch.")


def _values(t: Any) -> Any:
    return np.asarray(t.numpy(force=True))


def _compare(where: str, mine: Any, other: Any, tolerance: float, *, names: bool) -> None:
    if mine is None or other is None:
        empty = [t for t in (mine, other) if t is not None]
        assert all(np.all(np.abs(_values(t)) <= tolerance) for t in empty), f"{where}: None in one of the two: {empty}"
        return
    if not hasattr(other, "dtype"):
        assert mine == other, where
        return
    assert _name(mine) == _name(other), f"{where}: dtype {_name(mine)}, PyTorch has {_name(other)}"
    assert tuple(mine.shape) == tuple(other.shape), f"{where}: shape {mine.shape}, PyTorch has {other.shape}"
    np.testing.assert_allclose(_values(mine), _values(other), tolerance, tolerance, err_msg=where)
    if names:
        assert type(mine.grad_fn).__name__ == type(other.grad_fn).__name__, where


@pytest.fixture(scope="session")
def same(torch: ModuleType) -> Same:
    return Same(torch)
