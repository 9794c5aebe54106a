"""Mermaid's language, read back."""

import re

from hypothesis import given

import gradwright as gw
from gradwright import viz
from gradwright.viz.labels import line
from gradwright.viz.mermaid import mermaid, written
from tests.viz.nasty import named, names

NODE = re.compile(r'  (n\d+)(\[|\(\[)"([^"]*)"(\]|\]\)):::(\w+)')
STYLE = r"fill:#\w{6},stroke:#\w{6},color:#\w{6}(,stroke-dasharray:4 3)?"
REST = re.compile(rf"flowchart TD|  n\d+ --> n\d+|  classDef \w+ {STYLE}")


def shown(label: str) -> str:
    """A label as Mermaid shows it."""
    return re.sub(r"#(\d+);", lambda m: chr(int(m.group(1))), label)


def read(source: str) -> dict[str, str]:
    """The labels of nodes; every line is one of those there are."""
    found = {}
    for row in source.split("\n"):
        match = NODE.fullmatch(row)
        if match:
            found[match.group(1)] = match.group(3)
        else:
            assert REST.fullmatch(row), row
    return found


def test_nodes_edges_and_kinds() -> None:
    x = gw.ones(2, requires_grad=True)
    with viz.trace():
        y = x * x.detach()
    source = mermaid(viz.graph(y, params={"x": x}))
    assert read(source) == {"n0": "Output<br>float32 [2]", "n1": "MulBackward0<br>float32 [2]",
                            "n2": "x<br>float32 [2]", "n3": "✂ detach()"}  # fmt: skip
    assert [row for row in source.splitlines() if "-->" in row] == ["  n1 --> n0", "  n2 --> n1", "  n3 --> n1"]
    assert "classDef stop" in source


@given(names)
def test_any_name_is_shown_as_it_is(name: str) -> None:
    labels = read(mermaid(named(name)))
    assert len(labels) == 4
    label = labels["n3"].partition("<br>")[0]
    assert shown(label) == (line(name) if name else "AccumulateGrad")
    assert not set('<>&"`%{}|;') & set(re.sub(r"#\d+;", "", label))


@given(names)
def test_what_is_written_reads_back(text: str) -> None:
    assert shown(written(text)) == text


def test_a_large_graph_is_folded() -> None:
    y = gw.ones(1, requires_grad=True)
    for _ in range(1000):
        y = y * 1.1
    assert len(read(mermaid(viz.graph(y)))) == 3
