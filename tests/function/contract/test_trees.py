"""Trees taken apart and made again: as PyTorch's functions do it, and with dataclasses open."""

import importlib
import time
from collections import OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings

import gradwright
from gradwright.function.contract import trees
from gradwright.utils import _pytree
from tests.function.contract.tree_samples import TREES, Point
from tests.thorough import WHOLE


@pytest.fixture(params=["gradwright", "torch"])
def P(request):
    """The functions under test."""
    if request.param == "gradwright":
        return _pytree
    request.getfixturevalue("torch")
    return importlib.import_module("torch.utils._pytree")


@pytest.fixture(scope="module")
def theirs(torch):
    return importlib.import_module("torch.utils._pytree")


class Named(NamedTuple):
    mean: Any
    scale: Any = 1.0


@dataclass(frozen=True)
class State:
    w: Any
    rest: Any = field(default=None)


# ---- the same as PyTorch's -------------------------------------------------------------------------------


def as_text(spec):
    """A specification as nested lists, to compare one library's with the other's."""
    context = spec.context
    return [getattr(spec.type, "__name__", None), repr(context), [as_text(c) for c in spec.children()]]


@settings(max_examples=150 if WHOLE else 30)
@given(TREES)
def test_any_tree_comes_apart_as_pytorchs_does(theirs, tree):
    leaves, spec = trees.tree_flatten(tree)
    expected, their_spec = theirs.tree_flatten(tree)
    assert leaves == expected
    assert as_text(spec) == as_text(their_spec)
    assert repr(spec) == repr(their_spec)
    counts = [(s.num_leaves, s.num_nodes, s.num_children, s.is_leaf()) for s in (spec, their_spec)]
    assert counts[0] == counts[1]
    paths = [trees.keystr(path) for path, _ in trees.tree_leaves_with_path(tree)]
    assert paths == [theirs.keystr(path) for path, _ in theirs.tree_leaves_with_path(tree)]


@settings(max_examples=150 if WHOLE else 30)
@given(TREES)
def test_any_tree_is_made_again(tree):
    leaves, spec = trees.tree_flatten(tree)
    made = spec.unflatten(leaves)
    assert made == tree
    assert repr(made) == repr(tree)  # the classes and the order of the keys too
    again = trees.tree_structure(made)
    assert again == spec
    assert hash(again) == hash(spec)
    assert [trees.key_get(tree, path) for path, _ in trees.tree_leaves_with_path(tree)] == leaves
    assert list(trees.tree_iter(tree)) == trees.tree_leaves(tree) == leaves
    assert spec.flatten_up_to(tree) == leaves


@settings(max_examples=150 if WHOLE else 30)
@given(TREES, TREES)
def test_a_prefix_is_broadcast_as_pytorchs_is(theirs, prefix, tree):
    found = trees.broadcast_to_and_flatten(prefix, trees.tree_structure(tree))
    assert found == theirs._broadcast_to_and_flatten(prefix, theirs.tree_structure(tree))


@settings(max_examples=100 if WHOLE else 30)
@given(TREES, TREES)
def test_trees_are_compared_as_pytorchs_are(theirs, one, other):
    same = trees.tree_structure(one) == trees.tree_structure(other)
    assert same == (theirs.tree_structure(one) == theirs.tree_structure(other))


TREE = {"b": [1, (2, None)], "a": Point(3, {"c": 4}), "d": Named("mean")}


def test_the_order_of_a_dictionary_is_kept(P):
    assert P.tree_leaves({"b": 1, "a": 2}) == [1, 2]
    assert P.tree_structure({"b": 1, "a": 2}) != P.tree_structure({"a": 1, "b": 2})


def test_the_classes_are_kept(P):
    tree = (
        OrderedDict(b=1),
        defaultdict(list, k=[2]),
        deque([3], maxlen=4),
        Point(5, Named(6, 7)),
        gradwright.Size([8]),
    )
    made = P.tree_map(lambda x: x, tree)
    assert [type(x) for x in made] == [type(x) for x in tree]
    assert (made[1].default_factory, made[2].maxlen) == (list, 4)
    assert made[4] is tree[4]  # a class derived from tuple is a leaf


def test_what_is_a_leaf(P):
    class MyList(list):
        pass

    for leaf in (1, None, "ab", State(1), MyList([1]), range(3), {1, 2}, time.localtime()):
        assert P.tree_is_leaf(leaf)
        assert P.tree_leaves(leaf) == [leaf]
    for node in ([], (), {}, Point(1, 2), Named(1), deque(), OrderedDict(), defaultdict(int)):
        assert not P.tree_is_leaf(node)
    assert P.tree_is_leaf((1, 2), is_leaf=lambda x: isinstance(x, tuple))
    assert P.tree_leaves([(1, 2), None], is_leaf=lambda x: isinstance(x, tuple)) == [(1, 2), None]


def test_mapping(P):
    assert P.tree_map(lambda x: [x], TREE)["a"] == Point([3], {"c": [4]})
    assert P.tree_map(lambda x, y, z: (x, y, z), [1, 2], [3, [4]], (5, 6) and [5, 6]) == [(1, 3, 5), (2, [4], 6)]
    assert P.tree_map(lambda x, y: (x, y), {"a": 1, "b": 2}, OrderedDict(b=3, a=4)) == {"a": (1, 4), "b": (2, 3)}
    assert P.tree_map(len, [(1, 2), (3,)], is_leaf=lambda x: isinstance(x, tuple)) == [2, 1]
    seen = []
    assert P.tree_map_(seen.append, TREE) is TREE
    assert seen == P.tree_leaves(TREE)
    assert P.tree_map_with_path(lambda path, x, y: (P.keystr(path), x, y), {"a": [1]}, {"a": [2]}) == {
        "a": [("['a'][0]", 1, 2)]
    }


def test_some_leaves_alone(P):
    tree = [1, 2.0, {"x": "s", "y": None}]
    assert P.tree_map_only(int, lambda x: -x, tree) == [-1, 2.0, {"x": "s", "y": None}]
    assert P.tree_map_only((int, str), lambda x: x * 2, tree) == [2, 2.0, {"x": "ss", "y": None}]
    assert P.tree_map_only(int | float, lambda x: -x, tree) == [-1, -2.0, {"x": "s", "y": None}]
    assert P.tree_map_only(lambda x: x is None, lambda _: 0, tree) == [1, 2.0, {"x": "s", "y": 0}]
    seen = []
    assert P.tree_map_only_(str, seen.append, tree) is tree
    assert seen == ["s"]
    with pytest.raises(TypeError, match="must be a type, a tuple of types, or a callable"):
        P.tree_map_only(3, lambda x: x, tree)
    assert P.tree_all(lambda x: x != 3, tree)
    assert not P.tree_all(lambda x: x == 1, tree)
    assert P.tree_any(lambda x: x is None, tree)
    assert not P.tree_any(lambda x: x == 3, tree)
    assert P.tree_all_only(int, lambda x: x == 1, tree)
    assert not P.tree_any_only(float, lambda x: x == 1, tree)
    assert P.arg_tree_leaves(1, [2], k=(3,)) == [1, 2, 3]


def test_either_order_of_leaves_and_specification(P):
    leaves, spec = P.tree_flatten(TREE)
    assert P.tree_unflatten(leaves, spec) == P.tree_unflatten(spec, leaves) == TREE
    assert P.tree_unflatten(iter(leaves), spec) == TREE
    with pytest.raises(TypeError, match="Expected `treespec` to be an instance of PyTreeSpec but got item of type"):
        P.tree_unflatten(leaves, leaves)
    with pytest.raises(ValueError, match=r"`leaves` has length 1 but the spec refers to a pytree that holds 7 items"):
        P.tree_unflatten([1], spec)


@pytest.mark.parametrize(("one", "other"), [
    ([1, 2], [1]),
    ([1, 2], (1, 2)),
    ([1, 2], 3),
    ({"a": 1}, {"b": 1}),
    ({"a": 1}, {"a": 1, "b": 1}),
    ({"a": 1}, [1]),
    (Point(1, 2), Named(1, 2)),
    (Point(1, 2), (1, 2)),
    ((1, 2), Point(1, 2)),
    (deque([1]), [1]),
    (deque([1]), deque()),
])  # fmt: skip
def test_other_nodes_above_the_leaves_are_refused(P, one, other):
    with pytest.raises(ValueError, match=r"[Mm]ismatch"):
        P.tree_map(lambda x, y: x, one, other)
    assert P._broadcast_to_and_flatten(one, P.tree_structure(other)) is None


def test_other_dictionaries_and_deques_will_do(P):
    assert P.tree_map(lambda x, y: x - y, deque([3], maxlen=4), deque([1])) == deque([2])
    assert P.tree_map(lambda x, y: x - y, defaultdict(int, a=3), {"a": 1}) == {"a": 2}


def test_specifications_made_by_hand(P):
    leaf = P.treespec_leaf()
    assert leaf.is_leaf()
    assert isinstance(leaf, P.LeafSpec)
    assert P.treespec_tuple([leaf, leaf]) == P.tree_structure((1, 2))
    assert P.treespec_dict({"a": leaf}, b=P.treespec_tuple()) == P.tree_structure({"a": 1, "b": ()})
    assert P.treespec_dict({"a": leaf}).child(0) is P.tree_structure([1]).children()[0]
    with pytest.warns(FutureWarning, match="deprecated"):
        assert P.LeafSpec() == leaf
    with pytest.raises(ValueError, match="Expected a tuple of TreeSpec values"):
        P.treespec_tuple([1])
    with pytest.raises(ValueError, match="Expected a dictionary of TreeSpec values"):
        P.treespec_dict(a=1)
    assert leaf != 1
    assert len({P.tree_structure(t) for t in (1, 2, [1], [2], {"a": 1}, defaultdict(int, a=1), Point(1, 2))}) == 5


# ---- dataclasses, for transforms -------------------------------------------------------------------------


def test_a_dataclass_is_a_node_where_that_is_said():
    tree = [State(1, {"x": State(2)}), 3]
    leaves, spec = trees.tree_flatten(tree, open_dataclasses=True)
    assert leaves == [1, 2, None, 3]
    assert spec.unflatten(leaves) == tree
    assert spec.unflatten("abcd") == [State("a", {"x": State("b", "c")}), "d"]
    assert trees.tree_structure(tree, open_dataclasses=True) == spec
    assert hash(trees.tree_structure(tree, open_dataclasses=True)) == hash(spec)
    assert spec.flatten_up_to([State(0, {"x": State([1], (2,))}), 3]) == [0, [1], (2,), 3]
    with pytest.raises(ValueError, match=r"Node type mismatch; expected <class '.*State'>, but got <class 'dict'>"):
        spec.flatten_up_to([{"w": 1, "rest": None}, 3])
    assert trees.broadcast_to_and_flatten([State(0, 1), None], spec, open_dataclasses=True) == [0, 1, 1, None]
    assert trees.broadcast_to_and_flatten([0, None], spec, open_dataclasses=True) == [0, 0, 0, None]
    assert trees.tree_flatten(tree)[0] == [tree[0], 3]


def test_no_constructor_of_a_dataclass_runs():
    @dataclass
    class Checked:
        w: Any
        made: Any = field(init=False)

        def __post_init__(self):
            self.made = self.w + 1

    tree = Checked(1)
    leaves, spec = trees.tree_flatten(tree, open_dataclasses=True)
    assert leaves == [1, 2]
    assert spec.unflatten([None, "x"]).made == "x"


def test_leaves_are_named_as_users_write_them():
    tree = (0, {"w": [1], 2: Point(3, State({'a"b': 4}))})
    found = [trees.named("inputs", path) for path, _ in trees.tree_leaves_with_path(tree, open_dataclasses=True)]
    assert found == ["inputs[0]", 'inputs[1]["w"][0]', "inputs[1][2].x", "inputs[1][2].y.w['a\"b']",
                     "inputs[1][2].y.rest"]  # fmt: skip
    assert [eval(name, {"inputs": tree}) for name in found] == [0, 1, 3, 4, None]  # noqa: S307 - its own path
    assert trees.named("x", ()) == "x"
    odd = {'\\"': 1, "it's": 2, "new\nline": 3}
    assert [eval(trees.named("t", path), {"t": odd}) for path, _ in trees.tree_leaves_with_path(odd)] == [1, 2, 3]  # noqa: S307 - its own path


def test_a_node_that_is_no_longer_registered_is_named():
    class Pair:
        pass

    _pytree.register_pytree_node(Pair, lambda p: ([], None), lambda values, context: Pair())
    spec = trees.tree_structure(Pair())
    _pytree._deregister_pytree_node(Pair)
    with pytest.raises(ValueError, match=r"Pair.*no longer registered"):
        spec.unflatten([])
