"""A layer's result written in place, as an activation with ``inplace=True`` does, against PyTorch."""

from typing import Any

import numpy as np
import pytest

import gradwright as gw

IMAGE = (2, 4, 6, 6)
LAYERS: dict[str, tuple[Any, tuple[int, ...]]] = {
    **{f"InstanceNorm{n}d": (lambda nn, n=n: getattr(nn, f"InstanceNorm{n}d")(4), (2, 4, 3, 3, 4)[: n + 2])
       for n in (1, 2, 3)},
    **{f"MaxPool{n}d": (lambda nn, n=n: getattr(nn, f"MaxPool{n}d")(2), (2, 4, 6, 6, 6)[: n + 2]) for n in (1, 2, 3)},
    **{f"AdaptiveMaxPool{n}d": (lambda nn, n=n: getattr(nn, f"AdaptiveMaxPool{n}d")(2), (2, 4, 6, 6, 6)[: n + 2])
       for n in (1, 2, 3)},
    **{f"{kind}, affine {a}": (lambda nn, kind=kind, a=a: getattr(nn, kind)(4, affine=a), IMAGE)
       for kind in ("InstanceNorm2d", "BatchNorm2d") for a in (False, True)},
    **{f"{kind}, affine {a}": (lambda nn, kind=kind, a=a: getattr(nn, kind)([6], elementwise_affine=a), IMAGE)
       for kind in ("LayerNorm", "RMSNorm") for a in (False, True)},
    "GroupNorm": (lambda nn: nn.GroupNorm(2, 4), IMAGE),
    "GroupNorm, affine False": (lambda nn: nn.GroupNorm(2, 4, affine=False), IMAGE),
    "LocalResponseNorm": (lambda nn: nn.LocalResponseNorm(2), IMAGE),
    "AvgPool2d": (lambda nn: nn.AvgPool2d(2), IMAGE),
    "LPPool2d": (lambda nn: nn.LPPool2d(2, 2), IMAGE),
    "Upsample": (lambda nn: nn.Upsample(scale_factor=2, mode="bicubic"), IMAGE),
    "PixelShuffle": (lambda nn: nn.PixelShuffle(2), IMAGE),
    "Unfold": (lambda nn: nn.Unfold(2), IMAGE),
    "ReflectionPad2d": (lambda nn: nn.ReflectionPad2d(1), IMAGE),
    "CircularPad2d": (lambda nn: nn.CircularPad2d(1), IMAGE),
    "Identity": (lambda nn: nn.Sequential(nn.Hardswish(), nn.Identity()), IMAGE),
    **{kind: (lambda nn, kind=kind: getattr(nn, kind)(), IMAGE) for kind in (
        "CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid",
        "Mish", "PReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softmax2d", "Softplus", "Softshrink", "Softsign",
        "Tanh", "Tanhshrink")},
    "erfinv": (lambda nn: lambda x: (x * 0.2).erfinv(), IMAGE),
    "sign": (lambda nn: lambda x: x.sign(), IMAGE),
}  # fmt: skip
WRITES: dict[str, Any] = {"relu_": lambda y: y.relu_(), "add_": lambda y: y.add_(1.5)}


def first_and_second(lib: Any, name: str, write: Any) -> list[Any] | None:
    """The gradient of a program with the write, and a second one; None if it is refused."""
    make, shape = LAYERS[name]
    layer = make(lib.nn)
    if isinstance(layer, lib.nn.Module):
        layer.double()
    values = np.random.default_rng(0).uniform(-2, 2, shape)
    x = lib.tensor(values.tolist(), dtype=lib.float64, requires_grad=True)
    y = write(layer(x * 1))
    try:
        (g,) = lib.autograd.grad((y * y).sum(), x, create_graph=True)
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error)  # noqa: PT017 - PyTorch refuses some
        return None
    (h,) = lib.autograd.grad((g * g).sum(), x) if g.requires_grad else (None,)
    return [np.array(e.detach().tolist()) for e in (g, h) if e is not None]


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("name", LAYERS)
def test_as_pytorch(torch: Any, name: str, write: str) -> None:
    theirs = first_and_second(torch, name, WRITES[write])
    ours = first_and_second(gw, name, WRITES[write])
    assert (ours is None) == (theirs is None)
    for one, other in zip(ours or (), theirs or (), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("change", ["mul_", "zero_"])
def test_an_input_that_is_written_is_refused(change: str) -> None:
    """What is computed again is computed from what was there."""
    a = gw.randn(1, 2, 4, 4, requires_grad=True)
    x = a * 1
    y = gw.nn.functional.max_pool2d(x, 2)
    y.add_(1)
    x.mul_(2) if change == "mul_" else x.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_under_vmap() -> None:
    x = gw.randn(3, 2, 4, dtype=gw.float64)

    def loss(x: Any, write: bool) -> Any:
        y = gw.nn.functional.max_pool1d(x, 2)
        return ((y.relu_() if write else y.relu()) ** 2).sum()

    both = [gw.func.vmap(gw.func.grad(lambda x, write=write: loss(x, write)))(x) for write in (True, False)]
    np.testing.assert_allclose(both[0].numpy(), both[1].numpy())
