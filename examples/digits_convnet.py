"""Train a small convolutional network to read handwritten digits, with an activation whose derivative is our own.

Data, training and what is printed are those of digits_mlp.py; the activation is the LeakyRelu of right_functions.py,
over which `gradwright check` goes first.
"""

import gradwright as gw
from digits_mlp import data, report, train
from gradwright import nn
from right_functions import LeakyRelu
from workbench import options, verify


class Stage(nn.Module):
    """Convolution with 3 x 3 filters, batch normalisation, activation: (n, inputs, h, w) to (n, outputs, h, w)."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x):
        return LeakyRelu.apply(self.norm(self.conv(x)), 0.1)


class ConvNet(nn.Sequential):
    """Scores of ten digits: (n, 64) to (n, 10)."""

    def __init__(self):
        super().__init__(
            nn.Unflatten(1, (1, 8, 8)),
            Stage(1, 16),
            Stage(16, 32),
            nn.MaxPool2d(2),  # 4 x 4
            Stage(32, 64),
            nn.MaxPool2d(2),  # 2 x 2
            nn.Flatten(),
            nn.Dropout(0.25),
            nn.Linear(256, 10),
        )


def main():
    arguments = options(__doc__, "digits_convnet.png", epochs=20, quick=2)
    verify(LeakyRelu)
    gw.manual_seed(arguments.seed)
    model = ConvNet()
    train_set, held_out = data()
    losses = train(model, train_set, held_out, arguments.epochs)
    report("convolutional network", model, held_out, losses, arguments)


if __name__ == "__main__":
    main()
