"""Libraries that are registered: that of docs/array-libraries.md, beside NumPy and array-api-strict."""

import importlib
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright import backends
from gradwright.engine.base import wrap
from tests.engine.test_memory import PROGRAMS, on_numpy, on_strict, outcome, values

PAGE = Path(__file__).parents[2] / "docs/array-libraries.md"


@pytest.fixture(scope="module")
def slate() -> Any:
    """The class of the arrays of the page's library."""
    program = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0]
    names: dict[str, Any] = {}
    exec(compile(program, str(PAGE), "exec"), names)  # noqa: S102 - it is the documentation's
    return names["Slate"]


def on_slate(slate: Any) -> Any:
    return lambda values, dtype=np.float64: wrap(slate(np.asarray(values, dtype)))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_programs_over_a_library_of_ones_own(slate: Any, program: Any) -> None:
    np.testing.assert_equal(outcome(program, on_slate(slate)), outcome(program, on_numpy))


def test_a_program_stays_in_the_library(slate: Any) -> None:
    w = gw.xp.asarray(slate([[0.5, -1.0], [2.0, 0.25]])).requires_grad_()
    x = gw.tensor([1.0, 2.0], dtype=gw.float64).to("slate")
    loss = ((w @ x).tanh() ** 2).sum()
    loss.backward()
    with gw.no_grad():
        w -= 0.1 * w.grad
    v = gw.tensor([[0.5, -1.0], [2.0, 0.25]], dtype=gw.float64, requires_grad=True)
    ((v @ x.cpu()).tanh() ** 2).sum().backward()
    assert {type(t.array) for t in (w, w.grad, loss)} == {slate}
    np.testing.assert_allclose(values(w), (v - 0.1 * v.grad).detach().numpy(), rtol=1e-15)
    assert w.device == gw.device("slate")


def test_where_sharing_is_not_known_a_write_raises(slate: Any, monkeypatch: Any) -> None:
    b = wrap(slate([1.0, 2.0]))
    known = backends.library(b.array)
    monkeypatch.setitem(backends._by_type, slate, replace(known, views=None))
    for other in (lambda: b[:1], b.detach):
        shares = other()
        for t in (b, shares):
            with pytest.raises(RuntimeError, match=r"arrays of slate share memory is not known .* clone\(\)"):
                t.mul_(2)
        assert values(b).tolist() == [1, 2]
        assert b._version == 0
        shares.clone().mul_(2)
        del shares, t
    b.mul_(2)  # nobody else is left
    assert values(b).tolist() == [2, 4]


def test_an_array_of_an_unknown_library_is_refused_by_its_name() -> None:
    class Foreign:
        pass

    with pytest.raises(TypeError, match=r"got Foreign of tests.*gradwright\.backends\.register"):
        backends.library(Foreign())


strict = importlib.import_module("gradwright.backends.strict")


def on_device(k: int) -> Any:
    return gw.tensor([1.0, 2.0], dtype=gw.float64).to(f"array-api-strict:{k}")


PAIRS = {
    "libraries": (lambda: on_strict([1.0, 2.0]), lambda: on_numpy([3.0, 4.0]), "array-api-strict", "NumPy"),
    "the other way": (lambda: on_numpy([1.0, 2.0]), lambda: on_strict([3.0, 4.0]), "NumPy", "array-api-strict"),
    "devices": (lambda: on_device(0), lambda: on_device(1), "array-api-strict:0", "array-api-strict:1"),
}
OPERATIONS = {
    "add": lambda x, y: x + y,
    "matmul": lambda x, y: x @ y,
    "cat": lambda x, y: gw.cat([x, y]),
    "hypot": gw.hypot,
    "add_": lambda x, y: x.add_(y),
    "write to a view": lambda x, y: x[:1].mul_(y[:1]),
    "isub": lambda x, y: x.__isub__(y),
    "set_": lambda x, y: x.set_(y),
    "grad": lambda x, y: setattr(x, "grad", y),
    "backward": lambda x, y: (x.clone().requires_grad_() * 2).backward(y),
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("pair", PAIRS)
def test_two_libraries_or_devices_in_one_operation(pair: str, operation: str) -> None:
    x, y = PAIRS[pair][0](), PAIRS[pair][1]()
    _, _, first, second = PAIRS[pair]
    with pytest.raises(RuntimeError, match=rf"{first}.* and .*{second}.*\. Move one of them: with x\.to"):
        OPERATIONS[operation](x, y)
    assert values(x).tolist() == [1, 2]
    assert x._version == 0
    assert x.grad is None


def test_a_pass_through_several_libraries() -> None:
    x = on_numpy([0.5, 2.0]).requires_grad_()
    there = x.sin().to("array-api-strict:1").exp().to("cpu").cos()
    here = x.sin().exp().cos()
    one = on_numpy([1.0, 1.0])
    found = [gw.autograd.grad(y, x, one, create_graph=True)[0] for y in (there, here)]
    np.testing.assert_array_equal(values(found[0]), values(found[1]))
    found = [gw.autograd.grad(g, x, one)[0] for g in found]
    np.testing.assert_array_equal(values(found[0]), values(found[1]))


def test_a_derivative_in_another_library_is_refused() -> None:
    class Elsewhere(gw.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g.to("cpu")

    x = on_strict([1.0, 2.0]).requires_grad_()
    with pytest.raises(RuntimeError, match="array-api-strict and NumPy"):
        Elsewhere.apply(x).backward(on_strict([1.0, 1.0]))
