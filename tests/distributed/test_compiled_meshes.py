"""Training steps compiled on a mesh: the numbers of one device, and one message between devices where one will do."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright import distributed as gd

jax = pytest.importorskip("jax")

if len(jax.local_devices()) < 8:
    pytest.skip("JAX was started with fewer devices before this could ask for more", allow_module_level=True)

F = gw.nn.functional


def mlp() -> Any:
    return gw.nn.Sequential(gw.nn.Linear(4, 8), gw.nn.Tanh(), gw.nn.Dropout(0.2), gw.nn.Linear(8, 3))


def convnet() -> Any:
    return gw.nn.Sequential(gw.nn.Conv2d(1, 2, 3), gw.nn.BatchNorm2d(2), gw.nn.ReLU(), gw.nn.Flatten(),
                            gw.nn.Linear(32, 3))  # fmt: skip


def sgd(parameters: Any) -> Any:
    return gw.optim.SGD(parameters, lr=0.1, momentum=0.9)


def trained(make: Any, shape: tuple[int, ...], dtype: Any, one: Any, compiles: bool) -> Any:
    """The step, and losses and state after six calls of it."""
    gw.manual_seed(0)
    net = make().to(dtype)
    if one is not None:
        gd.replicate(net, one)
    chosen, losses = sgd(net.parameters()), []

    def step(x: Any, y: Any) -> Any:
        chosen.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        chosen.step()
        return loss

    if compiles:
        step = gw.compile(step, fullgraph=True)
    for _ in range(6):
        x, y = gw.randn(16, *shape, dtype=dtype), gw.randint(0, 3, (16,))
        if one is not None:
            x, y = gd.shard((x, y), "batch", mesh=one)
        losses.append(step(x, y).item())
    held = [*net.parameters(), *net.buffers()]
    assert one is None or all(gd.layout(t) == (None,) * t.ndim for t in held)
    return step, [np.array(losses), *(t.detach().cpu().numpy() for t in held)]


@pytest.mark.parametrize(
    ("make", "shape", "dtype", "close"),
    [(mlp, (4,), gw.float32, 1e-5), (convnet, (1, 6, 6), gw.float64, 1e-12)],
    ids=["mlp in float32", "convnet in float64"],
)
def test_eight_devices_have_the_numbers_of_one(make: Any, shape: Any, dtype: Any, close: float) -> None:
    step, many = trained(make, shape, dtype, gd.mesh(batch=8), True)
    assert step.programs.traced == [""]
    _, alone = trained(make, shape, dtype, None, False)
    for got, want in zip(many, alone, strict=True):
        np.testing.assert_allclose(got, want, rtol=close, atol=close)


def sums(text: str) -> list[int]:
    """Of each all-reduce in what XLA has compiled, how many arrays it adds up."""
    found = re.findall(r"= (.*?) all-reduce(?:-start)?\(", text)
    return [len(re.findall(r"\w+\[", kinds)) for kinds in found]


@pytest.mark.parametrize(("norm", "messages"), [(False, [5]), (True, [1, 1, 2, 7])])
def test_gradients_are_added_up_in_one_message(norm: bool, messages: list[int]) -> None:
    """Those of all parameters, and the loss; batch norm asks for mean, variance, and two sums on the way back."""
    one = gd.mesh(batch=8)
    layers = [gw.nn.Linear(4, 8), *[gw.nn.BatchNorm1d(8)] * norm, gw.nn.Tanh(), gw.nn.Linear(8, 3)]
    net = gd.replicate(gw.nn.Sequential(*layers), one)
    optimizer = sgd(net.parameters())

    @gw.compile(fullgraph=True)
    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    for _ in range(4):
        step(*gd.shard((gw.ones(16, 4), gw.ones(16, 3)), "batch", mesh=one))
    text = step.source(compiled=True)
    assert sums(text) == messages
    assert not re.search("all-gather|all-to-all|collective-permute", text)


def test_parameters_that_are_parted() -> None:
    one, found = gd.mesh(batch=4, model=2), []
    for compiles in (False, True):
        gw.manual_seed(0)
        net = gw.nn.Sequential(gw.nn.Linear(4, 6), gw.nn.Tanh(), gw.nn.Linear(6, 2)).to(gw.float64)
        gd.shard_parameters(net, {"0.*": "model", "2.weight": (None, "model")}, one)
        optimizer = gw.optim.Adam(net.parameters(), lr=0.01)

        def step(x: Any, y: Any, net: Any = net, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            loss = ((net(x) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            return loss

        step = gw.compile(step, fullgraph=True) if compiles else step
        x, y = gd.shard((gw.randn(8, 4, dtype=gw.float64), gw.randn(8, 2, dtype=gw.float64)), "batch", mesh=one)
        losses = [step(x, y).item() for _ in range(6)]
        assert [gd.layout(p) for p in net.parameters()] == [("model", None), ("model",), (None, "model"), (None,)]
        found.append([losses, *(p.detach().cpu().numpy() for p in net.parameters())])
    for eager, compiled in zip(*found, strict=True):
        np.testing.assert_allclose(compiled, eager, rtol=1e-12, atol=1e-12)


def test_a_batch_that_is_parted_otherwise_is_another_program() -> None:
    one = gd.mesh(batch=8)
    f = gw.compile(lambda x: (x * 2).sum(), fullgraph=True)
    for x in [*[gd.shard(gw.ones(8), "batch", mesh=one)] * 4, *[gd.replicate(gw.ones(8), one)] * 4]:
        assert f(x).item() == 16.0
    assert len(f.programs.traced) == 2


def test_a_mesh_and_one_device_are_an_error() -> None:
    f = gw.compile(lambda x, y: x + y)
    for _ in range(4):
        with pytest.raises(RuntimeError, match="on one device of jax, but found two, jax:batch=8 and jax:0"):
            f(gd.replicate(gw.ones(8), gd.mesh(batch=8)), gw.ones(8, device="jax:0"))


def test_a_mesh_in_the_step() -> None:
    one = gd.mesh(batch=8)
    w = gd.replicate(gw.ones(2, dtype=gw.float64), one).requires_grad_()

    @gw.compile(fullgraph=True)
    def step(x: Any) -> Any:
        x = gd.shard(x, "batch", mesh=one)
        loss = (x * w).sum()
        loss.backward()
        with gw.no_grad():
            w.sub_(0.01 * w.grad)
        w.grad = None
        return loss

    found = [step(gw.ones(8, 2, dtype=gw.float64)).item() for _ in range(6)]
    np.testing.assert_allclose(found, [16 - 16 * 0.08 * k for k in range(6)], rtol=1e-12)
    assert gd.layout(w) == (None,)


PROGRAM = """
import re

import gradwright as gw
from gradwright import distributed as gd

gd.init()
mesh, n = gd.mesh(), gd.get_world_size()

def trained(make, compiles):
    gw.manual_seed(0)
    net = gd.replicate(gw.nn.Sequential(*make()).to(gw.float64))
    optimizer = gw.optim.Adam(net.parameters(), lr=0.01)

    def step(x, y):
        optimizer.zero_grad()
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    if compiles:
        step = gw.compile(step, fullgraph=True)
    losses = []
    for _ in range(6):
        x, y = gd.shard((gw.randn(8, 4, dtype=gw.float64), gw.randn(8, 2, dtype=gw.float64)), "batch")
        losses.append(step(x, y).item())
    return losses, step

def mlp():
    return gw.nn.Linear(4, 8), gw.nn.Dropout(0.2), gw.nn.Tanh(), gw.nn.Linear(8, 2)

def convnet():
    return (gw.nn.Unflatten(1, (1, 2, 2)), gw.nn.Conv2d(1, 3, 2, padding=1), gw.nn.BatchNorm2d(3), gw.nn.ReLU(),
            gw.nn.Flatten(), gw.nn.Linear(27, 2))

for make in (mlp, convnet) if n == 2 else ():  # a process compiles each operation for itself
    (want, _), (got, step) = trained(make, False), trained(make, True)
    messages = re.findall(r" = (.*) all-reduce\\(", step.source(compiled=True))
    counts = [len(re.findall(r"\\w+\\[", kinds)) for kinds in messages]
    print(make.__name__, max(abs(a - b) for a, b in zip(got, want)) < 1e-12, step.programs.traced, counts)

w = gd.replicate(gw.ones(8 // n, dtype=gw.float64)).requires_grad_()
x = gd.shard(gw.arange(8.0).reshape(n, 8 // n).to(gw.float64), "batch")
parted = gw.compile(lambda x: (w * x).tanh(), fullgraph=True)  # its result lies in both, and has a history
for _ in range(4):
    y = parted(x)
    w.grad = None
    y.sum().backward()
print("parted", gd.gather(y)[0, 1].item(), w.grad.tolist(), parted.programs.traced)
inside = gw.compile(lambda x: (gd.shard(x, "batch") * 2).sum(), fullgraph=True)
print("inside", [inside(gw.ones(4, 2) * k).item() for k in range(5)], inside.programs.traced)
branches = gw.compile(lambda x: x * 2 if x.sum().item() > 0 else x)
print("branches", [gd.gather(branches(x * k))[0, 1].item() for k in (1, 1, 1, -1, -1, 1)])
alone = gw.compile(lambda x: x * 2, fullgraph=True)  # which only this process runs
if gd.get_rank() == 0:
    print("alone", [alone(gw.ones(2)).tolist() for _ in range(4)][-1], alone.programs.traced)
@gw.compile
def scaled(x, k):
    return (x * w * k).sum()
try:
    for k in (1, 1, 1, 1 + gd.get_rank()):
        scaled(x, k)
except RuntimeError as e:
    print("error", e)
"""


@pytest.mark.parametrize("n", [2, 4])
def test_several_processes_run_one_program(n: int, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "gradwright", "launch", "-n", str(n), str(tmp_path / "program.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200,
                          env={**os.environ, "XLA_FLAGS": "", "GRADWRIGHT_TIMEOUT": "100"})  # fmt: skip
    assert done.returncode == 0, done.stderr
    slopes = (np.arange(8.0) / np.cosh(np.arange(8.0)) ** 2).reshape(n, -1).sum(0)
    [*found] = re.findall(r"parted (\S+) \[(.*?)\] \[''\]", done.stdout)
    assert len(found) == n, done.stdout
    for value, slope in found:
        np.testing.assert_allclose(float(value), np.tanh(1))
        np.testing.assert_allclose([float(g) for g in slope.split(",")], slopes)
    for text, times in (
        (r"mlp True \[''\] \[5\]", n if n == 2 else 0),
        (r"convnet True \[''\] \[1, 1, 2, 6\]", n if n == 2 else 0),
        (r"inside \[0\.0, 16\.0, 32\.0, 48\.0, 64\.0\] \[''\]", n),
        (r"branches \[2\.0, 2\.0, 2\.0, -1\.0, -1\.0, 2\.0\]", n),
        (r"alone \[2\.0, 2\.0\] \[''\]", 1),
        (r"error the processes differ: process 0: the compiled scaled runs program 1; process 1.*: .* fits none", n),
    ):
        assert len(re.findall(text, done.stdout)) == times, done.stdout
