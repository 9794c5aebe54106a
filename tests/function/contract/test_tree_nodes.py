"""Classes registered as nodes of trees: as with PyTorch's functions, and what is refused."""

import importlib
import time
from collections import namedtuple
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import pytest

from gradwright.function.contract import tree_nodes
from gradwright.utils import _pytree


@pytest.fixture(params=["gradwright", "torch"])
def P(request):
    """The functions under test; what a test registers is forgotten."""
    if request.param == "torch":
        request.getfixturevalue("torch")
    found = _pytree if request.param == "gradwright" else importlib.import_module("torch.utils._pytree")
    before = dict(found.SUPPORTED_NODES)
    yield found
    found.SUPPORTED_NODES.clear()
    found.SUPPORTED_NODES.update(before)


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __eq__(self, other):
        return (self.a, self.b) == (other.a, other.b)

    __hash__ = None


def register(P, **more):
    P.register_pytree_node(Pair, lambda p: ([p.a, p.b], "context"), lambda values, context: Pair(*values), **more)


def test_a_registered_class_is_a_node(P):
    assert P.tree_is_leaf(Pair(1, 2))
    register(P)
    leaves, spec = P.tree_flatten([Pair(1, Pair(2, 3)), 4])
    assert leaves == [1, 2, 3, 4]
    assert spec.child(0).context == "context"
    assert P.tree_unflatten(leaves, spec) == [Pair(1, Pair(2, 3)), 4]
    assert P.tree_map(lambda x, y: x + y, Pair(1, 2), Pair(3, 4)) == Pair(4, 6)
    assert hash(spec) == hash(P.tree_structure([Pair(1, Pair(2, 3)), 4]))
    with pytest.raises(ValueError, match="mismatch"):
        P.tree_map(lambda x, y: x, Pair(1, 2), [1, 2])


def test_paths_need_keys(P):
    register(P)
    with pytest.raises(ValueError, match="Did not find a flatten_with_keys_fn for type"):
        P.tree_leaves_with_path([Pair(1, 2)])


def test_paths_of_a_registered_class(P):
    keys = P.GetAttrKey("a"), P.GetAttrKey("b")
    register(P, flatten_with_keys_fn=lambda p: (list(zip(keys, (p.a, p.b), strict=True)), "context"))
    found = P.tree_leaves_with_path({"k": [Pair(1, 2)]})
    assert found == [((P.MappingKey("k"), P.SequenceKey(0), key), n) for key, n in zip(keys, (1, 2), strict=True)]
    assert [P.keystr(path) for path, _ in found] == ["['k'][0].a", "['k'][0].b"]
    assert [P.key_get({"k": [Pair(1, 2)]}, path) for path, _ in found] == [1, 2]


def test_a_class_is_registered_once(P):
    register(P)
    with pytest.raises(ValueError, match="already registered as pytree node"):
        register(P)
    with pytest.raises(ValueError, match="already registered as pytree node"):
        P.register_pytree_node(list, lambda x: (x, None), lambda x, _: x)


def test_both_functions_for_json_or_none(P):
    with pytest.raises(ValueError, match="Both to_dumpable_context and from_dumpable_context"):
        register(P, to_dumpable_context=lambda context: context)


def test_the_old_name_warns(P):
    with pytest.warns(FutureWarning, match="deprecated"):
        P._register_pytree_node(Pair, lambda p: ([p.a, p.b], None), lambda values, context: Pair(*values))
    assert P.tree_leaves(Pair(1, 2)) == [1, 2]


def test_a_registered_dataclass(P):
    @dataclass
    class Data:
        a: Any
        b: Any = "b"
        c: Any = field(init=False, default="c")

    assert P.tree_is_leaf(Data(1))
    P.register_dataclass(Data)
    data = Data(1, [2])
    data.c = "other"
    leaves, spec = P.tree_flatten(data)
    assert leaves == [1, 2]
    assert P.tree_unflatten(leaves, spec) == Data(1, [2])  # with c as the constructor makes it
    assert P.tree_leaves(Data(1, None)) == [1]  # what is None is no part
    assert P.tree_map(lambda x: x + 1, Data(1, None)) == Data(2, None)
    assert [P.keystr(path) for path, _ in P.tree_leaves_with_path(Data(1, [2]))] == [".a", ".b[0]"]


def test_the_fields_of_a_registered_dataclass(P):
    @dataclass
    class Data:
        a: Any
        b: Any = "default"

    for names, dropped, words in (["a"], [], "Missing fields"), (["a", "b", "c"], [], "Unexpected fields"):
        with pytest.raises(ValueError, match=f"does not include all dataclass fields.\n{words}"):
            P.register_dataclass(Data, field_names=names, drop_field_names=dropped)
    P.register_dataclass(Data, field_names=["a"], drop_field_names=["b"])
    assert P.tree_leaves(Data(1, 2)) == [1]
    assert P.tree_map(lambda x: x + 1, Data(1, 2)) == Data(2)


def test_a_class_that_is_read_like_a_dataclass(P):
    with pytest.raises(ValueError, match="field_names must be specified"):
        P.register_dataclass(Pair)
    P.register_dataclass(Pair, field_names=["b", "a"])
    assert P.tree_leaves(Pair(1, 2)) == [2, 1]
    assert P.tree_map(lambda x: -x, Pair(1, 2)) == Pair(-1, -2)


def test_a_constant(P):
    @dataclass(frozen=True)
    class Config:
        norm: str

    P.register_constant(Config)
    leaves, spec = P.tree_flatten([Config("l2"), 1])
    assert leaves == [1]
    assert P.tree_unflatten([2], spec) == [Config("l2"), 2]
    assert spec == P.tree_structure([Config("l2"), 3])
    assert spec != P.tree_structure([Config("l1"), 3])
    assert hash(spec) == hash(P.tree_structure([Config("l2"), 3]))
    assert P.is_constant_class(Config)
    assert not P.is_constant_class(list)
    assert not P.is_constant_class(Pair)
    assert P.tree_leaves_with_path([Config("l2"), 1]) == [((P.SequenceKey(1),), 1)]


def test_a_constant_is_compared_and_hashed_by_value(P):
    class Plain:
        pass

    with pytest.raises(TypeError, match="non-default `__eq__`"):
        P.register_constant(Plain)
    with pytest.raises(TypeError, match="non-default `__hash__`"):
        P.register_constant(Pair)


class Named(NamedTuple):
    x: Any


def test_named_tuples_and_pythons_own(P):
    made = namedtuple("made", "a b")
    for cls in (Named, made):
        assert P.is_namedtuple(cls)
        assert P.is_namedtuple_class(cls)
        assert not P.is_namedtuple_instance(cls)
        assert P.is_namedtuple(cls(*cls._fields))
        assert P.is_namedtuple_instance(cls(*cls._fields))
    now = time.localtime()
    assert P.is_structseq(now)
    assert P.is_structseq_instance(now)
    assert P.is_structseq_class(type(now))
    for other in ((1, 2), [1], Enum, 3):
        assert not P.is_namedtuple(other)
        assert not P.is_structseq(other)


def test_a_registered_named_tuple_is_one_still(P):
    P._register_namedtuple(Named, serialized_type_name="tests.Named")
    assert P.tree_structure(Named(1)).type is namedtuple
    assert P.tree_map(lambda x: x + 1, Named(1)) == Named(2)


def test_a_named_tuple_comes_apart_as_they_all_do_whatever_was_registered(P):
    P.register_pytree_node(Named, lambda n: ([], n), lambda values, context: context)
    assert P.tree_leaves(Named(1)) == [1]
    assert P.tree_structure(Named(1)).type is namedtuple


def test_definitions():
    @dataclass
    class Data:
        a: Any

    assert tree_nodes.definition(Data) is None
    node = tree_nodes.definition(Data, open_dataclasses=True)
    assert node.flatten_fn(Data(1)) == ([1], ["a"])
    assert tree_nodes.definition(int, open_dataclasses=True) is None
    assert tree_nodes.definition(Named).type is namedtuple
    assert tree_nodes.definition(tuple).type is tuple
