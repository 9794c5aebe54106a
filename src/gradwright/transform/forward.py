"""Forward mode as a function of functions: `jvp`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradwright.base import dtypes
from gradwright.engine.base import TensorBase
from gradwright.transform.arguments import Inputs, differentiable, flatten, mapped, outputs, path_of, settled, with_aux
from gradwright.transform.tangent import Tangents
from gradwright.transform.transpose import zeros

API = "jvp(f, primals, tangents)"


def jvp(func: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...], *, strict: bool = False,
        has_aux: bool = False) -> tuple[Any, ...]:  # fmt: skip
    """The result of ``func``, and its tangents for these tangents of the primals.

    Args:
        func: takes and returns tensors, in containers too.
        primals: its arguments, a tuple of tensors, in containers too.
        tangents: a tuple of the same structure, shapes and dtypes.
        strict: raise if an output does not depend on the inputs, where its tangent would be zeros.
        has_aux: ``func`` returns a pair: what is differentiated, and anything else, which is handed out third.

    >>> jvp(lambda x: x * x, (gw.tensor([1.0, 2.0]),), (gw.tensor([1.0, 0.5]),))
    (tensor([1., 4.]), tensor([2., 2.]))

    Raises RuntimeError if the tangents are not like the primals, if there are none, or if an output is no tensor;
    ValueError for a primal of whole numbers.
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{API}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals). Got {type(primals)}"
        )
    inputs = Inputs(API, primals)
    given, spec = flatten(tangents)
    if spec != inputs.spec:
        raise RuntimeError(
            f"{API}: Expected primals and tangents to have the same python structure. For example, if primals is a "
            "tuple of 3 tensors, tangents also must be. Got primals with structure "
            f"{inputs.spec} and tangents with structure {spec}"
        )
    check(inputs, given, tangents)
    pushed = Pushed(func, inputs, given, has_aux)
    results = pushed.spec.unflatten(pushed.values), pushed.spec.unflatten(pushed.tangents(strict))
    return (*results, pushed.aux) if has_aux else results


def check(inputs: Inputs, tangents: Sequence[Any], tree: Any) -> None:
    """Raise unless there are primals, and for each a tangent of its shape and dtype."""
    check_primals(inputs)
    if not tangents:
        raise RuntimeError(f"{API}: Expected primals to contain at least one Tensor.")
    for k, (x, t) in enumerate(zip(inputs.leaves, tangents, strict=True)):
        if not isinstance(t, TensorBase):
            raise RuntimeError(
                f"{API}: Expected tangents to only contain Tensors, got {type(t)} for {path_of(tree, 'tangents', k)}"
            )
        if t.array.shape != x.array.shape:
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the original Tensor, this is "
                f"not supported. Tensor {inputs.name(k)} is of size {list(x.array.shape)} while the given forward "
                f"gradient {path_of(tree, 'tangents', k)} is of size {list(t.array.shape)}."
            )
        if t.array.dtype != x.array.dtype:
            raise RuntimeError(
                f"Expected a tangent of the dtype of its primal: {inputs.name(k)} is of {dtypes.of(x.array.dtype)} and "
                f"{path_of(tree, 'tangents', k)} of {dtypes.of(t.array.dtype)}: convert it, tangent.to(primal.dtype)"
            )


def check_primals(inputs: Inputs) -> None:
    """ValueError if one is of whole numbers, which do not move."""
    for k, x in enumerate(inputs.leaves):
        if not differentiable(x):
            raise ValueError(f"Expected primal to be floating point or complex, but got: {dtypes.of(x.array.dtype)} "
                             f"for {inputs.name(k)}")  # fmt: skip


class Pushed:
    """A function that has run on values with tangents.

    Attributes:
        values, spec: what it returned, as tensors outside, and the structure of their tree.
        aux: what it returned besides, if ``has_aux``.
    """

    def __init__(self, func: Callable[..., Any], inputs: Inputs, tangents: Sequence[Any], has_aux: bool) -> None:
        level = Tangents()
        with level.running():
            duals = [level.dual(x, t) for x, t in zip(inputs.leaves, tangents, strict=True)]
            out = settled(func(*inputs.with_leaves(duals)))
        out, aux = with_aux(API, out) if has_aux else (out, None)
        leaves, self.spec = outputs(API, out)
        pairs = [level.unpack(t) for t in leaves]
        self.values, self._tangents = [x for x, _ in pairs], [t for _, t in pairs]
        self.aux = mapped(lambda t: level.unpack(t)[0], aux)

    def tangents(self, strict: bool = False) -> list[Any]:
        """The tangents of the outputs; zeros where one does not move, which is an error if ``strict``."""
        if strict and any(t is None for t in self._tangents):
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not "
                "allowed with strict=True."
            )
        return [zeros(x) if t is None else t for x, t in zip(self.values, self._tangents, strict=True)]
