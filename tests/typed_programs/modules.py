from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, assert_type

import gradwright as gw
from gradwright import Tensor, nn
from gradwright.distributions import Normal, kl_divergence
from gradwright.func import functional_call
from gradwright.nn.utils.rnn import PackedSequence, pack_sequence, pad_packed_sequence


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x: Tensor, scale: float = 1.0) -> Tensor:
        return scale * self.linear(x)


class Model(nn.Module):
    mask: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.blocks: nn.ModuleList[Block] = nn.ModuleList([Block(3) for _ in range(2)])
        self.blocks.append(Block(3))
        self.heads: nn.ModuleDict[Block] = nn.ModuleDict({"mean": Block(3)})
        self.layers = nn.ModuleList()
        self.layers.append(nn.ReLU())
        self.parts = nn.ModuleDict({"rnn": nn.LSTM(3, 4), "out": nn.Linear(4, 3)})
        self.net = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
        self.register_buffer("mask", gw.ones(3))

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x, scale=2.0)
        assert_type(self.blocks[0], Block)
        assert_type(self.blocks[1:], nn.ModuleList[Block])
        for i, layer in enumerate(self.layers):
            assert_type(layer, nn.Module)
            x = layer(x)
        out, (h, c) = self.parts["rnn"](x)
        x = self.parts["out"](out)
        assert_type(self.net[0], nn.Module)
        print(self.net[0].weight.abs().max(), self.net[-1].training, [m for m in self.net[:1]])
        return self.heads["mean"](self.net(x) * self.mask)


def count(modules: nn.ModuleList) -> int:
    return sum(p.numel() for module in modules for p in module.parameters())


def begin(module: nn.Module) -> None:
    if isinstance(module, nn.Linear):
        nn.init.zeros_(module.bias)
        if module.bias is not None:
            module.bias.data.fill_(0.5)


model = Model()
model.apply(begin)
count(model.blocks)
x = gw.ones(5, 2, 3)
y = model(x)
lstm, gru = nn.LSTM(3, 4), nn.GRU(3, 4)
assert_type(lstm(x), tuple[Tensor, tuple[Tensor, Tensor]])
state: tuple[Tensor, Tensor] | None = None
for _ in range(2):
    out, state = lstm(x, state)
    state = (state[0].detach(), state[1].detach())
packed = pack_sequence([x[0], x[1]])
assert_type(gru(packed), tuple[PackedSequence, Tensor])
pad_packed_sequence(gru(packed)[0], batch_first=True)
assert_type(functional_call(model, dict(model.named_parameters()), (x,)), Tensor)
assert_type(kl_divergence(Normal(0.0, 1.0), Normal(x, 1.0)), Tensor)
assert_type(gw.autograd.functional.hessian(lambda t: (t * t).sum(), x), Tensor)
normal = Normal(x, 1.0)
assert_type(normal.log_prob(normal.rsample()) - normal.entropy() + normal.loc, Tensor)
node = y.grad_fn
assert_type(node, gw.autograd.graph.Node | None)
if node is not None:
    print(node.name(), [parent.name() for parent, _ in node.next_functions if parent is not None])
words = ["a", "b", "c"]
print(words[y.argmax().item() % 3], [i for i in range(y.argmax().item())])


def twice(t: Tensor) -> Tensor:
    return t * 2


assert_type(gw.autograd.functional.jacobian(twice, x), Tensor)


def value(t: Tensor) -> float:
    return t.item()


def column(t: Tensor) -> list[float]:
    return t.tolist()


class Lion(gw.optim.Optimizer):
    def __init__(self, params: Iterable[Tensor], lr: float = 1e-3) -> None:
        super().__init__(params, {"lr": lr})

    @gw.no_grad()
    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        loss = closure() if closure is not None else None
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["steps"] = self.state[p].get("steps", 0) + 1
                p.add_(p.grad.sign(), alpha=-group["lr"])
        return loss


def loss() -> Tensor:
    total = model(x).square().sum()
    total.backward()
    return total


loss()
optimizer: gw.optim.Optimizer = Lion(model.parameters())
optimizer.step()
assert_type(gw.optim.LBFGS(model.parameters(), max_iter=1).step(loss), Tensor)
ages: gw.LongTensor = gw.LongTensor([3, 4])
assert_type(ages.type(gw.FloatTensor), Tensor)
assert_type(ages.type(), str)


def double(v: Any) -> Any:
    if gw.is_tensor(v):
        assert_type(v, Tensor)
        return v * 2
    return [double(one) for one in v]


gw.testing.assert_close(y, y, rtol=1e-3, atol=1e-3)
assert_type(gw.xp.sum(gw.xp.exp(x) * gw.xp.pow(x, 2), axis=0), Tensor)
assert_type(gw.xp.fft.rfft(gw.xp.linalg.inv(gw.xp.eye(3, dtype=gw.xp.float64))), Tensor)


@gw.autograd.custom_op
def scaled(x: Tensor, *, factor: float = 2.0) -> Tensor:
    return x * factor


@gw.autograd.custom_op(samples=[])
def pair(x: Tensor) -> tuple[Tensor, int]:
    return x, 1


assert_type(scaled(gw.ones(1), factor=1.0), Tensor)
assert_type(pair(gw.ones(1)), tuple[Tensor, int])
