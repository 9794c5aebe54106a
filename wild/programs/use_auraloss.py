import auraloss
import torch
from help import rand, show

x, y = rand(2, 1, 3000).requires_grad_(), rand(2, 1, 3000)
stereo, target = rand(2, 2, 3000).requires_grad_(), rand(2, 2, 3000)
out = {}
losses = {

    "multi": auraloss.freq.MultiResolutionSTFTLoss(fft_sizes=[128, 256], hop_sizes=[32, 64], win_lengths=[128, 256]),
    "esr": auraloss.time.ESRLoss(), "dc": auraloss.time.DCLoss(), "logcosh": auraloss.time.LogCoshLoss(),
    "snr": auraloss.time.SNRLoss(), "sisdr": auraloss.time.SISDRLoss(), "sdsdr": auraloss.time.SDSDRLoss(),
}  # fmt: skip
for name, loss in losses.items():
    x.grad = None
    v = loss(x, y)
    v.backward()
    out[name] = [v, x.grad.clone()]
sums = auraloss.freq.SumAndDifferenceSTFTLoss(fft_sizes=[128, 256], hop_sizes=[32, 64], win_lengths=[128, 256])
v = sums(stereo, target)
v.backward()
show(out=out, sums=v, g=stereo.grad, fir=auraloss.perceptual.FIRFilter()(x.detach(), y))
