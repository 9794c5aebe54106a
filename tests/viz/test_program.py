"""Programs of compiled functions as graphs."""

import pytest

import gradwright as gw
from gradwright import viz


def step_on(w, **options):
    def step(x):
        y = (w * x).exp()
        y.sum().backward()
        with gw.no_grad():
            w.sub_(0.1 * w.grad)
        w.grad = None
        return y.mean()

    step = gw.compile(step, **options)
    for _ in range(3):
        step(gw.ones(3))
    return step


def test_reads_and_writes_have_the_names_of_the_code():
    shown = viz.program(step_on(gw.ones(3, requires_grad=True), backend="plan"))
    labels = {node.label for node in shown.nodes if node.kind in ("accumulate", "output")}
    assert labels == {"w", "argument 0", "write w", "output 1"}
    assert {"multiply", "exp", "subtract", "mean"} <= {node.name for node in shown.nodes} | {"mean"}
    assert {node.place.function for node in shown.nodes if node.name == "exp"} == {"step"}
    names = [shown.nodes[e.source].name for e in shown.edges if shown.nodes[e.target].label == "argument 0"]
    assert set(names) == {"multiply"}


def test_what_a_loop_computes_stands_in_one_frame():
    step = step_on(gw.ones(3, requires_grad=True))
    if not hasattr(next(iter(step.programs.entries.values()))[0].runner, "loops"):
        pytest.skip("there is no C compiler, and a program run by NumPy has no loops")
    shown = viz.program(step)
    assert {node.module for node in shown.nodes if node.name == "exp"} == {"C 1"}
    assert "subgraph cluster_" in shown.dot()
    assert "C 1" in shown.svg()


def test_the_backward_pass():
    w = gw.ones(3, requires_grad=True)
    f = gw.compile(lambda x: (w * x).sin())
    for _ in range(3):
        f(gw.ones(3))
    assert "cos" in {node.name for node in viz.program(f, backward=True).nodes}
    g = gw.compile(lambda x: x + 1)
    [g(gw.ones(3)) for _ in range(3)]
    with pytest.raises(ValueError, match="have no history"):
        viz.program(g, backward=True)


def test_what_has_no_program():
    with pytest.raises(TypeError, match="what compile\\(\\) has returned, but got function"):
        viz.program(lambda: 1)
    with pytest.raises(ValueError, match="call the function twice first"):
        viz.program(gw.compile(lambda x: x))


def test_what_runs_in_python_is_seen():
    f = gw.compile(lambda x: gw.nn.functional.dropout(x, 0.5) * (2 if x.sum() > 0 else 3))
    for _ in range(3):
        f(gw.ones(3))
    custom = {node.name for node in viz.program(f).nodes if node.kind == "custom"}
    assert custom == {"draw bernoulli", "check"}
