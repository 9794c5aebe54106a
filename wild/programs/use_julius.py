import julius
from help import rand, show

x = rand(2, 64).requires_grad_()
y = julius.lowpass_filter(x, 0.2)
z = julius.resample_frac(x, 4, 3)
(y.pow(2).sum() + z.pow(2).sum()).backward()
show(y=y, z=z, g=x.grad)
