"""From an operation's declaration to its graph nodes: writes the Python one would write by hand, once per use.

For each combination of inputs that need a gradient, `build` writes a node class with two functions. For ``multiply``
with both inputs needed they read, shortened:

    def record(x, y, out):
        node = new(MulBackward0)
        node._next = (x._node, y._node)
        node._saved = ((y.array, y._counter, y._counter[0] and at_version(y), y._node), (x.array, ...))
        return node

    def _run(self, xp, g):
        (y, y_counter, y_version, y_node), (x, ...) = self._saved
        if y_counter[0] != y_version: raise modified(self, "y", ...)
        if xp is not plain and isinstance(g, TensorBase):       # the backward pass is itself recorded
            y = wrap(y, y_node, y_counter); x = ...
        return rule_x(xp, g, y), rule_y(xp, g, x)

So a saved value is its array, the counter of its memory, the version it had, and the node it came from; an ordinary
backward pass compares one integer per saved value and calls the formula on bare arrays. `source` shows the text.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from gradwright import backends
from gradwright.backends import numpy as numpy_backend
from gradwright.backends.loops import hands_on
from gradwright.backends.programs import derivative
from gradwright.base import dtypes
from gradwright.base.dtypes import LEGACY
from gradwright.base.errors import size
from gradwright.base.source_line import Place
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.levels import current
from gradwright.engine.memory import share_saved
from gradwright.engine.node import AccumulateGrad, Bundle, Node, Output, operation, ticket
from gradwright.engine.reached import Reached
from gradwright.engine.saved_hooks import raw
from gradwright.engine.unselected import unselected
from gradwright.engine.version import at_version, written_at
from gradwright.native import plan, rules
from gradwright.ops.declare import Op
from gradwright.ops.piecewise import switched
from gradwright.ops.shape import sum_to

# How PyTorch calls saved values: `_saved_self`, `_saved_other`, `_saved_result`, `_saved_dim`, `_saved_self_sym_sizes`.
SAVED_AS = {"x": "self", "y": "other", "out": "result", "axis": "dim", "keepdims": "keepdim", "indices": "index",
            "places": "indices", "x_shape": "self_sym_sizes", "y_shape": "other_sym_sizes"}  # fmt: skip


class OpNode(Node):
    """A node of a declared operation; `build` makes its subclasses."""

    __slots__ = ()
    _op: Op
    _names: tuple[str, ...] = ()
    """The names in ``_saved``, in order; without a tensor among them in ``_static``, which backward does not free."""
    _static: tuple[Any, ...]
    _packed = 0
    """How many of them, the first ones, are tensors packed with their version, or tuples of such."""
    _variadic = False

    def _unpacked(self, k: int) -> Any:
        if self._packed and self._saved is None:
            raise freed(self)
        value = (self._saved if self._packed else self._static)[k]
        if k >= self._packed:
            return value
        if type(value[0]) is tuple:  # several tensors under one name
            return tuple(unpack(self, n, self._names[k]) for n in value)
        return unpack(self, value, self._names[k])

    def __call__(self, *grads: Any) -> Any:
        """Run this node by hand: a Tensor or None per output gives one per input, in a tuple if there are several."""
        if len(grads) != (self._several or 1) or all(t is None for t in grads):
            raise TypeError(f"expected {self._several or 1} arguments, got {len(grads)} instead: a gradient by output")
        g = grads[0] if self._several is None else Bundle({k: g for k, g in enumerate(grads) if g is not None})
        computed = iter(self._run(backends.namespace(next(t for t in grads if t is not None)), g))
        results = tuple([next(computed) if needed else None for needed in self._edge_mask])
        return results if len(results) > 1 else results[0]


def _shown(names: Sequence[str], packed: int) -> dict[str, property]:
    """The values saved under these names, as PyTorch's nodes show them. (``__getattr__`` slows all attributes.)"""
    known = [SAVED_AS.get(n, n) for n in names]
    values = {f"_saved_{n}": property(partial(OpNode._unpacked, k=k)) for k, n in enumerate(known)}
    return values | {f"_raw_saved_{n}": property(partial(raw, k=k)) for k, n in enumerate(known[:packed])}


def pack(t: TensorBase) -> tuple[Any, ...]:
    """A tensor as a node saves it: array, counter, version, node."""
    return (t.array, t._counter, t._counter[0] and at_version(t), t._node)


def unpack(owner: Node, packed: tuple[Any, ...], name: str) -> Any:
    """The saved tensor as users see it, a leaf as itself; RuntimeError if it was written in place since."""
    array, counter, version, node = packed
    if counter[0] != version:
        raise modified(owner, name, packed)
    if type(node) is AccumulateGrad and node._array is array:
        return node.variable
    return share_saved(wrap(array, owner if name == "out" else node, counter))


def freed(owner: Node) -> RuntimeError:
    """The error for using a graph whose saved values are gone."""
    place = recorded_at(owner)
    at = f", recorded at {place}" if place else ""
    return RuntimeError(
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
        f"been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
        "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
        "saved tensors after calling backward. In a loop that hands a state on, detach() the state. "
        f"(The node is {type(owner).__name__}{at}.)"
    )


def recorded_at(node: Node) -> Place | None:
    """The line that recorded a node, if anomaly mode was on."""
    place = node._hooks.place if node._hooks is not None else None
    return Place(*place) if place else None


def modified(owner: Node, name: str, packed: tuple[Any, ...]) -> RuntimeError:
    """The error for a saved value whose memory was written in place since."""
    array, counter, version, node = packed
    maker = owner if name == "out" else node
    made = ""
    if maker is not None and type(maker) is not AccumulateGrad:
        maker, index = maker._edge()
        made = f", which is output {index} of {operation(maker)},"
    held = dtypes.of(array.dtype).name
    legacy = LEGACY.get(held, held)
    mend = "Use the out-of-place form there, or clone the value before it is changed."
    changed = f"changed at {written_at(counter, int(version)) or 'a line that is not known'}"
    now = f"is at version {counter[0]}; expected version {version} instead."
    if int(counter[0]) == int(version):
        now = "was written through an array over its memory."
        how, mend = ("handed out", mend) if getattr(version, "part", None) is None else ("brought", (
            "Give forward a copy, gradwright.tensor(array) or from_numpy(array).clone(), or fill it after backward."
        ))  # fmt: skip
        changed = f"the array was {how} at {written_at(counter, int(version))}"
    recorded = recorded_at(owner)
    return RuntimeError(
        f"one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[torch.{legacy} {size(array.shape)}]{made} {now} "
        f"{type(owner).__name__} saved it as {name!r}.\n"
        f"  {changed}\n"
        f"  saved at {recorded or owner._written() or 'a line that gradwright.autograd.detect_anomaly() would note'}\n"
        f"{mend}"
    )


def recorder(op: Op, mask: tuple[bool, ...], broadcast: bool = False, conjugate: bool = False,
             level: bool = False) -> Callable[..., Any]:  # fmt: skip
    """The result of `build`, made once."""
    key = (mask, broadcast, conjugate, level)
    found = op.records.get(key)
    if found is None:
        found = op.records[key] = build(op, mask, broadcast, conjugate, level)
    return found


def build(op: Op, mask: Sequence[bool], broadcast: bool = False, conjugate: bool = False,
          level: bool = False) -> Callable[..., Any]:  # fmt: skip
    """The function ``record(*inputs, out[, static])`` that makes the node of one call, for these needed inputs.

    If the inputs ``broadcast``, their cotangents are summed back. With ``conjugate``, for a holomorphic operation on
    complex numbers, the derivatives, which are written as for real numbers, get and give conjugates. Arrays of a
    ``level`` may be run backward through when that has ended.
    """
    text, scope, names, packed = _written(op, mask, broadcast, conjugate, level)
    name = op.node
    filename = f"<gradwright node {name} {''.join('01'[m] for m in mask)}{' conjugate' * conjugate}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec"), scope)  # noqa: S102 - the text is written here, from declarations
    slots = (*["_metas"] * op.several, *["_static"] * (not packed))
    scope["Class"] = type(name, (OpNode,), {
        "__slots__": slots, "_run": scope["_run"], "_edge_mask": tuple(mask), "_op": op,
        "_names": names, "_packed": packed, "_variadic": op.variadic,
        **_shown(names, packed), **({"_several": property(lambda self: len(self._metas))} if op.several else {}),
    })  # fmt: skip
    scope["record"].plan = plan(op, mask, names, packed, scope["Class"])
    if not (conjugate or level):
        formulas = {n: None if hands_on(rule.fn) else scope[f"rule_{n}"] for n, rule in op.rules.items()}
        scope["Class"]._rules = rules(op, mask, broadcast, names, packed, scope["Class"], formulas)
    return scope["record"]


def source(record: Callable[..., Any]) -> str:
    """The text behind a function made by `build`, to read."""
    return "".join(linecache.getlines(record.__code__.co_filename))


def _scope(op: Op) -> dict[str, Any]:
    scope = {"new": object.__new__, "ticket": ticket, "wrap": wrap, "freed": freed, "modified": modified,
             "TensorBase": TensorBase, "plain": numpy_backend.namespace, "sum_to": sum_to, "pack": pack,
             "at_version": at_version,
             "filled": filled, "outputs": outputs, "underived": underived, "switched": switched,
             "Reached": Reached, "unselected": unselected, "current": current, "op": op}  # fmt: skip
    scope |= {f"part_{n}": part.fn for n, part in op.parts.items()}
    return scope | {f"rule_{n}": derivative(op, rule) for n, rule in op.rules.items()}


def _saved_names(op: Op, needed: Sequence[str], broadcast: bool) -> tuple[list[str], list[str]]:
    """The names in the needed derivatives: tensors first, then shapes and static arguments."""
    wanted = [n for i in needed if i in op.rules for n in op.saved_for(i) if n not in ("i", "reached")]
    if broadcast:
        wanted += [f"{n}_shape" for n in needed]
    wanted = list(dict.fromkeys(wanted))
    tensors = [n for n in wanted if n in op.inputs or n == "out"]
    return tensors, [n for n in wanted if n not in tensors]


_Written = tuple[str, dict[str, Any], tuple[str, ...], int]
"""The text of a node's functions, the names in it, the saved names, and how many of these are tensors."""


def _written(op: Op, mask: Sequence[bool], broadcast: bool, conjugate: bool, level: bool) -> _Written:
    named, rest = (op.inputs[:-1], op.inputs[-1]) if op.variadic else (op.inputs, "")
    needed = [n for n, m in zip(named, mask, strict=False) if m]
    which = [i for i, m in enumerate(mask[len(named) :]) if m]
    tensors, others = _saved_names(op, [*needed, rest] if which else needed, broadcast)
    none = rest in tensors and len(mask) == len(named)
    tensors = [n for n in tensors if not (none and n == rest)]
    outs, many = op.several and "out" in tensors, rest in tensors
    single = [n for n in tensors if n != rest and not (outs and n == "out")]
    packs = [f"({n}.array, {n}._counter, {n}._counter[0] and at_version({n}), "
             f"{'None' if n == 'out' else f'{n}._node'})" if n in single
             else f"tuple([pack(x) for x in {n}])" for n in tensors]  # fmt: skip
    values = [f"static[{n!r}]" if not n.endswith("_shape") else f"{n[:-6]}.array.shape" if n[:-6] != rest
              else f"tuple([x.array.shape for x in {rest}])" for n in others]  # fmt: skip
    where = "_saved" if tensors else "_static"
    after = [f"{n}._node, " for n in needed] + [f"{rest}[{i}]._node, " for i in which]
    lines = [
        f"def record({'inputs' if rest else ', '.join(op.inputs)}, out, static=None):",
        *([f"    {''.join(f'{n}, ' for n in named)}*{rest}, = inputs"] if rest else []),
        "    node = new(Class)",
        "    node._seq = ticket()",
        "    node._hooks = None",
        f"    node._next = ({''.join(after)})",
        f"    node.{where} = ({''.join(f'{v}, ' for v in packs + values)})",
        "    return node",
        "",
        "def _run(self, xp, g):",
        *["    unselected.may_be = True"] * op.selects,
    ]
    if tensors:
        lines += ["    saved = self._saved", "    if saved is None: raise freed(self)"]
    if tensors or others:
        parts = [f"({n}, {n}_counter, {n}_version, {n}_node)" if n in single else n for n in tensors]
        lines += [f"    {', '.join(parts + others)}, = {'saved' if tensors else 'self._static'}"]
    for n in single:
        packed = f"({n}, {n}_counter, {n}_version, {n}_node)"
        if n == "out" and op.remade:
            lines += [f"    if {n}_counter[0] != {n}_version: {n}, {n}_counter = {_remade(op)}, None"]
        else:
            lines += [f"    if {n}_counter[0] != {n}_version: raise modified(self, {n!r}, {packed})"]
        lines += [f"    {n} = current({n})"] * level
    if outs and op.remade:
        lines += [f"    if any([o[1][0] != o[2] for o in out]): out = [(o, [0], 0) for o in {_remade(op)}]"]
    if many:
        unused = f"k != {which[0]} and " if op.multilinear and len(which) == 1 else ""  # by its own derivative
        lines += [f"    for k, one in enumerate({rest}):",
                  f"        if {unused}one[1][0] != one[2]: raise modified(self, {rest!r}, one)"]  # fmt: skip
    if op.several:
        asked = any("reached" in op.saved_for(n) for n in needed if n in op.rules)
        lines += ["    reached = Reached(self, g)"] * asked
        lines += ["    g = filled(self, xp, g)"]
    if tensors:
        lines += [f"    if xp is not plain and isinstance({'g[0]' if op.several else 'g'}, TensorBase):"]
        lines += [f"        {n} = wrap({n}, {'self' if n == 'out' else f'{n}_node'}, {n}_counter)" for n in single]
        lines += [f"        {rest} = [wrap(x[0], x[3], x[1]) for x in {rest}]"] * many
        lines += ["        out = outputs(self, out, True)"] * outs
        if op.switch in single and op.inputs[0] in needed:
            results = [_result(op, n, broadcast, conjugate, op.switch if n == op.inputs[0] else None) for n in needed]
            lines += [f"        return ({', '.join(results)},)"]
        lines += ["    else:"] * (outs or many)
        lines += [f"        {rest} = [{'current(x[0])' if level else 'x[0]'} for x in {rest}]"] * many
        lines += ["        out = outputs(self, out, False)"] * outs
        lines += ["        out = [current(o) for o in out]"] * (outs and level)
    if none:
        lines += [f"    {rest} = ()"]
    if conjugate:
        lines += [f"    g = {'[xp.conj(c) for c in g]' if op.several else 'xp.conj(g)'}"]
    shared = dict.fromkeys(p for n in needed if n in op.rules for p in op.rules[n].names if p in op.parts)
    lines += [f"    {p} = part_{p}({', '.join(['xp', 'g', *op.parts[p].names])})" for p in shared]
    results = [_result(op, n, broadcast, conjugate) for n in needed]
    results += [f"*[{_result(op, rest, False, conjugate)} for i in {which!r}]"] if which else []
    lines += [f"    return ({', '.join(results)},)", ""]
    return "\n".join(lines), _scope(op), (*tensors, *others), len(tensors)


def _remade(op: Op) -> str:
    """The result computed again from what is saved, as text."""
    return f"op({', '.join([*op.inputs, *(f'{n}={n}' for n in op.static)])})"


def _result(op: Op, name: str, broadcast: bool, conjugate: bool, switch: str | None = None) -> str:
    """The cotangent of an input, as text."""
    if name not in op.rules:
        return f"underived({op.name!r}, {name!r})"
    result = f"rule_{name}({', '.join(['xp', 'g', *op.rules[name].names])})"
    result = f"switched({result}, {switch})" if switch else result
    result = f"xp.conj({result})" if conjugate else result
    return f"sum_to(xp, {result}, {name}_shape)" if broadcast else result


def outputs(node: Any, packed: Any, recorded: bool) -> list[Any]:
    """The saved outputs of a node, arrays or recorded tensors; RuntimeError if one was written in place since."""
    for k, one in enumerate(packed):
        if one[1][0] != one[2]:
            raise modified(node, f"output {k}", one)
    if not recorded:
        return [one[0] for one in packed]
    flat = [dtypes.of(dtype).category < dtypes.FLOAT for _, dtype in node._metas]
    return [wrap(one[0], None if flat[k] else Output(node, k), one[1]) for k, one in enumerate(packed)]


def underived(name: str, argument: str) -> Any:
    """Raise NotImplementedError: an input that needs a gradient has no derivative declared."""
    raise NotImplementedError(f"{name}(): the derivative for {argument!r} is not implemented: detach() that argument, "
                              "if it is meant to stay constant")  # fmt: skip


def filled(node: Any, xp: Any, bundle: dict[int, Any]) -> list[Any]:
    """The cotangents of all outputs of a node, zeros where none came."""
    like = next(iter(bundle.values()))
    return [
        bundle[k] if k in bundle else xp.zeros_like(like, shape=shape, dtype=dtype)
        for k, (shape, dtype) in enumerate(node._metas)
    ]
