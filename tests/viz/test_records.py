"""The records: their sizes, JSON and files."""

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given

import gradwright as gw
from gradwright import viz
from gradwright.errors import LayoutError
from gradwright.viz.records import Edge, Gradient, Graph, GraphNode, Saved, Stats, forms
from tests.viz.nasty import named, names


@pytest.fixture
def graph() -> Graph:
    x = gw.ones(2, 3, requires_grad=True)
    y = x.exp()
    return viz.graph(y * y, params={"x": x})


def test_a_graph_is_as_large_as_it_is(graph: Graph) -> None:
    assert graph.stats == Stats(nodes=4, edges=4, saved_bytes=24, depth=4)  # y is saved three times, in one memory
    assert repr(graph) == "<Graph of 4 nodes and 4 edges>"
    assert [[(e.target, e.input) for e in out] for out in graph.outgoing] == [[(1, 0)], [(2, 0), (2, 1)], [(3, 0)], []]


def test_bytes_without_a_memory_are_counted_each() -> None:
    nodes = (GraphNode(0, "a", saved=(Saved("x", nbytes=3), Saved("y", nbytes=4))), GraphNode(1, "b", count=5))
    assert Graph(nodes, (Edge(0, 1),), (0,)).stats == Stats(6, 1, 7, 2)
    assert Graph((), (), ()).stats == Stats(0, 0, 0, 0)


def test_records_cannot_be_changed(graph: Graph) -> None:
    for record in (graph, graph.nodes[0], graph.edges[0], Saved("x")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, dataclasses.fields(record)[0].name, None)


def test_json_holds_everything(graph: Graph) -> None:
    read = json.loads(graph.json())
    assert read == graph.as_dict()
    rebuilt = [
        GraphNode(**{k: tuple(v) if isinstance(v, list) else v for k, v in n.items() if k != "saved"},
                  saved=tuple(Saved(**{**s, "shape": tuple(s["shape"])}) for s in n.get("saved", ())))
        for n in read["nodes"]
    ]  # fmt: skip
    assert tuple(rebuilt) == graph.nodes
    assert tuple(Edge(*e) for e in read["edges"]) == graph.edges
    assert read["roots"] == [0]
    assert read["stats"] == {"nodes": 4, "edges": 4, "saved_bytes": 24, "depth": 4}


def test_numbers_that_are_not_finite_are_strings() -> None:
    graph = Graph((GraphNode(0, "a", gradient=Gradient(float("nan"), float("inf"))),), (), (0,))
    assert json.loads(graph.json())["nodes"] == [{"id": 0, "name": "a", "gradient": {"norm": "nan", "rms": "inf"}}]


@given(names)
@example("\ud800")
def test_any_name_goes_through_json(name: str) -> None:
    read = json.loads(named(name).json().encode("utf-8"))
    assert {n["label"] for n in read["nodes"] if "label" in n} >= {name}


# -- files --


@pytest.mark.parametrize("suffix", [".txt", ".json", ".dot", ".gv", ".mmd", ".svg", ".html", ".SVG"])
def test_a_suffix_names_the_form(graph: Graph, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"graph{suffix}"
    assert graph.save(path) == path
    starts = {".txt": "Output", ".json": "{", ".dot": "digraph", ".gv": "digraph", ".mmd": "flowchart", ".svg": "<svg",
              ".html": "<!doctype html"}  # fmt: skip
    assert path.read_text("utf-8").startswith(starts[suffix.lower()])
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("name", ["graph.png", "graph", ".svg"])
def test_another_suffix_is_refused(graph: Graph, tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"\.txt, \.json, \.dot, \.gv, \.mmd, \.svg, \.html"):
        graph.save(tmp_path / name)
    assert os.listdir(tmp_path) == []


def test_a_path_that_cannot_be_written_is_named(graph: Graph, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        graph.save(tmp_path / "missing" / "graph.txt")
    assert caught.value.filename == str(tmp_path / "missing" / "graph.txt")


# -- in a notebook --


def test_a_notebook_shows_a_picture_with_the_tree_beside_it(graph: Graph) -> None:
    shown = graph._repr_mimebundle_()
    assert shown["text/plain"] == str(graph) == graph.text()
    assert shown["image/svg+xml"].startswith("<svg")


def test_a_notebook_shows_the_tree_where_nothing_can_lay_out(graph: Graph, monkeypatch: Any) -> None:
    def fail(_: Graph) -> str:
        raise LayoutError("no")

    monkeypatch.setitem(forms, "svg", fail)
    assert list(graph._repr_mimebundle_(include=None, exclude=None)) == ["text/plain"]
