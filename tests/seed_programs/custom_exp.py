"""Seed 000, example one: exp as a custom Function, and its gradient beside the built-in one's."""

import torch


class MyExp(torch.autograd.Function):
    """forward: y = exp(x), derivative: dy/dx = exp(x)"""

    @staticmethod
    def forward(ctx, inputs):
        outputs = inputs.exp()
        ctx.save_for_backward(outputs)
        return outputs

    @staticmethod
    def backward(ctx, grad_outputs):
        outputs, = ctx.saved_tensors
        return grad_outputs * outputs


inputs = torch.tensor([1.0, 2.0, 3.0], device='cpu', requires_grad=True)
outputs = MyExp.apply(inputs)
print(outputs)
outputs.backward(torch.ones(outputs.shape))
grad1 = inputs.grad
inputs.grad = None
print(grad1)

print("***********the built-in operation's gradient***********")
outputs = inputs.exp()
outputs.sum().backward()
grad2 = inputs.grad
print(grad2)
print(torch.equal(grad1, grad2))
