from typing import Any, assert_type

import gradwright as gw
import gradwright.nn.functional as F
from gradwright import Tensor, nn
from gradwright.autograd import Function
from gradwright.utils.data import DataLoader, TensorDataset


class Bump(Function):
    @staticmethod
    def forward(ctx, x):
        y = gw.exp(-x * x)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, grad_y):
        x, y = ctx.saved_tensors
        return -2 * grad_y * x * y


class Net(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.a = nn.Linear(1, width)
        self.b = nn.Linear(width, 1)
        self.drop = nn.Dropout(0.1)
        self.scale = nn.Parameter(gw.ones(1))

    def forward(self, x: Tensor) -> Tensor:
        h = F.relu(self.a(x))
        assert_type(h, Tensor)
        return self.b(self.drop(h)) * self.scale


x = gw.linspace(-3, 3, 200).reshape(-1, 1)
assert_type(x, Tensor)
y = gw.sin(x)
assert_type(y, Tensor)
net = Net(32)
assert_type(net(x), Tensor)
assert_type(net.scale, nn.Parameter)
optimizer = gw.optim.Adam(net.parameters(), lr=0.01)
schedule = gw.optim.lr_scheduler.StepLR(optimizer, 10)
for xb, yb in DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True):
    assert_type(xb, Tensor)
    optimizer.zero_grad()
    loss = F.mse_loss(net(xb), yb)
    assert_type(loss, Tensor)
    loss.backward()
    optimizer.step()
schedule.step()
assert_type(x.max(), Tensor)
assert_type(x.max(dim=0).values, Tensor)
values, indices = x.topk(2, dim=0)
assert_type(values, Tensor)
assert_type(x.grad, Tensor | None)
assert_type(x.shape, gw.Size)
assert_type(x.shape[0], int)
assert_type(x.dtype, gw.dtype)
assert_type(x.item(), int | Any)
assert_type(gw.autograd.grad(y.sum(), [x]), tuple[Tensor, ...])
assert_type(Bump.apply(x), Tensor)
assert_type(gw.linalg.svd(gw.eye(3)).S, Tensor)
assert_type(gw.fft.fft(x), Tensor)
assert_type(gw.special.bessel_j0(x), Tensor)
assert_type(x[0, :], Tensor)
assert_type(1 - x, Tensor)
assert_type(x @ x.T, Tensor)
assert_type(x > 0, Tensor)
assert_type(abs(x), Tensor)
assert_type(gw.bucketize(2.5, x) + gw.searchsorted(x, 2.5) + gw.isin(2, x), Tensor)
assert_type(gw.randint(high=5, size=(2,)), Tensor)
assert_type(x.add_(1).mul_(2), Tensor)
assert_type(gw.cat([x, y], dim=1), Tensor)
assert_type(gw.where(x > 0, x, 0.0), Tensor)
assert_type(x.nonzero(as_tuple=True), tuple[Tensor, ...])
with gw.no_grad():
    x += 1
@gw.no_grad()
def f(a: Tensor, b: int) -> Tensor:
    return a * b
assert_type(f(x, 2), Tensor)
assert_type(gw.vmap(f)(x, 2), Tensor)
seq = nn.Sequential(nn.Linear(1, 2), nn.ReLU())
assert_type(seq(x), Tensor)
assert_type(x.size(), gw.Size)
assert_type(x.size(0), int)
lstm = nn.LSTM(2, 3)
out, (h, c) = lstm(x)
assert_type(out, Tensor)
state = net.state_dict()
net.load_state_dict(state)
assert_type(F.max_pool2d(x, 2), Tensor)
net.a.weight.data
assert_type(net.a.weight.grad, Tensor | None)
gw.save(state, "a.safetensors")
@gw.compile
def step(a: Tensor) -> Tensor:
    return a * 2
assert_type(step(x), Tensor)
step.explain()
assert_type(gw.compile(net), Net)
@gw.compile(backend="plan")
def other(a: Tensor) -> tuple[Tensor, float]:
    return a * 2, a.sum().item()
assert_type(other(x)[1], float)
criterion = nn.CrossEntropyLoss()
assert_type(gw.exp_(x), Tensor)
assert_type(gw.manual_seed(0), gw.Generator)
assert_type(gw.utils.data.random_split(TensorDataset(x, y), [0.5, 0.5])[0][0], tuple[Tensor, ...])
assert_type(gw.autograd.functional.vhp(f, x, x), tuple[Tensor, Tensor])
assert_type(nn.AdaptiveAvgPool2d((1, None))(x), Tensor)
assert_type(nn.Conv2d(1, 2, 3, padding="same", dtype=gw.float64, device="cpu")(x), Tensor)
class Square(Function):
    @staticmethod
    def forward(ctx: gw.autograd.function.FunctionCtx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        ctx.power = 2
        return x * x
    @staticmethod
    def backward(ctx: gw.autograd.function.FunctionCtx, g: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return 2 * g * x
assert_type(criterion(x, y), Tensor)
for name, p in net.named_parameters():
    assert_type(p, nn.Parameter)
d = gw.device("cpu")
z = gw.zeros(2, 3, dtype=gw.float64, device=d, requires_grad=True)
z.register_hook(lambda g: g * 2)
print(z.mean().item() < 1e-3, float(z.sum()), z.tolist())
