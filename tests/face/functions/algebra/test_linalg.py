from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradwright


def numbers(*shape: int) -> Any:
    return np.random.standard_normal(shape)


PRODUCTS: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((3, 4), (4, 2)), ((3, 4), (4,)), ((4,), (4, 2)), ((4,), (4,)), ((2, 3, 4), (4, 2)), ((3, 4), (2, 4, 3)),
    ((2, 3, 4), (2, 4, 2)), ((2, 1, 3, 4), (3, 4, 2)), ((2, 3, 4), (4,)), ((4,), (2, 4, 3)), ((0, 4), (4, 2)),
    ((3, 0), (0, 2)), ((0,), (0,)), ((1, 1), (1, 1)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shapes", PRODUCTS, ids=str)
def test_matmul(same: Any, shapes: Any, dtype: str) -> None:
    names = max(map(len, shapes)) < 3 and shapes[0] != (4,)  # PyTorch reshapes first
    same(lambda t, x, y: [t.matmul(x, y), x @ y], *(numbers(*s).astype(dtype) for s in shapes), names=names)


def test_matmul_of_the_same_tensor(same: Any) -> None:
    same(lambda t, x: x @ x, numbers(3, 3))
    same(lambda t, x: x.t() @ x, numbers(2, 3))


def test_products_by_name(same: Any) -> None:
    same(lambda t, x, y: [t.mm(x, y), x.mm(y)], numbers(3, 4), numbers(4, 2))
    same(lambda t, x, y: [t.mv(x, y), x.mv(y)], numbers(3, 4), numbers(4))
    same(lambda t, x, y: [t.bmm(x, y), x.bmm(y)], numbers(2, 3, 4), numbers(2, 4, 2))
    same(lambda t, x, y: [t.dot(x, y), x.dot(y)], numbers(4), numbers(4))
    same(lambda t, x, y: [t.outer(x, y), x.outer(y)], numbers(3), numbers(2))


def test_whole_numbers(same: Any) -> None:
    x = np.arange(6).reshape(2, 3)
    same(lambda t, x, y: [x @ y, t.mm(x, y), t.einsum("ij,jk->ik", x, y)], x, x.T.copy())


def test_one_constant(same: Any) -> None:
    x, y = numbers(3, 4), numbers(4, 2)
    same(lambda t, x: x @ t.tensor(y), x)
    same(lambda t, y: t.tensor(x) @ y, y)


@given(st.data())
@settings(max_examples=40)
def test_any_stacks_that_broadcast(same: Any, data: Any) -> None:
    batch = data.draw(st.lists(st.integers(1, 3), max_size=2))
    left, right = (
        [1 if data.draw(st.booleans()) else n for n in batch][data.draw(st.integers(0, len(batch))) :] for _ in "xy"
    )
    n, k, m = (data.draw(st.integers(1, 3)) for _ in range(3))
    same(lambda t, x, y: x @ y, numbers(*left, n, k), numbers(*right, k, m), names=False)


EINSUMS: dict[str, list[tuple[int, ...]]] = {
    "ij,jk->ik": [(2, 3), (3, 4)],
    "ij,jk": [(2, 3), (3, 4)],
    "ij,kj->ik": [(2, 3), (4, 3)],
    "i,i->": [(3,), (3,)],
    "i,i": [(3,), (3,)],
    "i,j->ij": [(3,), (2,)],
    "i,j->ji": [(3,), (2,)],
    "ij->ji": [(2, 3)],
    "ba": [(2, 3)],
    "ij->": [(2, 3)],
    "ij->i": [(2, 3)],
    "ij->j": [(2, 3)],
    "ij->ij": [(2, 3)],
    "ii->i": [(3, 3)],
    "ii": [(3, 3)],
    "ii->": [(3, 3)],
    "iii->i": [(2, 2, 2)],
    "iij->j": [(2, 2, 3)],
    "ij,ii->j": [(2, 3), (2, 2)],
    "bij,bjk->bik": [(2, 3, 4), (2, 4, 2)],
    "bij,bjk": [(2, 3, 4), (2, 4, 2)],
    "bij,jk->bik": [(2, 3, 4), (4, 2)],
    "...ij,...jk->...ik": [(2, 3, 4), (2, 4, 2)],
    "...ij,jk->...ik": [(2, 5, 3, 4), (4, 2)],
    "...i,...i->...": [(2, 3), (2, 3)],
    "...i,i": [(2, 3), (3,)],
    "i...->...": [(2, 3, 4)],
    "i...j->j...i": [(2, 3, 4)],
    "...->...": [(2, 3)],
    "...ij->...ji": [(2, 3)],
    "a,b,c->abc": [(2,), (3,), (2,)],
    "ij,j,i->": [(2, 3), (3,), (2,)],
    "ij,jk,kl->il": [(2, 3), (3, 4), (4, 2)],
    " i j , j k -> i k ": [(2, 3), (3, 4)],
    "Ab,bC->AC": [(2, 3), (3, 4)],
    "ij,ij->ij": [(2, 3), (1, 3)],
    "...ij,...ij->...": [(1, 2, 3), (4, 2, 3)],
    "ij,jk->...ik": [(2, 3), (3, 2)],
    "...j,jk->k": [(2, 3), (3, 2)],
    ",->": [(), ()],
    "i,->i": [(3,), ()],
    "ij,jk->ikj": [(2, 3), (3, 4)],
    "i,j->": [(2,), (3,)],
    "ij,kl->": [(2, 3), (2, 2)],
    "ij,k->i": [(2, 3), (4,)],
}


@pytest.mark.parametrize("equation", EINSUMS)
def test_einsum(same: Any, equation: str) -> None:
    same(lambda t, *xs: t.einsum(equation, *xs), *(numbers(*s) for s in EINSUMS[equation]), names=False)


def test_einsum_of_none(same: Any) -> None:
    same(lambda t, x, y: t.einsum("ij,jk->ik", x, y), numbers(2, 0), numbers(0, 3), names=False)
    same(lambda t, x: t.einsum("ij->j", x), numbers(0, 3), names=False)


def test_einsum_of_a_list(same: Any) -> None:
    same(lambda t, x, y: t.einsum("ij,jk->ik", [x, y]), numbers(2, 3), numbers(3, 2), names=False)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("shape", [(5, 3), (3,), (2, 4, 3), (0, 3)], ids=str)
def test_linear(same: Any, shape: tuple[int, ...], bias: bool) -> None:
    def f(t: Any, x: Any, w: Any, *b: Any) -> Any:
        ours = gradwright.face.functions.algebra.linalg.linear
        return (t.nn.functional.linear if hasattr(t, "compile") else ours)(x, w, *b)

    inputs = [numbers(*shape), numbers(2, 3)] + [numbers(2)] * bias
    same(f, *inputs, names=False)
    same(f, *(a.astype(np.float32) for a in inputs), names=False)


MISTAKES: dict[str, tuple[Any, list[tuple[int, ...]], str]] = {
    "matmul: inner sizes": (lambda t, x, y: x @ y, [(2, 3), (4, 2)], r"matmul\(\): .*\[2, 3\] and \[4, 2\]"),
    "matmul: vectors": (lambda t, x, y: x @ y, [(2,), (3,)], r"matmul\(\)"),
    "matmul: matrix and vector": (lambda t, x, y: x @ y, [(2, 3), (2,)], r"matmul\(\)"),
    "matmul: stacks": (lambda t, x, y: x @ y, [(2, 3, 4), (3, 4, 2)], r"matmul\(\)"),
    "matmul: 0-d": (lambda t, x, y: x @ y, [(), (2,)], r"matmul\(\): both .* at least 1D, .* 0D and 1D"),
    "mm: inner sizes": (lambda t, x, y: t.mm(x, y), [(2, 3), (4, 2)], r"mm\(\): mat1 and mat2 .* cannot be multiplied"),
    "mm: vector": (lambda t, x, y: t.mm(x, y), [(2, 3), (3,)], r"mm\(\): expected .* 2 and 2 dims.* 2 and 1"),
    "mv: matrix": (lambda t, x, y: t.mv(x, y), [(2, 3), (3, 1)], r"mv\(\)"),
    "mv: size": (lambda t, x, y: t.mv(x, y), [(2, 3), (2,)], r"mv\(\)"),
    "bmm: batches": (lambda t, x, y: t.bmm(x, y), [(2, 3, 4), (3, 4, 2)], r"bmm\(\): batches differ"),
    "bmm: matrices": (lambda t, x, y: t.bmm(x, y), [(3, 4), (4, 2)], r"bmm\(\)"),
    "dot: sizes": (lambda t, x, y: t.dot(x, y), [(2,), (3,)], r"dot\(\)"),
    "dot: matrices": (lambda t, x, y: t.dot(x, y), [(2, 2), (2, 2)], r"dot\(\)"),
    "outer: matrices": (lambda t, x, y: t.outer(x, y), [(2, 2), (2,)], r"outer\(\): expected two 1D tensors"),
    "einsum: operands": (lambda t, x, y: t.einsum("ij,jk,kl->il", x, y), [(2, 3), (3, 4)], r"einsum\(\): .*3 operands"),
    "einsum: dims": (lambda t, x, y: t.einsum("i,jk->ik", x, y), [(2, 3), (3, 4)], r"einsum\(\): the number of"),
    "einsum: sizes": (lambda t, x, y: t.einsum("ij,jk->ik", x, y), [(2, 3), (4, 2)], r"einsum\(\): .* j has size 4"),
    "einsum: result": (lambda t, x, y: t.einsum("ij,jk->iz", x, y), [(2, 3), (3, 2)], r"einsum\(\): .*subscript z"),
    "einsum: twice": (lambda t, x, y: t.einsum("ij,jk->ii", x, y), [(2, 3), (3, 2)], r"einsum\(\): .*subscript i"),
    "einsum: letters": (lambda t, x, y: t.einsum("i1,1k->ik", x, y), [(2, 3), (3, 2)], r"einsum\(\): "),
    "einsum: dots": (lambda t, x, y: t.einsum("i..,jk->ik", x, y), [(2, 3), (3, 2)], r"einsum\(\): "),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake(name: str) -> None:
    f, shapes, message = MISTAKES[name]
    with pytest.raises((RuntimeError, IndexError, TypeError, ValueError), match=message):
        f(gradwright, *(gradwright.ones(s) for s in shapes))


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_as_in_pytorch(same: Any, name: str) -> None:
    f, shapes, _ = MISTAKES[name]
    same(f, *map(np.ones, shapes))


@pytest.mark.parametrize("name", ["matmul", "mm", "dot", "bmm", "mv"])
def test_different_dtypes(same: Any, name: str) -> None:
    shapes = {"dot": [(3,), (3,)], "bmm": [(1, 3, 3), (1, 3, 3)], "mv": [(3, 3), (3,)]}.get(name, [(3, 3), (3, 3)])
    x, y = map(np.ones, shapes)
    same(lambda t, x, y: getattr(t, name)(x, y), x, y.astype(np.float32))
    with pytest.raises(RuntimeError, match=rf"{name}\(\): expected .* same dtype, .* torch.float64 and torch.int64"):
        getattr(gradwright, name)(gradwright.tensor(x), gradwright.tensor(y.astype(np.int64)))


@pytest.mark.parametrize("name", ["matmul", "mm", "mv", "bmm", "dot", "outer"])
def test_not_a_tensor(name: str) -> None:
    f = getattr(gradwright, name)
    with pytest.raises(TypeError, match=rf"{name}\(\): argument 'input' \(position 1\) must be Tensor, not list"):
        f([1.0], gradwright.ones(1))
    with pytest.raises(TypeError, match=rf"{name}\(\): argument '\w+' \(position 2\) must be Tensor, not list"):
        f(gradwright.ones(1), [1.0])


def test_einsum_of_no_tensor() -> None:
    with pytest.raises(TypeError, match=r"einsum\(\): expected Tensor as element 1 .*'operands', but got int"):
        gradwright.einsum("i,i->", gradwright.ones(2), 3)
    with pytest.raises(TypeError, match=r"einsum\(\): argument 'equation' .* must be str, not Tensor"):
        gradwright.einsum(gradwright.ones(2), "i->")
