import torch
from torchcrf import CRF
from help import fill, gradients, rand, show, whole
crf = fill(CRF(4, batch_first=True))
e, tags = rand(3, 7, 4).requires_grad_(), whole(4, 3, 7)
mask = torch.tensor([[1] * 7, [1] * 5 + [0] * 2, [1] * 3 + [0] * 4]).bool()
optimizer = torch.optim.SGD(crf.parameters(), 0.1)
for _ in range(3):
    optimizer.zero_grad()
    loss = -crf(e, tags, mask=mask, reduction="token_mean")
    loss.backward()
    optimizer.step()
show(loss=loss, g=e.grad, p=dict(crf.named_parameters()), best=[torch.tensor(b) for b in crf.decode(e, mask)])
