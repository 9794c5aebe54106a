"""Activations as modules: functions of single entries, and GLU. Each holds only its settings.

The result has the shape of the input, which may be any, and its dtype, which must be a real floating-point one
(NotImplementedError otherwise). With ``inplace`` the input is overwritten: RuntimeError if it is a leaf that requires
grad.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from gradwright.nn import functional as F
from gradwright.nn.layer import layer
from gradwright.nn.module import Module

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor


class Sigmoid(Module):
    """y = 1/(1 + exp(-x)). Integers and complex numbers are welcome.

    >>> import gradwright as gw
    >>> Sigmoid()(gw.zeros(2))
    tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.sigmoid(input)


class LogSigmoid(Module):
    """y = log(1/(1 + exp(-x))), without overflow.

    >>> import gradwright as gw
    >>> LogSigmoid()(gw.tensor([-1000.0, 0.0]))
    tensor([-1.0000e+03, -6.9315e-01])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


@layer
class Hardsigmoid(Module):
    """y = x/6 + 1/2 kept between 0 and 1; slope 0 at both kinks, x = -3 and 3.

    >>> import gradwright as gw
    >>> Hardsigmoid()(gw.tensor([-4.0, 0.0, 4.0]))
    tensor([0.0000, 0.5000, 1.0000])
    """

    inplace: bool = field(default=False, repr=False)

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)


class Tanh(Module):
    """y = tanh x. Integers and complex numbers are welcome.

    >>> import gradwright as gw
    >>> Tanh()(gw.zeros(2))
    tensor([0., 0.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanh(input)


class Tanhshrink(Module):
    """y = x - tanh x.

    >>> import gradwright as gw
    >>> Tanhshrink()(gw.tensor([1.0]))
    tensor([0.2384])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


@layer
class SiLU(Module):
    """y = x sigmoid(x). Complex numbers are welcome.

    >>> import gradwright as gw
    >>> SiLU()(gw.tensor([-1.0, 1.0]))
    tensor([-0.2689,  0.7311])
    """

    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, self.inplace)


@layer
class Hardswish(Module):
    """y = x hardsigmoid(x): 0 below x = -3, x above 3; slope 0 at the first kink, 1 at the second.

    >>> import gradwright as gw
    >>> Hardswish()(gw.tensor([-4.0, 3.0]))
    tensor([-0.,  3.])
    """

    inplace: bool = field(default=False, repr=False)

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)


@layer
class Mish(Module):
    """y = x tanh(log(1 + e**x)).

    >>> import gradwright as gw
    >>> Mish()(gw.tensor([1.0]))
    tensor([0.8651])
    """

    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, self.inplace)


@layer
class GELU(Module):
    """y = x Phi(x), with the normal distribution function Phi; with ``approximate="tanh"`` a nearly equal formula.

    Called, raises RuntimeError if ``approximate`` is neither that nor "none".

    >>> import gradwright as gw
    >>> GELU()(gw.tensor([1.0])), GELU(approximate="tanh")
    (tensor([0.8413]), GELU(approximate='tanh'))
    """

    approximate: str = "none"

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, self.approximate)


@layer
class Softplus(Module):
    """y = log(1 + exp(beta x)) / beta; the line y = x where beta x > threshold.

    >>> Softplus()
    Softplus(beta=1.0, threshold=20.0)
    """

    beta: float = 1.0
    threshold: float = 20.0

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)


class Softsign(Module):
    """y = x / (1 + abs x).

    >>> import gradwright as gw
    >>> Softsign()(gw.tensor([-1.0, 3.0]))
    tensor([-0.5000,  0.7500])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


@layer
class Softshrink(Module):
    """x moved towards 0 by ``lambd``, and to 0 if it is nearer; slope 0 at the kinks. RuntimeError if lambd < 0.

    >>> import gradwright as gw
    >>> Softshrink()(gw.tensor([-1.0, 0.25, 2.0]))
    tensor([-0.5000,  0.0000,  1.5000])
    """

    lambd: float = 0.5

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


@layer
class Hardshrink(Softshrink):
    """y = x where abs x > lambd, else 0; slope 0 at the jumps.

    >>> import gradwright as gw
    >>> Hardshrink()(gw.tensor([-1.0, 0.25, 2.0]))
    tensor([-1.,  0.,  2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)


@layer
class GLU(Module):
    """a sigmoid(b), where a and b are the two halves of the input along ``dim``: half as long there.

    Raises RuntimeError if that length is odd, IndexError if there is no such dim.

    >>> import gradwright as gw
    >>> GLU()(gw.tensor([[3.0, 5.0, 0.0, 0.0]]))
    tensor([[1.5000, 2.5000]])
    """

    dim: int = -1

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)
