"""Graphviz's language, read back."""

import html
import re
import shutil
import subprocess

import pytest
from hypothesis import given, settings

import gradwright as gw
from gradwright import nn, viz
from gradwright.viz.dot import dot, quoted
from gradwright.viz.labels import line
from tests.viz.nasty import NASTY, named, names

TOKEN = re.compile(r'\s+|(?P<text>"(?:[^"\\]|\\.)*")|(?P<word>->|[\w.]+|[\[\]{}=;])', re.DOTALL)


def tokens(source: str) -> list[str]:
    """The tokens of the language, strict: anything else fails."""
    found, at = [], 0
    while at < len(source):
        match = TOKEN.match(source, at)
        assert match, source[at : at + 40]
        at = match.end()
        if match.lastgroup:
            found.append(match.group(match.lastgroup))
    return found


def read(source: str) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """The labels of nodes, as Graphviz would show them, and the edges."""
    found, edges = {}, []
    words = tokens(source)
    assert words[:2] == ["digraph", "{"]
    for k, word in enumerate(words):
        if word == "label" and words[k + 1] == "=" and words[k - 2].startswith("n"):
            shown = re.sub(r"\\(.)", lambda m: "\n" if m.group(1) == "n" else m.group(1), words[k + 2][1:-1])
            found[words[k - 2]] = html.unescape(shown)
        elif word == "->":
            edges.append((words[k - 1], words[k + 1]))
    return found, edges


def test_nodes_and_edges() -> None:
    x = gw.ones(2, 3, requires_grad=True)
    labels, edges = read(dot(viz.graph({"y": (x * x).sum()}, params={"x": x})))
    assert labels == {"n0": "y\nfloat32 []", "n1": "SumBackward0\nfloat32 []", "n2": "MulBackward0\nfloat32 [2, 3]",
                      "n3": "x\nfloat32 [2, 3]"}  # fmt: skip
    assert edges == [("n1", "n0"), ("n2", "n1"), ("n3", "n2"), ("n3", "n2")]


def test_modules_are_framed() -> None:
    class Block(nn.Module):
        def forward(self, x: gw.Tensor) -> gw.Tensor:
            return nn.Tanh()(x.exp() * 2)

    with viz.trace():
        y = Block()(gw.ones(2, 3, requires_grad=True)).sin()
    graph = viz.graph(y)
    paths = [n.module for n in graph.nodes if n.module]
    frames = re.findall(r'subgraph cluster_\d+ { label="([^"]*)"', dot(graph))
    assert frames == [p for p in dict.fromkeys(paths) if paths.count(p) > 1]
    assert "Block" in frames
    tokens(dot(graph))


@given(names)
def test_any_name_is_shown_as_it_is(name: str) -> None:
    labels, edges = read(dot(named(name)))
    assert labels["n0"].partition("\n")[0] == (line(name) if name else "Output")
    assert labels["n3"].partition("\n")[0] == (line(name) if name else "AccumulateGrad")
    assert len(labels) == 4
    assert edges == [("n1", "n0"), ("n2", "n1"), ("n3", "n2")]


@given(names)
def test_a_quoted_text_is_one_token(text: str) -> None:
    assert len(tokens(f"a [label={quoted(text)}]")) == 6


def test_a_large_graph_is_folded() -> None:
    y = gw.ones(1, requires_grad=True)
    for _ in range(6000):
        y = y * 1.1
    assert len(read(dot(viz.graph(y)))[0]) == 3


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed: it does not read what was written")
@settings(max_examples=5)
@given(names)
def test_graphviz_reads_it(name: str) -> None:
    source = "\n".join(dot(named(given_name)) for given_name in (name, *NASTY))
    done = subprocess.run(["dot", "-Tplain"], input=source.encode("utf-8"), capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.count(b"stop\n") == 1 + len(NASTY)
