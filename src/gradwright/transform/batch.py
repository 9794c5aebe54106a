"""vmap: each tensor of a `Batches` level is a batch of tensors, and so is what is made of them.

The batch lies along the first dim of the tensor outside. What an operation makes of batches follows from its kind, or
from its rule in `gradwright.transform.batching`; where there is neither, it is done for one after another, with a
GradientWarning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any
from weakref import ref

from gradwright import backends
from gradwright.base import dtypes
from gradwright.base.errors import kind, size
from gradwright.base.source_line import Place, here
from gradwright.engine import calls
from gradwright.engine.base import TensorBase, ticket, wrap
from gradwright.engine.edges import GradientEdge
from gradwright.engine.grad_mode import set_recording
from gradwright.engine.levels import Level, LevelArray
from gradwright.engine.mode import inside, resumed
from gradwright.engine.watch import drawing
from gradwright.ops.declare import Op
from gradwright.transform import level_space  # noqa: F401 - it makes the arrays of transforms known
from gradwright.transform.batching import batched
from gradwright.transform.draws import Draws, Same, refused
from gradwright.transform.mapped import BatchedValueError, called
from gradwright.transform.overwritten import write


class Batch(LevelArray):
    """A batch of values along the first dim of ``tensor``, a tensor of the levels outside."""

    __slots__ = ()
    batch = True

    def __init__(self, level: Batches, tensor: Any) -> None:
        self.level, self.began, self.tensor = level, level.began, tensor
        array = tensor.array
        self.shape, self.dtype, self.ndim = array.shape[1:], array.dtype, array.ndim - 1
        self.size = array.size // array.shape[0] if array.shape[0] else prod(self.shape)

    def settled(self) -> Any:
        """Raise RuntimeError: a batch has no numbers that are those of one tensor, and means nothing after its vmap."""
        if self.level.alive:
            raise self._refuses("the numbers")
        raise RuntimeError(
            f"a tensor of shape {self.shape} was made inside a function that vmap maps, and is used after that has "
            f"ended: return it from the function{_IN_NUMPY}"
        )

    def values(self) -> Any:
        """The batch of values alone."""
        array = self.tensor.array
        return Batch(self.level, wrap(array.values() if isinstance(array, LevelArray) else array))

    def each(self, f: Callable[..., Any], args: Sequence[Any]) -> Any:
        """What ``f`` returns for one example after another, stacked."""
        mine = [isinstance(a, Batch) and a.level is self.level for a in args]
        rows = [f(*[a.tensor.array[k] if m else a for a, m in zip(args, mine, strict=True)])
                for k in range(self.level.size)]  # fmt: skip
        if not isinstance(rows[0], tuple):
            return Batch(self.level, wrap(backends.namespace(self.plain).stack(rows)))
        stack = backends.namespace(self.plain).stack
        return tuple([Batch(self.level, wrap(stack(column))) for column in zip(*rows, strict=True)])

    def detached(self) -> Any:
        """The same values in the same memory, without history or tangents."""
        return Batch(self.level, self.tensor.detach())

    def _refuses(self, what: str) -> Exception:
        return BatchedValueError(  # in PyTorch's words, as far as it has any
            f"vmap: {_SAID.get(what, f'{what} of a tensor')} that stands for a whole batch "
            f"({_line() or 'a line that is not known'}): {what} is another value in each example. Use operations on "
            f"tensors, such as where(condition, x, y) for a branch{_IN_NUMPY if what == 'numpy()' else ''}."
        )

    def __repr__(self) -> str:
        return f"BatchedTensor(lvl={self.level.number}, bdim=0, value={self.tensor!r})"


_IN_NUMPY = (
    "; or, where a Function computes with NumPy, declare a vmap staticmethod in it, and take jacrev(jacrev(f)) for "
    "hessian(f), or a loop over the examples"
)
_SAID = dict.fromkeys(("item()", "int()", "float()", "complex()"), "It looks like you're calling .item() on a Tensor")
_SAID["bool()"] = "It looks like you're attempting to use a Tensor in some data-dependent control flow, one"


class Batches(Level):
    """vmap while it runs, over ``size`` examples.

    ``states`` gets the states of what random numbers are drawn from, before the first draw of the "same" for all. In a
    ``trial`` none are used up.
    """

    def __init__(self, size: int, randomness: str = "error", states: dict[Any, bytes] | None = None) -> None:
        super().__init__()
        self.size, self.randomness = size, randomness
        self.draws: dict[Any, Draws] = {}
        self.trial = False
        self._origin: Batches | None = None
        self._states = {} if states is None else states
        self._promoted: list[tuple[ref[Any], Any, Any, Place | None]] = []

    def batch(self, t: Any) -> Any:
        """A tensor of this level, from one whose first dim is the batch."""
        return wrap(Batch(self, t), None, t._counter)

    def unpack(self, t: Any) -> tuple[Any, bool]:
        """The tensor outside that ``t`` is, or is made of, and whether its first dim is this level's batch."""
        array = t.array
        return (array.tensor, True) if array.__class__ is Batch and array.level is self else (self.without(t), False)

    def read(self, op: Op, inputs: Sequence[Any], static: dict[str, Any]) -> Any:
        """What ``op`` makes of batches, and of tensors that are the same for all examples."""
        self.began = ticket()
        xs, which = [], []
        for x in inputs:
            array = x.array
            mine = array.__class__ is Batch and array.level is self
            xs.append(array.tensor if mine else self.without(x))
            which.append(mine)
        out = self.outside(batched, op, xs, which, static, self)
        return [Batch(self, o) for o in out] if op.several else Batch(self, out)

    def generator(self, source: Any) -> Any:
        """What random numbers are drawn by: RuntimeError, one draw for all, or another one for each example."""
        if self.randomness == "error":
            raise refused()
        if self.randomness == "different" and source in self.draws:
            return self.draws[source]
        if self._origin is not None:
            found = self._origin.generator(source)
            if isinstance(found, Draws):
                found = self.draws[source] = found.at(self)
            return found
        if self.randomness == "same":
            self._states.setdefault(source, source.get_state())
            found = self.outside(drawing, source)
            return Same(self, source, found) if found is source.generator() else found
        self.draws[source] = Draws(self, source, self.trial)
        return self.draws[source]

    is_on = True

    def streams(self) -> list[Any]:
        return [self, *super().streams()] if self.randomness == "different" else super().streams()

    def get_state(self) -> dict[Any, Any]:
        """What is drawn by, for each source, and how much it has drawn: `set_state` goes back there."""
        return {source: (draws, len(draws.drawn)) for source, draws in self.draws.items()}

    def set_state(self, state: dict[Any, Any]) -> None:
        """Let what has been drawn since then be drawn once more."""
        begun = {source: (draws, 0) for source, draws in self.draws.items()}
        self.draws = {source: draws.since(k) for source, (draws, k) in (begun | state).items()}

    def another(self, drawn: dict[Any, Draws] | None = None) -> Batches:
        """A level of the same examples, with the same random numbers to come, or with those that were ``drawn``."""
        level = Batches(self.size, self.randomness)
        level._origin = self
        level.draws = {source: draws.again(level) for source, draws in (drawn or {}).items()}
        return level

    def held(self, t: Any) -> Batch:
        """A copy of ``t`` for each example, in memory of their own."""
        self._promoted.append((ref(t), t.array, t._node, _line()))
        return Batch(self, self.outside(_repeated, wrap(t.array, t._node, t._counter), self.size))

    def restore(self, kept: Sequence[Any] = ()) -> str:
        """Let tensors that hold values of the batch since they were written to, and live on, be as they were before.

        Returns where the first of them was written to; "" if there is none but those ``kept``, or viewed there.
        """
        if not self._promoted:
            return ""
        tensors = [t for t in kept if isinstance(t, TensorBase)]
        own = {id(t) for t in tensors} | {id(t._view.base) for t in tensors if t._view is not None}
        found = ""
        for held, array, node, place in reversed(self._promoted):
            t = held()
            if t is not None and id(t) not in own:
                t.array, t._node = array, node
                found = str(place or "a line that is not known")
        self._promoted.clear()
        return found

    def passed(self, run: Callable[[], Sequence[Any]]) -> Sequence[Any]:
        """The gradients that a backward pass at this level finds; RuntimeError if it writes to what lives on."""
        found: Sequence[Any] = ()
        try:
            with self.running():
                found = run()
        finally:
            written = self.restore(found)
        refuse(written)
        return found

    def write(self, array: Any, value: Any) -> None:
        """Put values into the memory of the batch."""
        mine = isinstance(value, Batch) and value.level is self
        new = value.tensor if mine else wrap(value)
        self.outside(write, array, [new], value.began if mine else 0)

    def call(self, function: Any, inputs: Sequence[Any]) -> Any:
        """What a Function returns for all examples: by its vmap, or by its forward and backward, mapped."""
        return called(self, function, inputs)


def refuse(written: str) -> None:
    """RuntimeError if something that lives on was written to: where, as `Batches.restore` returns it."""
    if written:
        raise RuntimeError(
            "vmap: inplace arithmetic(self, *extra_args) is not possible because a tensor that lives on after the "
            f"function has values written to it that are others in each example ({written}). It is as it was before. "
            "Make it in the function and return it, or hand it in, mapped."
        )


def _line() -> Place | None:
    found = here(2)
    return Place(*found) if found else None


def _repeated(t: Any, size: int) -> Any:
    return t.expand(size, *t.array.shape).clone()


def batched_grad(outs: Sequence[Any], ins: Sequence[Any], cotangents: Sequence[Any], retain_graph: bool,
                 create_graph: bool, **asked: Any) -> tuple[Any, ...]:  # fmt: skip
    """The gradients for each of a batch of cotangents, which lies along their first dim, by one pass under vmap.

    The batch lies along the first dim of the results; None for an input on which no output depends. See
    `gradwright.engine.calls.grad` for the rest.
    """
    sizes = [_batch(i, t, g) for i, (t, g) in enumerate(zip(outs, cotangents, strict=True))]
    if len(set(sizes)) > 1:
        raise ValueError("grad: is_grads_batched takes cotangents with one first dimension, but grad_outputs have "
                         f"{sizes} there")  # fmt: skip

    def run() -> tuple[Any, ...]:
        level = Batches(cotangents[0].array.shape[0])
        given = [level.batch(g) for g in cotangents]
        found = level.passed(partial(calls.grad, outs, ins, given, retain_graph, **asked))
        return tuple([None if t is None else first_of(level, t) for t in found])

    results: tuple[Any, ...] = inside(partial(set_recording, create_graph), resumed, run)
    return results


def first_of(level: Batches, t: Any) -> Any:
    """A tensor of a level as one outside, with the batch first."""
    x, is_batch = level.unpack(t)
    return x if is_batch else x.expand(level.size, *x.array.shape).clone()


def _batch(i: int, t: Any, g: Any) -> int:
    """How many cotangents have been given of an output; raises what `grad` says unless they fit it."""
    if g is None:
        calls.roots_of((t,), None, False)
        raise ValueError(f"grad: is_grads_batched takes a batch of cotangents of each output, but grad_outputs[{i}] is "
                         "None: give ones_like of the output, repeated")  # fmt: skip
    if not isinstance(g, TensorBase):
        raise TypeError(f"gradients can be either Tensors or None, but got {kind(g)}")
    shape = tuple(g.array.shape)
    if not shape or not shape[0]:
        raise IndexError("grad: is_grads_batched takes the first dimension of each cotangent for that of the batch, "
                         f"but grad_outputs[{i}] has the shape {size(shape)}")  # fmt: skip
    if t.__class__ is GradientEdge:
        t = t.ownership_token
    if t is not None and shape[1:] != t.array.shape:
        raise RuntimeError(
            "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. "
            "The sizes of the remaining dimensions are expected to match the shape of corresponding output, but a "
            f"mismatch was detected: grad_output[{i}] has a shape of {dtypes.Size(shape[1:])} and output[{i}] has a "
            f"shape of {dtypes.Size(t.array.shape)}. If you only want some tensors in `grad_output` to be considered "
            "batched, consider using vmap."
        )
    return shape[0]
