import ptwt
import pywt
import torch
from help import rand, show

x = rand(2, 64, dtype=torch.float64).requires_grad_()
coeffs = ptwt.wavedec(x, "db4", mode="zero", level=3)
sum((c**2).sum() for c in coeffs).backward()
image = rand(2, 32, 32, dtype=torch.float64)
two = ptwt.wavedec2(image, pywt.Wavelet("haar"), level=2, mode="reflect")
back = ptwt.waverec2(two, "haar")
cube = ptwt.wavedec3(rand(1, 8, 8, 8, dtype=torch.float64), "haar", level=1, mode="zero")
cwt, freqs = ptwt.cwt(rand(64, dtype=torch.float64), torch.arange(1, 12), "cmor1.5-1.0")
packet = ptwt.WaveletPacket(rand(1, 32, dtype=torch.float64), "db2", mode="reflect", maxlevel=2)
matrix = ptwt.MatrixWavedec("db2", level=2)(rand(1, 32, dtype=torch.float64))
show(coeffs=coeffs, grad=x.grad, two=[two[0], *[list(t) for t in two[1:]]], back=back, cube=cube[0], cwt=torch.view_as_real(cwt),
     packet=[packet[k] for k in packet.get_level(2)], matrix=matrix)
