"""Running a checkpointed function again: what it takes, and what nodes save meanwhile.

The first time, every value that a node inside saves is replaced by a `Lost`. The first of these that backward needs
runs the function again, which saves the same values in the same order: each fills its `Lost`, is given out once, and
is gone.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import RLock
from typing import Any

from gradwright.backends.quiet import as_user
from gradwright.base.cpython.forks import in_child
from gradwright.base.dtypes import Size, of
from gradwright.engine.base import TensorBase
from gradwright.engine.grad_mode import enable_grad
from gradwright.engine.mode import now, switch
from gradwright.engine.node import Node, ticket
from gradwright.engine.nodes_of_ops import pack, unpack
from gradwright.engine.saved_hooks import Entry, Packing
from gradwright.engine.source_line import Place, here
from gradwright.engine.watch import Watch, recorded
from gradwright.utils.surroundings import Surroundings


class CheckpointError(RuntimeError):
    """Raised where a checkpointed function, run again, does not do what it did the first time."""


class _StopRecomputation(BaseException):
    """Ends a run that has given all that is needed; no Exception, so that the function does not catch it."""


class Checkpoint(Node):
    """One call of a checkpointed function: what it takes to run it again, and what it saved the first time.

    As a node, which is in no graph, it saves the arguments, so that they go through whatever hooks are on; those of a
    checkpoint around this one, too.
    """

    __slots__ = (
        "around", "compares", "complete", "early_stop", "first", "function", "further", "given", "lost", "place",
        "saved",
    )  # fmt: skip

    first: Any
    further: Any
    compares: bool
    early_stop: bool

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any],
                 preserves: bool) -> None:  # fmt: skip
        self._seq, self._next, self._hooks = ticket(), (), None
        given = dict(enumerate(args)) | kwargs
        self._saved = tuple([pack(a) for a in given.values() if isinstance(a, TensorBase)])
        self.given = {k: _TENSOR if isinstance(a, TensorBase) else a for k, a in given.items()}
        self.function = function
        self.around = Surroundings(function, given, preserves)
        self.place = here()
        self.complete = False
        self.lost: list[weakref.ref[Lost]] = []
        self.saved: list[tuple[str, tuple[int, ...], Any]] = []
        if now().watches:
            recorded(self)

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of the function, by position and by name; RuntimeError if one was changed in place since."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        saved = iter(self._saved)
        for k, a in self.given.items():
            if a is _TENSOR:
                a = unpack(self, next(saved), k if isinstance(k, str) else f"args[{k}]")
            if isinstance(k, str):
                kwargs[k] = a
            else:
                args.append(a)
        return args, kwargs

    def recompute(self) -> None:
        """Run the function again, and fill what nodes have lost."""
        args, kwargs = self.arguments()
        tensors = [a for a in (*args, *kwargs.values()) if isinstance(a, TensorBase)]
        again = Remember(self)
        before, done = now(), False
        try:
            as_user(self._run_again, again, args, kwargs, tensors)
            again.check()
            done = True
        finally:
            if not done:
                switch(before)  # an interrupt may have kept blocks from ending
                for ref in self.lost:
                    lost = ref()
                    if lost is not None:
                        lost.value = None

    def _run_again(self, again: Remember, args: list[Any], kwargs: dict[str, Any], tensors: list[Any]) -> None:
        before = self.around.as_before(tensors, self.told)
        with again, enable_grad(), before, self.further, suppress(_StopRecomputation):
            self.function(*args, **kwargs)

    def told(self, message: str) -> CheckpointError:
        """The error of a run that was not like the first."""
        where = f"\n{checkpointed(self.function, self.place)}\n"
        if not isinstance(self.first, Log):
            return CheckpointError(
                f"torch.utils.checkpoint: {message}{where}"
                "Tip: To see a more detailed error message, either pass `debug=True` to "
                "`torch.utils.checkpoint.checkpoint(...)` or wrap the code block with `with "
                "torch.utils.checkpoint.set_checkpoint_debug_enabled(True):`"
            )
        return CheckpointError(
            f"torch.utils.checkpoint: {message}{where}"
            "You are seeing this error because you passed `debug=True` to checkpoint.\n"
            f"Operations executed during the original forward:\n{self.first}\n"
            f"Operations executed during recomputation:\n{self.further}"
        )


def checkpointed(function: Any, place: Any) -> str:
    """Which function was checkpointed, and where."""
    name = getattr(function, "__qualname__", type(function).__name__)
    return f"The function is {name}, checkpointed at {_line(place)}."


_running: weakref.WeakKeyDictionary[Checkpoint, Any] = weakref.WeakKeyDictionary()
"""The locks of regions, each held while its region runs again: of two threads one fills what both have lost."""
in_child(_running.clear)

_TENSOR: Any = object()
"""Where a tensor was among the arguments."""


class Lost(Entry):
    """A saved value that was not kept."""

    __slots__ = ("region", "value")
    nbytes = 0
    """What it keeps, for who counts that."""

    def __init__(self, region: Checkpoint, node: Any) -> None:
        self.region, self.node = region, node
        self.value: tuple[Any, ...] | None = None

    def entry(self) -> tuple[Any, ...]:
        with _running.setdefault(self.region, RLock()):
            if self.value is None:
                self.region.recompute()
            value, self.value = self.value, None
        if value is None:
            raise self.region.told("a value was used up by a backward pass inside the function.")
        return (*value, self.node)


class Forget(Packing):
    """Lets nodes lose what they save, for a checkpoint that notes what it was."""

    def __init__(self, region: Checkpoint) -> None:
        self.region = region

    def replaced(self, owner: Node, entry: tuple[Any, ...], out: bool) -> Any:
        array, _, _, node = entry
        lost = Lost(self.region, node)
        self.region.lost.append(weakref.ref(lost))
        self.region.saved.append((type(owner).__name__, array.shape, array.dtype))
        return lost


class Remember(Packing):
    """Fills what nodes have lost from what their likes save when the function is run again."""

    def __init__(self, region: Checkpoint) -> None:
        self.region = region
        self.count = 0
        self.too_many = False
        self.different: list[str] = []

    def replaced(self, owner: Node, entry: tuple[Any, ...], out: bool) -> Any:
        region, k = self.region, self.count
        self.count += 1
        if k >= len(region.lost):
            if not region.complete:  # the function runs backward through its own beginning: the rest is of no use
                self.too_many = True
                return entry
            raise region.told(
                "trying to save more tensors during recomputation than during the original forward pass.\n"
                f"Number of tensors saved during forward: {len(region.lost)}\n"
                f"The next is saved by {type(owner).__name__} at {_line(here())}."
            )
        array = entry[0]
        name, shape, dtype = region.saved[k]
        again = (type(owner).__name__, array.shape, array.dtype)
        if region.compares and (name, shape, dtype) != again:
            self.different.append(
                f"tensor at position {k}:\nsaved metadata: {_metadata(name, shape, dtype)}\n"
                f"recomputed metadata: {_metadata(*again)}, at {_line(here())}"
            )
        entry = region.around.aside(entry)
        lost = region.lost[k]()
        if lost is not None:  # else a backward pass inside the function has used it up
            lost.value = entry[:3]
        if region.early_stop and self.count == len(region.lost):
            raise _StopRecomputation
        return entry

    def check(self) -> None:
        """Raise CheckpointError if the run was not like the first."""
        if self.too_many:
            return
        expected = len(self.region.lost)
        if self.count != expected:
            hint = f"\nThe first that differs is the {self.different[0]}" if self.different else ""
            raise self.region.told(
                "A different number of tensors was saved during the original forward and recomputation.\n"
                f"Number of tensors saved during forward: {expected}\n"
                f"Number of tensors saved during recomputation: {self.count}.{hint}"
            )
        if self.different:
            raise self.region.told(
                "Recomputed values for the following tensors have different metadata than during the forward pass.\n"
                + "\n".join(self.different)
            )


def _line(place: Any) -> str:
    return str(Place(*place)) if place else "a line that is not known"


def _metadata(name: str, shape: tuple[int, ...], dtype: Any) -> str:
    return f"{{'shape': {Size(shape)}, 'dtype': {of(dtype)}, 'operation': {name}}}"


class Log(Watch):
    """The operations of a run, with their lines."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, list[Any], Any]] = []

    def __enter__(self) -> Any:
        self.seen = []
        return super().__enter__()

    def compute(self, name: str, inputs: Sequence[Any], call: Callable[[], Any]) -> Any:
        self.seen.append((name, [list(a.shape) for a in inputs if hasattr(a, "shape")], here()))
        return call()

    def __str__(self) -> str:
        return "\n".join(f"  {name} of {', '.join(map(str, sizes))} at {_line(at)}" for name, sizes, at in self.seen)
