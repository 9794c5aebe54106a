"""Classify small images with a convolutional network: Dataset, random_split, DataLoader, device, train and eval."""

import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, Dataset, random_split


class Shapes(Dataset):
    """Noisy 12 x 12 images of a horizontal bar, a vertical bar or a square."""

    def __init__(self, n, transform=None):
        rng = np.random.default_rng(0)
        self.labels = rng.integers(0, 3, n)
        self.images = rng.normal(0, 0.3, (n, 12, 12)).astype(np.float32)
        self.transform = transform
        for image, label in zip(self.images, self.labels):
            i, j = rng.integers(1, 5, 2)
            if label == 0:
                image[i, j:j + 6] += 1
            elif label == 1:
                image[i:i + 6, j] += 1
            else:
                image[i:i + 4, j:j + 4] += 0.5

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, idx):
        image = torch.from_numpy(self.images[idx]).unsqueeze(0)
        if self.transform:
            image = self.transform(image)
        return image, int(self.labels[idx])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, kernel_size=3, padding=1)
        self.bn1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, 3)
        self.dropout = nn.Dropout(0.2)
        self.fc1 = nn.Linear(16 * 2 * 2, 32)
        self.fc2 = nn.Linear(32, 3)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(x, 1)
        x = self.dropout(F.relu(self.fc1(x)))
        return F.log_softmax(self.fc2(x), dim=1)


def train(model, device, loader, optimizer):
    model.train()
    for data, target in loader:
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
    return loss.item()


def test(model, device, loader):
    model.eval()
    test_loss, correct = 0, 0
    with torch.no_grad():
        for data, target in loader:
            data, target = data.to(device), target.to(device)
            output = model(data)
            test_loss += F.nll_loss(output, target, reduction="sum").item()
            pred = output.argmax(dim=1, keepdim=True)
            correct += pred.eq(target.view_as(pred)).sum().item()
    return test_loss / len(loader.dataset), correct / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--lr", type=float, default=0.01)
    args = parser.parse_args()

    torch.manual_seed(1)
    torch.backends.cudnn.deterministic = True
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    kwargs = {"num_workers": 1, "pin_memory": True} if torch.cuda.is_available() else {}

    dataset = Shapes(600, transform=lambda x: (x - 0.1) / 0.4)
    train_set, test_set = random_split(dataset, [450, 150], generator=torch.Generator().manual_seed(42))
    train_loader = DataLoader(train_set, batch_size=32, shuffle=True, **kwargs)
    test_loader = DataLoader(test_set, batch_size=100, **kwargs)
    print("batches:", len(train_loader), len(test_loader), tuple(next(iter(test_loader))[0].shape))

    model = Net().to(device)
    print(model)
    print("parameters:", sum(p.numel() for p in model.parameters() if p.requires_grad))
    optimizer = optim.Adam(model.parameters(), lr=args.lr)
    scheduler = StepLR(optimizer, step_size=2, gamma=0.5)
    for epoch in range(1, args.epochs + 1):
        train(model, device, train_loader, optimizer)
        test_loss, accuracy = test(model, device, test_loader)
        scheduler.step()
        print(f"Epoch {epoch}: good so far: {test_loss < 1.2}, lr {scheduler.get_last_lr()[0]}")
    print("accuracy above 90 %:", accuracy > 0.9)


if __name__ == "__main__":
    main()
