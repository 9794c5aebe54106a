import torch
from interpol import grid_count, grid_pull, resize, spline_coeff
from help import positive, rand, show
out = {}
x = rand(1, 2, 10, 9).requires_grad_()
g = (positive(1, 6, 5, 2) * 8).requires_grad_()
for order in (0, 1, 2, 3):
    for bound in ("zero", "dct2", "dft", "replicate"):
        y = grid_pull(x, g, interpolation=order, bound=bound, extrapolate=True)
        gr = torch.autograd.grad(y.pow(2).sum(), [x, g], allow_unused=True)
        out[f"{order}{bound}"] = [y, *gr]
out["c"] = spline_coeff(x, interpolation=3, bound="dct2", dim=-1)
out["r"] = resize(x, factor=2, interpolation=3, prefilter=True)
out["n"] = grid_count(g, shape=(10, 9))
show(out=out)
