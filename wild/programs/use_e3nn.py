import torch
from e3nn import o3
from help import fill, gradients, rand, show

out = {}
x1, x2 = rand(5, 16).requires_grad_(), rand(5, 4).requires_grad_()
for name, tp in {"full": o3.FullyConnectedTensorProduct("4x0e + 4x1o", "0e + 1o", "2x0e + 2x1o + 1x2e"),
                 "full product": o3.FullTensorProduct("4x0e + 4x1o", "0e + 1o"),
                 "elementwise": o3.ElementwiseTensorProduct("4x0e + 4x1o", "4x0e + 4x1o")}.items():  # fmt: skip
    x1.grad = x2.grad = None
    fill(tp)
    y = tp(x1, x1 * 2 if name == "elementwise" else x2)
    y.pow(2).sum().backward()
    out[name] = [y, x1.grad.clone(), gradients(tp)]
linear = fill(o3.Linear("4x0e + 4x1o", "3x0e + 2x1o", biases=True))
v = rand(6, 3).requires_grad_()
sh = o3.spherical_harmonics("0e + 1o + 2e + 3o", v, normalize=True)
sh.pow(3).sum().backward()
x1.grad = None
z = linear(x1)
(z.pow(2).sum() + o3.Norm("4x0e + 4x1o")(x1).sum()).backward()
alpha, beta, gamma = rand(3)
D = o3.Irreps("1o + 2e").D_from_angles(alpha, beta, gamma)
show(out=out, sh=sh, v=v.grad, z=z, x1=x1.grad, p=gradients(linear), D=D, w3j=o3.wigner_3j(1, 2, 1))
