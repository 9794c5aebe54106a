"""A layer of your own: a Function for the mathematics, a Module for the parameters.

LinearFunction computes y = x Wᵀ + b and its three gradients; Linear owns W and b and calls it. Prints the
checkers' verdicts, the layer, and the weights it learns from noisy data, beside the least-squares answer.
"""

import numpy as np

import gradwright as gw
from gradwright import nn


class LinearFunction(gw.autograd.Function):
    """y = x Wᵀ + b; x: (n, in), weight: (out, in), bias: (out,) or None, y: (n, out)."""

    @staticmethod
    def forward(ctx, x, weight, bias=None):
        ctx.save_for_backward(x, weight)
        y = x.mm(weight.t())
        return y if bias is None else y + bias

    @staticmethod
    def backward(ctx, grad_y):
        x, weight = ctx.saved_tensors
        grad_x = grad_weight = grad_bias = None
        # Optional, and it saves work: compute only the gradients that somebody wants.
        if ctx.needs_input_grad[0]:
            grad_x = grad_y.mm(weight)
        if ctx.needs_input_grad[1]:
            grad_weight = grad_y.t().mm(x)
        if len(ctx.needs_input_grad) > 2 and ctx.needs_input_grad[2]:
            grad_bias = grad_y.sum(0)
        return grad_x, grad_weight, grad_bias  # trailing Nones beyond the inputs are ignored


class Linear(nn.Module):
    """A linear layer: parameters `weight` (out, in) and, unless bias=False, `bias` (out,)."""

    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        # A Parameter assigned to an attribute is registered with the module.
        self.weight = nn.Parameter(gw.empty(out_features, in_features).uniform_(-0.1, 0.1))
        self.register_parameter("bias", nn.Parameter(gw.zeros(out_features)) if bias else None)

    def forward(self, x):
        return LinearFunction.apply(x, self.weight, self.bias)

    def extra_repr(self):
        bias = self.bias is not None
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={bias}"


def data():
    """100 points of y = x [[1, -2, 3]]ᵀ + 0.5 plus a little noise, as NumPy arrays."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 3)).astype("float32")
    y = x @ np.array([[1.0], [-2.0], [3.0]]) + 0.5 + 0.1 * rng.normal(size=(100, 1))
    return x, y.astype("float32")


def main():
    args = [gw.randn(*size, dtype=gw.float64, requires_grad=True) for size in [(4, 3), (2, 3), (2,)]]
    for name, inputs in {"with bias": args, "without": args[:2]}.items():
        print(f"{name}: first derivative {gw.autograd.gradcheck(LinearFunction.apply, inputs)},",
              f"second {gw.autograd.gradgradcheck(LinearFunction.apply, inputs)}")

    layer = Linear(3, 1)
    print(layer)
    x, y = data()
    for _ in range(200):
        layer.zero_grad()
        (layer(gw.from_numpy(x)) - gw.from_numpy(y)).pow(2).mean().backward()
        with gw.no_grad():
            for param in layer.parameters():
                param -= 0.1 * param.grad

    least_squares = np.linalg.lstsq(np.c_[x, np.ones(100)], y, rcond=None)[0].ravel()
    print("learned:      ", np.round([*layer.weight[0].tolist(), *layer.bias.tolist()], 4))
    print("least squares:", np.round(least_squares, 4))


if __name__ == "__main__":
    main()
