"""Random numbers shaped and typed as parameters are."""

from __future__ import annotations

from typing import Any

from gradwright.base import dtypes
from gradwright.distributions.implicit import angle_draw, dirichlet_draw, gamma_draw
from gradwright.engine.apply import apply
from gradwright.engine.grad_mode import no_grad
from gradwright.face import random


def normal(like: Any, shape: Any) -> Any:
    """Standard normal numbers of the dtype and on the device of ``like``."""
    return standard_normal(shape, like.dtype, like.device)


def standard_normal(shape: Any, dtype: Any, device: Any) -> Any:
    """Standard normal numbers; packages that stand on PyTorch take it from there, with these arguments."""
    return random.randn(shape, dtype=dtype, device=device)


def uniform(like: Any, shape: Any) -> Any:
    """Numbers from (0, 1), both ends left out."""
    info = dtypes.finfo(like.dtype)
    return random.rand(shape, dtype=like.dtype, device=like.device).clamp(info.tiny, 1 - info.eps / 2)


def exponential(like: Any, shape: Any) -> Any:
    """Standard exponential numbers."""
    return -uniform(like, shape).log()


def gamma(concentration: Any) -> Any:
    """Draws from Gamma(concentration, 1), which have derivatives by it."""
    with no_grad():
        drawn = random.drawn_by("standard_gamma", concentration).clamp(min=dtypes.finfo(concentration.dtype).tiny)
    return apply(gamma_draw, (concentration, drawn), {})


def angle(concentration: Any) -> Any:
    """Draws from the von Mises distribution around 0, which have derivatives by its concentration."""
    with no_grad():
        drawn = random.drawn_by("vonmises", concentration.new_zeros(concentration.shape), concentration)
    return apply(angle_draw, (concentration, drawn), {})


def dirichlet(concentration: Any) -> Any:
    """Draws from Dirichlet(concentration), along the last dim, which have derivatives by it.

    The gamma variables that they are shares of are drawn as logarithms, G(a) = G(a + 1) U**(1/a): small
    concentrations do not underflow.
    """
    with no_grad():
        larger = random.drawn_by("standard_gamma", concentration + 1)
        logs = larger.log() + uniform(concentration, concentration.shape).log() / concentration
        info = dtypes.finfo(concentration.dtype)
        drawn = logs.softmax(-1).clamp(info.tiny, 1 - info.eps / 2)
    return apply(dirichlet_draw, (concentration, drawn), {})
