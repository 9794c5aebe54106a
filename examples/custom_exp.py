"""A custom operation: exp, with its derivative written by hand.

Shows the three things an operation needs (a forward, a backward, what to keep between them), then asks
gradcheck whether the derivative is right. Prints the gradient of the custom exp beside that of the
built-in one, and the verdicts for the first and the second derivative.
"""

import gradwright as gw


class Exp(gw.autograd.Function):
    """y = exp(x), dy/dx = exp(x) = y."""

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)  # the derivative is the result itself, so that is what we keep
        return y

    @staticmethod
    def backward(ctx, grad_y):
        y, = ctx.saved_tensors
        return grad_y * y  # the chain rule: dL/dx = dL/dy * dy/dx


def gradient(function, values):
    """The gradient of sum(function(x)) at x = values."""
    x = gw.tensor(values, requires_grad=True)
    function(x).sum().backward()
    return x.grad


def main():
    print("custom  ", gradient(Exp.apply, [1.0, 2.0, 3.0]))
    print("built in", gradient(gw.exp, [1.0, 2.0, 3.0]))

    # The checkers compare with finite differences, which need double precision.
    x = gw.tensor([1.0, 2.0, 3.0], dtype=gw.float64, requires_grad=True)
    print("first derivative right: ", gw.autograd.gradcheck(Exp.apply, x))
    print("second derivative right:", gw.autograd.gradgradcheck(Exp.apply, x))


if __name__ == "__main__":
    main()
