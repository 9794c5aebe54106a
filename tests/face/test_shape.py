from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradwright


def numbers(*shape: int) -> Any:
    return np.arange(1.0, math.prod(shape) + 1).reshape(shape) / 3


CALLS: dict[str, tuple[Any, list[tuple[int, ...]]]] = {
    "reshape": (lambda t, x: [x.reshape(2, 6), x.reshape((4, -1)), t.reshape(x, (12,)), x.reshape(3, 1, 4)], [(3, 4)]),
    "reshape of 0-d": (lambda t, x: [x.reshape(1), x.reshape(()), x.reshape(1, 1), x.reshape(-1)], [()]),
    "reshape of none": (lambda t, x: [x.reshape(0), x.reshape(3, 0), x.reshape(2, 0, 5)], [(0, 3)]),
    "view": (lambda t, x: [x.view(2, 6), x.view(-1), x.view((4, 3)), x.view(3, 2, -1)], [(3, 4)]),
    "view_as": (lambda t, x, y: [x.view_as(y), x.reshape_as(y)], [(3, 4), (2, 6)]),
    "permute": (lambda t, x: [x.permute(2, 0, 1), x.permute((1, -1, 0)), t.permute(x, (0, 1, 2))], [(2, 3, 4)]),
    "transpose": (lambda t, x: [x.transpose(0, 1), x.transpose(-1, 0), t.transpose(x, 1, 1)], [(2, 3, 4)]),
    "swapaxes": (lambda t, x: [x.swapaxes(0, 2), t.swapaxes(x, 0, -1)], [(2, 3, 4)]),
    "t": (lambda t, x, y, z: [x.t(), t.t(y), z.t()], [(2, 3), (3,), ()]),
    "T": (lambda t, x: [x.T, x.mT], [(2, 3)]),
    "mT": (lambda t, x: x.mT, [(2, 3, 4)]),
    "movedim": (lambda t, x: [x.movedim(0, 2), x.movedim((0, 1), (-1, 0)), t.movedim(x, -1, 0)], [(2, 3, 4)]),
    "expand": (lambda t, x: [x.expand(2, 3, 4), x.expand(3, 4), x.expand(-1, 4), x.expand(5, -1, 4)], [(3, 1)]),
    "expand of 0-d": (lambda t, x: [x.expand(3), x.expand(2, 3), x.expand(())], [()]),
    "expand of none": (lambda t, x: [x.expand(0, 3), x.expand(2, 0, 3)], [(0, 3)]),
    "expand_as": (lambda t, x, y: [x.expand_as(y), t.broadcast_to(x, (2, 3)), x.broadcast_to((4, 3))], [(3,), (2, 3)]),
    "squeeze": (lambda t, x: [x.squeeze(), x.squeeze(1), x.squeeze(0), x.squeeze(-1), x.squeeze((1, 3)),
                              t.squeeze(x, (0, 1))], [(2, 1, 3, 1)]),
    "squeeze of 0-d": (lambda t, x: [x.squeeze(), x.squeeze(0), x.squeeze(-1)], [()]),
    "unsqueeze": (lambda t, x: [x.unsqueeze(0), x.unsqueeze(-1), x.unsqueeze(1), t.unsqueeze(x, -3)], [(2, 3)]),
    "unsqueeze of 0-d": (lambda t, x: [x.unsqueeze(0), x.unsqueeze(-1)], [()]),
    "unflatten": (lambda t, x: [x.unflatten(1, (2, 3)), x.unflatten(-1, (3, -1)), t.unflatten(x, 0, (1, 2))], [(2, 6)]),
    "cat": (lambda t, x, y: [t.cat([x, y]), t.cat((x, y, x), dim=0), t.cat([x, y], -2), t.cat([x])], [(2, 3), (1, 3)]),
    "cat along the last": (lambda t, x, y: [t.cat([x, y], 1), t.cat([x, y], dim=-1), t.concat([x, y], 1),
                                            t.concatenate([y, x], 1)], [(2, 3), (2, 1)]),
    "cat with none": (lambda t, x, y, z: [t.cat([x, y]), t.cat([z, x], 1), t.cat([x, z, x], 1)],
                      [(2, 3), (0, 3), (2, 0)]),
    "cat with an empty vector": (lambda t, x, y: [t.cat([x, y]), t.cat([y, x]), t.cat([y, y])], [(2, 3), (0,)]),
    "stack": (lambda t, x, y: [t.stack([x, y]), t.stack((x, y), 1), t.stack([x, y, x], dim=-1)], [(2, 3), (2, 3)]),
    "stack of 0-d": (lambda t, x, y: [t.stack([x, y]), t.stack([x], -1)], [(), ()]),
    "split": (lambda t, x: [x.split(2), x.split(3, dim=1), x.split([1, 4]), t.split(x, [2, 0, 2], -1), x.split(9)],
              [(5, 4)]),
    "split of none": (lambda t, x: [x.split(2), x.split(0), x.split([0, 0]), x.split(2, 1)], [(0, 3)]),
    "chunk": (lambda t, x: [x.chunk(2), x.chunk(3), x.chunk(9), t.chunk(x, 2, dim=-1), x.chunk(1)], [(5, 4)]),
    "unbind": (lambda t, x: [x.unbind(), t.unbind(x, 1), x.unbind(-1)], [(2, 3)]),
    "iteration": (lambda t, x: list(x), [(2, 3)]),
    "narrow": (lambda t, x: [x.narrow(0, 1, 2), t.narrow(x, 1, 0, 4), x.narrow(-1, -2, 1), x.narrow(0, 3, 0)],
               [(3, 4)]),
    "select": (lambda t, x: [x.select(0, 1), t.select(x, 1, -1), x.select(-1, 0)], [(3, 4)]),
    "flip": (lambda t, x: [x.flip(0), x.flip(0, 1), t.flip(x, (-1,)), x.flip([0])], [(2, 3)]),
    "roll": (lambda t, x: [x.roll(1, 0), x.roll((1, -2), (0, 1)), t.roll(x, 4, 1), x.roll(-1, -1)], [(2, 3)]),
    "tril": (lambda t, x: [x.tril(), t.tril(x, 1), x.tril(-1), x.triu(), t.triu(x, 1), x.triu(-2)], [(3, 4)]),
    "tril of matrices": (lambda t, x: [x.tril(diagonal=-1), x.triu(diagonal=1)], [(2, 3, 3)]),
    "clone": (lambda t, x: [x.clone(), t.clone(x)], [(2, 3)]),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_call(same: Any, name: str) -> None:
    f, shapes = CALLS[name]
    same(f, *(numbers(*s) for s in shapes))


UNNAMED: dict[str, tuple[Any, list[tuple[int, ...]]]] = {  # PyTorch's graph names other steps
    "flatten": (lambda t, x: [x.flatten(), x.flatten(1), x.flatten(0, 1), t.flatten(x, -2), x.flatten(1, 1)],
                [(2, 3, 4)]),
    "ravel": (lambda t, x: [x.ravel(), t.ravel(x), x.flatten()], [(3,)]),
    "flatten of 0-d": (lambda t, x: [x.flatten(), x.ravel()], [()]),
    "roll through all": (lambda t, x: [x.roll(2), t.roll(x, -1)], [(2, 3)]),
    "diag": (lambda t, x: [x.diag(), t.diag(x, 1), x.diag(-2)], [(3, 4)]),
    "diag of a vector": (lambda t, x: [x.diag(), t.diag(x, 2), x.diag(-1)], [(3,)]),
    "diagonal": (lambda t, x: [x.diagonal(), t.diagonal(x, 1, 1, 2), x.diagonal(-1, -1, 0)], [(3, 4, 5)]),
    "sum_to_size": (lambda t, x: [x.sum_to_size(3), x.sum_to_size(1, 3), x.sum_to_size((2, 1)), x.sum_to_size(2, 3),
                                  x.sum_to_size(())], [(2, 3)]),
    "reshape of a transposed": (lambda t, x: [x.t().reshape(2, 6), x.t().reshape(-1), x[:, ::2].reshape(-1)], [(3, 4)]),
}  # fmt: skip


@pytest.mark.parametrize("name", UNNAMED)
def test_call_by_other_steps(same: Any, name: str) -> None:
    f, shapes = UNNAMED[name]
    same(f, *(numbers(*s) for s in shapes), names=False)


def test_joining_promotes(same: Any) -> None:
    x, y, z = np.ones((2, 3), np.float32), np.ones((2, 3)), np.ones((2, 3), np.int64)
    for f in (lambda t, x, y: t.cat([x, y]), lambda t, x, y: t.stack([x, y])):
        same(f, x, y, names=False)
        same(f, z, x, names=False)
        same(f, z, z > 0, names=False)


@given(st.data())
@settings(max_examples=50)
def test_expanding_and_summing_back(same: Any, data: Any) -> None:
    target = tuple(data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=4)))
    have = tuple(1 if data.draw(st.booleans()) else n for n in target[data.draw(st.integers(0, len(target))) :])
    same(lambda t, x: x.expand(target) * t.ones(target, dtype=t.float64), numbers(*have))
    same(lambda t, x: x.sum_to_size(have), numbers(*target), names=False)


@given(st.permutations(range(4)))
@settings(max_examples=24)
def test_any_permutation(same: Any, order: Any) -> None:
    same(lambda t, x: x.permute(*order).reshape(6, 20), numbers(2, 3, 4, 5), names=False)


class TestMemory:
    """Which results share the memory of their input, as PyTorch's do."""

    VIEWS = {
        "reshape": (6,), "view": (6,), "permute": (1, 0), "transpose": (0, 1), "expand": (2, 2, 3), "unsqueeze": (0,),
        "narrow": (0, 0, 1), "select": (0, 1), "split": (1,), "chunk": (2,), "t": (), "squeeze": (), "unbind": (),
        "diagonal": (), "flatten": (),
    }  # fmt: skip

    @pytest.mark.parametrize("name", VIEWS)
    def test_views(self, name: str) -> None:
        x = gradwright.ones(2, 3)
        out = getattr(x, name)(*self.VIEWS[name])
        for o in out if isinstance(out, tuple) else [out]:
            assert np.shares_memory(o.array, x.array)
            assert o._base is x
            assert o._counter is x._counter

    @pytest.mark.parametrize("name", ["clone", "flip", "roll", "tril", "triu", "diag"])
    def test_copies(self, name: str) -> None:
        x = gradwright.ones(3, 3)
        out = getattr(x, name)(*{"flip": (0,), "roll": (0, 0)}.get(name, ()))
        assert not np.shares_memory(out.array, x.array)
        assert out._base is None

    def test_view_that_would_copy(self, same: Any) -> None:
        same(lambda t, x: x.t().view(-1), numbers(2, 3))
        with pytest.raises(RuntimeError, match=r"view size is not compatible.*reshape"):
            gradwright.ones(2, 3).t().view(-1)

    def test_writing_through_a_diagonal(self, same: Any) -> None:
        def f(t: Any, x: Any) -> Any:
            y = x * 2
            y.diagonal().mul_(10)
            return y

        same(f, numbers(3, 3), names=False)


MISTAKES: dict[str, tuple[Any, tuple[int, ...], str]] = {
    "reshape: size": (lambda t, x: x.reshape(5), (2, 3), r"shape '\[5\]' is invalid for input of size 6"),
    "reshape: two -1": (lambda t, x: x.reshape(-1, -1), (2, 3), "only one dimension can be inferred"),
    "reshape: -2": (lambda t, x: x.reshape(-2, 3), (2, 3), "invalid shape dimension"),
    "reshape: -1 of none": (lambda t, x: x.reshape(0, -1), (0, 3), r"reshape|shape"),
    "reshape: no int": (lambda t, x: x.reshape("a"), (2, 3), r"reshape\(\): argument 'size'"),
    "reshape: floats": (lambda t, x: x.reshape(2.0, 3), (2, 3), r"reshape\(\): argument 'size'"),
    "view: size": (lambda t, x: x.view(4), (2, 3), r"shape '\[4\]' is invalid for input of size 6"),
    "permute: too few": (lambda t, x: x.permute(0), (2, 3), r"permute\(\)"),
    "permute: twice": (lambda t, x: x.permute(0, 0), (2, 3), r"permute\(\)"),
    "permute: range": (lambda t, x: x.permute(0, 2), (2, 3), r"but got 2.*permute\(\)"),
    "transpose: range": (lambda t, x: x.transpose(0, 2), (2, 3), r"but got 2.*transpose\(\)"),
    "t: 3 dims": (lambda t, x: x.t(), (2, 3, 4), r"t\(\) expects a tensor with <= 2 dimensions, but self is 3D"),
    "mT: 1 dim": (lambda t, x: x.mT, (3,), "only supported on matrices"),
    "movedim: range": (lambda t, x: x.movedim(0, 5), (2, 3), r"but got 5.*movedim\(\)"),
    "movedim: lengths": (lambda t, x: x.movedim((0, 1), (0,)), (2, 3), r"movedim"),
    "movedim: twice": (lambda t, x: x.movedim((0, 0), (0, 1)), (2, 3), r"movedim"),
    "expand: size": (lambda t, x: x.expand(2, 4), (2, 3), r"expanded size of the tensor \(4\) must match"),
    "expand: fewer": (lambda t, x: x.expand(3), (2, 3), r"expand\("),
    "expand: leading -1": (lambda t, x: x.expand(-1, 2, 3), (2, 3), "leading, non-existing dimension 0"),
    "squeeze: range": (lambda t, x: x.squeeze(2), (2, 1), r"but got 2.*squeeze\(\)"),
    "unsqueeze: range": (lambda t, x: x.unsqueeze(3), (2, 3), r"but got 3.*unsqueeze\(\)"),
    "flatten: range": (lambda t, x: x.flatten(0, 2), (2, 3), r"but got 2.*flatten\(\)"),
    "flatten: order": (lambda t, x: x.flatten(1, 0), (2, 3), r"flatten\(\).*start_dim"),
    "unflatten: size": (lambda t, x: x.unflatten(1, (2, 2)), (2, 3), r"unflatten|invalid"),
    "cat: sizes": (lambda t, x: t.cat([x, x[:1]], 1), (2, 3), r"cat\(\): Sizes of tensors must match"),
    "cat: dims": (lambda t, x: t.cat([x, x[0]]), (2, 3), r"cat\(\)|Tensors must have same number of dimensions"),
    "cat: range": (lambda t, x: t.cat([x, x], 2), (2, 3), r"but got 2.*cat\(\)"),
    "cat: 0-d": (lambda t, x: t.cat([x, x]), (), "zero-dimensional tensor"),
    "cat: none": (lambda t, x: t.cat([]), (2,), r"cat\(\): expected a non-empty list of Tensors"),
    "cat: a tensor": (lambda t, x: t.cat(x), (2, 3), r"cat\(\): argument 'tensors'.*not Tensor"),
    "cat: a number in it": (lambda t, x: t.cat([x, 1.0]), (2, 3), r"cat\(\): expected Tensor as element 1.*float"),
    "cat: no list": (lambda t, x: t.cat(5), (2, 3), r"cat\(\): argument 'tensors'.*int"),
    "stack: sizes": (lambda t, x: t.stack([x, x[:1]]), (2, 3), r"stack expects each tensor to be equal size.*entry 1"),
    "stack: none": (lambda t, x: t.stack([]), (2,), r"stack"),
    "split: sum": (lambda t, x: x.split([1, 1]), (3,), "split_sizes to sum exactly to 3"),
    "split: negative": (lambda t, x: x.split(-1), (3,), "split_size"),
    "split: zero": (lambda t, x: x.split(0), (3,), "split"),
    "split: 0-d": (lambda t, x: x.split(1), (), "at least a 1-dimensional tensor"),
    "split: range": (lambda t, x: x.split(1, 1), (3,), r"but got 1.*split\(\)"),
    "split: no int": (lambda t, x: x.split("a"), (3,), r"split\(\)"),
    "chunk: zero": (lambda t, x: x.chunk(0), (3,), "greater than 0, got: 0"),
    "unbind: 0-d": (lambda t, x: x.unbind(), (), "no dimensions"),
    "unbind: range": (lambda t, x: x.unbind(1), (3,), r"but got 1.*unbind\(\)"),
    "narrow: length": (lambda t, x: x.narrow(0, 1, 3), (3,), r"start \(1\) \+ length \(3\) exceeds .* \(3\)"),
    "narrow: start": (lambda t, x: x.narrow(0, 5, 1), (3,), r"start"),
    "narrow: negative": (lambda t, x: x.narrow(0, 0, -1), (3,), r"length"),
    "select: range": (lambda t, x: x.select(0, 3), (3,), r"select\(\): index 3 out of range"),
    "select: 0-d": (lambda t, x: x.select(0, 0), (), r"select\(\) cannot be applied to a 0-dim tensor"),
    "flip: range": (lambda t, x: x.flip(1), (3,), r"but got 1.*flip\(\)"),
    "flip: twice": (lambda t, x: x.flip(0, 0), (3,), r"flip\(\)|multiple times"),
    "roll: lengths": (lambda t, x: x.roll((1, 2), 0), (2, 3), "shifts and dimensions must align"),
    "tril: 1 dim": (lambda t, x: x.tril(), (3,), "tril.*at least 2 dimensions"),
    "diag: 3 dims": (lambda t, x: x.diag(), (2, 2, 2), r"diag\(\): Supports 1D or 2D tensors. Got 3D"),
    "diagonal: same dims": (lambda t, x: x.diagonal(0, 1, 1), (2, 3), r"diagonal"),
    "sum_to_size": (lambda t, x: x.sum_to_size(2), (2, 3), "is not expandable to size"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake(name: str) -> None:
    f, shape, message = MISTAKES[name]
    with pytest.raises((RuntimeError, IndexError, TypeError, ValueError), match=message):
        f(gradwright, gradwright.ones(shape))


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_as_in_pytorch(same: Any, name: str) -> None:
    f, shape, _ = MISTAKES[name]
    same(f, np.ones(shape))


@pytest.mark.parametrize("name", ["reshape", "permute", "transpose", "t", "squeeze", "unsqueeze", "flatten", "split",
                                  "chunk", "unbind", "narrow", "select", "flip", "roll", "tril", "triu", "diag",
                                  "diagonal", "clone", "broadcast_to", "movedim", "unflatten"])  # fmt: skip
def test_not_a_tensor(name: str) -> None:
    arguments = {"reshape": (2,), "permute": (0,), "transpose": (0, 1), "unsqueeze": (0,), "split": (1,), "chunk": (1,),
                 "narrow": (0, 0, 1), "select": (0, 0), "flip": (0,), "roll": (1,), "broadcast_to": ((2,),),
                 "movedim": (0, 1), "unflatten": (0, (1, 2))}.get(name, ())  # fmt: skip
    with pytest.raises(TypeError, match=r"argument '(input|tensor)' \(position 1\) must be Tensor, not list"):
        getattr(gradwright, name)([1.0, 2.0], *arguments)
