"""What remains of a tree, as text: JSON to keep (PyTorch's, so that either reads the other's), and a picture."""

from __future__ import annotations

import builtins
import json
import sys
import warnings
from collections import defaultdict, namedtuple
from enum import Enum
from typing import Any

from gradwright.function.contract.tree_nodes import SUPPORTED_NODES, NodeDef
from gradwright.function.contract.trees import TreeSpec, treespec_leaf

_PROTOCOL = 1


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """JSON of the structure of a tree.

    Raises TypeError for anything else, or for a context that JSON cannot hold; ValueError for another protocol than 1;
    NotImplementedError for a class that was registered without ``serialized_type_name``.
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}.")
    if protocol not in (None, _PROTOCOL):
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: {[_PROTOCOL]}")
    return json.dumps((_PROTOCOL, _dumpable(treespec)), default=_enum)


def treespec_loads(serialized: str) -> TreeSpec:
    """What remains of a tree, of its JSON.

    Imports nothing: the classes it names must be registered, or built in, or lie in modules that have been imported.

    Raises ValueError for another protocol than 1; NotImplementedError for a class that is not known.
    """
    protocol, found = json.loads(serialized)
    if protocol != _PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: {[_PROTOCOL]}")
    return _loaded(found)


def _name(cls: Any) -> str:
    node = SUPPORTED_NODES.get(cls)
    if node is None or node.serialized_type_name is None:
        raise NotImplementedError(f"No registered serialization name for {cls} found. Please pass serialized_type_name "
                                  "to register_pytree_node, or to _register_namedtuple.")  # fmt: skip
    return node.serialized_type_name


def _named(name: str) -> tuple[Any, NodeDef]:
    """The class of a name, and how its nodes come apart."""
    for cls, node in SUPPORTED_NODES.items():
        if node.serialized_type_name == name and name is not None:
            return cls, node
    raise NotImplementedError(f"Deserializing {name} in pytree is not registered.")


def _dumpable(spec: TreeSpec) -> dict[str, Any]:
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    name, context = _name(spec.type), spec.context
    node = SUPPORTED_NODES[spec.type]
    if spec.type is namedtuple:
        text: Any = _name(context)
    elif spec.type is defaultdict:
        factory, keys = context
        text = {
            "default_factory_module": getattr(factory, "__module__", None),
            "default_factory_name": getattr(factory, "__qualname__", None),
            "dict_context": keys,
        }
    elif node.to_dumpable_context is not None:
        text = node.to_dumpable_context(context)
    else:
        try:
            text = json.dumps(context, default=_enum)
        except TypeError as e:
            raise TypeError("Unable to serialize context. Please make the context json dump-able, or register a custom "
                            f"serializer with register_pytree_node: {e}") from e  # fmt: skip
    return {"type": name, "context": text, "children_spec": [_dumpable(child) for child in spec.children()]}


def _loaded(found: dict[str, Any]) -> TreeSpec:
    if found["type"] is None:
        return treespec_leaf()
    (_, node), text = _named(found["type"]), found["context"]
    if node.type is namedtuple:
        context: Any = _named(text)[0]
    elif node.type is defaultdict:
        factory = _class(text["default_factory_module"], text["default_factory_name"])
        context = [factory, text["dict_context"]]
    elif node.from_dumpable_context is not None:
        context = node.from_dumpable_context(text)
    else:
        context = json.loads(text, object_hook=_enum_again)
    return TreeSpec(node.type, context, [_loaded(child) for child in found["children_spec"]])


def _enum(value: Any) -> Any:
    if not isinstance(value, Enum):
        raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
    cls = type(value)
    return {"__enum__": True, "fqn": f"{cls.__module__}:{cls.__qualname__}", "name": value.name}


def _enum_again(found: dict[str, Any]) -> Any:
    if "__enum__" not in found:
        return found
    cls = _class(*found["fqn"].split(":"))
    if not issubclass(cls, Enum):
        raise NotImplementedError(f"{found['fqn']} is no Enum")
    return cls[found["name"]]


def _class(module: str | None, name: str | None) -> Any:
    """A class of a module that has been imported; None of no name."""
    if module is None or name is None:
        return None
    found: Any = builtins if module == "builtins" else sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, type):
        raise NotImplementedError(f"{module}.{name} is no class of a module that has been imported")
    return found


class _Asterisk:
    def __repr__(self) -> str:
        return "*"


def treespec_pprint(treespec: TreeSpec) -> str:
    """The tree, as Python writes it, with an asterisk in the place of each leaf."""
    return repr(treespec.unflatten([_Asterisk()] * treespec.num_leaves))


def pytree_to_str(treespec: TreeSpec) -> str:
    """The old name of `treespec_dumps`."""
    warnings.warn("pytree_to_str is deprecated: call it treespec_dumps", FutureWarning, stacklevel=2)
    return treespec_dumps(treespec)


def str_to_pytree(json: str) -> TreeSpec:
    """The old name of `treespec_loads`."""
    warnings.warn("str_to_pytree is deprecated: call it treespec_loads", FutureWarning, stacklevel=2)
    return treespec_loads(json)
