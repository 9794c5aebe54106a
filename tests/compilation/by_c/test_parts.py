"""Large programs have as many different loops as they have different layers; what comes out is the same to the bit."""

import re

import numpy as np
import pytest

import gradwright as gw
from gradwright.compilation.by_c import parts
from gradwright.compilation.by_c.runner import C
from gradwright.compilation.node import Interpreted, Program
from tests.compilation.checks import entries
from tests.compilation.random_programs import Making, bits, close


def training(layers: int, optimizer: str) -> Program:
    """The program of a step of a deep network."""
    gw.manual_seed(0)
    net = gw.nn.Sequential(*(m for _ in range(layers) for m in (gw.nn.Linear(16, 16), gw.nn.Tanh())))
    optim = getattr(gw.optim, optimizer)(net.parameters(), lr=0.01)
    x = gw.randn(16, 16)

    @gw.compile(backend="plan", fullgraph=True)
    def step() -> gw.Tensor:
        optim.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optim.step()
        return loss

    for _ in range(3):
        step()
    (entry,) = entries(step)
    return entry.record.program


def functions(c: C) -> int:
    return len(re.findall(r"^static .*\b(?:loop|product)_\d+\(", c.source, re.MULTILINE))


@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_more_layers_are_no_more_functions(optimizer: str, compiler: None) -> None:
    few, many = C(training(6, optimizer)), C(training(20, optimizer))
    assert len(many.loops) > 2.5 * len(few.loops)
    assert functions(many) <= 2 * functions(few) < len(many.loops) / 4
    assert many.source.count(" case ") <= functions(many) + 1  # the steps are lines of a table


def results(program: Program, arrays: list[np.ndarray], c: C) -> list[object]:
    given = [a.copy() for a in arrays]
    return [bits(x) for x in [*c(given), *given] if x is not None]


@pytest.mark.parametrize("optimizer", ["SGD", "Adam", "RMSprop"])
def test_a_network_is_the_same_in_parts(optimizer: str, compiler: None, monkeypatch: pytest.MonkeyPatch) -> None:
    program, rng = training(6, optimizer), np.random.default_rng(0)
    arrays = [np.asarray(rng.uniform(0.1, 1, n.shape)).astype(n.dtype) for n in program.inputs]
    shared = results(program, arrays, C(program))
    monkeypatch.setattr(parts, "_MANY", 10**9)
    assert shared == results(program, arrays, C(program))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_random_programs_in_parts(seed: int, exact: bool, compiler: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small ones, too: each loop in its parts, and every function that comes twice with a table."""
    monkeypatch.setattr(parts, "_MANY", 0)
    made = Making(seed, special=exact, outside=True)
    ours, first, second = C(made.program, exact=exact), made.inputs(), made.inputs()
    for a, b in zip(ours(first) + first, Interpreted(made.program)(second) + second, strict=True):
        assert (a is None) is (b is None)
        assert a is None or (bits(a) == bits(b) if exact else close(a, b))
