"""Whole Jacobians: `jacrev`, `jacfwd` and `hessian`. All rows, or all columns, come of one pass over a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, ParamSpec

import numpy as np

from gradwright import backends
from gradwright.engine.apply import apply
from gradwright.engine.base import wrap
from gradwright.engine.levels import LevelArray
from gradwright.engine.mode import inside, now, recording, resumed
from gradwright.engine.strict import warn
from gradwright.ops.shape import concat, stack
from gradwright.transform.arguments import Inputs, like, mapped, no_complex
from gradwright.transform.batch import Batches, first_of
from gradwright.transform.forward import Pushed, check_primals
from gradwright.transform.mapped import BatchedValueError
from gradwright.transform.reverse import Pulled, checked

P = ParamSpec("P")

def jacrev(func: Callable[P, Any], argnums: int | tuple[int, ...] = 0, *, has_aux: bool = False,
           chunk_size: int | None = None, _preallocate_and_copy: bool = False) -> Callable[P, Any]:  # fmt: skip
    """The function that computes the Jacobian of ``func``, by one backward pass over a batch of cotangents.

    Args:
        func: takes and returns tensors, in containers too.
        argnums: which positional arguments to differentiate by: one, or several, and then there is a tuple.
        has_aux: ``func`` returns a pair, and the function ``(jacobian, aux)``.
        chunk_size: how many rows to compute at a time; by default all. One by one, they are a loop, without a batch.
        _preallocate_and_copy: taken for the sake of programs that say it: chunks are written into their places anyway.

    Returns:
        For each output, in the structure that ``func`` returns, and each input, in the structure of the argument, a
        tensor of the shape of the output followed by that of the input.

    >>> jacrev(lambda x: x * x.sum())(gw.tensor([1.0, 2.0]))
    tensor([[4., 1.],
            [2., 5.]])

    Raises ValueError for a chunk_size below 1; RuntimeError for complex inputs or outputs, and what `vjp` raises.
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @like(func)
    def jacobian(*args: Any) -> Any:
        inputs = Inputs("jacrev", args, argnums)
        no_complex("jacrev", inputs.leaves, "inputs")
        pulled = Pulled("jacrev", func, inputs, {}, has_aux)
        leaves, spec = checked("jacrev", pulled.out)
        no_complex("jacrev", leaves, "outputs")
        sizes = [t.array.size for t in leaves]
        chunks = (_rows(pulled, leaves, basis) for basis in bases(leaves, sizes, chunk_size))
        found = []
        for whole, x in zip(_joined(chunks, sum(sizes)), inputs.leaves, strict=True):
            found.append([part.reshape((*t.array.shape, *x.array.shape))
                          for part, t in zip(_split(whole, sizes), leaves, strict=True)])  # fmt: skip
        jacobians = spec.unflatten([inputs.spec.unflatten(row) for row in zip(*found, strict=True)])
        return (jacobians, mapped(pulled.outward, pulled.aux)) if has_aux else jacobians

    return jacobian


def _rows(pulled: Pulled, leaves: Sequence[Any], basis: Sequence[Any]) -> list[Any]:
    """The cotangents of the inputs for each row of a basis, first."""

    def run() -> list[Any]:
        if basis[0].array.shape[0] == 1:
            return [t.unsqueeze(0) for t in pulled.back(leaves, [b[0] for b in basis], retain_graph=True)]
        level = Batches(basis[0].array.shape[0])
        try:
            given = [level.batch(b) for b in basis]
            found = level.passed(partial(pulled.back, leaves, given, retain_graph=True))
        except BatchedValueError:
            warn(
                "jacrev: the backward of a Function asks for numbers, so it is run for one row after another, which is "
                "slow. Compute there with operations on tensors."
            )
            rows = [pulled.back(leaves, [b[k] for b in basis], retain_graph=True) for k in range(level.size)]
            return [apply(stack, column, {"axis": 0}) for column in zip(*rows, strict=True)]
        return [first_of(level, t) for t in found]

    follows = pulled.leads() and now().records
    made: list[Any] = inside(partial(recording, follows), resumed, run)
    return [pulled.outward(t) for t in made] if follows else made


def jacfwd(func: Callable[P, Any], argnums: int | tuple[int, ...] | None = 0, has_aux: bool = False, *,
           randomness: str = "error") -> Callable[P, Any]:  # fmt: skip
    """The function that computes the Jacobian of ``func`` by forward mode, over a batch of tangents.

    It suits functions with more outputs than inputs. ``randomness`` is that of `vmap`. See `jacrev` for the rest.

    >>> jacfwd(lambda x: x * x.sum())(gw.tensor([1.0, 2.0]))
    tensor([[4., 1.],
            [2., 5.]])
    """

    @like(func)
    def jacobian(*args: Any) -> Any:
        inputs = Inputs("jacfwd", args, argnums)
        no_complex("jacfwd", inputs.leaves, "inputs")
        check_primals(inputs)
        sizes = [x.array.size for x in inputs.leaves]
        (basis,) = bases(inputs.leaves, sizes, None)
        level = Batches(sum(sizes), randomness)
        with level.running():
            pushed = Pushed(func, inputs, [level.batch(b) for b in basis], has_aux)
            no_complex("jacfwd", pushed.values, "outputs")
            tangents = pushed.tangents()
        found = []
        for t in tangents:
            columns = first_of(level, t)
            shape = columns.array.shape[1:]
            last = columns.movedim(0, -1)
            parts = [part.reshape((*shape, *x.array.shape))
                     for part, x in zip(_split(last, sizes, -1), inputs.leaves, strict=True)]  # fmt: skip
            found.append(inputs.spec.unflatten(parts))
        jacobians = pushed.spec.unflatten(found)
        if not has_aux:
            return jacobians
        return jacobians, mapped(partial(_example, level), pushed.aux)

    return jacobian


def hessian(func: Callable[P, Any], argnums: int | tuple[int, ...] = 0) -> Callable[P, Any]:
    """The function that computes the matrix of second derivatives of ``func``: ``jacfwd(jacrev(func))``.

    >>> hessian(lambda x: (x**3).sum())(gw.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)


def bases(leaves: Sequence[Any], sizes: Sequence[int], chunk_size: int | None) -> Iterator[list[Any]]:
    """The rows of a unit matrix over all entries of these tensors, cut into their shapes, a chunk at a time."""
    total = sum(sizes)
    for start in range(0, max(total, 1), chunk_size or max(total, 1)):
        n = min(chunk_size or total, total - start) or 1  # a row of no entries, if there are none
        made, diagonal = [], start
        for t, size in zip(leaves, sizes, strict=True):
            array = t.array.plain if isinstance(t.array, LevelArray) else t.array
            xp = backends.namespace(array)
            rows = xp.eye(n, size, k=diagonal, dtype=array.dtype, device=array.device)
            made.append(wrap(xp.reshape(rows, (n, *t.array.shape))))
            diagonal -= size
        yield made


def _split(t: Any, sizes: Sequence[int], dim: int = 0) -> Sequence[Any]:
    """The rows, or columns, of each tensor."""
    if not sum(sizes):
        t = t.narrow(dim, 0, 0)
    return (t,) if len(sizes) == 1 else t.split(list(sizes), dim)


def _joined(chunks: Iterator[list[Any]], n: int) -> list[Any]:
    """All ``n`` rows for each input; where they have no history, each chunk is written into its place at once."""
    rows = next(chunks)
    if rows[0].array.shape[0] >= n:
        return rows
    if any(t.array.__class__ is not np.ndarray or t.requires_grad for t in rows):
        parts = [rows, *chunks]
        ends = tuple(accumulate([part[0].array.shape[0] for part in parts]))
        return [apply(concat, column, {"axis": 0, "ends": ends}) for column in zip(*parts, strict=True)]
    whole = [t.new_empty((n, *t.array.shape[1:])) for t in rows]
    start = 0
    while rows:
        end = start + rows[0].array.shape[0]
        for t, out in zip(rows, whole, strict=True):
            out.array[start:end] = t.array
        start, rows = end, next(chunks, [])
    return whole


def _example(level: Batches, t: Any) -> Any:
    """A value that is the same for all examples: the first one's."""
    x, is_batch = level.unpack(t)
    return x[0] if is_batch else x
