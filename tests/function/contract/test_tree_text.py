"""What remains of a tree, as text: PyTorch's, both ways."""

import importlib
import json
from collections import defaultdict
from enum import Enum
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings

from gradwright.function.contract import tree_text
from gradwright.utils import _pytree
from tests.function.contract.tree_samples import TREES, Point
from tests.thorough import WHOLE


class Colour(Enum):
    RED = 1


class Named(NamedTuple):
    x: Any
    y: Any = None


class Box:
    def __init__(self, value, context):
        self.value, self.context = value, context


@pytest.fixture
def both(torch):
    """gradwright's functions and PyTorch's; what a test registers is forgotten."""
    pair = _pytree, importlib.import_module("torch.utils._pytree")
    before = [dict(P.SUPPORTED_NODES) for P in pair]
    yield pair
    for P, nodes in zip(pair, before, strict=True):
        P.SUPPORTED_NODES.clear()
        P.SUPPORTED_NODES.update(nodes)
    for names in (pair[1].SUPPORTED_SERIALIZED_TYPES, pair[1].SERIALIZED_TYPE_TO_PYTHON_TYPE):
        for key in [key for key, value in names.items() if Named in (key, value) or Box in (key, value)]:
            del names[key]


@settings(max_examples=100 if WHOLE else 30)
@given(TREES)
def test_either_reads_what_the_other_wrote(torch, tree):
    theirs = importlib.import_module("torch.utils._pytree")
    if "Point" in repr(tree):
        return
    spec, their_spec = _pytree.tree_structure(tree), theirs.tree_structure(tree)
    text = _pytree.treespec_dumps(spec)
    assert text == theirs.treespec_dumps(their_spec)
    assert _pytree.treespec_loads(text) == spec
    assert theirs.treespec_loads(text) == their_spec
    assert _pytree.treespec_pprint(spec) == theirs.treespec_pprint(their_spec)


def test_named_tuples_and_registered_classes(both):
    texts = []
    for P in both:
        P._register_namedtuple(Named, serialized_type_name="tests.Named")
        P.register_pytree_node(
            Box, lambda b: ([b.value], b.context), lambda values, context: Box(values[0], context),
            serialized_type_name="tests.Box",
        )  # fmt: skip
        spec = P.tree_structure([Named(1, Box(2, {"c": Colour.RED, "n": [1]})), 3])
        texts.append(P.treespec_dumps(spec))
        assert P.treespec_loads(texts[-1]) == spec
    assert texts[0] == texts[1]


def test_a_context_of_ones_own(both):
    for P in both:
        P.register_pytree_node(
            Box, lambda b: ([b.value], b.context), lambda values, context: Box(values[0], context),
            serialized_type_name="tests.Box",
            to_dumpable_context=lambda context: sorted(context), from_dumpable_context=set,
        )  # fmt: skip
        spec = P.tree_structure(Box(1, {"b", "a"}))
        assert '"context": ["a", "b"]' in P.treespec_dumps(spec)
        assert P.treespec_loads(P.treespec_dumps(spec)) == spec


def test_what_has_no_name_is_refused(both):
    for P in both:
        with pytest.raises(NotImplementedError, match="register"):
            P.treespec_dumps(P.tree_structure(Point(1, 2)))
        P.register_pytree_node(Box, lambda b: ([b.value], b.context), lambda values, context: Box(values[0], context))
        with pytest.raises(NotImplementedError, match="No registered serialization name"):
            P.treespec_dumps(P.tree_structure(Box(1, 2)))
        with pytest.raises(NotImplementedError, match="Deserializing unknown in pytree is not registered"):
            P.treespec_loads('[1, {"type": "unknown", "context": null, "children_spec": []}]')
        with pytest.raises(TypeError, match="Expected `treespec` to be an instance of PyTreeSpec"):
            P.treespec_dumps([1])
        with pytest.raises(ValueError, match="Unknown protocol 2"):
            P.treespec_dumps(P.treespec_leaf(), 2)
        with pytest.raises(ValueError, match="Unknown protocol 2"):
            P.treespec_loads("[2, {}]")


def test_a_context_that_json_cannot_hold_is_refused(both):
    for P in both:
        P.register_pytree_node(
            Box, lambda b: ([b.value], b.context), lambda values, context: Box(values[0], context),
            serialized_type_name="tests.Box",
        )  # fmt: skip
        with pytest.raises(TypeError, match="Unable to serialize context"):
            P.treespec_dumps(P.tree_structure(Box(1, {2, 3})))


def test_the_old_names_warn(both):
    for P in both:
        with pytest.warns(FutureWarning, match="deprecated"):
            text = P.pytree_to_str(P.tree_structure([1]))
        with pytest.warns(FutureWarning, match="deprecated"):
            assert P.str_to_pytree(text) == P.tree_structure([1])


def test_reading_imports_nothing_and_makes_classes_alone():
    text = _pytree.treespec_dumps(_pytree.tree_structure(defaultdict(list, a=1)))
    assert _pytree.treespec_loads(text).context == [list, ["a"]]
    none = _pytree.tree_structure(defaultdict(None, a=1))
    assert tree_text.treespec_loads(_pytree.treespec_dumps(none)) == none
    for module, name in (("antigravity", "geohash"), ("os", "getcwd"), ("builtins", "eval"), ("os", "no.such")):
        (_, spec) = json.loads(text)
        spec["context"] |= {"default_factory_module": module, "default_factory_name": name}
        with pytest.raises(
            NotImplementedError, match=rf"{module}.{name} is no class of a module that has been imported"
        ):
            _pytree.treespec_loads(json.dumps([1, spec]))


def test_an_enum_is_one(both):
    ours = both[0]
    ours.register_pytree_node(
        Box, lambda b: ([b.value], b.context), lambda values, context: Box(values[0], context),
        serialized_type_name="tests.Box",
    )  # fmt: skip
    text = ours.treespec_dumps(ours.tree_structure(Box(1, Colour.RED)))
    assert ours.treespec_loads(text).context is Colour.RED
    with pytest.raises(NotImplementedError, match="is no Enum"):
        ours.treespec_loads(text.replace(f"{__name__}:Colour", "builtins:dict"))
