"""Seed 003: simple gradients, the graph behind them walked by hand, and a MulConstant that is wrong."""

import torch
from torch.autograd import Variable, gradcheck
# for writing extensions
from torch.autograd.function import Function

torch.manual_seed(0)  # added, so that two runs print the same

x = torch.rand(5, 5, requires_grad=True)
y = torch.rand(5, 5, requires_grad=True)
z = torch.sum(x + y)
z.backward()
print(x.grad, y.grad)

x = Variable(torch.rand(5, 5), requires_grad=True)
y = Variable(torch.rand(5, 5), requires_grad=True)
print(type(x) is torch.Tensor)
z = x**2 + y**3
# z is no scalar, so backward takes a tensor of its size
z.backward(torch.ones_like(x))
print(x.grad)
print(torch.equal(x.grad, 2 * x), torch.equal(y.grad, 3 * y**2))

with torch.no_grad():
    print((x + y*2).requires_grad)

# into the graph
print([name for name in ("grad", "grad_fn", "is_leaf", "backward") if name in dir(z)])
print("x.is_leaf="+str(x.is_leaf))
print("z.is_leaf="+str(z.is_leaf))
print(z.grad_fn)
print(z.grad_fn is z.grad_fn)
print(z.grad_fn.next_functions)
xg = z.grad_fn.next_functions[0][0]
print(xg)
print(xg.next_functions)
x_leaf = xg.next_functions[0][0]
print(type(x_leaf).__name__, x_leaf.next_functions)
print(x_leaf.variable is x)
print(x_leaf.variable)
# added: what the node saved; backward has freed it in z, so on a fresh graph
xg = (x**2 + y**3).grad_fn.next_functions[0][0]
print(xg._saved_self is x, xg._saved_exponent)


# multiplication by a constant
class MulConstant(Function):
    @staticmethod
    def forward(ctx, tensor, constant):
        # ctx keeps information, like self; backward can read its attributes
        ctx.constant = constant
        return tensor * constant

    @staticmethod
    def backward(ctx, grad_output):
        # As many results as inputs: the first a tensor, the second a constant,
        # whose gradient must be None. (The bug: grad_output is not multiplied.)
        return grad_output, None


a = torch.rand(3, 3, requires_grad=True)
b = MulConstant.apply(a, 5)
print("a:"+str(a))
print("b:"+str(b))
b.backward(torch.ones_like(a))
print(a.grad)

try:
    gradcheck(lambda t: MulConstant.apply(t, 5), torch.rand(2, dtype=torch.double, requires_grad=True))
except RuntimeError as error:
    print(type(error).__name__)
    print(error)
