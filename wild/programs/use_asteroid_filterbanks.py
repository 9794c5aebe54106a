import torch
from asteroid_filterbanks import Encoder, Decoder, FreeFB, ParamSincFB, STFTFB, AnalyticFreeFB, make_enc_dec
from asteroid_filterbanks.transforms import from_magphase, mag, magreim, angle, apply_mag_mask
from help import fill, gradients, rand, show

x = rand(2, 1, 800).requires_grad_()
out = {}
for name, fb in [("free", FreeFB(16, 20)), ("sinc", ParamSincFB(16, 21, sample_rate=8000.0)), ("stft", STFTFB(32, 32)),
                 ("analytic", AnalyticFreeFB(16, 20))]:  # fmt: skip
    if name in ("free", "analytic"):
        fill(fb)
    x.grad = None
    enc = Encoder(fb)
    y = enc(x)
    y.pow(2).sum().backward()
    out[name] = [y, x.grad.clone(), gradients(enc)]
enc, dec = make_enc_dec("stft", n_filters=64, kernel_size=64, stride=32)
spec = enc(x)
m, p = mag(spec), angle(spec)
x.grad = None
back = dec(apply_mag_mask(spec, torch.sigmoid(m)))
back.pow(2).sum().backward()
show(out=out, back=back, g=x.grad, mag=m, re=magreim(spec), mp=from_magphase(m, p))
