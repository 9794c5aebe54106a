"""Running a checkpointed function again: what it takes, and what nodes save meanwhile.

The first time, every value that a node inside saves is replaced by a `Lost`. The first of these that backward needs
runs the function again, which saves the same values in the same order: each fills its `Lost`, is given out once, and
is gone.

What the function uses besides its arguments is watched in its first run: which tensors it reads, which memory it
writes, which random numbers it draws. A further run draws the same, finds what the function has written as it was
before, and leaves it as it is now: running statistics count once. What it only reads must be what it was, else that is
an error.
"""

from __future__ import annotations

import random
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from threading import RLock
from types import CellType, FunctionType
from typing import Any

import numpy as np

from gradwright.backends.quiet import as_user
from gradwright.base.cpython.forks import in_child
from gradwright.base.dtypes import Size, of
from gradwright.base.errors import size
from gradwright.base.source_line import Place, here
from gradwright.engine.base import TensorBase
from gradwright.engine.grad_mode import enable_grad
from gradwright.engine.memory import content, is_immutable, owner, root, unwritten, whole
from gradwright.engine.mode import now, switch
from gradwright.engine.node import AccumulateGrad, Node, ticket
from gradwright.engine.nodes_of_ops import pack, unpack
from gradwright.engine.saved_hooks import Entry, Packing
from gradwright.engine.strict import warn
from gradwright.engine.version import noted, rewound, written_at
from gradwright.engine.watch import Watch, recorded
from gradwright.function.contract.reached import TENSORLESS, Spot, is_users, joined, names_in, spots, within, written_in
from gradwright.function.watched.random_sources import streams
from gradwright.function.watched.rerun import as_it_was, at_level
from gradwright.nn.module import Module

_NUMBERS = (bool, int, float, complex, str)


class Surroundings(Watch):
    """While it is on, notes what a function uses; `as_before` is for running it again.

    Attributes:
        read: by the number of its counter, of each memory that was read: the counter, a reference to what holds the
            memory, and the version.
        written: by number, a reference to what holds each memory that was written, and what was in it before.
        moved: the counters of that memory, with such a reference.
        nodes: tensors whose memory was written, and what their history was.
        random: the state of each source of random numbers before it was drawn from; None if they are not preserved.
        found: the values in all places that the function can reach, before it ran: tensors and None, numbers in
            variables of closures, and whether modules that ask for it are training. Then only what it holds still;
            `rebound` has the others.
    """

    def __init__(self, function: Any, given: dict[Any, Any], preserves: bool) -> None:
        self.start = ticket()
        self.function = function
        self.read: dict[int, tuple[list[Any], weakref.ref[Any], int, tuple[weakref.ref[Any], ...]]] = {}
        self.written: dict[int, tuple[weakref.ref[Any], Any]] = {}
        self.moved: dict[int, tuple[list[Any], weakref.ref[Any]]] = {}
        self.nodes: dict[int, tuple[weakref.ref[Any], Any]] = {}
        self.rebound: list[tuple[Spot, Any]] = []
        objects = [("", a) for a in (function, *given.values()) if not isinstance(a, TensorBase)]
        places = [(spot, spot.get()) for spot in spots(objects)]
        self.found = [(spot, value) for spot, value in places if _may_matter(spot, value)]
        self.random: dict[Any, Any] | None = None
        if preserves:
            values = [value for _, value in (*objects, *places) if not isinstance(value, (TensorBase, Module))]
            sources = streams([random, np.random, *values], set())
            self.random = {source: source.get_state() for source in sources}

    # -- the first run --

    def __exit__(self, *exc: object) -> None:
        super().__exit__(*exc)
        self.read = {k: one for k, one in self.read.items() if one[1]() is not None}
        self.moved = {k: one for k, one in self.moved.items() if one[1]() is not None}
        self.nodes = {k: one for k, one in self.nodes.items() if one[0]() is not None}
        left = [(ref(), values) for ref, values in self.written.values()]
        self.written.clear()
        self.written = {id(held): (weakref.ref(held), values) for held, values in left if held is not None}
        after = [(spot, before, spot.get()) for spot, before in self.found]
        self.rebound = [
            (spot, before) for spot, before, now in after
            if now is not before and (isinstance(now, TensorBase) or isinstance(before, TensorBase))
        ]  # fmt: skip
        self.found = [(spot, before) for spot, before, now in after if now is before is not None]
        if self.random is not None:
            drawn = [source for source, state in self.random.items() if not _same(state, source.get_state())]
            self.random = {source: self.random[source] for source in drawn}

    def used(self, tensors: Sequence[Any]) -> None:
        for t in tensors:
            node, counter = t._node, t._counter
            if (node is None or node._seq < self.start) and id(counter) not in self.read:
                self.read[id(counter)] = counter, weakref.ref(owner(t)), noted(t), _arrays(t)

    def compute(self, name: str, inputs: Sequence[Any], call: Callable[[], Any]) -> Any:
        self.used([t for t in inputs if isinstance(t, TensorBase)])  # a Function's
        return call()

    def writing(self, t: Any) -> None:
        base = t if t._view is None else t._view.base
        if base._node is not None and base._node._seq > self.start:
            return
        held = owner(base)
        if id(held) not in self.written:
            forget = partial(self.written.pop, id(held))  # if it was made inside, at once
            self.written[id(held)] = weakref.ref(held, forget), content(held)
        self.moved.setdefault(id(t._counter), (t._counter, weakref.ref(held)))
        if id(base) not in self.nodes or self.nodes[id(base)][0]() is None:
            self.nodes[id(base)] = weakref.ref(base), base._node

    def drawing(self, source: Any) -> None:
        if self.random is not None and source not in self.random:
            self.random[source] = source.get_state()

    # -- a further run --

    @contextmanager
    def as_before(self, args: Sequence[Any], told: Callable[[str], Exception]) -> Iterator[None]:
        """Run the function again inside. What uses something that was changed since raises what ``told`` makes of it.

        ``args`` are the tensors among its arguments, which have been looked at.
        """
        again = Again(self, args, told)
        places = [(spot, spot.get() if _has_history(value) else value) for spot, value in self.rebound]
        memory = [(held, values) for ref, values in self.written.values() if (held := ref()) is not None]
        nodes = [(t, node) for ref, node in self.nodes.values() if (t := ref()) is not None]
        counters = [counter for counter, _ in self.moved.values()]
        counters += [counter for counter, ref, *_ in self.read.values() if id(ref()) in self.written]
        with rewound(counters), as_it_was(self.random, places, memory, nodes), again:
            yield

    def aside(self, entry: tuple[Any, ...]) -> tuple[Any, ...]:
        """What a node has saved in a further run, or a copy, where its memory is about to hold something else."""
        array, counter, _, node = entry
        found = self.written.get(id(root(array))) if isinstance(array, np.ndarray) else None
        if (found is None or found[0]() is None) and id(counter) not in self.moved:
            return entry
        return unwritten(array), [0], 0, node

    def name(self, t: Any) -> str:
        """The name of a tensor in the function's code."""
        for spot in spots([("", self.function)]):
            value = spot.get()
            if isinstance(value, TensorBase) and value._counter is t._counter:
                return f"the tensor {spot.name!r}"
        return f"a tensor of shape {size(t.array.shape)}"


class Again(Watch):
    """Sees that a further run reads what the first one read."""

    def __init__(self, first: Surroundings, args: Sequence[Any], told: Callable[[str], Exception]) -> None:
        self.first, self.told, self.start = first, told, ticket()
        self.known = {id(t._node) for t in args}
        self.others: dict[int, str] = {}
        for spot, before in first.found:
            value = spot.get()
            if value is before:
                continue
            if isinstance(value, TensorBase):
                self.others[id(value)] = spot.name
            elif _is_setting(spot, value) and value != before:
                what, mend = "", "Run backward before train() or eval() is called."
                if isinstance(spot.scope, CellType):
                    what = ", a variable of its closure,"
                    mend = f"Make it an argument of the function, or a default: lambda x, {spot.name}={spot.name}: ..."
                warn(f"a checkpointed function is run again, and {spot.name!r}{what} is {value!r} now and was "
                     f"{before!r} in the forward pass: the gradient belongs to neither. {mend}")  # fmt: skip

    def used(self, tensors: Sequence[Any]) -> None:
        first = self.first
        for t in tensors:
            if id(t) in self.others:
                raise self.told(f"the tensor {self.others[id(t)]!r}, which the function uses, is another one than in "
                                f"the forward pass.{_mend()}")  # fmt: skip
            found = first.read.get(id(t._counter))
            if found is None:
                node = t._node
                if type(node) is AccumulateGrad and node._seq < self.start and id(node) not in self.known:
                    raise self.told(f"{first.name(t)}, which the function uses now, was not there or had other memory "
                                    f"in the forward pass.{_mend()}")  # fmt: skip
                continue
            counter, ref, version, arrays = found
            held = owner(t)
            then = ref()
            if isinstance(then, TensorBase):
                then = owner(then)  # it may have begun to share its memory
            moved = then is not held
            if arrays:
                moved = t.array is not arrays[0]() and (moved or whole(t) is not arrays[1]())
            if id(held) not in first.written and (moved or counter[0] != version):
                place = written_at(counter, int(version)) or "a line that is not known"
                raise self.told(f"{first.name(t)}, which the function uses, has been changed since the forward pass."
                                f"\n  changed at {place}{_mend()}")  # fmt: skip

    def compute(self, name: str, inputs: Sequence[Any], call: Callable[[], Any]) -> Any:
        self.used([t for t in inputs if isinstance(t, TensorBase)])
        return call()


class Aside(Packing):
    """Keeps what nodes save in a further run from what happens to its memory after it."""

    def __init__(self, first: Surroundings) -> None:
        self.first = first

    def replaced(self, owner: Any, entry: tuple[Any, ...], out: bool) -> Any:
        return self.first.aside(entry)


def _arrays(t: Any) -> tuple[weakref.ref[Any], ...]:
    """What a tensor shows, and its whole memory, where arrays are not written but exchanged: what is saved is these."""
    return (weakref.ref(t.array), weakref.ref(whole(t))) if is_immutable(t.array) else ()


def _mend() -> str:
    place = here(3)
    return (
        f"\n  used at {Place(*place) if place else 'a line that is not known'}\n"
        "Run backward before it is changed, as before optimizer.step(); or let the function use a clone() of it."
    )


def _may_matter(spot: Spot, value: Any) -> bool:
    if isinstance(value, TensorBase):
        return type(value._node) is not AccumulateGrad
    return value is None or _is_setting(spot, value)


def _is_setting(spot: Spot, value: Any) -> bool:
    """Whether it is a number in a variable of a closure, or says whether a module is training."""
    return isinstance(value, _NUMBERS) and (isinstance(spot.scope, CellType) or spot.key == "training")


def _has_history(value: Any) -> bool:
    return isinstance(value, TensorBase) and value._node is not None


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    return bool(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b)


@within.register
def _(value: Module, name: str) -> Iterator[Spot]:
    own = vars(value)
    for scope in (own["_parameters"], own["_buffers"], own["_modules"]):
        yield from (Spot(joined(name, key), scope, key) for key in scope)
    if _asks_for_mode(type(value)):  # type: ignore[arg-type]
        yield Spot(joined(name, "training"), own, "training")
    yield from (
        Spot(joined(name, key), own, key) for key, part in own.items()
        if key[0] != "_" and (part is None or part.__class__ not in TENSORLESS)
    )  # fmt: skip
    cls = written_in(value, "forward")
    if is_users(cls):
        yield Spot(joined(name, "forward"), vars(cls), "forward")


@lru_cache(maxsize=1000)
def _asks_for_mode(cls: type) -> bool:
    """Whether the code of a kind of module reads whether that is training."""
    own = [f for c in cls.__mro__ if issubclass(c, Module) and c is not Module for f in vars(c).values()]
    return any("training" in names_in(f.__code__) for f in own if isinstance(f, FunctionType))


class CheckpointError(RuntimeError):
    """Raised where a checkpointed function, run again, does not do what it did the first time."""


class _StopRecomputation(BaseException):
    """Ends a run that has given all that is needed; no Exception, so that the function does not catch it."""


class Checkpoint(Node):
    """One call of a checkpointed function: all it takes to run it again, and the values saved the first time.

    As a node, which is in no graph, it saves the arguments, so that they go through whatever hooks are on; those of a
    checkpoint around this one, too.
    """

    __slots__ = (
        "around", "compares", "complete", "early_stop", "first", "function", "further", "given", "level", "lost",
        "place", "saved",
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
        self.place, self.level = here(), now().level
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
            run = partial(as_user, self._run_again, again, args, kwargs, tensors)
            at_level(self.level, run)  # a batch of cotangents is no batch to the function
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
"""The place of a tensor among the arguments."""


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
