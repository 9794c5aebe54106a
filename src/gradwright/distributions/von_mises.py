"""The von Mises distribution, of angles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradwright.distributions import constraints, draws
from gradwright.distributions.distribution import LOG_2PI, Distribution
from gradwright.face.special_names import i0e, i1e

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor, Value


class VonMises(Distribution):
    """exp(k cos(x - loc)) / (2 pi I0(k)), k the concentration. Angles are in radians; draws lie from -pi to pi.

    The Bessel functions need SciPy. (PyTorch's draws have no derivatives.)

    Mean loc. Raises ValueError unless ``concentration`` is positive.

    >>> import gradwright as gw
    >>> d = gw.distributions.VonMises(0.0, 1.0)
    >>> d.log_prob(gw.tensor(0.0)).exp()
    tensor(0.3417)
    >>> d.mean
    tensor(0.)
    """

    concentration: Tensor
    loc: Tensor
    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Value, concentration: Value, validate_args: bool | None = None) -> None:
        self._hold(validate_args, loc=loc, concentration=concentration)

    mean = mode = property(lambda self: self.loc)

    @property
    def variance(self) -> Tensor:
        """The circular variance, 1 - I1(k) / I0(k)."""
        return 1 - i1e(self.concentration) / i0e(self.concentration)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        turned = self.loc + draws.angle(self.concentration.expand(self._extended_shape(sample_shape)))
        return (turned + math.pi) % (2 * math.pi) - math.pi

    def log_prob(self, value: Tensor) -> Tensor:
        k, away = self.concentration, self._checked(value) - self.loc
        return k * (away.cos() - 1) - i0e(k).log() - LOG_2PI
