"""LBFGS: on functions whose minimum is known, and step by step against PyTorch."""

import numpy as np
import pytest

import gradwright as gw


def valley(x):
    """Rosenbrock's function; its minimum, 0, is at (1, ..., 1)."""
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def closure_of(optimizer, params, loss):
    def closure():
        optimizer.zero_grad()
        value = loss(*params)
        value.backward()
        return value

    return closure


def test_rosenbrock():
    x = gw.tensor([-1.2, 1.0, -0.5, 2.0], dtype=gw.float64, requires_grad=True)
    optimizer = gw.optim.LBFGS([x], line_search_fn="strong_wolfe", max_iter=200, tolerance_change=1e-20)
    closure = closure_of(optimizer, [x], valley)
    first = optimizer.step(closure)
    assert first.item() == pytest.approx(valley(gw.tensor([-1.2, 1.0, -0.5, 2.0], dtype=gw.float64)).item())
    np.testing.assert_allclose(x.detach().numpy(), 1, rtol=1e-6)
    evaluations = optimizer.state[x]["func_evals"]
    optimizer.step(closure)
    assert optimizer.state[x]["func_evals"] == evaluations + 1  # the gradient vanishes: nothing is left to do


@pytest.mark.parametrize(
    "options",
    [{}, {"lr": 0.01}, {"tolerance_grad": 1e-2}, {"line_search_fn": "strong_wolfe"}, {"history_size": 2, "max_iter": 9},
     {"line_search_fn": "strong_wolfe", "lr": 3.0, "max_eval": 12}, {"line_search_fn": "strong_wolfe", "lr": 50.0},
     {"line_search_fn": "strong_wolfe", "lr": 1e-3, "max_iter": 7}, {"max_iter": 1}],
)  # fmt: skip
@pytest.mark.parametrize("function", ["valley", "quartic"])
def test_the_same_path(torch, options, function):
    found = []
    for lib in gw, torch:
        x = lib.tensor([-0.2, 0.5, 0.1], dtype=lib.float64, requires_grad=True)
        y = lib.tensor([[0.3 + 0.1j, -0.2j]], dtype=lib.complex128, requires_grad=True)
        unused = lib.ones(2, dtype=lib.float64, requires_grad=True)

        def loss(x, y, *_):
            bowl = (y.abs() ** 2).sum()
            return valley(x) + bowl if function == "valley" else ((x - 1) ** 4).sum() + (bowl - 1) ** 2

        optimizer = lib.optim.LBFGS([x, y, unused], **options)
        closure = closure_of(optimizer, [x, y], loss)
        losses = [optimizer.step(closure).item() for _ in range(4)]
        state = optimizer.state[x]
        found.append((losses, x.tolist(), y.tolist()[0], state["func_evals"], state["n_iter"]))
    mine, other = found
    if np.all(np.isfinite(other[0])) and max(other[0]) < 1e6:  # what explodes, also magnifies rounding
        assert mine[3:] == other[3:]
        for a, b in zip(mine[:3], other[:3], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-8)
    else:
        assert max(mine[0]) > 1e3 or not np.all(np.isfinite(mine[0]))


def test_state_travels_from_pytorch(torch):
    found = []
    x, y = (lib.tensor([-0.2, 0.5, 0.1], dtype=lib.float64, requires_grad=True) for lib in (gw, torch))
    mine, other = (lib.optim.LBFGS([v], max_iter=4, line_search_fn="strong_wolfe") for lib, v in ((gw, x), (torch, y)))
    step = closure_of(other, [y], valley)
    other.step(step)
    with gw.no_grad():
        x.copy_(gw.tensor(y.detach().numpy()))
    mine.load_state_dict(other.state_dict())
    for _ in range(2):
        mine.step(closure_of(mine, [x], valley))
        other.step(step)
        found.append((x.tolist(), y.tolist()))
    for a, b in found:
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_errors(torch):
    for lib in gw, torch:
        p = lib.ones(1, requires_grad=True)
        with pytest.raises(ValueError, match=r"^LBFGS doesn't support per-parameter options \(parameter groups\)"):
            lib.optim.LBFGS([{"params": [p]}, {"params": [lib.ones(1)]}])
        with pytest.raises(ValueError, match=r"^Invalid learning rate: -1"):
            lib.optim.LBFGS([p], lr=-1)
        optimizer = lib.optim.LBFGS([p], line_search_fn="golden")
        with pytest.raises(RuntimeError, match=r"^only 'strong_wolfe' is supported"):
            optimizer.step(closure_of(optimizer, [p], lambda p: (p * p).sum()))
