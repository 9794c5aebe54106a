"""What stands on nodes."""

import pytest
from hypothesis import given

from gradwright.viz.labels import COLOURS, MEANINGS, about, line, remarks, shape, title
from gradwright.viz.records import Edge, Gradient, Graph, GraphNode, Place, Saved
from tests.viz.nasty import names


def node(**known: object) -> GraphNode:
    return GraphNode(0, "MulBackward0", **known)  # type: ignore[arg-type]


@pytest.mark.parametrize(("given", "expected"), [
    (node(), "MulBackward0"), (node(label="h"), "MulBackward0"), (node(kind="stop"), "✂ MulBackward0"),
    (node(kind="output"), "MulBackward0"), (node(kind="output", label="loss"), "loss"),
    (node(kind="accumulate", label="w"), "w"),
])  # fmt: skip
def test_titles(given: GraphNode, expected: str) -> None:
    assert title(given) == expected


def test_shapes() -> None:
    assert shape(node()) == ""
    assert shape(node(shape=(2, 3))) == "[2, 3]"
    assert shape(node(shape=(), dtype="float32")) == "float32 []"


def test_remarks() -> None:
    place = Place("/a/b.py", 3, "f", "y = x")
    saved = Saved("a", nbytes=2000, memory=1), Saved("b", nbytes=2000, memory=1)
    told = node(place=place, reason="because", saved=saved, gradient=Gradient(1.0, 0.5), order=3, module="M.0")
    assert list(remarks(told)) == ["b.py:3: because", "saves 2 kB", "gradient 0.5", "double backward", "M.0"]
    assert list(remarks(node(place=place, freed=True, order=2))) == ["freed", "b.py:3", "backward"]
    assert list(remarks(node(saved=(Saved("a", changed=True),)))) == ["a saved value was changed in place"]
    assert list(remarks(node(order=5))) == ["order 5"]
    assert list(remarks(node())) == []


def test_sizes() -> None:
    graph = Graph((node(), GraphNode(1, "a", saved=(Saved("x", nbytes=5),))), (Edge(0, 1),), (0,))
    assert about(graph) == "2 nodes, depth 2, 5 B saved"
    assert about(Graph((node(),), (), (0,), graph.stats)) == "2 nodes, folded to 1, depth 2, 5 B saved"
    assert about(Graph((node(),), (), (0,))) == "1 node, depth 1, nothing saved"


@given(names)
def test_a_line_is_one(text: str) -> None:
    made = line(text)
    assert made.isprintable()
    assert len(made) <= 60


def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("kind", COLOURS)
def test_text_can_be_read_on_every_ground(kind: str) -> None:
    _, light, _, dark = COLOURS[kind]
    for text, ground in (("#1d2126", light), ("#5b6570", light), ("#e6e8ea", dark), ("#a0a9b3", dark)):
        low, high = sorted((luminance(text), luminance(ground)))
        assert (high + 0.05) / (low + 0.05) >= 4.5


def test_every_kind_but_an_operation_is_explained() -> None:
    assert set(MEANINGS) == set(COLOURS) - {"op"}
