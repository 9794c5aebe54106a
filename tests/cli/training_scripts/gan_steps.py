"""Generator against discriminator: two optimisers, detach, labels of ones and zeros."""

import numpy as np
import torch
from torch import nn
from torch.autograd import Variable

rng = np.random.RandomState(7)
nz, batch_size = 4, 64


def block(i, o):
    return [nn.Linear(i, o), nn.BatchNorm1d(o, momentum=0.8), nn.LeakyReLU(0.2)]


generator = nn.Sequential(*block(nz, 16), *block(16, 16), nn.Linear(16, 2), nn.Tanh())
discriminator = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
for net in (generator, discriminator):
    for p in net.parameters():
        if p.dim() == 2:
            p.data.copy_(torch.from_numpy(rng.normal(0, 0.4, p.shape)))
        elif p.data.sum() != p.numel():  # the biases, not the ones of batch normalisation
            nn.init.zeros_(p)

criterion = nn.BCEWithLogitsLoss()
optimizerD = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.5, 0.999))
optimizerG = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
ones = Variable(torch.ones(batch_size, 1), requires_grad=False)
zeros = Variable(torch.zeros(batch_size, 1), requires_grad=False)

for step in range(60):
    angle = rng.uniform(0, 2 * np.pi, batch_size)
    real = torch.tensor(np.stack([np.cos(angle), np.sin(angle)], 1) * 0.7, dtype=torch.float32)
    noise = torch.tensor(rng.normal(size=(batch_size, nz)), dtype=torch.float32)

    optimizerD.zero_grad()
    fake = generator(noise)
    errD = criterion(discriminator(real), ones) + criterion(discriminator(fake.detach()), zeros)
    errD.backward()
    optimizerD.step()

    for p in discriminator.parameters():
        p.requires_grad_(False)
    optimizerG.zero_grad()
    errG = criterion(discriminator(fake), ones)
    errG.backward()
    optimizerG.step()
    for p in discriminator.parameters():
        p.requires_grad_(True)

    if step % 20 == 19:
        print("[%d/60] Loss_D: %.4f Loss_G: %.4f" % (step + 1, errD.item(), errG.item()))

generator.eval()
with torch.no_grad():
    samples = generator(torch.tensor(rng.normal(size=(500, nz)), dtype=torch.float32)).numpy()
print("radius %.3f" % np.linalg.norm(samples, axis=1).mean(), samples.dtype, samples.shape)
