"""Differentiating twice: how custom operations are written that can be.

`create_graph=True` records what backward does, so a gradient can itself be differentiated. That works if
everything backward uses has a history: inputs, outputs, and other operations. Prints a table: each
operation, the checkers' verdicts, and its second derivative at x beside the true one. SinhBad, which
keeps what has no history, is right here, too: forward is run again for it, recorded.
"""

import math

import gradwright as gw


class Square(gw.autograd.Function):
    """x**2. Saves its input: an input has a history, so nothing more is needed."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, grad_y):
        x, = ctx.saved_tensors
        return grad_y * 2 * x


class Exp(gw.autograd.Function):
    """exp(x). Saves its output: that has a history too, this very operation."""

    @staticmethod
    def forward(ctx, x):
        y = gw.exp(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_y):
        y, = ctx.saved_tensors
        return grad_y * y


class Sinh(gw.autograd.Function):
    """sinh(x). Saves two intermediate values, and returns them too, so that they have a history."""

    @staticmethod
    def forward(ctx, x):
        e, e_neg = gw.exp(x), gw.exp(-x)
        ctx.save_for_backward(e, e_neg)
        return (e - e_neg) / 2, e, e_neg

    @staticmethod
    def backward(ctx, grad_y, grad_e, grad_e_neg):
        e, e_neg = ctx.saved_tensors
        # grad_e and grad_e_neg are zero the first time; a second backward sends something through them.
        return grad_y * (e + e_neg) / 2 + grad_e * e - grad_e_neg * e_neg


class SinhBad(gw.autograd.Function):
    """sinh(x), done carelessly: forward runs unrecorded, so by themselves these two would be mere constants.

    In PyTorch they are, and the second derivative is wrong without a word. Here a backward that is recorded
    runs forward again, recorded, at the cost of that.
    """

    @staticmethod
    def forward(ctx, x):
        ctx.e, ctx.e_neg = gw.exp(x), gw.exp(-x)
        return (ctx.e - ctx.e_neg) / 2

    @staticmethod
    def backward(ctx, grad_y):
        return grad_y * (ctx.e + ctx.e_neg) / 2


class Cube(gw.autograd.Function):
    """x**3, as if its backward were foreign code that cannot be recorded: it gets a Function of its own."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad_y):
        x, = ctx.saved_tensors
        return CubeBackward.apply(grad_y, x)


class CubeBackward(gw.autograd.Function):
    """g * 3 x**2; its derivatives are 3 x**2 by g and g * 6 x by x."""

    @staticmethod
    def forward(ctx, grad_y, x):
        ctx.save_for_backward(grad_y, x)
        return grad_y * 3 * x**2

    @staticmethod
    def backward(ctx, grad_out):
        grad_y, x = ctx.saved_tensors
        return grad_out * 3 * x**2, grad_out * grad_y * 6 * x


# name: (the operation, its true second derivative)
VARIANTS = {
    "Square": (Square.apply, lambda x: 2.0),
    "Exp": (Exp.apply, math.exp),
    "Sinh": (lambda x: Sinh.apply(x)[0], math.sinh),
    "SinhBad": (SinhBad.apply, math.sinh),
    "Cube": (Cube.apply, lambda x: 6 * x),
}


def second_derivative(operation, x):
    """d²y/dx² at x as a float."""
    first, = gw.autograd.grad(operation(x), x, create_graph=True)
    second, = gw.autograd.grad(first, x)
    return second.item()


def verdict(check, operation, x):
    return "right" if check(operation, x, raise_exception=False) else "WRONG"


def main():
    x = gw.tensor(0.5, dtype=gw.float64, requires_grad=True)
    print(f"at x = {x.item()}:")
    print(f"{'operation':10} {'gradcheck':10} {'gradgradcheck':14} {'second derivative':18} truth")
    for name, (operation, truth) in VARIANTS.items():
        second = second_derivative(operation, x)
        print(f"{name:10} {verdict(gw.autograd.gradcheck, operation, x):10} "
              f"{verdict(gw.autograd.gradgradcheck, operation, x):14} "
              f"{second:<18.6f} {truth(x.item()):.6f}")


if __name__ == "__main__":
    main()
