"""`summary`: a table of the layers of a module, of what they return, hold, and keep for backward."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, TextIO

from gradwright.base.dtypes import nbytes
from gradwright.base.errors import kind
from gradwright.base.pages.markup import printable, tag
from gradwright.base.pages.numbers import table
from gradwright.debug.profiler.table import in_bytes
from gradwright.engine.grad_mode import enable_grad, no_grad
from gradwright.engine.watch import Watch
from gradwright.face.random import fork_rng
from gradwright.function.contract.containers import flatten
from gradwright.nn import Module
from gradwright.nn.faults import FAULTS
from gradwright.nn.hooks import register_module_forward_hook, register_module_forward_pre_hook
from gradwright.nn.parameter import is_lazy
from gradwright.viz.saved import Memories


@dataclass(frozen=True, slots=True)
class Layer:
    """A module in the tree. What it holds is its own, without what the modules below it hold.

    Attributes:
        path: in the tree, ``encoder.0``; ``""`` is the root. name: of its class.
        calls: how often it was called.
        shapes: of the tensors that its last call returned.
        parameters: how many numbers are in its parameters; trainable: in those that require grad; shared: in those that
            a layer above in the table has, too, and which are counted there only.
        nbytes: what its parameters hold. saved_bytes: what its operations keep for backward, see `summary`.
    """

    path: str
    name: str
    calls: int = 0
    shapes: tuple[tuple[int, ...], ...] = ()
    parameters: int = 0
    trainable: int = 0
    shared: int = 0
    nbytes: int = 0
    saved_bytes: int = 0


@dataclass(frozen=True)
class Summary:
    """The result of `summary`: a string of it is a table, and so is what a notebook shows.

    Attributes:
        layers: the `Layer` of each module, once, each below its parent.
        buffers: how many numbers are in buffers. buffer_bytes: what those hold.
    """

    layers: tuple[Layer, ...]
    buffers: int = 0
    buffer_bytes: int = 0

    def _sum(self, what: str) -> int:
        return sum(getattr(layer, what) for layer in self.layers)

    @property
    def parameters(self) -> int:
        """How many numbers are in parameters."""
        return self._sum("parameters")

    @property
    def trainable(self) -> int:
        """How many of them are in parameters that require grad."""
        return self._sum("trainable")

    @property
    def nbytes(self) -> int:
        """What the parameters hold."""
        return self._sum("nbytes")

    @property
    def saved_bytes(self) -> int:
        """What is kept for backward, besides the parameters."""
        return self._sum("saved_bytes")

    def __str__(self) -> str:
        return "\n".join([*table([_HEAD, *map(_cells, self.layers)], _RIGHT), *self._totals()])

    __repr__ = __str__

    def show(self, file: TextIO | None = None) -> None:
        """Print it: with rich, if that is installed, on a terminal, otherwise as plain text."""
        file = file or sys.stdout
        if file.isatty() and find_spec("rich"):
            from rich.console import Console  # noqa: PLC0415 - an optional dependency

            Console(file=file).print(self)
        else:
            file.write(f"{self}\n")

    def __rich__(self) -> Any:
        from rich.table import Table  # noqa: PLC0415 - only rich calls this
        from rich.text import Text  # noqa: PLC0415

        made = Table(caption="\n".join(self._totals()), caption_justify="left")
        for head, right in zip(_HEAD, _RIGHT, strict=True):
            made.add_column(head, justify="right" if right else "left", no_wrap=right)
        for layer in self.layers:
            made.add_row(*(Text(cell, style="" if layer.calls else "dim") for cell in _cells(layer)))
        return made

    def _repr_html_(self) -> str:
        head = tag("tr", [tag("th", cell, style=_align(k)) for k, cell in enumerate(_HEAD)])
        rows = [tag("tr", [_html_cell(layer, k, cell) for k, cell in enumerate(_cells(layer))])
                for layer in self.layers]  # fmt: skip
        totals = [tag("div", line) for line in self._totals()]
        style = "border-collapse:collapse;font-variant-numeric:tabular-nums"
        return tag("div", tag("table", tag("thead", head), tag("tbody", rows), style=style), totals)

    def _totals(self) -> list[str]:
        frozen = self.parameters - self.trainable
        lines = [
            f"{self.parameters:,} parameters, {in_bytes(self.nbytes)}: {self.trainable:,} trainable, {frozen:,} not"
            if self.parameters else "no parameters",
            f"saved for backward, besides parameters: {in_bytes(self.saved_bytes) if self.saved_bytes else 'nothing'}",
        ]
        if self.buffers:
            lines.insert(1, f"{self.buffers:,} numbers in buffers, {in_bytes(self.buffer_bytes)}")
        return lines


_HEAD = ("layer", "class", "output", "parameters", "bytes", "saved")
_RIGHT = (False, False, False, True, True, True)


def _cells(layer: Layer) -> tuple[str, ...]:
    depth = layer.path.count(".") + 1 if layer.path else 0
    label = "  " * depth + printable(layer.path.rpartition(".")[2] or "(root)")
    output = ", ".join(map(str, map(list, layer.shapes))) or ("-" if layer.calls else "not called")
    times = f" ({layer.calls} calls)" if layer.calls > 1 else ""
    counts = [f"{layer.parameters:,}"] if layer.parameters else []
    counts += [f"{layer.shared:,} shared"] if layer.shared else []
    return (label, printable(layer.name), output + times, " + ".join(counts) or "-",
            in_bytes(layer.nbytes), in_bytes(layer.saved_bytes))  # fmt: skip


def _align(column: int) -> str:
    return f"text-align:{'right' if _RIGHT[column] else 'left'};padding:0.1em 0.8em"


def _html_cell(layer: Layer, column: int, text: str) -> str:
    indent = f";padding-left:{0.8 + (len(text) - len(text.lstrip())) * 0.6:.1f}em" if column == 0 else ""
    title = layer.path if column == 0 and layer.path else None
    return tag("td", text.lstrip(), style=_align(column) + indent, title=title)


def summary(module: Module, *inputs: Any, **keywords: Any) -> Summary:
    """Call a module, and list for each layer its result, its parameters, and the memory kept for backward.

    The module is called once, as ``module(*inputs, **keywords)``, in the mode that it is in, with recording on; what it
    wrote into its buffers, and the random numbers that it drew, are put back. A lazy module is lazy no more.

    A layer that is shared has one row, and a parameter that is shared counts once. The bytes saved for backward are
    those of distinct memory, of which each layer has what is not kept by a layer before it; parameters are left out, as
    those are there anyway. What is computed outside of any layer counts for the module that computes it.

    Raises TypeError unless it is a Module; what the module raises goes on to the caller, with a note if it was given
    the size of an input instead of an input.

        >>> from gradwright import nn, viz
        >>> net = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
        >>> viz.summary(net, gw.ones(100, 8))
        layer   class       output     parameters    bytes    saved
        ------  ----------  ---------  ----------  -------  -------
        (root)  Sequential  [100, 1]            -        -        -
          0     Linear      [100, 32]         288  1.15 kB   3.2 kB
          1     Tanh        [100, 32]           -        -  12.8 kB
          2     Linear      [100, 1]           33    132 B        -
        321 parameters, 1.28 kB: 321 trainable, 0 not
        saved for backward, besides parameters: 16 kB
    """
    if not isinstance(module, Module):
        got = f"the class itself: write {module.__name__}(...)" if isinstance(module, type) else kind(module)
        raise TypeError(f"summary: expected a Module, but got {got}")
    calls = _Calls(module)
    with _unchanged(module), enable_grad(), calls:
        try:
            result = module(*inputs, **keywords)
        except FAULTS as error:
            if size := next(filter(_is_size, (*inputs, inputs)), None):
                error.add_note(f"summary is given inputs, and not their sizes: for one of size {list(size)}, "
                               f"gradwright.zeros({', '.join(map(str, size))})")  # fmt: skip
            raise
    saved = calls.saved_bytes()
    del result
    seen: set[int] = set()
    layers = tuple(_layer(path, m, calls, saved[id(m)], seen) for path, m in module.named_modules())
    buffers = list(module.buffers())
    return Summary(layers, sum(b.numel() for b in buffers), sum(nbytes(b.array) for b in buffers))


def _is_size(value: Any) -> bool:
    """Whether a value looks like the size of a tensor."""
    return isinstance(value, (tuple, list)) and value != () and all(type(n) is int for n in value)


def _layer(path: str, module: Any, calls: _Calls, saved: int, seen: set[int]) -> Layer:
    own = [p for p in module.parameters(recurse=False) if not is_lazy(p)]
    new = [p for p in own if id(p) not in seen]
    seen.update(map(id, own))
    return Layer(
        path, type(module).__name__, calls.count[id(module)], calls.shapes.get(id(module), ()),
        parameters=_size(new), trainable=_size([p for p in new if p.requires_grad]), shared=_size(own) - _size(new),
        nbytes=sum(nbytes(p.array) for p in new), saved_bytes=saved,
    )  # fmt: skip


def _size(parameters: Sequence[Any]) -> int:
    return sum(p.numel() for p in parameters)


@contextmanager
def _unchanged(module: Any) -> Iterator[None]:
    """Put back, after a ``with`` block, a module's buffers and the state of the random numbers."""
    before = [(own, name, b, b._version, b.detach().clone())
              for m in module.modules() for own in [m._buffers] for name, b in own.items()
              if b is not None and not is_lazy(b)]  # fmt: skip
    try:
        with fork_rng():
            yield
    finally:
        for own, name, buffer, version, values in before:
            own[name] = buffer
            if buffer._version != version:
                with no_grad():
                    buffer.copy_(values)


class _Calls(Watch):
    """Sees which modules of a tree are called, what they return, and the nodes recorded in each.

    Attributes:
        count, shapes: by the id of the module.
    """

    def __init__(self, root: Any) -> None:
        self.count: Counter[int] = Counter()
        self.shapes: dict[int, tuple[tuple[int, ...], ...]] = {}
        self._root = root
        self._known = {id(m) for m in root.modules()}
        self._running: list[int] = []
        self._nodes: list[tuple[int, Any]] = []

    def __enter__(self) -> Any:
        self._handles = [
            register_module_forward_pre_hook(self._begins),
            register_module_forward_hook(self._ends, always_call=True),
        ]
        return super().__enter__()

    def __exit__(self, *exc: object) -> None:
        super().__exit__(*exc)
        for handle in self._handles:
            handle.remove()

    def _begins(self, module: Any, args: Any) -> None:
        self._running.append(id(module))
        self.count[id(module)] += 1

    def _ends(self, module: Any, args: Any, out: Any) -> None:
        self._running.pop()
        returned: list[Any] = []
        flatten(out, returned)
        self.shapes[id(module)] = tuple(tuple(t.shape) for t in returned)

    def recorded(self, node: Any) -> None:
        inner = next((m for m in reversed(self._running) if m in self._known), id(self._root))
        self._nodes.append((inner, node))

    def saved_bytes(self) -> Counter[int]:
        """What the nodes of each module keep; forgets the nodes."""
        memories, found = Memories(), Counter[int]()
        seen = {memories.tensor("", p.array).memory for p in self._root.parameters() if not is_lazy(p)}
        for module, node in self._nodes:
            for saved in memories.of(node):
                if saved.memory not in seen:
                    seen.add(saved.memory)
                    found[module] += saved.nbytes
        self._nodes.clear()
        return found
