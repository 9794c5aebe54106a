"""Trees: lists, tuples, dictionaries, named tuples and whatever is registered, to any depth; all else is a leaf.

`tree_flatten` makes of a tree its leaves and a `TreeSpec`, its structure; `tree_unflatten` makes it again, of
other leaves. Dictionaries keep their order. The trees are PyTorch's (``torch.utils._pytree``), where a dataclass is a
leaf until it is registered; transforms of functions say ``open_dataclasses``, and then it is a node without more ado.

A Function's arguments are flattened elsewhere (`gradwright.function.contract.containers`): there tensors alone are
leaves, all else remains in place, and a value without tensors, as nearly every argument is, is not looked into twice.
"""

from __future__ import annotations

import functools
import warnings
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator
from types import UnionType
from typing import Any

from gradwright.engine.base import TensorBase
from gradwright.function.contract.tree_nodes import SUPPORTED_NODES, ConstantNode, MappingKey, definition

IsLeaf = Callable[[Any], bool] | None

_DICTS = frozenset((dict, OrderedDict, defaultdict))
_BUILTIN = frozenset((tuple, list, deque, namedtuple)) | _DICTS


class TreeSpec:
    """The structure of a tree. Two are equal if they make equal trees of the same leaves.

    Attributes:
        type: the class of its topmost node: `collections.namedtuple` for all named tuples, None for a leaf.
        context: what that class keeps besides its parts, such as the keys of a dictionary.
        num_nodes, num_leaves, num_children: how many nodes (leaves included), leaves and parts it has.
    """

    __slots__ = ("_children", "_context", "num_children", "num_leaves", "num_nodes", "type")

    def __init__(self, type: Any, context: Any, children_specs: list[TreeSpec]) -> None:
        self.type, self._context, self._children = type, context, children_specs
        self.num_children = len(children_specs)
        self.num_nodes, self.num_leaves = 1, int(type is None)
        for child in children_specs:
            self.num_nodes += child.num_nodes
            self.num_leaves += child.num_leaves

    @property
    def context(self) -> Any:
        return self._context

    def is_leaf(self) -> bool:
        """Whether it is a leaf."""
        return self.type is None

    def children(self) -> list[TreeSpec]:
        """The structure of each part."""
        return list(self._children)

    def child(self, index: int) -> TreeSpec:
        """The structure of one part."""
        return self._children[index]

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return (self.type, self._context, self._children) == (other.type, other._context, other._children)

    def __hash__(self) -> int:
        context = self._context
        if self.type is defaultdict:
            context = context[0], tuple(context[1])
        elif self.type in _DICTS:
            context = tuple(context)
        elif self.type not in _BUILTIN and not isinstance(context, ConstantNode):
            context = None  # a user's, of which nobody knows whether it has a hash
        return hash((self.type, context, tuple(self._children)))

    def __repr__(self, indent: int = 0) -> str:
        if self.type is None:
            return "*"
        indent += 2
        below = (",\n" + " " * indent).join(child.__repr__(indent) for child in self._children)
        return f"TreeSpec({self.type.__name__}, {self._context}, [{below}])"

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """The tree with these leaves. Raises ValueError if there are more or fewer than it has."""
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec refers to a pytree that "
                f"holds {self.num_leaves} items ({self})."
            )
        return leaves[0] if self.type is None else _made(self, iter(leaves))

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """The value of ``tree`` in the place of each leaf: of dictionaries by their keys, in this one's order.

        Raises ValueError if it has other nodes above them.
        """
        found: list[Any] = []
        _cut(self, tree, found)
        return found


class LeafSpec(TreeSpec):
    """The structure of a leaf. To make one is deprecated, as in PyTorch; ask ``spec.is_leaf()``."""

    __slots__ = ()

    def __init__(self) -> None:
        warnings.warn("LeafSpec() is deprecated: use treespec_leaf()", FutureWarning, stacklevel=2)
        super().__init__(None, None, [])


_LEAF = object.__new__(LeafSpec)
TreeSpec.__init__(_LEAF, None, None, [])


def treespec_leaf() -> TreeSpec:
    """The structure of a leaf."""
    return _LEAF


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """The structure of a tuple of trees, of theirs. Raises ValueError for anything else."""
    children = list(iterable)
    if not all(isinstance(child, TreeSpec) for child in children):
        raise ValueError(f"Expected a tuple of TreeSpec values, got: {children!r}.")
    return TreeSpec(tuple, None, children)


def treespec_dict(mapping: Any = (), /, **kwargs: TreeSpec) -> TreeSpec:
    """The structure of a dictionary of trees, of theirs. Raises ValueError for anything else."""
    children = dict(mapping, **kwargs)
    if not all(isinstance(child, TreeSpec) for child in children.values()):
        raise ValueError(f"Expected a dictionary of TreeSpec values, got: {children!r}.")
    return TreeSpec(dict, list(children), list(children.values()))


def _made(spec: TreeSpec, leaves: Iterator[Any]) -> Any:
    if spec.type is None:
        return next(leaves)
    node = SUPPORTED_NODES.get(spec.type) or definition(spec.type, True)
    if node is None:
        raise ValueError(f"{spec.type} is no longer registered as pytree node")
    return node.unflatten_fn([_made(child, leaves) for child in spec._children], spec._context)


def _cut(spec: TreeSpec, tree: Any, found: list[Any]) -> None:
    if spec.type is None:
        found.append(tree)
        return
    node = definition(type(tree), True)
    if spec.type in _DICTS and type(tree) in _DICTS:
        keys = spec._context[1] if spec.type is defaultdict else spec._context
        if missing := [key for key in keys if key not in tree]:
            raise ValueError(f"Node keys mismatch; missing key(s): {missing}")
        if extra := [key for key in tree if key not in keys]:
            raise ValueError(f"Node keys mismatch; extra key(s): {extra}")
        parts: Any = [tree[key] for key in keys]
    else:
        if node is None or node.type != spec.type:
            got = type(tree) if node is None else node.type
            raise ValueError(f"Node type mismatch; expected {spec.type!r}, but got {got!r}.")
        parts, context = node.flatten_fn(tree)
        if len(parts) != spec.num_children:
            raise ValueError(f"Node arity mismatch; expected {spec.num_children}, but got {len(parts)}.")
        if context != spec._context and spec.type is not deque:  # a deque may hold more or fewer
            raise ValueError(
                f"Node context mismatch for node type {spec.type!r}; expected {spec._context!r}, but got {context!r}."
            )
    for part, child in zip(parts, spec._children, strict=True):
        _cut(child, part, found)


def tree_is_leaf(tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Whether ``tree`` is a leaf; it is, too, if ``is_leaf`` says so, here and in all that follows."""
    return (is_leaf is not None and is_leaf(tree)) or definition(tree.__class__) is None


def tree_flatten(tree: Any, is_leaf: IsLeaf = None, *, open_dataclasses: bool = False) -> tuple[list[Any], TreeSpec]:
    """The leaves of a tree, in order, and its structure.

    >>> tree_flatten({"a": 1, "b": (2, None)})
    ([1, 2, None], TreeSpec(dict, ['a', 'b'], [*,
      TreeSpec(tuple, None, [*,
        *])]))
    """
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves, is_leaf, open_dataclasses)


def _flatten(tree: Any, leaves: list[Any], is_leaf: IsLeaf, open_dataclasses: bool) -> TreeSpec:
    node = None if is_leaf is not None and is_leaf(tree) else definition(tree.__class__, open_dataclasses)
    if node is None:
        leaves.append(tree)
        return _LEAF
    parts, context = node.flatten_fn(tree)
    return TreeSpec(node.type, context, [_flatten(part, leaves, is_leaf, open_dataclasses) for part in parts])


def tensors_in(value: Any) -> list[Any]:
    """The tensors in a value, through dataclasses, too."""
    return [t for t in tree_flatten(value, open_dataclasses=True)[0] if isinstance(t, TensorBase)]


def tree_unflatten(leaves: Any, treespec: Any) -> Any:
    """The tree of which these remain; the two may be given in either order.

    Raises TypeError if neither is a TreeSpec, ValueError for a wrong number of leaves.
    """
    if not isinstance(treespec, TreeSpec):
        if not isinstance(leaves, TreeSpec):
            raise TypeError(
                f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}."
            )
        leaves, treespec = treespec, leaves
    return treespec.unflatten(leaves)


def tree_structure(tree: Any, is_leaf: IsLeaf = None, *, open_dataclasses: bool = False) -> TreeSpec:
    """The structure of a tree."""
    return _flatten(tree, [], is_leaf, open_dataclasses)


def tree_iter(tree: Any, is_leaf: IsLeaf = None) -> Iterator[Any]:
    """The leaves of a tree, one by one."""
    node = None if is_leaf is not None and is_leaf(tree) else definition(tree.__class__)
    if node is None:
        yield tree
    else:
        for part in node.flatten_fn(tree)[0]:
            yield from tree_iter(part, is_leaf)


def tree_leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of a tree."""
    return tree_flatten(tree, is_leaf)[0]


def arg_tree_leaves(*args: Any, **kwargs: Any) -> list[Any]:
    """The leaves of the arguments of a call."""
    return tree_leaves((args, kwargs))


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf = None) -> Any:
    """The tree with ``func(leaf, *others)`` in the place of each leaf; others are what the ``rests`` have there.

    >>> tree_map(lambda x, y: [x] + y, [5, 6], [[7, 9], [1, 2]])
    [[5, 7, 9], [6, 1, 2]]

    Raises ValueError if one of the rests has other nodes above the leaves.
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    return spec.unflatten(map(func, leaves, *map(spec.flatten_up_to, rests)))


def tree_map_(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf = None) -> Any:
    """As `tree_map`, for the effects of ``func``: returns the tree itself."""
    leaves, spec = tree_flatten(tree, is_leaf)
    for _ in map(func, leaves, *map(spec.flatten_up_to, rests)):
        pass
    return tree


def map_only(type_or_types_or_pred: Any, /) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """A decorator: the function, for values of these types or for which this is true; others come back as they are.

    Raises TypeError if it is neither a type, types nor a function.
    """
    if isinstance(type_or_types_or_pred, (type, tuple, UnionType)):

        def wanted(x: Any) -> bool:
            return isinstance(x, type_or_types_or_pred)
    elif callable(type_or_types_or_pred):
        wanted = type_or_types_or_pred
    else:
        raise TypeError("Argument must be a type, a tuple of types, or a callable.")

    def decorated(func: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return functools.wraps(func)(lambda x: func(x) if wanted(x) else x)

    return decorated


def tree_map_only(type_or_types_or_pred: Any, /, func: Callable[[Any], Any], tree: Any, is_leaf: IsLeaf = None) -> Any:
    """As `tree_map`, of some leaves alone (see `map_only`).

    >>> tree_map_only(int, lambda n: -n, {"n": 2, "name": "x"})
    {'n': -2, 'name': 'x'}
    """
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(type_or_types_or_pred: Any, /, func: Callable[[Any], Any], tree: Any, is_leaf: IsLeaf = None) -> Any:
    """As `tree_map_`, of some leaves alone (see `map_only`)."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Whether ``pred`` is true of all leaves."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Whether ``pred`` is true of any leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(types: Any, /, pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Whether ``pred`` is true of all leaves of these types."""
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, types))


def tree_any_only(types: Any, /, pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Whether ``pred`` is true of any leaf of these types."""
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, types))


def broadcast_to_and_flatten(
    tree: Any, treespec: TreeSpec, is_leaf: IsLeaf = None, *, open_dataclasses: bool = False
) -> list[Any] | None:
    """For each leaf of ``treespec`` the leaf of ``tree`` that stands there or above it; None if ``tree`` does not fit.

    >>> broadcast_to_and_flatten((0, None), tree_structure(([1, 2], 3)))
    [0, 0, None]
    """
    leaves, spec = tree_flatten(tree, is_leaf, open_dataclasses=open_dataclasses)
    full = treespec.unflatten([0] * treespec.num_leaves)
    try:
        below = spec.flatten_up_to(full)
    except ValueError:
        return None
    counts = [tree_structure(t, is_leaf, open_dataclasses=open_dataclasses).num_leaves for t in below]
    return [leaf for leaf, n in zip(leaves, counts, strict=True) for _ in range(n)]


def tree_leaves_with_path(
    tree: Any, is_leaf: IsLeaf = None, *, open_dataclasses: bool = False
) -> list[tuple[tuple[Any, ...], Any]]:
    """The leaves of a tree, each after its path: the keys that lead to it.

    Raises ValueError for a node that was registered without ``flatten_with_keys_fn``.
    """
    return list(_with_paths((), tree, is_leaf, open_dataclasses))


def _with_paths(path: tuple[Any, ...], tree: Any, is_leaf: IsLeaf, open_dataclasses: bool) -> Iterator[Any]:
    node = None if is_leaf is not None and is_leaf(tree) else definition(tree.__class__, open_dataclasses)
    if node is None:
        yield path, tree
        return
    if node.flatten_with_keys_fn is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {node.type}. Please pass a flatten_with_keys_fn argument "
            "to register_pytree_node."
        )
    for key, part in node.flatten_with_keys_fn(tree)[0]:
        yield from _with_paths((*path, key), part, is_leaf, open_dataclasses)


def tree_flatten_with_path(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[tuple[tuple[Any, ...], Any]], TreeSpec]:
    """As `tree_leaves_with_path`, and the tree's structure."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf = None) -> Any:
    """As `tree_map`, of functions that take the path of the leaf first.

    >>> tree_map_with_path(lambda path, x: keystr(path) + x, {"w": ["a", "b"]})
    {'w': ["['w'][0]a", "['w'][1]b"]}
    """
    found, spec = tree_flatten_with_path(tree, is_leaf)
    rows = zip(found, *map(spec.flatten_up_to, rests), strict=True)
    return spec.unflatten(func(path, leaf, *others) for (path, leaf), *others in rows)


def keystr(kp: Iterable[Any]) -> str:
    """A path as text: ``[1]['w'].mean``."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: Iterable[Any]) -> Any:
    """The value at a path."""
    for key in kp:
        obj = key.get(obj)
    return obj


def named(name: str, path: Iterable[Any]) -> str:
    """The name of a leaf of an argument of this name: ``inputs[1]["w"]``."""
    for key in path:
        if (
            type(key) is MappingKey
            and type(key.key) is str
            and not {'"', "\\"} & set(key.key)
            and key.key.isprintable()
        ):
            name += f'["{key.key}"]'
        else:
            name += str(key)
    return name
