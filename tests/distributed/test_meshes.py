"""Meshes and what lies on them, and a training step of which the numbers are those of one device."""

from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright import distributed as gd

jax = pytest.importorskip("jax")

if len(jax.local_devices()) < 8:
    pytest.skip("JAX was started with fewer devices before this could ask for more", allow_module_level=True)


def test_what_a_mesh_is() -> None:
    one = gd.mesh(batch=4, model=-1)
    assert (one.shape, one.size, repr(one), str(one)) == ({"batch": 4, "model": 2}, 8, "mesh(batch=4, model=2)",
                                                          "jax:batch=4,model=2")  # fmt: skip
    assert one is gd.mesh(batch=4, model=2)
    assert gd.mesh().shape == {"batch": 8}
    two = gd.mesh(jax.devices()[2:4], batch=2)
    assert str(two) == "jax:batch=2@2,3" == str(gw.device(str(two)))
    assert str(gd.mesh(batch=1)) == "jax:0"


@pytest.mark.parametrize(
    ("axes", "message"),
    [({"batch": 16}, r"batch=16 is 16 devices, but there are 8: .*\(on a CPU, XLA_FLAGS"),
     ({"batch": 3, "model": -1}, "8 devices do not divide into batch=3, model=-1"),
     ({"a": -1, "b": -1}, "only one axis may have the size -1, but a, b have"),
     ({"batch": 0}, "the size of 'batch' must be a whole number from 1 on, or -1, but got 0")],
)  # fmt: skip
def test_meshes_that_cannot_be(axes: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gd.mesh(**axes)


def test_shard_replicate_gather() -> None:
    one = gd.mesh(batch=4, model=2)
    x, y = gd.shard((gw.arange(8.0).reshape(4, 2), np.arange(4)), "batch", mesh=one)
    assert (gd.layout(x), gd.layout(y)) == (("batch", None), ("batch",))
    assert x.device == y.device == one
    assert gd.layout(gd.shard(x, None, "model", mesh=one)) == (None, "model")
    assert gd.layout(gd.shard(gw.ones(8), ("batch", "model"), mesh=one)) == (("batch", "model"),)
    assert gd.layout(gd.gather(x)) == (None, None) == gd.layout(gd.replicate(x, one))
    assert gd.layout(gw.ones(2)) is None
    assert gd.gather(x).tolist() == x.tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]
    with one:
        assert gd.shard(gw.ones(4), "batch").device == one == gw.ones(2).device


def test_gradients_go_back_where_a_tensor_comes_from() -> None:
    one = gd.mesh(batch=8)
    x = gw.arange(8.0).requires_grad_()
    (gd.shard(x, "batch", mesh=one) ** 2).sum().backward()
    assert x.grad.device.type == "cpu"
    assert x.grad.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0]


def test_what_cannot_be_parted() -> None:
    one = gd.mesh(batch=8)
    for call, kind, message in (
        (lambda: gd.shard(gw.ones(10, 2), "batch", mesh=one), ValueError,
         r"dim 0 of a tensor, of shape \(10, 2\), does not divide: 10 entries among the 8 devices"),
        (lambda: gd.shard(gw.ones(8), "model", mesh=one), ValueError, r"mesh\(batch=8\) has no axis 'model'"),
        (lambda: gd.shard(gw.ones(8, 8), (None, "batch"), mesh=one), ValueError, "a tuple is several axes for one dim"),
        (lambda: gd.shard(gw.ones(8, 8), "batch", "batch", mesh=one), ValueError, "axis 'batch' stands for two dims"),
        (lambda: gd.shard(gw.ones(8), "batch", None, mesh=one), ValueError, "2 dims are named, .* but a tensor has 1"),
        (lambda: gd.shard([1.0], "batch", mesh=one), TypeError, "expected tensors, in tuples, lists or dicts"),
        (lambda: gd.shard(gw.ones(8), "batch", mesh="jax"), TypeError, "expected a mesh, but got str"),
    ):  # fmt: skip
        with pytest.raises(kind, match=message):
            call()


def test_parameters_are_parted_by_a_rule() -> None:
    one = gd.mesh(batch=4, model=2)
    x, y = gw.randn(8, 4), gw.randn(8, 2)
    found = []
    for rule in (None, {"0.*": "model", "2.weight": (None, "model")},
                 lambda name, shape: "model" if len(shape) > 1 else ()):  # fmt: skip
        gw.manual_seed(0)
        net = gw.nn.Sequential(gw.nn.Linear(4, 6), gw.nn.Tanh(), gw.nn.Linear(6, 2))
        X, Y = x, y
        if rule is not None:
            before = list(net.parameters())
            assert gd.shard_parameters(net, rule, one) is net
            assert all(p is q for p, q in zip(net.parameters(), before, strict=True))
            X, Y = gd.shard((x, y), "batch", mesh=one)
        optimizer = gw.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        for _ in range(2):
            optimizer.zero_grad()
            loss = ((net(X) - Y) ** 2).mean()
            loss.backward()
            optimizer.step()
        if isinstance(rule, dict):
            assert [gd.layout(p) for p in net.parameters()] == [("model", None), ("model",), (None, "model"), (None,)]
        found.append([p.detach().cpu().numpy() for p in net.parameters()])
    for other in found[1:]:
        for a, b in zip(other, found[0], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match=r"no parameter is called 'head\.\*'; there are 0\.weight"):
        gd.shard_parameters(gw.nn.Sequential(gw.nn.Linear(2, 2)), {"head.*": "model"}, one)
    with pytest.raises(ValueError, match=r"dim 0 of '0\.weight', of shape \(3, 2\), does not divide.*\. Leave that"):
        gd.shard_parameters(gw.nn.Sequential(gw.nn.Linear(2, 3)), {"0.weight": "model"}, one)


def mlp() -> Any:
    return gw.nn.Sequential(gw.nn.Linear(4, 8), gw.nn.Tanh(), gw.nn.Dropout(0.2), gw.nn.Linear(8, 3))


def convnet() -> Any:
    return gw.nn.Sequential(gw.nn.Conv2d(1, 2, 3), gw.nn.BatchNorm2d(2), gw.nn.ReLU(), gw.nn.Flatten(),
                            gw.nn.Linear(32, 3))  # fmt: skip


def five_steps(make: Any, shape: tuple[int, ...], dtype: Any, one: Any) -> list[Any]:
    """The losses and the state after five steps of a program that knows nothing of devices but for two lines."""
    gw.manual_seed(0)
    net = make().to(dtype)
    if one is not None:
        gd.replicate(net, one)
    optimizer = gw.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for _ in range(5):
        x, y = gw.randn(16, *shape, dtype=dtype), gw.randn(16, 3, dtype=dtype)
        if one is not None:
            x, y = gd.shard((x, y), "batch", mesh=one)
        optimizer.zero_grad()
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return [np.array(losses), *(t.cpu().numpy() for t in net.state_dict().values())]


@pytest.mark.parametrize("dtype", [gw.float64, gw.float32])
@pytest.mark.parametrize(("make", "shape"), [(mlp, (4,)), (convnet, (1, 6, 6))], ids=["mlp", "convnet"])
def test_eight_devices_have_the_numbers_of_one(make: Any, shape: tuple[int, ...], dtype: Any) -> None:
    close = 1e-12 if dtype is gw.float64 else 1e-5
    many, alone = (five_steps(make, shape, dtype, one) for one in (gd.mesh(batch=8), None))
    for got, want in zip(many, alone, strict=True):
        np.testing.assert_allclose(got, want, rtol=close, atol=close)
