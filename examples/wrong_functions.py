"""Derivatives that are wrong, one in each way that derivatives go wrong, for `gradwright check` to find out.

Run ``gradwright check examples/wrong_functions.py`` to see what it says of each. With ``import torch as gw`` in place
of the import below this is a program for PyTorch, and most of it is wrong there without a word.
"""

import numpy as np

import gradwright as gw
from gradwright.check import samples

Function = gw.autograd.Function
once_differentiable = gw.autograd.function.once_differentiable


def t(*shape, low=0.3, seed=0, dtype=None):
    """A tensor of numbers from 0.3 to 1.9."""
    values = np.random.default_rng((seed, *shape)).uniform(low, 1.9, shape)
    return gw.tensor(values + 0.7j * values[..., ::-1] if dtype else values, dtype=dtype or gw.float64)


# ---- the wrong number ------------------------------------------------------------------------------------


@samples((t(4),))
class Cube(Function):
    """The factor 3 is missing."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x**2


@samples((t(4), 2.5))
class MulConstant(Function):
    """The constant is forgotten."""

    @staticmethod
    def forward(ctx, x, constant):
        return x * constant

    @staticmethod
    def backward(ctx, g):
        return g, None


@samples((t(7),))
class Total(Function):
    """A mean where a sum belongs."""

    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x.sum()

    @staticmethod
    def backward(ctx, g):
        g = g.expand(ctx.shape)
        return g / g.numel()


@samples((t(4),))
class Cosine(Function):
    """The sign is wrong."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.cos()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.sin()


@samples((t(5),))
class Sigmoid(Function):
    """The factor 1 - y is missing."""

    @staticmethod
    def forward(ctx, x):
        y = x.sigmoid()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


@samples((t(5),))
class Softmax(Function):
    """The second term is missing."""

    @staticmethod
    def forward(ctx, x):
        y = x.exp() / x.exp().sum()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


@samples((gw.tensor([-1.3, 0.4, 1.7, -0.2, 0.9, -0.6], dtype=gw.float64),))
class LeakyRelu(Function):
    """Another slope for negative numbers than forward has."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return gw.where(x > 0, x, 0.1 * x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return gw.where(x > 0, g, 0.2 * g)


@samples((t(4),))
class Doubled(Function):
    """0 / 0 at an entry."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * g * (x - x[1]) / (x - x[1])


@samples((t(4),))
class Sine(Function):
    """Does not multiply by grad_output."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return x.cos()


# ---- the right number in the wrong place -----------------------------------------------------------------


@samples((t(2, 3), t(3, 3)))
class MatMul(Function):
    """The weight is not transposed."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x @ w

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        grad_x = grad_w = None
        if ctx.needs_input_grad[0]:
            grad_x = g @ w
        if ctx.needs_input_grad[1]:
            grad_w = x.mT @ g
        return grad_x, grad_w


@samples((t(3, 4), t(4)))
class AddBias(Function):
    """The gradient of the bias is not summed, and has the wrong shape."""

    @staticmethod
    def forward(ctx, x, bias):
        return x + bias

    @staticmethod
    def backward(ctx, g):
        return g, g


@samples((t(3, 4), t(4)))
class AddBiasFirstRow(Function):
    """The gradient of the bias is that of the first row only."""

    @staticmethod
    def forward(ctx, x, bias):
        return x + bias

    @staticmethod
    def backward(ctx, g):
        return g, g[0]


@samples((t(4), t(4, seed=1)))
class Multiply(Function):
    """The gradients are swapped."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * a, g * b


@samples((t(5),))
class Flip(Function):
    """The gradient is not flipped."""

    @staticmethod
    def forward(ctx, x):
        return x.flip(0)

    @staticmethod
    def backward(ctx, g):
        return g


@samples((t(3, dtype=gw.complex128),))
class ComplexSquare(Function):
    """The conjugate is missing."""

    @staticmethod
    def forward(ctx, z):
        ctx.save_for_backward(z)
        return z * z

    @staticmethod
    def backward(ctx, g):
        (z,) = ctx.saved_tensors
        return g * 2 * z


# ---- no gradient, or one where none belongs --------------------------------------------------------------


@samples((t(4), t(4, seed=1)))
class Scale(Function):
    """None for an input that matters."""

    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(scale)
        return x * scale

    @staticmethod
    def backward(ctx, g):
        (scale,) = ctx.saved_tensors
        return g * scale, None


@samples((t(4),))
class SinCos(Function):
    """The second output is left out."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin(), x.cos()

    @staticmethod
    def backward(ctx, g, h):
        (x,) = ctx.saved_tensors
        return g * x.cos()


@samples((t(4),))
class Round(Function):
    """A gradient where forward is flat: straight-through."""

    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g


@samples((t(6),))
class ClippedExp(Function):
    """The gradient is clipped."""

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return (g * y).clamp(-3, 3)


gain = gw.tensor([1.5, 0.5, 2.5, 0.7], dtype=gw.float64, requires_grad=True)


@samples((t(4),))
class Gain(Function):
    """Uses a tensor that is no argument."""

    @staticmethod
    def forward(ctx, x):
        return x * gain.to(x.dtype)

    @staticmethod
    def backward(ctx, g):
        return g * gain.detach().to(g.dtype)


# ---- behaviour -------------------------------------------------------------------------------------------


@samples((t(4),))
class LastCall(Function):
    """Keeps its input on the class: another call overwrites it."""

    x = None

    @staticmethod
    def forward(ctx, x):
        LastCall.x = x.detach().clone()
        return x.sin()

    @staticmethod
    def backward(ctx, g):
        return g * LastCall.x.cos()


@samples((t(4),))
class FirstCall(Function):
    """Keeps for all calls what it computed in the first."""

    slope = None

    @staticmethod
    def forward(ctx, x):
        if FirstCall.slope is None:
            FirstCall.slope = x.detach().cos()
        return x.sin()

    @staticmethod
    def backward(ctx, g):
        return g * FirstCall.slope


@samples((t(4),))
class InPlace(Function):
    """Changes its input and does not say so."""

    @staticmethod
    def forward(ctx, x):
        x.mul_(1.5)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 3


@samples((t(4),))
class TakesOver(Function):
    """Changes its grad_output."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g.mul_(2)


@samples((t(4),))
class Jitter(Function):
    """Backward draws random numbers."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2 * (1 + 0.01 * float(np.random.default_rng().random()))


@samples((t(4),))
class Noise(Function):
    """Forward draws random numbers that nobody can seed."""

    @staticmethod
    def forward(ctx, x):
        return x * (2 + float(np.random.default_rng().random()))

    @staticmethod
    def backward(ctx, g):
        return g * 2


memory = []


@samples((t(4),))
class Remembers(Function):
    """Keeps every output for ever."""

    @staticmethod
    def forward(ctx, x):
        y = x * 2
        memory.append(y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g * 2


# ---- the contract ----------------------------------------------------------------------------------------


@samples((t(4), t(4, seed=1)))
class OneGradient(Function):
    """One gradient for two arguments."""

    @staticmethod
    def forward(ctx, a, b):
        return a + b

    @staticmethod
    def backward(ctx, g):
        return (g, g)[:1]


@samples((t(4),))
class AsksNobody(Function):
    """Asked for undefined gradients, and does not expect them."""

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, g, h):
        return g * 2 + h * 3


@samples((t(4), t(4, seed=1)))
class AsksForTheOther(Function):
    """Looks at needs_input_grad of the other argument."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        grad_a = g * b if ctx.needs_input_grad[1] else None
        grad_b = g * a if ctx.needs_input_grad[0] else None
        return grad_a, grad_b


@samples((t(4),))
class Coarse(Function):
    """Computes in float32, whatever it is given."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.float() * 2

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g.to(x.dtype) * 2


@samples((t(3, 4),))
class MemoryOrder(Function):
    """Takes its grad_output for contiguous."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        entries = gw.from_numpy(g.detach().numpy().ravel(order="K").copy())
        return entries.reshape(x.shape) * x.exp()


@samples((t(3, 4),))
class Expanded(Function):
    """Takes an expanded grad_output for that of a mean."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2 / g.numel() if 0 in g.stride() else g * 2


@samples((t(4),))
class Recorded(Function):
    """Gives another gradient where that is recorded."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.cos() * (2 if gw.is_grad_enabled() else 1)


@samples((t(4),))
class SineAndCosine(Function):
    """Says of an output that it is flat, and it is not."""

    @staticmethod
    def forward(ctx, x):
        sine, cosine = x.sin(), x.cos()
        ctx.save_for_backward(cosine)
        ctx.mark_non_differentiable(cosine)
        return sine, cosine

    @staticmethod
    def backward(ctx, g, _):
        (cosine,) = ctx.saved_tensors
        return g * cosine


# ---- beyond the first order ------------------------------------------------------------------------------


@samples((t(4),))
class Detached(Function):
    """The second derivative is cut off."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.detach().cos()


@samples((t(4),))
class InNumPy(Function):
    """Backward computes in NumPy and does not say once_differentiable."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        slope = 3 * x.detach().numpy() ** 2
        return g * gw.from_numpy(slope)


@samples((t(4),))
class Pushforward(Function):
    """The rule for forward mode has a factor too many."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * g * x

    @staticmethod
    def jvp(ctx, x_t):
        (x,) = ctx.saved_tensors
        return 4 * x * x_t


@samples((gw.tensor([0.0, 1.3, -0.7], dtype=gw.float64),))
class ReluAtZero(Function):
    """Right, but its sample is at the kink: nothing can be told there."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x > 0)


def main():
    wrong = [v for v in globals().values() if isinstance(v, type) and issubclass(v, Function) and v is not Function]
    for function in wrong:
        print(f"{function.__name__:16} {function.__doc__}")
    print(f"{len(wrong)} functions, none of them right: gradwright check examples/wrong_functions.py")


if __name__ == "__main__":
    main()
