import torch
import torchlibrosa as tl
from help import rand, show

x = rand(2, 2000).requires_grad_()
stft = tl.STFT(n_fft=256, hop_length=64)
istft = tl.ISTFT(n_fft=256, hop_length=64)
re, im = stft(x)
back = istft(re, im, length=2000)
spec = tl.Spectrogram(n_fft=256, hop_length=64)(x)
back.pow(3).sum().backward()
show(re=re, im=im, back=back, g=x.grad, spec=spec, dft=tl.DFT(n=16, norm=None).dft(rand(16), rand(16)))
