import torch
from spikingjelly.activation_based import encoding, functional, layer, neuron, surrogate
from help import fill, gradients, positive, show


def spikes(node, current):
    return torch.stack([node(torch.full((2,), current)) for _ in range(5)])


out = {}
for name, s in [("atan", surrogate.ATan()), ("sigmoid", surrogate.Sigmoid()), ("piecewise", surrogate.PiecewiseQuadratic()),
                ("soft", surrogate.SoftSign()), ("leaky", surrogate.LeakyKReLU())]:
    net = fill(torch.nn.Sequential(layer.Linear(6, 8), neuron.LIFNode(tau=2.0, surrogate_function=s), layer.Linear(8, 4),
                                   neuron.IFNode(surrogate_function=s, detach_reset=True)), 0.8)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(3):
        x, y = positive(5, 6), positive(5, 4)
        rate = sum(net(x) for _ in range(6)) / 6
        loss = torch.nn.functional.mse_loss(rate, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        functional.reset_net(net)
    out[name] = [loss, gradients(net), dict(net.named_parameters())]
multi = fill(torch.nn.Sequential(layer.Conv2d(1, 3, 3, padding=1), layer.BatchNorm2d(3), neuron.ParametricLIFNode(),
                                 layer.MaxPool2d(2), layer.Flatten(), layer.Linear(27, 4), neuron.QIFNode()), 0.6)
functional.set_step_mode(multi, "m")
z = multi(positive(4, 2, 1, 6, 6) * 3)
z.sum().backward()
out["multi"] = [z, gradients(multi)]
out["enc"] = encoding.LatencyEncoder(5)(positive(3))
out["izh"] = spikes(neuron.IzhikevichNode(), 3.0)
out["klif"] = spikes(neuron.KLIFNode(), 0.7)
show(out=out)
