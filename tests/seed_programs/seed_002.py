"""Seed 002: a bias gradient with squeeze(0), calling a node by hand, second derivatives, the old style."""

import torch as t
from torch.autograd import Function


# Inherit from Function
class LinearFunction(Function):
    # Note that both forward and backward are @staticmethods
    @staticmethod
    # bias is an optional argument
    def forward(ctx, input, weight, bias=None):
        # ctx is like self: what it holds can be read in backward
        ctx.save_for_backward(input, weight, bias)
        output = input.mm(weight.t())
        if bias is not None:
            output += bias.unsqueeze(0).expand_as(output)
        return output

    # This function has only a single output, so it gets only one gradient
    @staticmethod
    def backward(ctx, grad_output):
        input, weight, bias = ctx.saved_tensors
        grad_input = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output.mm(weight)
        if ctx.needs_input_grad[1]:
            grad_weight = grad_output.t().mm(input)
        if bias is not None and ctx.needs_input_grad[2]:
            grad_bias = grad_output.sum(0).squeeze(0)
        return grad_input, grad_weight, grad_bias


def arguments(out_features):
    input = t.arange(6.0).reshape(2, 3).requires_grad_()
    weight = t.linspace(-1.0, 1.0, 3 * out_features).reshape(out_features, 3).requires_grad_()
    bias = t.ones(out_features, requires_grad=True)
    return input, weight, bias


# forward
args = arguments(2)
linear = LinearFunction.apply(*args)
print(linear)

# backward: as the seed wrote it, on an output that is no scalar
try:
    linear.backward()
except RuntimeError as error:
    print("RuntimeError: " + str(error))

# backward, calling the node by hand
for grad in linear.grad_fn.apply(t.ones(2, 2)):
    print(grad)

# the same numbers from the engine
linear.backward(t.ones(2, 2))
for arg in args:
    print(arg.grad)

# squeeze(0) breaks the gradient of a bias of one element
try:
    LinearFunction.apply(*arguments(1)).sum().backward()
except RuntimeError as error:
    print("RuntimeError: " + str(error))

# higher derivatives
x = t.tensor(2.0, requires_grad=True)
y = x ** 3
grad_x = t.autograd.grad(y, x, create_graph=True)
print(grad_x[0].item())
grad_grad_x = t.autograd.grad(grad_x[0], x)
print(grad_grad_x[0].item())


# the old style: __init__, forward, backward on an instance
class OldMulConstant(Function):
    def __init__(self, constant):
        super().__init__()
        self.constant = constant

    def forward(self, tensor):
        return tensor * self.constant

    def backward(self, grad_output):
        return grad_output * self.constant


try:
    OldMulConstant(5)(x)
except RuntimeError as error:
    print("RuntimeError about a non-static forward:", "non-static forward" in str(error))
