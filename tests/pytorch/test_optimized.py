"""`torch.compile` of modules, beside PyTorch's: what stands around the module, its keys, what is read and set."""

import copy

import pytest

import gradwright as gw
from gradwright.pytorch.optimized import OptimizedModule
from gradwright.pytorch.optimized import compile as compiled


class Scaled(gw.nn.Module):
    def __init__(self):
        super().__init__()
        self.k = 5

    def forward(self, x, y=0):
        return x * self.k + y


def _net(T):
    net = T.nn.Sequential(T.nn.Linear(3, 4), T.nn.ReLU(), T.nn.Linear(4, 1))
    with T.no_grad():
        for p in net.parameters():
            p.copy_(T.arange(p.numel()).reshape(p.shape) / 10 - 0.4)
    return net


def _steps(T, c):
    optimizer, losses = T.optim.SGD(c.parameters(), 0.1), []
    for _ in range(5):
        loss = c(T.ones(2, 3)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(round(loss.item(), 5))
    return losses


def _hooked(T, c):
    seen = []
    c.register_forward_hook(lambda module, args, out: seen.append(type(module).__name__))
    c(T.ones(1, 3))
    return seen


ASKED = {
    "class": lambda T, c: (type(c).__name__, isinstance(c, T.nn.Module), type(c._orig_mod).__name__),
    "keys": lambda T, c: (list(c.state_dict()), [name for name, _ in c.named_parameters()]),
    "modules": lambda T, c: [name for name, _ in c.named_modules()],
    "text": lambda T, c: repr(c),
    "steps": _steps,
    "modes": lambda T, c: [(c.train(mode) is c, c.training, c._orig_mod.training) for mode in (False, True)],
    "its own state": lambda T, c: str(c.load_state_dict(c.state_dict())),
    "keys put right": lambda T, c: str(c._orig_mod.load_state_dict(
        {key.removeprefix("_orig_mod."): value for key, value in c.state_dict().items()})),
    "set": lambda T, c: (setattr(c, "foo", 3), c.foo, c._orig_mod.foo),
    "copy": lambda T, c: (list(copy.deepcopy(c).state_dict()), type(copy.deepcopy(c)).__name__),
    "hook": _hooked,
    "disabled": lambda T, c: type((compiled if T is gw else T.compile)(c._orig_mod, disable=True)).__name__,
}  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_as_pytorchs(name, torch):
    ours, theirs = compiled(_net(gw), backend="plan"), torch.compile(_net(torch), backend="eager")
    assert ASKED[name](gw, ours) == ASKED[name](torch, theirs)


def test_it_is_compiled_and_told():
    net = compiled(Scaled(), backend="plan")
    for k in (1.0, 2.0, 3.0, 4.0):
        assert net(x=gw.ones(2) * k).tolist() == [5 * k] * 2
    net.k = 7
    assert net(gw.ones(1)).item() == net._orig_mod(gw.ones(1)).item() == 7
    assert "program" in str(net.explain())
    assert compiled(backend="plan")(lambda x: x * 2)(gw.ones(1)).item() == 2
    made, arguments = net.__reduce__()
    again = made(*arguments)
    assert isinstance(again, OptimizedModule)
    assert again(gw.ones(1)).item() == 7


def test_what_it_lacks():
    with pytest.raises(AttributeError, match="'Scaled' object has no attribute 'frobnicate'"):
        compiled(Scaled()).frobnicate
