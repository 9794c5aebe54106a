"""Running an optimiser beside PyTorch's: the same parameters and gradients, step by step."""

from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.backends import fused

SHAPES = [(3, 4), (), (0,), (5,), (2, 3, 2), (9, 11), (7,)]


class Twins:
    """Parameters in gradwright and in PyTorch, and an optimiser for each."""

    def __init__(self, torch: Any, name: str, options: dict[str, Any], dtype: str = "float32",
                 shapes: Any = SHAPES) -> None:  # fmt: skip
        self.torch, self.rng = torch, np.random.default_rng(0)
        self.dtype = dtype
        values = [self.draw(shape) for shape in shapes]
        self.ours = [gw.tensor(v, requires_grad=True) for v in values]
        self.theirs = [torch.tensor(v, requires_grad=True) for v in values]
        if len(shapes) > 3:  # one that is not contiguous, with gradients that are not, either
            v = self.draw((4, 3))
            self.ours.append(gw.tensor(v).t().detach().requires_grad_())
            self.theirs.append(torch.tensor(v).t().detach().requires_grad_())
        self.make(name, options)

    def make(self, name: str, options: dict[str, Any]) -> None:
        self.mine = getattr(gw.optim, name)(self.ours, **self.brought(options, gw))
        self.other = getattr(self.torch.optim, name)(self.theirs, **self.brought(options, self.torch))

    def brought(self, options: Any, lib: Any) -> Any:
        """Options with tensors of a library, whichever they come from."""
        if isinstance(options, dict):
            return {name: self.brought(value, lib) for name, value in options.items()}
        if isinstance(options, tuple):
            return tuple(self.brought(value, lib) for value in options)
        return lib.tensor(options.item()) if hasattr(options, "item") else options

    def draw(self, shape: Any) -> Any:
        return np.asarray(self.rng.standard_normal(shape) * (1 + 1j if "complex" in self.dtype else 1)).astype(
            self.dtype)  # fmt: skip

    def give(self, skipped: Any = ()) -> None:
        """New gradients; None for those skipped."""
        for i, (p, q) in enumerate(zip(self.ours, self.theirs, strict=True)):
            g = self.draw(tuple(p.shape)[::-1] if i % 2 else tuple(p.shape)).T if i % 2 else self.draw(tuple(p.shape))
            p.grad = None if i in skipped else gw.tensor(g)
            q.grad = None if i in skipped else self.torch.tensor(np.array(g))

    def step(self, skipped: Any = ()) -> None:
        self.give(skipped)
        self.mine.step()
        self.other.step()

    def check(self, rtol: float | None = None, atol: float | None = None) -> None:
        """The parameters and the state are the same."""
        wide = self.dtype in ("float64", "complex128")
        tolerance = {"rtol": rtol or (1e-6 if wide else 2e-5), "atol": atol or (1e-9 if wide else 2e-6)}
        for p, q in zip(self.ours, self.theirs, strict=True):
            np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), **tolerance)
        mine, other = self.mine.state_dict(), self.other.state_dict()
        assert mine["param_groups"] == [self.brought(group, gw) for group in other["param_groups"]]
        assert list(mine["state"]) == list(other["state"])
        for i, state in other["state"].items():
            assert list(mine["state"][i]) == list(state)
            for name, value in state.items():
                if hasattr(value, "shape"):
                    found = mine["state"][i][name]
                    assert tuple(found.shape) == tuple(value.shape)
                    assert str(found.dtype) == str(value.dtype)
                    np.testing.assert_allclose(found.numpy(), value.numpy(), **tolerance, err_msg=name)


@pytest.fixture
def twins(torch: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(fused, "_CHUNK", 64)  # 16 numbers of float32: SHAPES has parameters far smaller and larger

    def make(*args: Any, **options: Any) -> Twins:
        return Twins(torch, *args, **options)

    return make
