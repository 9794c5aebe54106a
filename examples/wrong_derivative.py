"""A wrong derivative, which nothing notices until gradcheck is asked.

Two versions of multiplying by a constant. One's backward forgets the constant: it runs, and gives a gradient
of the right shape, so whatever is trained with it only goes astray. Prints each one's gradient and the
checker's verdict: on the wrong one, the Jacobian by finite differences beside the one from backward.
"""

import gradwright as gw


class MulConstant(gw.autograd.Function):
    """y = constant * x, dy/dx = constant."""

    @staticmethod
    def forward(ctx, x, constant):
        ctx.constant = constant  # no tensor, so an attribute of ctx will do
        return x * constant

    @staticmethod
    def backward(ctx, grad_y):
        return grad_y * ctx.constant, None  # one result for each input; a constant has no gradient


class MulConstantBad(gw.autograd.Function):
    """The same, done wrong: backward passes its gradient on as it came."""

    @staticmethod
    def forward(ctx, x, constant):
        ctx.constant = constant
        return x * constant

    @staticmethod
    def backward(ctx, grad_y):
        return grad_y, None


def main():
    for function in [MulConstant, MulConstantBad]:
        x = gw.tensor([1.0, 2.0], dtype=gw.float64, requires_grad=True)
        function.apply(x, 5).sum().backward()
        print(f"{function.__name__}: gradient {x.grad.tolist()}")
        try:
            gw.autograd.gradcheck(function.apply, (x, 5))
            print("gradcheck: right\n")
        except gw.autograd.GradcheckError as error:
            print("gradcheck:", str(error).strip())


if __name__ == "__main__":
    main()
