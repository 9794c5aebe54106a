import torch
from help import gradients, rand, show
from nnAudio import features

x = rand(2, 4000).requires_grad_()
out = {}
layers = {
    "stft": features.STFT(n_fft=256, hop_length=128, output_format="Magnitude", trainable=True, verbose=False),
    "mel": features.MelSpectrogram(sr=8000, n_fft=256, n_mels=16, hop_length=128, trainable_mel=True, verbose=False),
    "mfcc": features.MFCC(sr=8000, n_mfcc=8, n_fft=256, n_mels=16, hop_length=128, verbose=False),
    "cqt": features.CQT1992v2(sr=8000, hop_length=256, fmin=220, n_bins=24, verbose=False),
    "gamma": features.Gammatonegram(sr=8000, n_fft=256, n_bins=16, hop_length=128, verbose=False),
}
for name, layer in layers.items():
    x.grad = None
    y = layer(x)
    y.pow(2).sum().backward()
    out[name] = [y / y.abs().max(), x.grad / x.grad.abs().max(), {k: g / g.abs().max() for k, g in gradients(layer).items()}]
stft = features.STFT(n_fft=256, hop_length=64, iSTFT=True, output_format="Complex", verbose=False)
back = stft.inverse(stft(x), onesided=True, length=4000)
show(out=out, back=back)
