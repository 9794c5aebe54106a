"""Seed 001: a linear layer as a Function and as a Module (its two bugs repaired), and MulConstant."""

import torch
import torch.nn as nn
from torch.autograd import Function, gradcheck, gradgradcheck


# Inherit from Function
class LinearFunction(Function):

    # Note that both forward and backward are @staticmethods
    @staticmethod
    # bias is an optional argument
    def forward(ctx, input, weight, bias=None):
        ctx.save_for_backward(input, weight, bias)
        output = input.mm(weight.t())
        if bias is not None:
            output += bias.unsqueeze(0).expand_as(output)
        return output

    # This function has only a single output, so it gets only one gradient
    @staticmethod
    def backward(ctx, grad_output):
        # Additional trailing Nones are ignored, so the return statement is
        # simple even when the function has optional inputs.
        input, weight, bias = ctx.saved_tensors
        grad_input = grad_weight = grad_bias = None

        # These needs_input_grad checks are optional and there only to
        # improve efficiency.
        if ctx.needs_input_grad[0]:
            grad_input = grad_output.mm(weight)
        if ctx.needs_input_grad[1]:
            grad_weight = grad_output.t().mm(input)
        if bias is not None and ctx.needs_input_grad[2]:
            grad_bias = grad_output.sum(0)

        return grad_input, grad_weight, grad_bias


linear = LinearFunction.apply


class MulConstant(Function):
    @staticmethod
    def forward(ctx, tensor, constant):
        # ctx is a context object that can be used to stash information
        # for backward computation
        ctx.constant = constant
        return tensor * constant

    @staticmethod
    def backward(ctx, grad_output):
        # We return as many input gradients as there were arguments.
        # Gradients of non-Tensor arguments to forward must be None.
        return grad_output * ctx.constant, None


# gradcheck takes a tuple of tensors as input, checks if the gradients
# are close enough to numerical approximations and returns True if they are.
input = (torch.randn(20, 20, dtype=torch.double, requires_grad=True),
         torch.randn(30, 20, dtype=torch.double, requires_grad=True))
test = gradcheck(linear, input, eps=1e-6, atol=1e-4)
print(test)

# The same with a bias, and to second order (small: its cost grows fast)
bias = torch.randn(30, dtype=torch.double, requires_grad=True)
print(gradcheck(linear, input + (bias,), eps=1e-6, atol=1e-4))
small = (torch.randn(2, 3, dtype=torch.double, requires_grad=True),
         torch.randn(4, 3, dtype=torch.double, requires_grad=True),
         torch.randn(4, dtype=torch.double, requires_grad=True))
print(gradgradcheck(linear, small))
print(gradgradcheck(linear, small[:2]))

# A non-tensor argument
a = torch.ones(2, 3, requires_grad=True)
b = MulConstant.apply(a, 5)
b.backward(torch.ones_like(a))
print(b)
print(a.grad)
print(gradcheck(lambda t: MulConstant.apply(t, 5), small[:1]))


class Linear(nn.Module):
    def __init__(self, input_features, output_features, bias=True):
        super(Linear, self).__init__()
        self.in_features = input_features  # repaired: the seed called it self.input_features
        self.out_features = output_features

        # nn.Parameter is a special kind of Tensor, that will get
        # automatically registered as Module's parameter once it's assigned
        # as an attribute. nn.Parameters require gradients by default.
        self.weight = nn.Parameter(torch.Tensor(output_features, input_features))
        if bias:
            self.bias = nn.Parameter(torch.Tensor(output_features))
        else:
            # You should always register all possible parameters, but the
            # optional ones can be None if you want.
            self.register_parameter('bias', None)

        # Not a very smart way to initialize weights
        self.weight.data.uniform_(-0.1, 0.1)
        if self.bias is not None:  # repaired: the seed asked `if bias is not None`
            self.bias.data.uniform_(-0.1, 0.1)

    def forward(self, input):
        return LinearFunction.apply(input, self.weight, self.bias)

    def extra_repr(self):
        return 'in_features={}, out_features={}, bias={}'.format(
            self.in_features, self.out_features, self.bias is not None
        )


layer = Linear(3, 2)
print(layer)
print([name for name, _ in layer.named_parameters()])
print(bool((layer.weight.abs() <= 0.1).all() and (layer.bias.abs() <= 0.1).all()))

x = torch.arange(12.0).reshape(4, 3)
layer(x).sum().backward()
print(layer.weight.grad)
print(layer.bias.grad)

unbiased = Linear(3, 2, bias=False)
print(unbiased)
listed = [name for name, _ in unbiased.named_parameters()]
print(list(unbiased._parameters), listed, list(unbiased.state_dict()))
unbiased(x).sum().backward()
print(unbiased.weight.grad, unbiased.bias)
