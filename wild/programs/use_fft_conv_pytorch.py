import torch
from fft_conv_pytorch import FFTConv1d, FFTConv2d, fft_conv
from help import fill, gradients, rand, show
a, b = fill(FFTConv1d(3, 4, 5, stride=2, padding=2)), fill(FFTConv2d(4, 4, 3, padding=1, dilation=2, groups=2))
x, y = rand(2, 3, 30).requires_grad_(), rand(2, 4, 9, 9).requires_grad_()
out = [a(x), b(y), fft_conv(y, rand(2, 4, 3, 3), bias=rand(2))]
sum(o.pow(2).sum() for o in out).backward()
show(out=out, x=x.grad, y=y.grad, a=gradients(a), b=gradients(b))
