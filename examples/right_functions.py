"""Derivatives that are right, one for each thing that makes them hard to get right, for `gradwright check` to pass.

Run ``gradwright check examples/right_functions.py``. With ``import torch as gw`` in place of the import below this is a
program for PyTorch, and right there, too.
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


def signed(*shape, seed=0):
    """A tensor of numbers of both signs, none of them near 0."""
    signs = np.where(np.arange(int(np.prod(shape))) % 2, 1.0, -1.0).reshape(shape)
    return t(*shape, seed=seed) * gw.tensor(signs)


complex_ = {"dtype": gw.complex128}


# ---- entry by entry --------------------------------------------------------------------------------------


@samples((signed(4),), (t(3, **complex_),))
class Exp(Function):
    """Saves its output. Complex: the conjugate of the derivative."""

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y.conj()


@samples((signed(4), 3), (signed(2, 3), 2))
class Power(Function):
    """forward without ctx, and setup_context."""

    @staticmethod
    def forward(x, n):
        return x**n

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.n = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.n * x ** (ctx.n - 1), None


@samples((signed(4), 2.5), (t(3, **complex_), 2.5))
class MulConstant(Function):
    """An argument that is a number."""

    @staticmethod
    def forward(ctx, x, constant):
        ctx.constant = constant
        return x * constant

    @staticmethod
    def backward(ctx, g):
        return g * ctx.constant, None


@samples((signed(5),))
class Sigmoid(Function):
    """In terms of the output."""

    @staticmethod
    def forward(ctx, x):
        y = x.sigmoid()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y * (1 - y)


@samples((signed(4),))
class Sinh(Function):
    """Computes again what its second derivative needs."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x.exp() - (-x).exp()) / 2

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x.exp() + (-x).exp()) / 2


@samples((signed(6), 0.1))
class LeakyRelu(Function):
    """Two branches."""

    @staticmethod
    def forward(ctx, x, slope):
        ctx.save_for_backward(x)
        ctx.slope = slope
        return gw.where(x > 0, x, slope * x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return gw.where(x > 0, g, ctx.slope * g), None


@samples((signed(6), -0.9, 0.9))
class Clamp(Function):
    """Flat in parts."""

    @staticmethod
    def forward(ctx, x, low, high):
        ctx.save_for_backward((x >= low) & (x <= high))
        return x.clamp(low, high)

    @staticmethod
    def backward(ctx, g):
        (inside,) = ctx.saved_tensors
        return g * inside, None, None


@samples((t(3, **complex_),), (t(2, 2, **complex_),))
class SquaredModulus(Function):
    """Complex to real."""

    @staticmethod
    def forward(ctx, z):
        ctx.save_for_backward(z)
        return (z * z.conj()).real

    @staticmethod
    def backward(ctx, g):
        (z,) = ctx.saved_tensors
        return 2 * g * z


@samples((signed(4), t(4, seed=1)), (t(3, **complex_), t(3, seed=1, **complex_)))
class Multiply(Function):
    """Asks which gradients are needed, and computes no others."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        grad_a = g * b.conj() if ctx.needs_input_grad[0] else None
        grad_b = g * a.conj() if ctx.needs_input_grad[1] else None
        return grad_a, grad_b


@samples((signed(3, 4),))
class InPlaceDouble(Function):
    """Changes its input, and says so."""

    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 2


@samples((signed(8),))
class Dropout(Function):
    """Random, with a mask that backward uses again."""

    @staticmethod
    def forward(ctx, x):
        mask = (gw.rand(x.shape) > 0.4).to(x.dtype)
        ctx.save_for_backward(mask)
        return x * mask

    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return g * mask


@samples((signed(4),))
class SineInNumPy(Function):
    """Computes in NumPy, and says that it can be differentiated only once."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return gw.from_numpy(np.sin(x.detach().numpy()))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * gw.from_numpy(np.cos(x.detach().numpy()))


# ---- sums and shapes -------------------------------------------------------------------------------------


@samples((signed(3, 4), 0), (signed(3, 4), -1))
class Sum(Function):
    """Along a dimension."""

    @staticmethod
    def forward(ctx, x, dim):
        ctx.shape, ctx.dim = x.shape, dim
        return x.sum(dim)

    @staticmethod
    def backward(ctx, g):
        return g.unsqueeze(ctx.dim).expand(ctx.shape), None


@samples((signed(7),), (signed(2, 3),))
class Mean(Function):
    """Divides by the number of entries."""

    @staticmethod
    def forward(ctx, x):
        ctx.shape, ctx.n = x.shape, x.numel()
        return x.mean()

    @staticmethod
    def backward(ctx, g):
        return (g / ctx.n).expand(ctx.shape)


@samples((signed(3, 4),))
class LogSumExp(Function):
    """Along the last dimension, of which it saves input and output."""

    @staticmethod
    def forward(ctx, x):
        y = x.logsumexp(-1)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g.unsqueeze(-1) * (x - y.unsqueeze(-1)).exp()


@samples((signed(3, 4),))
class Softmax(Function):
    """Two terms."""

    @staticmethod
    def forward(ctx, x):
        y = x.softmax(-1)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y * (g - (g * y).sum(-1, keepdim=True))


@samples((signed(5),))
class Norm(Function):
    """The Euclidean length."""

    @staticmethod
    def forward(ctx, x):
        y = (x * x).sum().sqrt()
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * x / y


@samples((signed(5),), (signed(2, 4),))
class CumSum(Function):
    """Sums from the front; its gradient sums from the back."""

    @staticmethod
    def forward(ctx, x):
        return x.cumsum(-1)

    @staticmethod
    def backward(ctx, g):
        return g.flip(-1).cumsum(-1).flip(-1)


@samples((signed(3, 4), t(4)))
class AddBias(Function):
    """The bias is broadcast: its gradient is summed."""

    @staticmethod
    def forward(ctx, x, bias):
        return x + bias

    @staticmethod
    def backward(ctx, g):
        return g, g.sum(0) if ctx.needs_input_grad[1] else None


@samples((signed(5),), (signed(3, 4),))
class Flip(Function):
    """The same backward as forward."""

    @staticmethod
    def forward(ctx, x):
        return x.flip(0)

    @staticmethod
    def backward(ctx, g):
        return g.flip(0)


@samples((signed(3, 4),), (t(2, 3, **complex_),))
class Transpose(Function):
    """A view of its input."""

    @staticmethod
    def forward(ctx, x):
        return x.mT

    @staticmethod
    def backward(ctx, g):
        return g.mT


@samples((signed(5), gw.tensor([0, 2, 2, 4])))
class Gather(Function):
    """An index, one entry of it twice."""

    @staticmethod
    def forward(ctx, x, index):
        ctx.save_for_backward(index)
        ctx.n = x.shape[0]
        return x[index]

    @staticmethod
    def backward(ctx, g):
        (index,) = ctx.saved_tensors
        return gw.zeros(ctx.n, dtype=g.dtype).index_add(0, index, g), None


@samples((signed(3), t(3, seed=1)), (signed(2, 2), t(2, 2, seed=1), t(2, 2, seed=2)))
class Stack(Function):
    """Any number of arguments."""

    @staticmethod
    def forward(ctx, *tensors):
        return gw.stack(tensors)

    @staticmethod
    def backward(ctx, g):
        return tuple(g[k] if needed else None for k, needed in enumerate(ctx.needs_input_grad))


# ---- matrices --------------------------------------------------------------------------------------------


@samples((signed(2, 3), t(3, 4)), (t(2, 3, **complex_), t(3, 2, **complex_)))
class MatMul(Function):
    """Two matrices."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a @ b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        grad_a = g @ b.mH if ctx.needs_input_grad[0] else None
        grad_b = a.mH @ g if ctx.needs_input_grad[1] else None
        return grad_a, grad_b


@samples((signed(3, 4), t(2, 4), t(2)), (signed(3, 4), t(2, 4), None))
class Linear(Function):
    """A bias that may be None."""

    @staticmethod
    def forward(ctx, x, weight, bias=None):
        ctx.save_for_backward(x, weight)
        y = x @ weight.mT
        return y if bias is None else y + bias

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        grad_x = g @ weight if ctx.needs_input_grad[0] else None
        grad_weight = g.mT @ x if ctx.needs_input_grad[1] else None
        grad_bias = g.sum(0) if ctx.needs_input_grad[2] else None
        return grad_x, grad_weight, grad_bias


@samples((t(3, 3) + 3 * gw.eye(3, dtype=gw.float64),))
class Inverse(Function):
    """Of a matrix."""

    @staticmethod
    def forward(ctx, a):
        y = gw.linalg.inv(a)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return -y.mT @ g @ y.mT


# ---- several outputs, and other rules --------------------------------------------------------------------


@samples((signed(4),))
class SinCos(Function):
    """Two outputs, of which one may get no gradient."""

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return x.sin(), x.cos()

    @staticmethod
    def backward(ctx, g, h):
        (x,) = ctx.saved_tensors
        grad = None
        if g is not None:
            grad = g * x.cos()
        if h is not None:
            grad = -h * x.sin() if grad is None else grad - h * x.sin()
        return grad


@samples((signed(5),))
class Largest(Function):
    """An output without a derivative: where the largest entry is."""

    @staticmethod
    def forward(ctx, x):
        index = x.argmax()
        ctx.save_for_backward(index)
        ctx.n = x.shape[0]
        ctx.mark_non_differentiable(index)
        return x[index], index

    @staticmethod
    def backward(ctx, g, _):
        (index,) = ctx.saved_tensors
        return g * (gw.arange(ctx.n) == index)


@samples((signed(4), t(4, seed=1)))
class Product(Function):
    """A rule for forward mode as well."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        ctx.save_for_forward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b if ctx.needs_input_grad[0] else None, g * a if ctx.needs_input_grad[1] else None

    @staticmethod
    def jvp(ctx, a_t, b_t):
        a, b = ctx.saved_tensors
        return a_t * b + a * b_t


@samples((signed(4),))
class Cube(Function):
    """A rule for many samples at once as well."""

    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * g * x * x

    @staticmethod
    def vmap(info, in_dims, x):
        return Cube.apply(x), in_dims[0]


def main():
    right = [v for v in globals().values() if isinstance(v, type) and issubclass(v, Function) and v is not Function]
    for function in right:
        print(f"{function.__name__:16} {function.__doc__}")
    print(f"{len(right)} functions, all of them right: gradwright check examples/right_functions.py")


if __name__ == "__main__":
    main()
