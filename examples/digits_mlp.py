"""Train a multilayer perceptron to read handwritten digits, with a linear layer whose derivative is written by hand.

Data: 1,797 images of 8 x 8 pixels (E. Alpaydin and C. Kaynak, 1998, shipped with scikit-learn). A quarter of them,
always the same 450, is held out: the network is not trained on it. The layer is that of linear_function.py;
`gradwright check` goes over it first.

Prints its verdict and how many of the held-out images are read right; draws the losses and saves the parameters.
"""

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import gradwright as gw
from gradwright import nn
from gradwright.nn import functional as F
from gradwright.utils.data import DataLoader, TensorDataset
from linear_function import Linear, LinearFunction
from workbench import draw, options, progress, verify


class MLP(nn.Module):
    """Scores of ten digits: (n, 64) to (n, 10), through 128 hidden units."""

    def __init__(self):
        super().__init__()
        self.hidden, self.scores = Linear(64, 128), Linear(128, 10)

    def forward(self, x):
        return self.scores(self.hidden(x).relu())


def data():
    """The images to train on and those held out: pixels (n, 64) from 0 to 1, digits (n,)."""
    digits = load_digits()
    pixels = (digits.data / 16).astype("float32")
    parts = train_test_split(pixels, digits.target, test_size=0.25, random_state=0, stratify=digits.target)
    x, x_held_out, y, y_held_out = map(gw.from_numpy, parts)
    return TensorDataset(x, y), TensorDataset(x_held_out, y_held_out)


def evaluate(model, dataset):
    """Cross-entropy per image, and the share of images read right."""
    x, y = dataset.tensors
    model.eval()
    with gw.no_grad():
        scores = model(x)
    return F.cross_entropy(scores, y).item(), (scores.argmax(1) == y).float().mean().item()


def train(model, train_set, held_out, epochs, rate=0.01):
    """Train with AdamW, the learning rate rising to ``rate`` and falling again; the losses of each epoch."""
    loader = DataLoader(train_set, batch_size=50, shuffle=True)
    optimiser = gw.optim.AdamW(model.parameters(), lr=rate)
    schedule = gw.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=epochs * len(loader))
    losses, held_out_losses = [], []
    with progress(epochs, "epochs") as advance:
        for _ in range(epochs):
            model.train()
            total = 0.0
            for x, y in loader:
                loss = F.cross_entropy(model(x), y)
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                schedule.step()
                total += loss.item() * len(y)
            losses.append(total / len(train_set))
            held_out_losses.append(evaluate(model, held_out)[0])
            advance(f"loss {losses[-1]:.4f}")
    return losses, held_out_losses


def report(name, model, held_out, losses, arguments):
    """Draw the losses, save the parameters and print the final figure."""
    x = range(1, arguments.epochs + 1)
    _, right = evaluate(model, held_out)
    curves = dict(zip(["training", "held out"], [(x, y) for y in losses], strict=True))
    title = f"Digits, {name}: {right:.1%} of {len(held_out)} held-out images right"
    draw(arguments.out, title, "epoch (1,347 images)", "cross-entropy (nats per image)", curves)
    gw.save(model.state_dict(), arguments.state)
    print(f"loss curve: {arguments.out}, parameters: {arguments.state}")
    print(f"right: {right:.2%} of {len(held_out)} held-out images")


def main():
    arguments = options(__doc__, "digits_mlp.png", epochs=40, quick=5)
    verify(LinearFunction)
    gw.manual_seed(arguments.seed)
    model = MLP()
    train_set, held_out = data()
    losses = train(model, train_set, held_out, arguments.epochs)
    report("multilayer perceptron", model, held_out, losses, arguments)


if __name__ == "__main__":
    main()
