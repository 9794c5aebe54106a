"""Which values are nodes of a tree: how each comes apart, is made again, and what leads to each of its parts.

A node is known by its exact class: one derived from list or dict is a leaf until it is registered. All classes of named
tuples are nodes, under the one type `collections.namedtuple`.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gradwright.base.cpython import forks
from gradwright.function.contract.containers import parts

FlattenFn = Callable[[Any], tuple[Sequence[Any], Any]]
UnflattenFn = Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True)
class SequenceKey:
    """Leads to an entry of a list, a tuple or a deque."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Sequence[Any]) -> Any:
        """That entry."""
        return sequence[self.idx]


@dataclass(frozen=True, slots=True)
class MappingKey:
    """Leads to a value of a dictionary."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Mapping[Any, Any]) -> Any:
        """That value."""
        return mapping[self.key]


@dataclass(frozen=True, slots=True)
class GetAttrKey:
    """Leads to a field of a named tuple or a dataclass."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """That field."""
        return getattr(obj, self.name)


class NodeDef(NamedTuple):
    """How a node comes apart and is made again.

    Attributes:
        type: its class.
        flatten_fn: makes of a node its parts and a context, all that is needed besides them to make it again.
        unflatten_fn: makes a node of parts and a context.
        flatten_with_keys_fn: as ``flatten_fn``, with the key of each part before it; None if it is not known.
        serialized_type_name: what a text of a tree calls it; None if it may not stand in one.
        to_dumpable_context, from_dumpable_context: what JSON holds of a context, and the context again.
    """

    type: Any
    flatten_fn: FlattenFn
    unflatten_fn: UnflattenFn
    flatten_with_keys_fn: Callable[[Any], tuple[list[tuple[Any, Any]], Any]] | None = None
    serialized_type_name: str | None = None
    to_dumpable_context: Callable[[Any], Any] | None = None
    from_dumpable_context: Callable[[Any], Any] | None = None


@dataclass(frozen=True, slots=True)
class ConstantNode:
    """The context of a node that is all context."""

    value: Any


def _keyed(flatten: FlattenFn, keys: Callable[[Any, Any], Iterable[Any]]) -> Any:
    """A ``flatten_with_keys_fn``, of a ``flatten_fn`` and of what gives the keys of a node with a context."""

    def flatten_with_keys(node: Any) -> tuple[list[tuple[Any, Any]], Any]:
        found, context = flatten(node)
        return list(zip(keys(node, context), found, strict=True)), context

    return flatten_with_keys


def _indices(node: Any, _: Any) -> Iterable[Any]:
    return map(SequenceKey, range(len(node)))


def _mapped(node: Any, _: Any) -> Iterable[Any]:
    return map(MappingKey, node)


def _node(cls: Any, flatten: FlattenFn, unflatten: UnflattenFn, keys: Any, name: str, *texts: Any) -> NodeDef:
    return NodeDef(cls, flatten, unflatten, _keyed(flatten, keys), name, *texts)


def is_namedtuple(obj: Any) -> bool:
    """Whether ``obj`` is a named tuple, or a class of them."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_namedtuple_class(cls: Any) -> bool:
    """Whether ``cls`` is a class of named tuples."""
    return (
        isinstance(cls, type)
        and issubclass(cls, tuple)
        and isinstance(getattr(cls, "_fields", None), tuple)
        and all(type(field) is str for field in cls._fields)  # type: ignore[attr-defined]
        and callable(getattr(cls, "_make", None))
        and callable(getattr(cls, "_asdict", None))
    )


def is_namedtuple_instance(obj: Any) -> bool:
    """Whether ``obj`` is a named tuple."""
    return is_namedtuple_class(type(obj))


def is_structseq(obj: Any) -> bool:
    """Whether ``obj`` is one of Python's own tuples with names, such as ``time.localtime()``, or a class of them."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def is_structseq_class(cls: Any) -> bool:
    """Whether ``cls`` is a class of Python's own tuples with names."""
    counts = ("n_fields", "n_sequence_fields", "n_unnamed_fields")
    may_be_derived_from = 1 << 10  # Py_TPFLAGS_BASETYPE
    return (
        isinstance(cls, type)
        and cls.__bases__ == (tuple,)
        and all(isinstance(getattr(cls, name, None), int) for name in counts)
        and not cls.__flags__ & may_be_derived_from
    )


def is_structseq_instance(obj: Any) -> bool:
    """Whether ``obj`` is one of Python's own tuples with names."""
    return is_structseq_class(type(obj))


SUPPORTED_NODES: dict[Any, NodeDef] = {node.type: node for node in (
    _node(tuple, lambda d: (d, None), lambda values, _: tuple(values), _indices, "builtins.tuple"),
    _node(list, lambda d: (d, None), lambda values, _: list(values), _indices, "builtins.list"),
    _node(dict, lambda d: (list(d.values()), list(d)),
          lambda values, keys: dict(zip(keys, values, strict=True)), _mapped, "builtins.dict"),
    _node(OrderedDict, lambda d: (list(d.values()), list(d)),
          lambda values, keys: OrderedDict(zip(keys, values, strict=True)), _mapped, "collections.OrderedDict"),
    _node(defaultdict, lambda d: (list(d.values()), [d.default_factory, list(d)]),
          lambda values, context: defaultdict(context[0], zip(context[1], values, strict=True)), _mapped,
          "collections.defaultdict"),
    _node(deque, lambda d: (list(d), d.maxlen), deque, _indices, "collections.deque"),
    _node(namedtuple, lambda d: (list(d), type(d)), lambda values, cls: cls(*values),
          lambda _, cls: map(GetAttrKey, cls._fields), "collections.namedtuple"),
)}  # fmt: skip
"""The registered classes; all named tuples under `collections.namedtuple`."""


def _of_dataclass(node: Any) -> tuple[Sequence[Any], Any]:
    found = parts(node)
    return found, found.keys


def definition(cls: Any, open_dataclasses: bool = False) -> NodeDef | None:
    """How nodes of a class come apart; None of a class of leaves.

    With ``open_dataclasses`` a dataclass that is not registered is a node, too: of all its fields, and made again
    without its constructor.
    """
    found = SUPPORTED_NODES.get(cls)
    if found is None:
        if issubclass(cls, tuple) and is_namedtuple_class(cls):
            return SUPPORTED_NODES[namedtuple]
        if open_dataclasses and dataclasses.is_dataclass(cls):
            return _opened(cls)
    return found


def _opened(cls: Any) -> NodeDef:
    def unflatten(values: Any, names: Any) -> Any:
        made = object.__new__(cls)
        for name, value in zip(names, values, strict=True):
            object.__setattr__(made, name, value)
        return made

    return NodeDef(cls, _of_dataclass, unflatten, _keyed(_of_dataclass, lambda _, names: map(GetAttrKey, names)))


def register_pytree_node(
    cls: type[Any],
    flatten_fn: FlattenFn,
    unflatten_fn: UnflattenFn,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable[[Any], Any] | None = None,
    from_dumpable_context: Callable[[Any], Any] | None = None,
    flatten_with_keys_fn: Any = None,
) -> None:
    """Have the instances of a class, and of none derived from it, be nodes of trees; see `NodeDef` for the arguments.

    Raises ValueError if it is registered already, or has only one of the two functions for JSON.

    >>> class Pair:
    ...     def __init__(self, a, b): self.a, self.b = a, b
    >>> register_pytree_node(Pair, lambda p: ([p.a, p.b], None), lambda values, context: Pair(*values))
    >>> SUPPORTED_NODES[Pair].flatten_fn(Pair(1, 2))
    ([1, 2], None)
    """
    _register(NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn, serialized_type_name,
                      to_dumpable_context, from_dumpable_context))  # fmt: skip


def _register(node: NodeDef) -> None:
    if (node.to_dumpable_context is None) != (node.from_dumpable_context is None):
        raise ValueError(
            f"Both to_dumpable_context and from_dumpable_context for {node.type} must be None or registered."
        )
    cls = node.type
    if is_namedtuple_class(cls):  # it has its name, but comes apart as they all do
        node = SUPPORTED_NODES[namedtuple]._replace(serialized_type_name=node.serialized_type_name)
    with forks.lock:
        if cls in SUPPORTED_NODES:
            raise ValueError(f"{cls} is already registered as pytree node.")
        SUPPORTED_NODES[cls] = node


def _register_pytree_node(cls: type[Any], flatten_fn: FlattenFn, unflatten_fn: UnflattenFn, **more: Any) -> None:
    """The old name of `register_pytree_node`."""
    warnings.warn("_register_pytree_node is deprecated: call it register_pytree_node", FutureWarning, stacklevel=2)
    register_pytree_node(cls, flatten_fn, unflatten_fn, **more)


def _register_namedtuple(cls: type[Any], *, serialized_type_name: str) -> None:
    """Let a class of named tuples stand in the text of a tree, under this name."""
    _register(SUPPORTED_NODES[namedtuple]._replace(type=cls, serialized_type_name=serialized_type_name))


def _deregister_pytree_node(cls: type[Any]) -> None:
    """Undo a registration. Raises KeyError if there was none."""
    del SUPPORTED_NODES[cls]


def register_dataclass(
    cls: type[Any],
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Have the instances of a dataclass, or of what is made and read like one, be nodes of trees.

    Args:
        cls: a class whose constructor takes its fields by name.
        field_names: the fields that are parts; of a dataclass, by default, all that its constructor takes. A field that
            is None is no part, and is None again in what is made.
        drop_field_names: fields of a dataclass that are not to be parts.
        serialized_type_name: see `NodeDef`.

    Raises:
        ValueError: ``field_names`` is missing for what is no dataclass, or has not all fields of one but those dropped;
            or it is registered already.
    """
    fields = [f.name for f in dataclasses.fields(cls) if f.init] if dataclasses.is_dataclass(cls) else None
    if field_names is not None:
        names = field_names
        if fields is not None and (wrong := _misnamed(set(fields) - set(drop_field_names or ()), set(names))):
            raise ValueError(f"field_names does not include all dataclass fields.\n{wrong}")
    elif fields is None:
        raise ValueError(
            f"field_names must be specified with a list of all fields used to initialize {cls}, as it is not a "
            "dataclass."
        )
    else:
        names = fields

    def flatten(obj: Any) -> tuple[list[Any], Any]:
        values = {name: getattr(obj, name) for name in names}
        there = {name: value for name, value in values.items() if value is not None}
        return list(there.values()), [list(there), [name for name in names if name not in there]]

    def unflatten(values: Any, context: Any) -> Any:
        return cls(**dict(zip(context[0], values, strict=True)), **dict.fromkeys(context[1]))

    keys = _keyed(flatten, lambda _, context: map(GetAttrKey, context[0]))
    _register(NodeDef(cls, flatten, unflatten, keys, serialized_type_name))


def _misnamed(fields: set[str], names: set[str]) -> str:
    """What is wrong with the names given for the fields of a dataclass; nothing if they are those."""
    missing, unexpected = fields - names, names - fields
    return (
        f"Missing fields in `field_names`: {missing}. If you want to include these fields in the pytree, please add "
        "them to `field_names`, otherwise please add them to `drop_field_names`.\n"
        if missing
        else ""
    ) + (
        f"Unexpected fields in `field_names`: {unexpected}. Please remove these fields, or add them to "
        "`drop_field_names`.\n"
        if unexpected
        else ""
    )


def register_constant(cls: type[Any]) -> None:
    """Have the instances of a class be nodes without parts.

    Raises TypeError unless they can be compared and hashed by value.
    """
    for method, own in (("__eq__", cls.__eq__ is not object.__eq__), ("__hash__", cls.__hash__ is not None)):
        if not own:
            raise TypeError(
                f"register_constant(cls) expects `cls` to have a non-default `{method}` implementation, but "
                f"{cls.__name__} has none."
            )
    _register(NodeDef(cls, lambda x: ([], ConstantNode(x)), lambda _, context: context.value,
                      lambda x: ([], ConstantNode(x))))  # fmt: skip


def is_constant_class(cls: Any) -> bool:
    """Whether a class was given to `register_constant`."""
    node = SUPPORTED_NODES.get(cls)
    return node is not None and node.flatten_fn.__qualname__.startswith("register_constant.")
