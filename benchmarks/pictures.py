"""Looking at graphs of a thousand, twenty thousand and a million nodes; torchviz, which recurses, can do the first."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

from benchmarks.runner import Case, Figure, Pace, fresh

_NONE = float("nan")
"""What PyTorch takes for what there is no way to do with it."""


def _blocks(lib: Any, nodes: int) -> Any:
    """A graph of about so many nodes, as deep as a network: a residual block is five of them."""
    w, x = lib.ones(2, 2, requires_grad=True), lib.ones(2, 2, requires_grad=True)
    for _ in range(nodes // 5):
        x = x + (x @ w).tanh().mul(0.5).exp()
    return x.sum()


def _tree(lib: Any, nodes: int) -> Any:
    """A graph of about so many nodes, balanced, so that it is not deep."""
    x = lib.ones(4, requires_grad=True)
    level = [x.exp() * 2.0 for _ in range(nodes // 3)]
    while len(level) > 1:
        level = [a + b for a, b in zip(level[::2], level[1::2], strict=False)] + level[len(level) & ~1 :]
    return level[0]


def _thousand(lib: Any, pace: Pace) -> Callable[[], tuple[float, ...]]:
    y = _tree(lib, 1000)
    if lib.__name__ == "gradwright":
        viz = lib.viz
        steps = (viz.make_dot, viz.graph, lambda y: viz.graph(y).text(), lambda y: viz.graph(y).svg())
        return lambda: tuple(_seconds(step, y) for step in steps)
    if importlib.util.find_spec("torchviz") is None:
        return lambda: (_NONE,) * 4
    torchviz = importlib.import_module("torchviz")

    def draw(y: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it uses distutils
            return torchviz.make_dot(y)

    return lambda: (_seconds(draw, y), _NONE, _NONE, _NONE)


def _large(lib: Any, pace: Pace) -> Callable[[], tuple[float, ...]]:
    if lib.__name__ != "gradwright":
        return lambda: (_NONE,) * 3
    y = _blocks(lib, 20_000)
    graph = lib.viz.graph(y)

    def sample() -> tuple[float, ...]:
        return _seconds(lib.viz.graph, y), _seconds(lambda g: g.text(), graph), _seconds(lambda g: g.svg(), graph)

    return sample


_PROGRAM = """
import json, time
import gradwright as gw
from gradwright import viz

y = gw.ones(1, requires_grad=True)
for _ in range(1_000_000):
    y = y * 1.0000001
start = time.perf_counter()
graph = viz.graph(y)
walked = time.perf_counter()
text = graph.text()
done = time.perf_counter()
assert "1,000,000 × MulBackward0" in text, text
print(json.dumps([walked - start, done - walked]))
"""


def _million(lib: Any, pace: Pace) -> Callable[[], tuple[float, ...]]:
    if lib.__name__ != "gradwright":
        return lambda: (_NONE,) * 2
    return lambda: tuple(fresh(_PROGRAM))


def _seconds(step: Callable[[Any], Any], given: Any) -> float:
    start = perf_counter()
    step(given)
    return perf_counter() - start


thousand = Case(
    (
        Figure("graph of 1,000 nodes by make_dot (PyTorch: torchviz)", "s", 1.5),
        Figure("the same as records", "s", None),
        Figure("the same as a tree in text", "s", None),
        Figure("the same as an SVG picture", "s", None),
    ),
    _thousand,
    rounds=5,
)
large = Case(
    (
        Figure("graph of 20,000 nodes as records", "s", None),
        Figure("the same folded, as a tree in text", "s", None),
        Figure("the same folded, as an SVG picture", "s", None),
    ),
    _large,
    rounds=3,
)
million = Case(
    (
        Figure("chain of 1,000,000 nodes as records", "s", None),
        Figure("the same folded, as a tree in text", "s", None),
    ),
    _million,
    rounds=1,
)
