from typing import Any

import numpy as np
import pytest

import gradwright

X = np.arange(60.0).reshape(3, 4, 5) / 7


class TestGather:
    X = np.arange(12.0).reshape(3, 4) / 3
    INDEX = np.array([[0, 1, 2, 0], [2, 2, 0, 1]])

    def test_dims(self, same: Any) -> None:
        same(lambda t, x, i: [t.gather(x, 0, i), x.gather(0, i), x.gather(-2, i)], self.X, self.INDEX)
        same(lambda t, x, i: x.gather(1, i), self.X, np.array([[3], [0], [3]]))

    def test_smaller_index(self, same: Any) -> None:
        same(lambda t, x, i: t.gather(x, 0, i), self.X, np.array([[1, 2]]), names=False)
        same(lambda t, x, i: t.gather(x, 1, i), self.X, np.array([[3, 0, 0, 0, 1]]), names=False)

    def test_nothing(self, same: Any) -> None:
        same(lambda t, x, i: t.gather(x, 0, i), self.X, np.zeros((0, 4), np.int64))

    def test_0d(self, same: Any) -> None:
        same(lambda t, x, i: t.gather(x, 0, i), np.array(2.0), np.array(0), names=False)

    def test_mistakes(self, same: Any) -> None:
        for dim, index in [(0, [[3, 0, 0, 0]]), (0, [[-1, 0, 0, 0]]), (1, [[0]] * 4), (0, [0, 1]), (2, [[0]])]:
            same(lambda t, x, i, dim=dim: t.gather(x, dim, i), self.X, np.array(index))
        same(lambda t, x, i: t.gather(x, 0, i), self.X, np.array([[0.0]]))
        with pytest.raises(RuntimeError, match=r"gather\(\): index 3 is out of bounds for dimension 0 with size 3"):
            gradwright.gather(gradwright.ones(3, 4), 0, gradwright.tensor([[3]]))


class TestScatterAdd:
    def test_dims(self, same: Any) -> None:
        x, src = np.zeros((3, 4)), np.arange(12.0).reshape(3, 4)
        index = np.array([[0, 1, 2, 0], [2, 2, 0, 1]])
        same(lambda t, x, i, s: [t.scatter_add(x, 0, i, s), x.scatter_add(-2, i, s)], x, index, src[:2], names=False)
        same(lambda t, x, i, s: t.scatter_add(x, 1, i, s), x, np.array([[3, 3], [0, 1]]), src[:2, :2], names=False)
        same(lambda t, x, i, s: t.scatter_add(x, 1, i, s), x, np.array([[3, 3], [0, 1]]), src, order=0)

    def test_in_place(self, same: Any) -> None:
        def f(t: Any, x: Any, i: Any, s: Any) -> Any:
            return (x * 1).scatter_add_(1, i, s)

        same(f, np.ones((2, 3)), np.array([[0, 0], [2, 1]]), np.ones((2, 2)), names=False)

    def test_mistakes(self, same: Any) -> None:
        x, one = np.zeros((3, 4)), np.ones((1, 1))
        for dim, index in [(0, [[3]]), (0, [[-1]]), (0, [0]), (2, [[0]]), (0, [[0, 1]])]:
            same(lambda t, x, i, s, dim=dim: t.scatter_add(x, dim, i, s), x, np.array(index), one)
        same(lambda t, x, i, s: t.scatter_add(x, 0, i, s), x, np.array([[0]]), one.astype(np.float32))


class TestIndexSelect:
    def test_dims(self, same: Any) -> None:
        index = np.array([2, 0, 2])
        same(lambda t, x, i: [t.index_select(x, 0, i), x.index_select(1, i), x.index_select(-1, i)], X, index)
        same(lambda t, x, i: t.index_select(x, 0, i), X, np.array([], np.int64))
        same(lambda t, x, i: t.index_select(x, 0, i), X, np.array([1], np.int32))
        same(lambda t, x, i: t.index_select(x, 0, i), X, np.array(1), names=False)
        same(lambda t, x, i: t.index_select(x, 0, i), np.array(2.0), np.array([0]), names=False)

    def test_mistakes(self, same: Any) -> None:
        for dim, index in [(0, [3]), (0, [-1]), (3, [0]), (0, [[0]]), (0, [0.0])]:
            same(lambda t, x, i, dim=dim: t.index_select(x, dim, i), X, np.array(index))


class TestScatter:
    def test_of_those_written_to_one_place_the_last_gets_the_gradient(self) -> None:
        for name, index in (("scatter", [[0, 0]]), ("index_copy", [0, 0])):
            x, src = gradwright.zeros(1, 2), gradwright.tensor([[1.0, 2.0]], requires_grad=True)
            out = getattr(gradwright, name)(x, 1, gradwright.tensor(index), src)
            out.sum().backward()
            assert out.tolist() == [[2.0, 0.0]]
            assert src.grad.tolist() == [[0.0, 1.0]]

    @pytest.mark.parametrize("zeros", [0, 1, 2, 3])
    def test_product_is_right_at_zeros(self, zeros: int) -> None:
        values = np.array([2.0, 3.0, 5.0, 7.0])
        values[:zeros] = 0
        src = gradwright.tensor(values, requires_grad=True)
        x = gradwright.tensor([11.0, 13.0], dtype=gradwright.float64)
        out = x.scatter_reduce(0, gradwright.tensor([0, 0, 1, 0]), src, "prod")
        assert gradwright.autograd.gradcheck(
            lambda s: x.scatter_reduce(0, gradwright.tensor([0, 0, 1, 0]), s, "prod"), src
        )
        assert gradwright.autograd.gradgradcheck(
            lambda s: x.scatter_reduce(0, gradwright.tensor([0, 0, 1, 0]), s, "prod"), src
        )
        assert out.tolist() == [11 * values[0] * values[1] * values[3], 13 * values[2]]

    @pytest.mark.parametrize("how", ["sum", "prod", "mean", "amax", "amin"])
    @pytest.mark.parametrize("include_self", [True, False])
    def test_many_in_one_place(self, same: Any, how: str, include_self: bool) -> None:
        index, src = np.arange(1000) % 7, 1 + np.random.default_rng(0).random(1000) / 100
        same(
            lambda t, x, i, s: t.scatter_reduce(x, 0, i, s, how, include_self=include_self),
            np.full(9, 1.003), index, src, names=False,
        )  # fmt: skip

    def test_extrema_of_whole_numbers(self, same: Any) -> None:
        x, i = np.array([-(2**63), 5, 2**63 - 1]), np.array([0, 1, 2, 2])
        src = np.array([-(2**63), 7, 3, 2**63 - 1])
        for how in ("amax", "amin"):
            same(lambda t, x, i, s, how=how: t.scatter_reduce(x, 0, i, s, how, include_self=False), x, i, src, order=0)

    def test_number_that_does_not_fit(self, same: Any) -> None:
        i = np.array([0])
        same(lambda t, x, i: t.scatter(x, 0, i, 300), np.zeros(2, np.uint8), i)
        same(lambda t, x, i: t.index_fill(x, 0, i, 300), np.zeros(2, np.uint8), i)


NOWHERE = {
    "scatter": lambda x, s, rows, none, mask: x.scatter(0, rows, s),
    "scatter, a vector for an index": lambda x, s, rows, none, mask: x.scatter(1, none, s),
    "scatter_add": lambda x, s, rows, none, mask: x.scatter_add(0, rows, s),
    "scatter_add_": lambda x, s, rows, none, mask: (x * 1).scatter_add_(0, rows, s),
    **{how: (lambda x, s, rows, none, mask, how=how: x.scatter_reduce(0, rows, s, how))
       for how in ("sum", "prod", "mean", "amax", "amin")},
    "index_add": lambda x, s, rows, none, mask: x.index_add(0, none, s[:0]),
    "index_copy": lambda x, s, rows, none, mask: x.index_copy(0, none, s[:0]),
    "index_put": lambda x, s, rows, none, mask: x.index_put((none,), s),
    "put": lambda x, s, rows, none, mask: x.put(none, s[0, :0]),
    "masked_scatter": lambda x, s, rows, none, mask: x.masked_scatter(mask, s),
}  # fmt: skip


@pytest.mark.parametrize("name", NOWHERE)
def test_what_is_written_nowhere_has_a_gradient_of_zeros(name):
    x, s = (gradwright.ones(n, 3, requires_grad=True) for n in (2, 1))
    rows, none = gradwright.zeros((0, 3), dtype=gradwright.int64), gradwright.zeros(0, dtype=gradwright.int64)
    out = NOWHERE[name](x, s, rows, none, gradwright.zeros((2, 3), dtype=gradwright.bool))
    assert out.tolist() == x.tolist()
    found = gradwright.autograd.grad((out * 2).sum(), (x, s))
    assert [g.tolist() for g in found] == [[[2.0] * 3] * 2, [[0.0] * 3]]
