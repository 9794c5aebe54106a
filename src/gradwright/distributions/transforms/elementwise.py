"""Transforms of each number by itself."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwright.base import dtypes
from gradwright.distributions import constraints
from gradwright.distributions.transforms.transform import Same, Transform, broadcast_to_parameters
from gradwright.distributions.utils import sum_rightmost
from gradwright.engine.base import TensorBase
from gradwright.face.functions.elementwise import softplus
from gradwright.face.functions.shape import broadcast_tensors

if TYPE_CHECKING:
    from gradwright.distributions.distribution import Distribution
    from gradwright.face.typing import Value


class _Increasing(Same):
    domain = constraints.real
    codomain: Any = constraints.positive
    bijective = True
    sign = 1


class ExpTransform(_Increasing):
    """y = exp x.

    >>> t = gw.distributions.ExpTransform()
    >>> x = gw.tensor(0.0)
    >>> t(x), t.inv(t(x)), t.log_abs_det_jacobian(x, t(x))
    (tensor(1.), tensor(0.), tensor(0.))
    """

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x


class SoftplusTransform(_Increasing):
    """y = log(1 + exp x); x itself above 20.

    >>> t = gw.distributions.SoftplusTransform()
    >>> t(gw.tensor(0.0))
    tensor(0.6931)
    """

    def _call(self, x: Any) -> Any:
        return softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -softplus(-x)


class SigmoidTransform(_Increasing):
    """y = 1 / (1 + exp(-x)), kept within the numbers of its dtype between 0 and 1; x = logit y.

    >>> t = gw.distributions.SigmoidTransform()
    >>> x = gw.tensor(0.0)
    >>> t(x), t.log_abs_det_jacobian(x, t(x)).exp()
    (tensor(0.5000), tensor(0.2500))
    """

    codomain = constraints.unit_interval

    def _call(self, x: Any) -> Any:
        y = x.sigmoid()
        info = dtypes.finfo(y.dtype)
        return y.clamp(info.tiny, 1 - info.eps)

    def _inverse(self, y: Any) -> Any:
        info = dtypes.finfo(y.dtype)
        y = y.clamp(info.tiny, 1 - info.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -softplus(-x) - softplus(x)


class TanhTransform(_Increasing):
    """y = tanh x. Close to -1 and 1 its inverse is ill-conditioned: ``cache_size=1`` then remembers x.

    >>> t = gw.distributions.TanhTransform()
    >>> x = gw.tensor(0.0)
    >>> t(x), t.log_abs_det_jacobian(x, t(x)).exp()
    (tensor(0.), tensor(1.))
    """

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return 2 * (math.log(2) - x - softplus(-2 * x))


class AbsTransform(Same):
    """y = |x|; of its two inverses the one that is not negative.

    It has no volume change: NotImplementedError.

    >>> gw.distributions.AbsTransform()(gw.tensor([-1.0, 2.0]))
    tensor([1., 2.])
    """

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


class PowerTransform(Same):
    """y = x**exponent, of positive x.

    >>> t = gw.distributions.PowerTransform(gw.tensor(2.0))
    >>> x = gw.tensor(3.0)
    >>> t(x), t.log_abs_det_jacobian(x, t(x)).exp()
    (tensor(9.), tensor(6.))
    """

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True
    _compared = ("exponent",)

    def __init__(self, exponent: Value, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.exponent = exponent

    @property
    def sign(self) -> Any:
        return _sign(self.exponent)

    def _call(self, x: Any) -> Any:
        return x**self.exponent

    def _inverse(self, y: Any) -> Any:
        return y ** (1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Any) -> Any:
        return broadcast_to_parameters(shape, self.exponent)

    inverse_shape = forward_shape


class AffineTransform(Same):
    """y = loc + scale x; ``event_dim`` of the last dims are one event.

    >>> t = gw.distributions.AffineTransform(1.0, 2.0)
    >>> x = gw.tensor(3.0)
    >>> t(x), t.inv(t(x)), t.log_abs_det_jacobian(x, t(x)).exp()
    (tensor(7.), tensor(3.), tensor(2.))
    """

    bijective = True
    _compared = ("loc", "scale")

    def __init__(self, loc: Value, scale: Value, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    event_dim = property(lambda self: self._event_dim)

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """Real numbers, or events of them."""
        return constraints.independent(constraints.real, self._event_dim) if self._event_dim else constraints.real

    codomain = domain

    @property
    def sign(self) -> Any:
        return _sign(self.scale)

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        scale: Any = self.scale
        tensors = isinstance(scale, TensorBase)
        size = scale.abs().log() if tensors else x.new_tensor(math.log(abs(scale)))
        size = broadcast_tensors(size, x)[0] if tensors else size.expand(x.shape)
        return sum_rightmost(size, self._event_dim)

    def forward_shape(self, shape: Any) -> Any:
        return broadcast_to_parameters(shape, self.loc, self.scale)

    inverse_shape = forward_shape


class CumulativeDistributionTransform(Transform):
    """y = F(x), the distribution function of ``distribution``: uniform on [0, 1] where x is drawn from that.

    >>> t = gw.distributions.CumulativeDistributionTransform(gw.distributions.Uniform(0.0, 4.0))
    >>> t(gw.tensor(1.0))
    tensor(0.2500)
    """

    bijective = True
    codomain = constraints.unit_interval
    sign = 1

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    domain = property(lambda self: self.distribution.support)

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return self.distribution.log_prob(x)


def _sign(x: Any) -> Any:
    """1, 0 or -1; of a tensor, a tensor."""
    return x.sign() if hasattr(x, "sign") else (x > 0) - (x < 0)
