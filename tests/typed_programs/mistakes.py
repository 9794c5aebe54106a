"""Mistakes that a type checker is to find: one on each line that says so."""

import gradwright as gw
from gradwright import Tensor, nn

x = gw.ones(3)
net = nn.Linear(3, 2)
gw.sin("angle")  # mistake: not a tensor
x.sum(dimension=0)  # mistake: no such argument
x.reshape("wide")  # mistake: not a size
x.grad.sum()  # mistake: None before the first backward pass
net(3)  # mistake: not a tensor
nn.Linear(3)  # mistake: an argument is missing
gw.optim.Adam(net.parameters(), learning_rate=0.1)  # mistake: no such argument
x.relo()  # mistake: no such method
gw.linalg.solv(x, x)  # mistake: no such function
x.max(dim=0).value  # mistake: values
gw.autograd.grad(x.sum(), [x]).clone()  # mistake: a tuple
gw.cat(x, 0, 1)  # mistake: too many arguments
gw.zeros(2, dtype=3.0)  # mistake: not a dtype
gw.fft.fft(x, norm=1)  # mistake: not a name
nn.functional.mse_loss(x)  # mistake: an argument is missing
text: str = x.exp()  # mistake: a tensor is no text


def shape(t: Tensor) -> str:
    return t.shape  # mistake: a size is no text


nn.Conv2d(1, 2, "wide")  # mistake: a size is a number
gw.utils.data.DataLoader([1], collate_fn=3)  # mistake: not a function
gw.nn.Sequental(net)  # mistake: no such class
x.backward(1.0)  # mistake: not a tensor
gw.expp(x)  # mistake: no such function
gw.float23  # mistake: no such dtype
gw.optim.Adm(net.parameters())  # mistake: no such class
nn.LSTM(3, 4)(x, x)  # mistake: two states
x.exp().grad_fn.name()  # mistake: None if nothing is recorded
blocks: nn.ModuleList[nn.Linear] = nn.ModuleList([net])
blocks[0](x).expp()  # mistake: no such method
nn.Linear(3, 4).bias.dimension()  # mistake: no such method
gw.xp.sin(x, axis=0)  # mistake: no such argument
gw.xp.sum(x, dim=0)  # mistake: axis
gw.distributions.kl_divergence(x, x)  # mistake: not distributions
x.tolist().shape  # mistake: a list
normal = gw.distributions.Normal(0.0, 1.0)
normal.log_probs(x)  # mistake: no such method
normal.sample((3,)).scale  # mistake: a tensor has none
normal.sigma  # mistake: scale
gw.float32.nbytes  # mistake: no such attribute


@gw.autograd.custom_op
def scaled(x: Tensor, *, factor: float = 2.0) -> Tensor:
    return x * factor


scaled(gw.ones(1), factor="one")  # mistake: not a number
scaled(1)  # mistake: not a tensor
