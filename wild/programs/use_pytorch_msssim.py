from help import positive, show
from pytorch_msssim import ssim

x, y = positive(1, 2, 24, 24).requires_grad_(), positive(1, 2, 24, 24)
s = ssim(x, y, data_range=1.0)
s.backward()
show(s=s, g=x.grad)
