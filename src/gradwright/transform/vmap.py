"""`vmap`: a function of one example as a function of a batch of them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, ParamSpec, TypeVar

from gradwright.engine.apply import apply
from gradwright.engine.base import TensorBase
from gradwright.function.contract.trees import TreeSpec
from gradwright.ops.shape import concat, permute_dims
from gradwright.transform.arguments import flatten, path_of, settled, spread
from gradwright.transform.batch import Batches, refuse
from gradwright.transform.draws import plan

RANDOMNESS = ("error", "different", "same")

P = ParamSpec("P")
R = TypeVar("R")


def vmap(func: Callable[P, R], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *,
         chunk_size: int | None = None) -> Callable[P, R]:  # fmt: skip
    """``func``, which is written for one example, as a function of a batch of them, all computed at once.

    Args:
        func: takes tensors, in containers too, and returns tensors, in containers too.
        in_dims: along which dim of each input the examples lie; None for an input that is the same for all. One
            answer for all inputs, or a tuple with one for each, which may be containers of the shape of the input.
            Keyword arguments are the same for all.
        out_dims: the same for the results; None hands out a result that is the same for all examples as it is.
        randomness: what random numbers do: "error", "different" ones for each example, or the "same" ones for all.
            Different ones are those of a loop; to learn how many of them an example takes, ``func`` is run once
            more, on one example, before.
        chunk_size: how many examples are computed at a time; None for all.

    >>> vmap(lambda x, y: (x * y).sum())(gw.ones(3, 2), gw.ones(3, 2))
    tensor([2., 2., 2.])

    Raises:
        ValueError: ``in_dims`` does not fit the inputs, or ``out_dims`` the results; what is mapped is no tensor,
            or nothing; the sizes along ``in_dims`` differ; a result is no tensor.
        RuntimeError: a value is asked for (``item()``, ``if``) that is another one in each example, something that is
            the same for all is written to, or random numbers are drawn where ``randomness`` is "error".
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")
    if randomness not in RANDOMNESS:
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")

    name = name_of(func)

    @functools.wraps(func, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        if out_dims.__class__ is not int and not all(map(_is_dim, flatten(out_dims)[0])):
            raise ValueError(
                f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of "
                "ints representing where in the outputs the vmapped dimension should appear."
            )
        leaves, spec, dims, size = _inputs(name, in_dims, args)
        if chunk_size is None or size <= chunk_size:
            return _mapped(func, leaves, spec, dims, size, out_dims, randomness, kwargs)
        outs: list[Any] = []
        states: dict[Any, bytes] = {}
        for start in range(0, size, chunk_size):
            n = min(chunk_size, size - start)
            part = [x if d is None else x.narrow(d, start, n) for x, d in zip(leaves, dims, strict=True)]
            for source, state in states.items():
                source.set_state(state)
            outs.append(_mapped(func, part, spec, dims, n, out_dims, randomness, kwargs, states))
        return _joined(outs, out_dims)

    return call


def name_of(func: Any) -> str:
    """A function as messages call it."""
    if isinstance(func, functools.partial):
        return f"functools.partial({name_of(func.func)}, ...)"
    return getattr(func, "__name__", None) or repr(func)


def _is_dim(value: Any) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool))


def _inputs(name: str, in_dims: Any, args: tuple[Any, ...]) -> tuple[list[Any], TreeSpec, list[int | None], int]:
    """All inputs, their tree, the dim along which each is mapped, and how many examples there are; checked."""
    asked = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{asked}expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, "
            f"got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a "
            "function with no inputs. The latter is unsupported."
        )
    leaves, spec = flatten(args)
    dims: Any = [in_dims] * len(leaves) if in_dims.__class__ is int else spread(in_dims, spec)
    if dims is None:
        raise ValueError(
            f"{asked}in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    sizes = set()
    for i, (x, dim) in enumerate(zip(leaves, dims, strict=True)):
        if dim is None:
            continue
        if not _is_dim(dim):
            raise ValueError(
                f"{asked}Got in_dim={dim} for an input but in_dim must be either an integer dimension or None. "
                f"The input is {path_of(args, 'inputs', i)}."
            )
        if not isinstance(x, TensorBase):
            raise ValueError(
                f"{asked}Got in_dim={dim} for an input but the input is of type {type(x)}. We cannot vmap over "
                "non-Tensor arguments, please use None as the respective in_dim. The input is "
                f"{path_of(args, 'inputs', i)}."
            )
        n = x.array.ndim
        if not -n <= dim < n:
            raise ValueError(
                f"{asked}Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {n} so expected "
                f"in_dim to satisfy -{n} <= in_dim < {n}. The input is {path_of(args, 'inputs', i)}."
            )
        dims[i] = dim % n
        sizes.add(x.array.shape[dim])
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if len(sizes) > 1:
        found = [(x.array.shape[d], path_of(args, 'inputs', i))
                 for i, (x, d) in enumerate(zip(leaves, dims, strict=True)) if d is not None]  # fmt: skip
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{[n for n, _ in found]} for the mapped dimension: {', '.join(f'{n} of {path}' for n, path in found)}"
        )
    return leaves, spec, dims, sizes.pop()


def _mapped(func: Callable[..., Any], leaves: Sequence[Any], spec: TreeSpec, dims: Sequence[int | None], size: int,
            out_dims: Any, randomness: str, kwargs: Any, states: dict[Any, bytes] | None = None) -> Any:  # fmt: skip
    """The result of ``func`` for all examples of these inputs."""
    level = Batches(size, randomness, states)
    if randomness == "different" and size > 1:
        plan(level, _tried(func, leaves, spec, dims, kwargs))
    given = [x if d is None else level.batch(moved(x, d, 0)) for x, d in zip(leaves, dims, strict=True)]
    out = None
    try:
        with level.running():
            out = settled(func(*spec.unflatten(given), **kwargs))
        made = _out(level, name_of(func), out, out_dims)
    finally:
        out = None  # what was made inside has gone with it
        written = level.restore()
    refuse(written)
    return made


def _tried(func: Callable[..., Any], leaves: Sequence[Any], spec: TreeSpec, dims: Sequence[int | None],
           kwargs: Any) -> Batches:  # fmt: skip
    """The level of one example, on a copy of which ``func`` has been run; no random number has been used up."""
    level = Batches(1, "different")
    level.trial = True
    given = [x if d is None else level.batch(moved(x.narrow(d, 0, 1).clone(), d, 0))
             for x, d in zip(leaves, dims, strict=True)]  # fmt: skip
    try:
        with level.running():
            func(*spec.unflatten(given), **kwargs)
    finally:
        level.restore()
    return level


def moved(x: Any, source: int, target: int) -> Any:
    """``x`` with one of its dims elsewhere."""
    n = x.array.ndim
    source, target = source % n, target % n
    if source == target:
        return x
    order = [k for k in range(n) if k != source]
    order.insert(target, source)
    return apply(permute_dims, (x,), {"axes": tuple(order)})


def _dims_of_outputs(name: str, out_dims: Any, out: Any) -> list[Any]:
    """The dim for each result."""
    if isinstance(out, TensorBase) and isinstance(out_dims, tuple) and len(out_dims) == 1:
        out_dims = out_dims[0]
    spec = flatten(out)[1]
    dims = spread(out_dims, spec)
    if dims is None:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of "
            f"`outputs`. out_dims has structure {flatten(out_dims)[1]} but outputs has structure {spec}."
        )
    return dims


def _out(level: Batches, name: str, out: Any, out_dims: Any) -> Any:
    """The results as tensors outside, each with the batch where ``out_dims`` says."""
    leaves, spec = flatten(out)
    dims = [out_dims] * len(leaves) if out_dims.__class__ is int else _dims_of_outputs(name, out_dims, out)
    made: list[Any] = []
    for i, (t, dim) in enumerate(zip(leaves, dims, strict=True)):
        tensor, is_batch = level.unpack(t) if isinstance(t, TensorBase) else (t, False)
        if dim is None:
            if is_batch:
                raise ValueError(
                    f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None, as for "
                    f"{path_of(out, 'outputs', i)}"
                )
            made.append(t)
            continue
        if not isinstance(t, TensorBase):
            raise ValueError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(t)} for "
                f"{path_of(out, 'outputs', i)}. Did you mean to set out_dims= to None for output?"
            )
        if not is_batch:
            tensor = tensor.expand(level.size, *tensor.array.shape)
        n = tensor.array.ndim
        if not -n <= dim < n:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim}): "
                             f"out_dims of vmap({name}, ...) for {path_of(out, 'outputs', i)}")  # fmt: skip
        made.append(moved(tensor, 0, dim))
    return spec.unflatten(made)


def _joined(outs: list[Any], out_dims: Any) -> Any:
    """The results of chunks, each joined along its dim."""
    dims = _dims_of_outputs("", out_dims, outs[0])
    made = []
    for dim, chunks in zip(dims, zip(*[flatten(out)[0] for out in outs], strict=True), strict=True):
        if dim is None:
            made.append(chunks[0])
            continue
        axis = dim % chunks[0].array.ndim
        ends = tuple(accumulate(chunk.array.shape[axis] for chunk in chunks))
        made.append(apply(concat, chunks, {"axis": axis, "ends": ends}))
    return flatten(outs[0])[1].unflatten(made)
