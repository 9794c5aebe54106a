import torch
import torchkbnufft as tkbn
from help import positive, rand, show

x = torch.complex(rand(2, 1, 8, 8), rand(2, 1, 8, 8)).requires_grad_()
k = (positive(2, 30) * 4 - 2).requires_grad_()
forward, adjoint = tkbn.KbNufft(im_size=(8, 8)), tkbn.KbNufftAdjoint(im_size=(8, 8))
y = forward(x, k)
y.abs().pow(2).sum().backward()
out = {"y": torch.view_as_real(y), "x": torch.view_as_real(x.grad), "k": k.grad}
back = adjoint(y.detach().requires_grad_(), k)
k.grad = None
back.abs().pow(2).sum().backward()
out |= {"back": torch.view_as_real(back), "k adjoint": k.grad}
smaps = torch.complex(rand(2, 3, 8, 8), rand(2, 3, 8, 8))
x.grad = None
c = forward(x, k.detach(), smaps=smaps, norm="ortho")
c.abs().sum().backward()
out |= {"coils": torch.view_as_real(c), "coils x": torch.view_as_real(x.grad)}
kernel = tkbn.calc_toeplitz_kernel(k.detach(), (8, 8))
toep = tkbn.ToepNufft()(x.detach(), kernel)
dcomp = tkbn.calc_density_compensation_function(ktraj=k.detach(), im_size=(8, 8))
show(out=out, toep=torch.view_as_real(toep), dcomp=torch.view_as_real(dcomp))
