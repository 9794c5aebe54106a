"""What transforms of functions are given: which arguments, as trees of tensors, and what comes back."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.engine.base import TensorBase
from gradwright.engine.levels import LevelArray, settle
from gradwright.engine.view import refresh
from gradwright.function.contract.trees import (
    TreeSpec,
    broadcast_to_and_flatten,
    named,
    tree_flatten,
    tree_leaves_with_path,
    treespec_leaf,
)


def flatten(tree: Any) -> tuple[list[Any], TreeSpec]:
    """The leaves of a tree, in which dataclasses are nodes, and its structure."""
    return ([tree], LEAF) if isinstance(tree, TensorBase) else tree_flatten(tree, open_dataclasses=True)


LEAF = treespec_leaf()
spread = partial(broadcast_to_and_flatten, open_dataclasses=True)
"""For each leaf of a spec what another tree has there or above; None if that does not fit."""


def paths(tree: Any, name: str) -> list[str]:
    """The name of each leaf: ``inputs[1]["w"]``."""
    return [named(name, path) for path, _ in tree_leaves_with_path(tree, open_dataclasses=True)]


def path_of(tree: Any, name: str, index: int) -> str:
    """The name of one leaf."""
    return paths(tree, name)[index]


def chosen(args: Sequence[Any], argnums: Any) -> tuple[int, ...]:
    """The positions of the arguments that ``argnums`` names.

    Raises RuntimeError unless it is an int or a tuple of different ones, and they are there.
    """
    if not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    found = []
    for i in (argnums,) if isinstance(argnums, int) else argnums:
        if not isinstance(i, int):
            raise RuntimeError(f"argnum must be int, got: {type(i)}")
        if not -len(args) <= i < len(args):
            raise RuntimeError(f"Got argnum={i}, but only {len(args)} positional inputs")
        found.append(i % len(args))
    if not found:
        raise RuntimeError("argnums must be non-empty")
    if len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return tuple(found)


def settled(tree: Any) -> Any:
    """The result of a function, with its histories and values of now.

    Transforms inside of it have ended, and of their tensors that is left; what a view showed may have been written to.
    """
    for t in flatten(tree)[0]:
        if isinstance(t, TensorBase):
            if isinstance(t.array, LevelArray):
                settle(t)
            if t._view is not None:
                refresh(t)
    return tree


class Inputs:
    """The arguments of a function, and the tensors among them that it is differentiated by.

    Attributes:
        leaves: these tensors.
        spec: their structure: that of the one argument, or of the tuple of those chosen.
    """

    def __init__(self, api: str, args: tuple[Any, ...], argnums: Any = None, single: bool = True) -> None:
        self._args = args
        which = range(len(args)) if argnums is None else chosen(args, argnums)
        self._which = tuple(which)
        self._one = single and isinstance(argnums, int)
        self.tree = args[self._which[0]] if self._one else tuple([args[i] for i in self._which])
        self.leaves, self.spec = flatten(self.tree)
        for k, x in enumerate(self.leaves):
            if not isinstance(x, TensorBase):
                raise ValueError(
                    f"{api}: Thing passed to transform API must be Tensor, got {type(x)} for {self.name(k)}"
                )
            if x._view is not None:
                refresh(x)

    def name(self, k: int) -> str:
        """The name of one of the tensors."""
        return [name for i in self._which for name in paths(self._args[i], f"inputs[{i}]")][k]

    def with_leaves(self, leaves: Sequence[Any]) -> tuple[Any, ...]:
        """The arguments, with other tensors in the place of those."""
        made = self.spec.unflatten(leaves)
        args = list(self._args)
        for i, x in zip(self._which, (made,) if self._one else made, strict=True):
            args[i] = x
        return tuple(args)


def differentiable(t: Any) -> bool:
    """Whether a value is a tensor of floating-point or complex numbers."""
    return isinstance(t, TensorBase) and dtypes.of(t.array.dtype).category >= dtypes.FLOAT


def outputs(api: str, out: Any) -> tuple[list[Any], TreeSpec]:
    """The tensors that a function has returned, and the structure of their tree; RuntimeError if there are others."""
    leaves, spec = flatten(out)
    if not leaves or (out is None and len(leaves) == 1):
        raise RuntimeError(f"{api}: Expected f to be a function that has non-empty output (got output = {leaves})")
    for k, t in enumerate(leaves):
        if not isinstance(t, TensorBase):
            raise RuntimeError(f"{api}: expected f(*primals) to return only tensors, got unsupported type {type(t)} "
                               f"for {path_of(out, 'outputs', k)}")  # fmt: skip
        if t._view is not None:
            refresh(t)
    return leaves, spec


def with_aux(api: str, out: Any) -> Any:
    """A pair that a function with ``has_aux`` has returned; RuntimeError if it is none."""
    if not (isinstance(out, tuple) and len(out) == 2):
        raise RuntimeError(f"{api}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return out


def no_complex(api: str, leaves: Sequence[Any], what: str) -> None:
    """RuntimeError if there is a complex tensor."""
    for k, t in enumerate(leaves):
        if isinstance(t, TensorBase) and dtypes.of(t.array.dtype).is_complex:
            raise RuntimeError(
                f"{api}: Expected all {what} to be real but received complex tensor at flattened input idx: {k}: "
                "differentiate by its real and imaginary parts, view_as_real(x), or use vjp or jvp"
            )


def like(func: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that gives a function the name and docstring of ``func``, from which it is made.

    Raises TypeError if ``func`` is no function.
    """
    if not callable(func):
        raise TypeError(
            f"expected a function to transform, but got {kind(func)}: write func.grad(f)(x); of tensors that have been "
            "computed, autograd.grad(y, x) is the gradient"
        )
    return functools.wraps(func, updated=())


def mapped(f: Callable[[Any], Any], tree: Any) -> Any:
    """The tree with ``f(t)`` for each tensor; what is none remains."""
    leaves, spec = flatten(tree)
    return spec.unflatten([f(x) if isinstance(x, TensorBase) else x for x in leaves])
