"""What a gradient is added to: whatever memory the user has set ``.grad`` to, the sum is right or refused."""

import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import gradwright as gw
import gradwright.backends.strict
from gradwright.errors import GradientWarning

_SHAPE = (2, 2)
_G = np.arange(1.0, 5.0).reshape(_SHAPE)


def places(strides: tuple[int, ...], offset: int) -> np.ndarray:
    """Which entries of a buffer an array shows."""
    return offset + strides[0] * np.arange(2)[:, None] + strides[1] * np.arange(2)


def flat(device: str) -> gw.Tensor:
    return gw.arange(20.0, dtype=gw.float64, device=device)


_layouts = st.tuples(st.tuples(st.integers(0, 6), st.integers(0, 6)), st.integers(0, 7))


@given(_layouts, _layouts, st.sampled_from(["cpu", "array-api-strict"]))
@example(((0, 0), 0), ((2, 1), 8), "cpu")
@example(((2, 1), 0), ((2, 1), 0), "array-api-strict")
@example(((4, 2), 0), ((4, 2), 1), "cpu")
@example(((4, 2), 0), ((4, 2), 1), "array-api-strict")
def test_a_gradient_is_added_rightly_wherever_it_is_kept_or_refused(of_grad, of_leaf, device):
    buffer = flat(device)
    leaf = buffer.as_strided(_SHAPE, *of_leaf).detach().requires_grad_()
    leaf.grad = buffer.as_strided(_SHAPE, *of_grad)
    before = buffer.cpu().numpy().copy()
    mine, its = places(*of_grad), places(*of_leaf)
    weight = gw.from_numpy(_G).to(device)
    wrong = len(np.unique(mine)) < 4 or np.isin(mine, its).any()
    try:
        (leaf * weight).sum().backward()
    except RuntimeError as error:
        assert "clone()" in str(error)  # noqa: PT017 - it may also be right
        assert wrong or of_grad[0] not in ((2, 1), (1, 2), (4, 2), (4, 1))
        assert (buffer.cpu().numpy() == before).all()
        return
    assert not wrong
    after = before.copy()
    after[mine] += _G
    assert (buffer.cpu().numpy() == after).all()
    assert (leaf.grad.cpu().numpy() == after[mine]).all()


def test_it_is_refused_as_pytorch_refuses_it(torch):
    for lib in (torch, gw):
        x = lib.ones(2, requires_grad=True)
        x.grad = lib.ones(1).expand(2)
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
            x.sum().backward()
        assert x.grad.tolist() == [1, 1]


def test_one_gradient_of_two_leaves_is_the_sum_and_a_warning():
    x, y = gw.ones(2, requires_grad=True), gw.ones(2, requires_grad=True)
    x.grad = y.grad = gw.zeros(2)
    with pytest.warns(GradientWarning, match="the .grad of another leaf"):
        (2 * x + 3 * y).sum().backward()
    assert x.grad.tolist() == [5, 5]


def test_a_gradient_that_others_hold_or_have_taken_over_is_no_reason_to_warn():
    x, y = gw.ones(2, requires_grad=True), gw.ones(2, requires_grad=True)
    (2 * x).sum().backward()
    held = y.grad = x.grad  # as where workers hand their gradients to a shared model
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            (2 * x).sum().backward()
        x.grad = None
        y.sum().backward()
        y.sum().backward()
    assert held.tolist() == [8, 8]


@pytest.mark.parametrize("make", [
    lambda: gw.ones(1).expand(2), lambda: gw.ones(6)[2:4], lambda: gw.ones(2).detach(), lambda: gw.ones(2)
])  # fmt: skip
def test_zero_grad_fills_whatever_is_there(make):
    x = gw.nn.Parameter(gw.ones(2))
    module = gw.nn.Module()
    module.x = x
    for zero in (gw.optim.SGD([x], lr=0.1).zero_grad, module.zero_grad):
        x.grad = make()
        zero(set_to_none=False)
        assert x.grad.tolist() == [0, 0]


def test_zero_grad_cuts_the_history_of_a_gradient():
    x = gw.nn.Parameter(gw.ones(2))
    (x**3).sum().backward(create_graph=True)
    gw.optim.SGD([x], lr=0.1).zero_grad(set_to_none=False)
    assert not x.grad.requires_grad
    assert x.grad.tolist() == [0, 0]


_LEAVES = {
    "row-major": lambda T: T.ones(2, 3),
    "transposed": lambda T: T.ones(3, 2).t(),
    "channels_last": lambda T: T.ones(2, 3, 4, 5).to(memory_format=T.channels_last),
    "permuted": lambda T: T.ones(2, 3, 4).permute(2, 0, 1),
    "an axis of 1": lambda T: T.ones(4, 1, 3).permute(2, 1, 0),
    "with gaps": lambda T: T.ones(4, 6)[::2, ::2],
    "transposed, with gaps": lambda T: T.ones(6, 4).t()[:, :3],
    "expanded": lambda T: T.ones(1, 3).expand(2, 3),
    "empty": lambda T: T.ones(0, 3).t(),
}
_GRADIENTS = {
    "spread": lambda T, x: x.sum(),
    "as the leaf": lambda T, x: (x * x).sum(),
    "row-major": lambda T, x: (x * T.arange(x.numel()).reshape(x.shape)).sum(),
    "column-major": lambda T, x: (x * T.arange(x.numel()).reshape(x.shape[::-1]).permute(*range(x.ndim)[::-1])).sum(),
    "of an entry": lambda T, x: x[:1].sum(),
    "a view": lambda T, x: (x.mT.contiguous() ** 2).sum(),
}


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("leaf", _LEAVES)
@pytest.mark.filterwarnings("ignore:Using backward")
def test_a_gradient_lies_in_memory_as_its_leaf(torch, leaf, create_graph):
    for name, f in _GRADIENTS.items():
        found = []
        for T in (torch, gw):
            x = _LEAVES[leaf](T).detach().requires_grad_()
            f(T, x).backward(create_graph=create_graph)
            found.append([(n, step) for n, step in zip(x.grad.shape, x.grad.stride(), strict=True) if n > 1])
            assert (x.grad - T.autograd.grad(f(T, x), x)[0]).abs().sum() == 0
        assert found[0] == found[1] or not x.numel(), name


def test_that_of_a_compiled_step_does_too():
    w = _LEAVES["transposed"](gw).detach().requires_grad_()

    @gw.compile
    def step(x):
        w.grad = None
        (w * x).sum().backward()
        return w.grad

    for k in range(4):
        x = gw.arange(6.0).reshape(2, 3) + k
        assert step(x).stride() == w.stride()
        assert (w.grad == x).all()
