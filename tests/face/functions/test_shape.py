import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradwright
from gradwright.engine.watch import Watch


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
    "sum_to_size": (lambda t, x: [x.sum_to_size(3), x.sum_to_size(1, 3), x.sum_to_size((2, 1)), x.sum_to_size(2, 3),
                                  x.sum_to_size(())], [(2, 3)]),
    "reshape of a transposed": (lambda t, x: [x.t().reshape(2, 6), x.t().reshape(-1), x[:, ::2].reshape(-1)], [(3, 4)]),
}  # fmt: skip


@pytest.mark.parametrize("name", UNNAMED)
def test_call_by_other_steps(same: Any, name: str) -> None:
    f, shapes = UNNAMED[name]
    same(f, *(numbers(*s) for s in shapes), names=False)


@pytest.mark.parametrize("aside", [lambda x: x.detach(), lambda x: x.new_zeros(2, 3).set_(x.detach())])
def test_what_was_expanded_to_no_more_may_be_written(T: Any, aside: Any) -> None:
    x = T.tensor([[1.0, -2.0, 3.0], [-4.0, 5.0, -6.0]])
    for once in (x.expand(2, 3), x.expand(4, 2, 3)[1]):
        aside(once).abs_()
    assert x.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    with pytest.raises(RuntimeError, match="more than one element"):
        x.sum().expand(2, 3).detach().abs_()


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


def test_view_as_another_dtype(same: Any) -> None:
    x = np.arange(1.0, 9.0, dtype=np.float32).reshape(2, 4)
    for d in ("int32", "float64", "uint8"):
        same(lambda t, x, d=d: x.view(getattr(t, d)), x, order=0)
    same(lambda t, x: x.t().view(t.float64), x)
    same(lambda t, x: x[:, :3].view(t.float64), x)
    same(lambda t, x: t.tensor(1.0).view(t.uint8), x)
    y = gradwright.zeros(2)
    y.view(gradwright.int32).fill_(1065353216)
    assert y.tolist() == [1.0, 1.0]


def test_in_place_forms(same: Any) -> None:
    def f(t: Any, x: Any) -> Any:
        y = x * 1
        y.t_().unsqueeze_(1).transpose_(0, 2).squeeze_()
        y[0].mul_(2)
        y.mul_(3)
        return y

    same(f, numbers(2, 3), names=False)
    same(lambda t, x: x.t_() if x.requires_grad else 1 / 0, numbers(2, 3))


def test_transposes_of_0_and_1_dims(same: Any) -> None:
    for name in ("T", "mT", "H", "mH"):
        same(lambda t, x, n=name: getattr(x, n), numbers(), names=False)
        if name != "T":
            same(lambda t, x, n=name: getattr(x, n), numbers(3))


def test_shape_is_a_size() -> None:
    assert repr(gradwright.ones(2, 3).shape[:1]) == "torch.Size([2])"
    assert repr(gradwright.broadcast_shapes((2, 1), 3)) == "torch.Size([2, 3])"


def test_what_has_the_common_shape_is_not_viewed(T, leaf):
    x, y = leaf([[1.0, 2.0]]), leaf([3.0, 4.0])
    same, other = T.broadcast_tensors(x, y)
    assert same is x
    assert other.grad_fn.name() == "ExpandBackward0"


@pytest.mark.parametrize("mode", [gradwright.enable_grad, gradwright.no_grad, gradwright.inference_mode])
def test_a_view_is_made_once(mode: Any) -> None:
    class Names(Watch):
        def compute(self, name: str, inputs: Any, call: Any) -> Any:
            seen.append(name)
            return call()

    seen: list[str] = []
    with mode():
        x = gradwright.ones(2, 3)
        with Names():
            x.view(-1), x.view(size=(3, 2))
    assert seen == ["reshape", "reshape"]
