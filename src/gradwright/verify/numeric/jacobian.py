"""A function of tensors at one point, and its Jacobians by the backward pass.

Nothing is judged here, and nothing printed. All Jacobians are laid out alike, as matrices of an output by an input:

- a row per *coordinate* of the input: its entries in order; for a complex input first the real parts of all, then the
  imaginary parts of all;
- a column per entry of the output. Where that is complex, so is the matrix: by how much the complex output moves.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.calls import grad
from gradwright.engine.node import AccumulateGrad
from gradwright.function.contract.containers import flatten, paths, unflatten
from gradwright.transform.arguments import settled

Matrix = np.ndarray[Any, Any]
Rows = Sequence[int] | Matrix
"""Coordinates of an input."""


class Subject:
    """A function of tensors, at a point.

    Attributes:
        func, inputs: the function and its arguments; tensors may be nested in tuples, lists and dicts.
        varied: the tensors among the arguments that require grad, in order.
        names: how to call each of them: by the parameter of ``func``, ``pair[0]``; or ``input 0``.
        outputs: the tensors that ``func`` returned that require grad; if none does, all that are of floating point.
        returned, which: all tensors that it returned, and the numbers of those among them.
        differentiable: whether any requires grad.
        sampled: what is called for values alone: `func`, or an attribute ``for_values`` of it, which is to compute the
            same for less; if it does not, since a backward may ask what is recorded, `func` after all.
    """

    def __init__(self, func: Callable[..., Any], inputs: Any, names: Sequence[str] | None = None) -> None:
        self.func = func
        self.sampled = getattr(func, "for_values", func)
        self.inputs = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
        self._labels = names
        self.varied = [t for t in tensors(self.inputs) if t.requires_grad]
        self.run()
        if self.sampled is not func:
            pairs = zip(self.values(), self.outputs, strict=True)
            if not all(np.allclose(a, o.array, 8 * rounding(a.dtype), 0, equal_nan=True) for a, o in pairs):
                self.sampled = func

    @functools.cached_property
    def names(self) -> list[str]:
        labels = parameters(self.func, len(self.inputs)) if self._labels is None else self._labels
        varied = set(map(id, self.varied))
        found = [p for n, x in zip(labels, self.inputs, strict=True) for p in named(x, n)]
        return [n for n, t in found if id(t) in varied]

    def run(self) -> None:
        """Call the function anew: ``outputs`` with a fresh graph."""
        result = self.func(*self.inputs)
        returned = settled(tensors(result))
        if not returned and not isinstance(result, (tuple, list, dict)):
            raise TypeError(f"expected a function that returns a Tensor or a tuple of them, but got {kind(result)}")
        which = [i for i, t in enumerate(returned) if t.requires_grad]
        self.differentiable = bool(which)
        if not which:
            which = [i for i, t in enumerate(returned) if dtypes.of(t.array.dtype).category >= dtypes.FLOAT]
        self.returned, self.which = returned, which
        self.outputs = [returned[i] for i in which]
        self.shapes = [(t.array.shape, t.array.dtype) for t in self.outputs]

    def values(self) -> list[Any]:
        """The arrays of the same outputs, for the inputs as they are now.

        Raises AssertionError if their shapes or dtypes are not what they were.
        """
        returned = tensors(self.sampled(*self.inputs))
        try:
            arrays = [returned[i].array for i in self.which]
        except IndexError:
            raise AssertionError("Expected `func` to return as many outputs when inputs are perturbed, but "
                                 f"got: {len(returned)} tensors instead of at least {max(self.which) + 1}.") from None
        for array, (shape, dtype) in zip(arrays, self.shapes, strict=True):
            if array.shape != shape or array.dtype is not dtype:
                _check_alike(array, shape, dtype)
        return arrays


def _check_alike(array: Any, shape: tuple[int, ...], dtype: Any) -> None:
    for what, got, want in (("shape", array.shape, shape), ("dtype", array.dtype, dtype)):
        if got != want:
            raise AssertionError(f"Expected `func` to return outputs with the same {what} when inputs are perturbed, "
                                 f"but got: {what}s {want} and {got}.")


def tensors(value: Any) -> Sequence[Any]:
    """The tensors in nested containers, in order."""
    if isinstance(value, TensorBase):
        return (value,)
    if type(value) is tuple and all(isinstance(v, TensorBase) for v in value):
        return value
    leaves: list[Any] = []
    flatten(value, leaves)
    return leaves


def leaf(array: Any) -> Any:
    """A tensor over an array, of any library, that requires grad."""
    t = wrap(array)
    t._node = AccumulateGrad(t)
    return t


def exchanged(value: Any, change: Callable[[Any], Any]) -> Any:
    """Nested containers with ``change(t)`` in the place of every tensor."""
    leaves: list[Any] = []
    rest = flatten(value, leaves)
    return unflatten(rest, iter([change(t) for t in leaves]))


def named(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The same with names, given that of the whole: ``pair[0]``."""
    leaves: list[Any] = []
    rest = flatten(value, leaves)
    yield from zip(paths(rest, name), leaves, strict=True)


def parameters(func: Callable[..., Any], n: int) -> list[str]:
    """How ``func`` calls its first ``n`` positional arguments; ``input 0`` and so on where that cannot be known."""
    owner = getattr(func, "__self__", None)
    forward = getattr(owner, "forward", None) if getattr(func, "__name__", "") == "apply" else None
    try:
        names = list(_positional(func if forward is None else forward))
    except (TypeError, ValueError):
        names = []
    if forward is not None and "setup_context" not in vars(owner):
        names = names[1:]  # ctx
    return [names[i] if i < len(names) else f"input {i}" for i in range(n)]


def _positional(func: Callable[..., Any]) -> Iterator[str]:
    for p in inspect.signature(func).parameters.values():
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            yield p.name


# ---- the backward pass -----------------------------------------------------------------------------------


def coordinates(x: Any) -> int:
    """How many rows the Jacobians by ``x`` have."""
    return int(x.array.size) * (2 if x.array.dtype.kind == "c" else 1)


def as_coordinates(array: Any) -> Matrix:
    """The entries of an array in a row; of a complex one the real parts, then the imaginary parts."""
    flat = array.reshape(-1)
    return np.concatenate((flat.real, flat.imag)) if flat.dtype.kind == "c" else flat


class Backward(NamedTuple):
    """The backward pass's Jacobian of one output.

    Attributes:
        jacobians: for each input its matrix.
        dtypes: for each input, the dtypes its gradients came in.
        misshapen: for each input, the shape of a gradient that has not the shape of the input; or None.
    """

    jacobians: list[Matrix]
    dtypes: list[set[Any]]
    misshapen: list[tuple[int, ...] | None]


def analytical(subject: Subject, output: int, columns: Rows | None = None,
               rows: Sequence[Rows | None] | None = None) -> Backward:
    """The Jacobians of an output by all inputs, by as many backward passes as it has entries (twice, if complex).

    With ``columns``, only these entries of the output: so many columns. With ``rows``, only these coordinates of each
    input; None for all.
    """
    out = subject.outputs[output]
    wanted = range(out.array.size) if columns is None else columns
    chosen = [None] * len(subject.varied) if rows is None else rows
    parts = [1, 1j] if out.array.dtype.kind == "c" else [1]
    result = Backward(
        [np.zeros((coordinates(x) if r is None else len(r), len(wanted)), _wide(x, out), order="F")
         for x, r in zip(subject.varied, chosen, strict=True)],
        [set() for _ in subject.varied],
        [None] * len(subject.varied),
    )
    one_hot = np.zeros(out.array.shape, out.array.dtype)
    flat, cotangent = one_hot.reshape(-1), wrap(one_hot)
    for part in parts:
        for column, k in enumerate(wanted):
            flat[k] = part
            grads = grad(out, subject.varied, cotangent, retain_graph=True, allow_unused=True)
            flat[k] = 0
            for j, g in enumerate(grads):
                if g is not None:
                    _note(result, j, column, part, g.array, subject.varied[j].array, chosen[j])
    return result


def _note(result: Backward, j: int, column: int, part: complex, g: Any, x: Any, rows: Rows | None) -> None:
    result.dtypes[j].add(g.dtype)
    if g.shape != x.shape:
        result.misshapen[j] = g.shape
        return
    entries = as_coordinates(g) if x.dtype.kind == "c" else g.reshape(-1)
    if rows is not None:
        entries = entries[rows]
    if part == 1:
        result.jacobians[j][:, column] = entries
    else:
        result.jacobians[j][:, column] += part * entries.real


def _wide(x: Any, out: Any) -> Any:
    """The dtype of a matrix: one that NumPy computes in, complex where the output is."""
    return np.complex128 if out.array.dtype.kind == "c" else np.float64


def pullback(subject: Subject, cotangents: Sequence[Any]) -> list[Matrix | None]:
    """One backward pass: for each input its gradient, by coordinates, or None.

    The cotangents are arrays, one for each output; None for an output that is left out of the pass.
    """
    given = [(o, wrap(np.asarray(v).astype(o.array.dtype)))
             for o, v in zip(subject.outputs, cotangents, strict=True) if v is not None]  # fmt: skip
    outs, roots = [o for o, _ in given], [v for _, v in given]
    grads = grad(outs, subject.varied, roots, retain_graph=True, allow_unused=True)
    return [None if g is None else as_coordinates(g.array) for g in grads]


@functools.cache
def rounding(dtype: Any) -> float:
    """The relative distance of neighbouring numbers of a dtype: 2.2e-16 for float64."""
    d = dtypes.of(dtype)
    return float(dtypes.finfo(d).eps) if d.category >= dtypes.FLOAT else 0.0


def is_floating(dtype: Any) -> bool:
    """Whether numbers of this dtype of NumPy's move: of floating point, complex, bfloat16."""
    return dtype.kind in "fc" or dtype.name == "bfloat16"


WIDER = {"float16": "float64", "bfloat16": "float64", "float32": "float64", "complex64": "complex128"}
"""The widest dtype of its kind for the name of a narrower one."""


def wider(dtype: Any) -> Any:
    """float64 or complex128 for a narrower dtype of that kind; else the dtype."""
    return np.dtype(WIDER.get(dtype.name, dtype))


def unbound(f: Any, static: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """``f`` and its keyword arguments; those of ``partial(f, order=2)`` among them.

    So a function whose own arguments are called as those of a checker can be handed to it.

    >>> unbound(partial(round, ndigits=2), {})
    (<built-in function round>, {'ndigits': 2})
    """
    if isinstance(f, partial) and not f.args:
        return f.func, {**f.keywords, **static}
    return f, static
