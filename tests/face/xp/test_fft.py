from typing import Any

import array_api_strict as strict
import numpy as np
import pytest

import gradwright
from gradwright import xp
from gradwright.autograd import gradcheck, gradgradcheck
from tests.face.xp.agreement import agree, always, arrays

ONE = [{}, {"axis": 0}, {"n": 3}, {"n": 7, "norm": "ortho"}, {"norm": "forward", "axis": 1}]
SEVERAL = [{}, {"axes": (0, 2)}, {"s": (3, 5), "axes": (1, 0), "norm": "ortho"}, {"s": (4,), "axes": (2,)}]
INPUTS = {"fft": "complex", "ifft": "complex", "rfft": "float", "irfft": "complex", "hfft": "complex", "ihfft": "float"}
CUBE = (2, 3, 4)


@pytest.mark.parametrize("options", ONE, ids=str)
@pytest.mark.parametrize("name", INPUTS)
def test_of_one_axis(name: str, options: Any) -> None:
    always(f"fft.{name}", arrays(INPUTS[name], CUBE), **options)


@pytest.mark.parametrize("options", SEVERAL, ids=str)
@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_of_several_axes(name: str, options: Any) -> None:
    always(f"fft.{name}", arrays(INPUTS[name[:-1]], CUBE), **options)


@pytest.mark.parametrize("axes", [None, 0, (0, -1)])
def test_shifts(axes: Any) -> None:
    for name in ("fftshift", "ifftshift"):
        always(f"fft.{name}", arrays("floating", CUBE), axes=axes)


@pytest.mark.parametrize("n", [1, 4, 5])
def test_frequencies(n: int) -> None:
    for name in ("fftfreq", "rfftfreq"):
        assert getattr(xp.fft, name)(n, d=0.5).dtype is xp.float32
        agree(f"fft.{name}", n, d=0.5, dtype=strict.float64)


@pytest.mark.parametrize("name", [*INPUTS, "fftn", "rfftn", "irfftn"])
def test_gradients(name: str) -> None:
    """Complex arrays stand as pairs of real ones."""
    x = gradwright.tensor(np.random.default_rng(0).standard_normal((3, 4, 2)), requires_grad=True)
    of_reals = INPUTS[name.rstrip("n")] == "float"

    def f(x: Any, options: Any) -> Any:
        y = getattr(xp.fft, name)(x[..., 0] if of_reals else xp.view_as_complex(x), **options)
        return xp.view_as_real(y) if y.is_complex() else y

    for options in ({}, {"norm": "ortho", **({"s": (2, 5)} if name.endswith("n") else {"n": 5})}):
        assert gradcheck(lambda x, o=options: f(x, o), (x,))
        assert gradgradcheck(lambda x, o=options: f(x * x, o), (x,))


def test_what_it_refuses() -> None:
    x = xp.ones((2, 3))
    with pytest.raises(TypeError, match="floating-point"):
        xp.fft.rfft(xp.ones(3, dtype=xp.int64))
    with pytest.raises(ValueError, match="norm must be one of"):
        xp.fft.fft(x, norm="none")
    with pytest.raises(ValueError, match="at least 1"):
        xp.fft.fft(x, n=0)
    with pytest.raises(ValueError, match="2 sizes do not fit 1 axes"):
        xp.fft.fftn(x, s=(2, 2), axes=(0,))
    with pytest.raises(IndexError, match="out of range"):
        xp.fft.fft(x, axis=2)
