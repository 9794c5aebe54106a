"""The shapes and dtypes of results, as far as a graph tells them: nodes note only what backward needs.

Told are those of leaves, of what is saved, of a Function's inputs and outputs, and of inputs whose gradients are summed
back to a shape. From these follow those of elementwise operations, which broadcast, and the dtypes of most results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwright.base.dtypes import of
from gradwright.engine.node import AccumulateGrad, Node, Output
from gradwright.engine.nodes_of_ops import OpNode
from gradwright.engine.saved_hooks import Entry
from gradwright.function.ctx import BackwardNode
from gradwright.ops.declare import table

Meta = tuple[Any, Any]
"""A shape and the name of a dtype; either may be None."""
_CONVERT = frozenset(["astype", "to_complex", "view_as_complex", "fft_r2c", "fft_r2h", "fft_c2c"])
"""Operations whose result may be of another dtype than real inputs."""
UNKNOWN: Meta = (None, None)


def meta(array: Any) -> Meta:
    """The shape of an array and the name of its dtype."""
    return tuple(array.shape), of(array.dtype).name


class Shapes(dict[Any, Meta]):
    """The shape and dtype of the result (of several, the first) of nodes, where they are told.

    Args:
        nodes: given last made first.
        known: those that are known already.
    """

    def __init__(self, nodes: Sequence[Any], known: dict[Node, Meta]) -> None:
        super().__init__(known)
        plans: dict[type, _Plan] = {}
        operations = []
        for node in nodes:
            plan = plans.get(type(node))
            if plan is None and isinstance(node, OpNode):
                plan = plans[type(node)] = _Plan(node)
            if plan is not None:
                self._ask_op(node, plan)
                operations.append((node, plan))
            elif type(node) is AccumulateGrad:
                self[node] = meta(node._array)
            elif isinstance(node, BackwardNode):
                self._ask_function(node)
        for node, plan in reversed(operations):
            self._forward(node, plan)
        for node, plan in operations:
            if plan.even:  # its inputs, which do not broadcast, are of the shape of its result
                shape = self.get(node, UNKNOWN)[0]
                for target in node._next if shape is not None else ():
                    if target not in self:
                        self._tell(target, shape, None)

    def _tell(self, node: Any, shape: Any, dtype: Any) -> None:
        """What is told of the result that ``node`` is the history of."""
        target = _first(node)
        if target is not None:
            old = self.get(target)
            if old is None:
                self[target] = shape, dtype
            elif None in old:
                self[target] = old[0] if old[0] is not None else shape, old[1] or dtype

    def _ask_function(self, node: Any) -> None:
        first = next((m for m in node._outputs if m is not None), None)
        if first is not None:
            self._tell(node, tuple(first[0]), of(first[1]).name)
        metas = [m for m, needed in zip(node._metas, node._needs, strict=True) if m is not None and needed]
        for target, (shape, dtype) in zip(node._next, metas, strict=False):
            self._tell(target, tuple(shape), of(dtype).name)

    def _ask_op(self, node: Any, plan: _Plan) -> None:
        if plan.several:
            self._tell(node, tuple(node._metas[0][0]), of(node._metas[0][1]).name)
        values = node._saved if plan.packed else node._static
        if values is None:
            return
        if values.__class__ is not tuple:
            values = getattr(values, "entries", values)
        for k, position in plan.shapes:
            self._tell(node._next[position], tuple(values[k]), None)
        if plan.out is not None:
            value = values[plan.out]
            array = getattr(value, "array", None) if isinstance(value, Entry) else value[0]
            if array is not None:
                self._tell(node, *meta(array))
        for k in plan.tensors:
            value = values[k]
            if value.__class__ is not tuple or len(value) != 4 or value[3] is not None:
                self._makers(value)

    def _makers(self, value: Any) -> None:
        """Of what nodes have made that this one saved, under one name."""
        if isinstance(value, Entry) or not value:
            return
        if len(value) == 4 and isinstance(value[1], list):
            if isinstance(value[3], Node):
                self._tell(value[3], *meta(value[0]))
        else:
            for one in value:
                self._makers(one)

    def _forward(self, node: Any, plan: _Plan) -> None:
        """The result of an operation for known inputs."""
        shape, dtype = self.get(node, UNKNOWN)
        if shape is not None and dtype is not None:
            return
        targets = node._next
        if len(targets) == 1:  # a quick way for long chains
            metas = [self.get(targets[0] if type(targets[0]) is not Output else _first(targets[0]), UNKNOWN)]
        else:
            metas = [self.get(_first(target), UNKNOWN) for target in targets]
        if shape is None and plan.even:
            shape = next((s for s, _ in metas if s is not None), None)
        elif shape is None and plan.broadcasts and all(s is not None for s, _ in metas):
            shape = np.broadcast_shapes(*(s for s, _ in metas))
        if dtype is None:
            dtypes = {d for _, d in metas}
            dtype = dtypes.pop() if len(dtypes) == 1 and plan.keeps(*dtypes) else None
        if shape is not None or dtype is not None:
            self[node] = shape, dtype


def _first(node: Any) -> Node | None:
    """The node whose first output ``node`` is the history of."""
    return node if type(node) is not Output else node._next[0] if node.index == 0 else None


class _Plan:
    """Where the nodes of a class have what tells shapes.

    Attributes:
        shapes: which saved values are the shapes of inputs, and of which.
        tensors, out: which are tensors, and which of them the result.
        several: whether there are several results. packed: whether there are tensors.
        even: whether it is elementwise and its inputs are of one shape, numbers apart.
        broadcasts: whether it is elementwise, they are not, and all need gradients.
    """

    def __init__(self, node: Any) -> None:
        op, names = node._op, node._names
        inputs = [op.inputs[i] for i, m in enumerate(node._edge_mask) if m and i < len(op.inputs)]
        self.shapes = [(names.index(f"{n}_shape"), k) for k, n in enumerate(inputs) if f"{n}_shape" in names]
        self.out = names.index("out") if "out" in names[: node._packed] and not op.several else None
        self.several, self.packed = op.several, node._packed
        self.tensors = [k for k in range(node._packed) if names[k] != "out"]
        uneven = any(n.endswith("_shape") for n in names)
        self.even = op.kind == "elementwise" and not uneven
        self.broadcasts = op.kind == "elementwise" and uneven and all(node._edge_mask)
        self._converts = op.name in _CONVERT or op.name not in table
        self._holomorphic = op.complex == "holomorphic"

    def keeps(self, dtype: str | None) -> bool:
        """Whether the result for inputs of this dtype is of it, too."""
        real = dtype is not None and not dtype.startswith("complex")
        return not self._converts and (real or self._holomorphic)
