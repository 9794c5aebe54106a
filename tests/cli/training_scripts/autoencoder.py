"""Compress images to a few numbers and back: convolutions down, transposed convolutions up."""

import numpy as np
import torch
import torch.nn as nn


class Autoencoder(nn.Module):
    def __init__(self):
        super(Autoencoder, self).__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2, padding=1),
            nn.ReLU(True),
            nn.Conv2d(8, 4, 3, stride=2, padding=1),
            nn.Flatten(),
            nn.Linear(16, 6),
        )
        self.decoder = nn.Sequential(
            nn.Linear(6, 16),
            nn.Unflatten(1, (4, 2, 2)),
            nn.ConvTranspose2d(4, 8, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2, inplace=True),
            nn.ConvTranspose2d(8, 1, 4, stride=2, padding=1),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))


def weights_init(m):
    if isinstance(m, (nn.Conv2d, nn.ConvTranspose2d, nn.Linear)):
        w = torch.cos(torch.arange(m.weight.numel(), dtype=torch.float32) * 0.9).reshape(m.weight.shape)
        m.weight.data = 0.3 * w
        m.bias.data.fill_(0.01)


rng = np.random.default_rng(3)
i, j = np.mgrid[:8, :8]
centres = rng.uniform(1, 7, (200, 2, 1, 1))
images = np.exp(-((i - centres[:, 0]) ** 2 + (j - centres[:, 1]) ** 2) / 3)
data = torch.tensor(images[:, None], dtype=torch.float32)

model = Autoencoder()
model.apply(weights_init)
print(model)
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=1e-5)
for epoch in range(20):
    for img in data.split(50):
        output = model(img)
        loss = criterion(output, img)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if (epoch + 1) % 5 == 0:
        print("epoch [{}/{}], loss:{:.4f}".format(epoch + 1, 20, loss.item()))
code = model.encoder(data[:1])
print("code:", tuple(code.shape), "grad:", code.requires_grad)
