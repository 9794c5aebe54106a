import torch
from help import fill, gradients, rand, show
from momentumnet import MomentumNet, transform_to_momentumnet

x = rand(4, 6).requires_grad_()
out = {}
for backprop in (True, False):
    for learned in (True, False):
        functions = [fill(torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.Tanh())) for _ in range(3)]
        net = MomentumNet(functions, gamma=0.9, use_backprop=backprop, learn_v=learned)
        x.grad = None
        y = net(x)
        y.pow(2).sum().backward()
        out[f"{backprop} {learned}"] = [y, x.grad.clone(), gradients(net)]


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = torch.nn.Sequential(*[torch.nn.Linear(6, 6) for _ in range(2)])

    def forward(self, x):
        for f in self.layer1:
            x = x + f(x)
        return x


show(out=out)
