"""Memory formats: strides, values, gradients and writes as in PyTorch."""

import copy
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradwright as gw
from gradwright.backends import to_host

FORMATS = ["contiguous_format", "preserve_format", "channels_last", "channels_last_3d"]
MAKERS = ["empty_like", "zeros_like", "ones_like", "rand_like", "randn_like", "full_like", "randint_like"]
OTHER = {"full_like": (3.0,), "randint_like": (0, 9)}


def formatted(t: Any, name: str | None) -> dict[str, Any]:
    return {} if name is None else {"memory_format": getattr(t, name)}


@st.composite
def step(draw: Any) -> Callable[[Any, Any], Any]:
    """One change of layout, as a function of the library and a tensor."""
    kind = draw(st.sampled_from(["permute", "slice", "stretch", "clone", "contiguous", "to", "copy", "like"]))
    seed, name = draw(st.integers(0, 2**16)), draw(st.sampled_from([None, *FORMATS]))
    maker = draw(st.sampled_from(MAKERS))

    def change(t: Any, x: Any) -> Any:
        rng, options = np.random.default_rng(seed), formatted(t, name)
        if kind == "permute":
            return x.permute(*rng.permutation(x.ndim).tolist())
        if kind == "slice":
            return x[tuple(slice(int(rng.integers(2)), None, int(rng.integers(1, 3))) for _ in x.shape)]
        if kind == "stretch":
            more = rng.integers(2)  # all of them: of a dim left at 1, NumPy forgets the stride
            return x.expand(*(3 if n == 1 and more else n for n in x.shape))
        if kind == "like":
            return getattr(t, maker)(x, *OTHER.get(maker, ()), **options).fill_(1)
        if kind in ("to", "copy"):
            return x.to(copy=kind == "copy", **options)
        return getattr(x, kind)(**options)

    return change


def attempted(call: Callable[..., Any], *args: Any) -> Any:
    """What a call returns, or the first line of its error."""
    try:
        return call(*args)
    except (RuntimeError, TypeError) as e:
        return str(e).splitlines()[0]


def laid(x: Any) -> list[Any]:
    """The strides that matter, and in which formats it lies."""
    t = gw if isinstance(x, gw.Tensor) else importlib.import_module("torch")
    if not x.numel():  # which PyTorch says to lie in channels_last or not as its strides happen to be
        return [x.is_contiguous(memory_format=getattr(t, f)) for f in FORMATS[:2]]
    tells = [x.is_contiguous(memory_format=getattr(t, f)) for f in FORMATS]
    return [[s for s, n in zip(x.stride(), x.shape, strict=True) if n > 1], tells]


@settings(max_examples=500, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=5) | st.lists(st.integers(1, 4), min_size=4, max_size=5),
       st.lists(step(), min_size=1, max_size=5))  # fmt: skip
def test_any_chain_of_layouts_gives_the_strides_of_pytorch(torch: Any, shape: list[int], steps: list[Any]) -> None:
    a = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    ours, theirs = gw.tensor(a), torch.tensor(a)
    for change in steps:
        after = attempted(change, torch, theirs)
        if isinstance(after, str):
            assert after[:40] in attempted(change, gw, ours)
            continue
        same, ours = ours, change(gw, ours)
        assert (ours is same) == (after is theirs) or not ours.numel()
        theirs = after
        assert laid(ours) == laid(theirs)
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


def conv(t: Any, x: Any) -> Any:
    w = t.arange(2.0 * x.shape[1] * 4).reshape(2, x.shape[1], 2, 2).to(x.dtype) / 10
    return t.nn.functional.conv2d(x, w.to(memory_format=t.channels_last))


def into_view(t: Any, x: Any) -> Any:
    y = (x * 2).contiguous(memory_format=t.channels_last)
    y[:, 1].mul_(x[:, 0])
    y.permute(0, 2, 3, 1)[0].add_(y[1].permute(1, 2, 0).clone() ** 2)
    y.view(2, 3, 4, 5)[..., 1:3].copy_(x[..., 2:4] * y[..., :2].clone(memory_format=t.preserve_format))
    return y


def into_all(t: Any, x: Any) -> Any:
    y = x.clone(memory_format=t.channels_last)
    return y.add_(x).mul_(y.detach().clone()).sigmoid_()


PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "conv": conv, "into a view": into_view, "into all": into_all,
    "elementwise": lambda t, x: t.exp(x) * x + x.mean(1, keepdim=True),
    "reduced": lambda t, x: x.sum(1) + x.amax(1) + x.var(1) + x.prod(1),
    "flattened": lambda t, x: x.flatten(1).cumsum(1) ** 2,
    "reshaped": lambda t, x: x.reshape(6, 20).sort(1).values @ x.reshape(20, 6),
    "indexed": lambda t, x: x[[1, 0, 1], :, 1] * x[:, [0, 2]].sum(),
    "softmax": lambda t, x: x.softmax(1) * x.log_softmax(-1),
    "pooled": lambda t, x: t.nn.functional.max_pool2d(x, 2) + t.nn.functional.avg_pool2d(x, 2),
    "normalised": lambda t, x: t.nn.functional.batch_norm(x, None, None, training=True) * x,
    "joined": lambda t, x: t.cat([x, x.to(memory_format=t.contiguous_format) ** 2], 1),
    "strided": lambda t, x: x.permute(0, 2, 3, 1).reshape(-1)[::3] ** 3,
    "there and back": lambda t, x: (x**2).contiguous() * (x**3).to(t.float64, memory_format=t.channels_last),
}  # fmt: skip


@pytest.mark.parametrize("leaf", ["contiguous_format", "channels_last"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_derivatives_to_second_order(torch: Any, program: str, leaf: str) -> None:
    a = np.random.default_rng(3).standard_normal((2, 3, 4, 5))
    found = []
    for t in (gw, torch):
        x = t.tensor(a).to(memory_format=getattr(t, leaf)).requires_grad_()
        x = x if leaf == "channels_last" else x.to(memory_format=t.channels_last)
        assert x.stride() == (60, 1, 15, 3)
        y = PROGRAMS[program](t, x)
        (first,) = t.autograd.grad((y**3).sum(), x, create_graph=True)
        (second,) = t.autograd.grad((first * x.detach().sin()).sum(), x)
        found.append([v.detach().numpy() for v in (y, first, second)])
    for got, want in zip(*found, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("how", ["SGD", "Adam", "AdamW", "RMSprop"])
def test_a_network_trains_alike_in_each_format(torch: Any, how: str) -> None:
    def trained(t: Any, name: str) -> list[Any]:
        first, last = t.nn.Conv2d(2, 3, 3, bias=False), t.nn.Conv2d(3, 2, 2)
        net = t.nn.Sequential(first, t.nn.BatchNorm2d(3), t.nn.ReLU(), last).double()
        for k, p in enumerate(net.parameters()):
            p.data = t.linspace(-0.5, 0.6 + k / 10, p.numel(), dtype=t.float64).reshape(p.shape)
        assert net.to(memory_format=getattr(t, name)) is net
        x = t.linspace(-1, 2, 2 * 2 * 6 * 5, dtype=t.float64).reshape(2, 2, 6, 5).to(memory_format=getattr(t, name))
        optimizer = getattr(t.optim, how)(net.parameters(), lr=0.01)
        for _ in range(3):
            optimizer.zero_grad()
            (net(x) ** 2).sum().backward()
            optimizer.step()
        return [(p.detach().numpy(), p.stride()) for p in net.parameters()]

    ours, theirs = (trained(t, "channels_last") for t in (gw, torch))
    plain = trained(gw, "contiguous_format")
    for (a, lies), (b, _), (c, there) in zip(ours, plain, theirs, strict=True):
        assert lies == there
        np.testing.assert_allclose(a, b, rtol=1e-7)
        np.testing.assert_allclose(a, c, rtol=1e-7)


def test_modules_take_a_format_for_4_and_5_dims(torch: Any) -> None:
    for t in (gw, torch):
        flat, deep = t.nn.Conv2d(2, 3, 2), t.nn.Conv3d(2, 3, 2)
        assert flat.to(t.float64, memory_format=t.channels_last).weight.stride() == (8, 1, 4, 2)
        assert flat.weight.dtype == t.float64
        assert flat.to(memory_format=t.contiguous_format).weight.stride() == (8, 4, 2, 1)
        assert deep.to(memory_format=t.channels_last_3d).weight.stride() == (16, 1, 8, 4, 2)
        assert t.nn.Linear(2, 2).to(memory_format=t.channels_last).weight.stride() == (2, 1)
        with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
            deep.to(memory_format=t.channels_last)


CALLS: dict[str, Callable[[Any], Any]] = {
    "empty": lambda t: t.empty(2, 3, 4, 5, memory_format=t.channels_last),
    "empty 3d": lambda t: t.empty((2, 3, 4, 5, 6), memory_format=t.channels_last_3d, requires_grad=True),
    "empty rank": lambda t: t.empty(2, 3, memory_format=t.channels_last),
    "empty preserve": lambda t: t.empty(2, 3, memory_format=t.preserve_format),
    "contiguous preserve": lambda t: t.ones(2, 3).t().contiguous(memory_format=t.preserve_format),
    "resize_": lambda t: t.zeros(9, 9).resize_(1, 2, 2, 3, memory_format=t.channels_last),
    "resize_ larger": lambda t: t.zeros(3).resize_(1, 2, 2, 3, memory_format=t.channels_last),
    "resize_ same": lambda t: t.zeros(1, 2, 2, 3).resize_(1, 2, 2, 3, memory_format=t.channels_last),
    "resize_ rank": lambda t: t.zeros(4).resize_(2, 2, memory_format=t.channels_last),
    "resize_as_": lambda t: t.zeros(9).resize_as_(CALLS["resize_"](t), memory_format=t.preserve_format),
    "resize_as_ plain": lambda t: t.zeros(24).resize_as_(CALLS["empty"](t)[:, :, :1]),
    "double": lambda t: t.ones(2, 3, 4, 5).double(memory_format=t.channels_last),
    "cpu": lambda t: t.ones(2, 3, 4, 5).cpu(memory_format=t.channels_last),
    "new leaf": lambda t: t.ones_like(CALLS["empty"](t), requires_grad=True),
    "a number": lambda t: t.ones(2).to(memory_format=3),
    "None": lambda t: t.ones(2).contiguous(memory_format=None),
}


@pytest.mark.parametrize("call", CALLS)
def test_what_takes_a_format(torch: Any, call: str) -> None:
    got, want = (attempted(CALLS[call], t) for t in (gw, torch))
    if isinstance(want, str):
        words = {"empty preserve": "preserve memory format is unsupported", "a number": "memory_format"}
        assert words.get(call, want[:30]) in got
        return
    assert (got.shape, got.stride(), got.requires_grad, got.is_leaf) == (
        want.shape, want.stride(), want.requires_grad, want.is_leaf
    )  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_one_object(torch: Any, name: str) -> None:
    one = getattr(gw, name)
    assert isinstance(one, gw.memory_format)
    assert repr(one) == repr(getattr(torch, name))
    assert copy.deepcopy(one) is copy.copy(one) is one


@pytest.mark.parametrize("place", ["array-api-strict:0", "array-api-strict:1"])
def test_other_libraries_lay_out_their_own_memory(place: str) -> None:
    pytest.importorskip("array_api_strict")
    importlib.import_module("gradwright.backends.strict")
    a = np.random.default_rng(0).standard_normal((2, 3, 4, 5))
    found = []
    for device in ("cpu", place):
        x = gw.tensor(a, device=device, requires_grad=True)
        y = into_view(gw, x) * x.to(memory_format=gw.channels_last)
        y = y + gw.ones_like(x, memory_format=gw.channels_last) + x.transpose(1, 2).clone().transpose(1, 2)
        (g,) = gw.autograd.grad((y**2).sum(), x)
        found.append([to_host(v.detach().array) for v in (y, g)])
        with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
            x[0].clone(memory_format=gw.channels_last)
        made = gw.empty(2, 3, 4, 5, memory_format=gw.channels_last, device=device)
        assert made.shape == (2, 3, 4, 5)
    assert x.contiguous(memory_format=gw.channels_last).stride() == (60, 20, 5, 1)
    for got, want in zip(*found, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=0, max_size=3), st.integers(0, 2**16))
def test_addresses_lie_apart_as_in_pytorch(torch: Any, shape: list[int], seed: int) -> None:
    def apart(t: Any) -> list[Any]:
        rng = np.random.default_rng(seed)
        x = t.zeros(*shape, dtype=t.float64) if shape else t.tensor(0.0)
        parts = [x.t() if x.ndim == 2 else x, x.detach(), x.view(-1), x[..., None], x.expand(2, *shape)]
        parts += [x[tuple(slice(int(rng.integers(3)), None, int(rng.integers(1, 3))) for _ in shape)] for _ in range(5)]
        start = x.data_ptr()
        return [p.data_ptr() - start if p.numel() else p.data_ptr() for p in parts] + [start == 0]

    assert apart(gw) == apart(torch)


def test_an_address_is_that_of_the_entries() -> None:
    x = gw.tensor([1.0, 2.0, 3.0])
    assert x.data_ptr() == x.numpy().ctypes.data != x.clone().data_ptr()
    assert x.sum().data_ptr() != 0
    pytest.importorskip("array_api_strict")
    with pytest.raises(RuntimeError, match=r"data_ptr\(\).*array-api-strict:1.*cpu\(\)"):
        x.to("array-api-strict:1").data_ptr()


def test_layouts_are_named_as_pytorchs(torch):
    for name in ("strided", "jagged", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"):
        ours, theirs = getattr(gw, name), getattr(torch, name)
        assert isinstance(ours, gw.layout)
        assert repr(ours) == repr(theirs)
    assert gw.ones(2).layout is gw.strided
    assert gw.ones(2).layout is not gw.sparse_coo
