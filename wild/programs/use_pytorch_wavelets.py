from help import rand, show
from pytorch_wavelets import DTCWTForward, DTCWTInverse, DWT1DForward, DWT1DInverse, DWTForward, DWTInverse, ScatLayer

x = rand(2, 3, 16, 16).requires_grad_()
out = {}
for wave, mode in [("haar", "zero"), ("db3", "symmetric"), ("bior2.2", "reflect"), ("db2", "periodization")]:
    x.grad = None
    low, high = DWTForward(J=2, wave=wave, mode=mode)(x)
    back = DWTInverse(wave=wave, mode=mode)((low, high))
    (low.pow(2).sum() + sum(h.abs().sum() for h in high) + back.pow(3).sum()).backward()
    out[wave] = [low, high, back, x.grad.clone()]
    s = x.reshape(2, 3, 256)
    low, high = DWT1DForward(J=3, wave=wave, mode=mode)(s)
    x.grad = None
    (DWT1DInverse(wave=wave, mode=mode)((low, high)).pow(2).sum() + low.pow(3).sum()).backward()
    out[f"1d {wave}"] = [low, high, x.grad.clone()]
x.grad = None
low, high = DTCWTForward(J=3, biort="near_sym_b", qshift="qshift_b")(x)
back = DTCWTInverse(biort="near_sym_b", qshift="qshift_b")((low, high))
(low.pow(2).sum() + sum(h.pow(2).sum() for h in high) + back.pow(3).sum()).backward()
out["dtcwt"] = [low, high, back, x.grad.clone()]
x.grad = None
z = ScatLayer()(x)
z.pow(2).sum().backward()
show(out=out, scat=z, g=x.grad)
