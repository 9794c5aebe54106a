import torch
from vector_quantize_pytorch import FSQ, LFQ, LatentQuantize, ResidualVQ, SimVQ, VectorQuantize
from help import fill, gradients, rand, show

out = {}
x = rand(2, 10, 8).requires_grad_()
for name, vq in [("vq", VectorQuantize(dim=8, codebook_size=16, decay=0.8, commitment_weight=1.0)),
                 ("cos", VectorQuantize(dim=8, codebook_size=16, use_cosine_sim=True)),
                 ("rot", VectorQuantize(dim=8, codebook_size=16, rotation_trick=True)),
                 ("learn", VectorQuantize(dim=8, codebook_size=16, learnable_codebook=True, ema_update=False)),
                 ("rvq", ResidualVQ(dim=8, num_quantizers=3, codebook_size=16)), ("sim", SimVQ(dim=8, codebook_size=16))]:
    with torch.no_grad():
        for n, t in sorted([*vq.named_parameters(), *vq.named_buffers()], key=lambda p: p[0]):
            if t.dtype == torch.float32 and t.ndim > 1:
                t.copy_(rand(*t.shape))
    for layer in vq.modules():
        if hasattr(layer, "embed") and hasattr(layer, "embed_avg"):
            layer.embed_avg.data.copy_(layer.embed)
    q, i, loss = vq(x)
    g, = torch.autograd.grad(q.pow(2).sum() + loss.sum(), x)
    out[name] = [q, i, loss, g, dict(vq.named_buffers())]
f = FSQ([8, 5, 5, 5], dim=8)
fill(f)
q, i = f(x)
q.sum().backward()
out["fsq"] = [q, i, x.grad, gradients(f), f.indices_to_codes(i)]
lfq = fill(LFQ(codebook_size=64, dim=8, entropy_loss_weight=0.02, diversity_gamma=1.0))
q, i, a = lfq(x)
a.backward()
out["lfq"] = [q, i, a, gradients(lfq)]
show(out=out)
