"""Sample calls made up from annotations, from what backward returns, from defaults and from names."""

import inspect
import itertools
from collections.abc import Sequence
from typing import Any

import pytest

import gradwright as gw
from gradwright import Tensor
from gradwright.verify.check.guess import guessed, uses


def first(forward, backward=None, n=1):
    parameters = list(inspect.signature(forward).parameters.values())[1:]
    found = guessed(parameters, uses([p.name for p in parameters], forward, None, backward))
    return [str(c) for c in itertools.islice(found, n)]


@pytest.mark.parametrize(("forward", "expected"), [
    (lambda ctx, x: x, ["x: float64 (5,)"]),
    (lambda ctx, x, dim: x, ["x: float64 (5,), dim: -1", "x: float64 (5,), dim: 0"]),
    (lambda ctx, x, eps=1e-3: x, ["x: float64 (5,), eps: 0.001"]),
    (lambda ctx, x, index: x, ["x: float64 (5,), index: int64 (5,)"]),
    (lambda ctx, x, mask: x, ["x: float64 (5,), mask: bool (5,)"]),
    (lambda ctx, *xs: xs, ["xs[0]: float64 (5,), xs[1]: float64 (5,)"]),
])  # fmt: skip
def test_by_name_and_default(forward, expected):
    assert first(forward, n=len(expected)) == expected


def annotated(annotation: Any) -> Any:
    def forward(ctx, x, lam):
        return x

    forward.__annotations__["lam"] = annotation
    return forward


TENSOR, NUMBER = "float64 (5,)", "0.7"


@pytest.mark.parametrize(("annotation", "expected"), [
    (Tensor, TENSOR), ("Tensor", TENSOR), ("gw.Tensor", TENSOR), ("torch.Tensor", TENSOR), ("'Tensor'", TENSOR),
    ("Optional[Tensor]", TENSOR), (Tensor | None, TENSOR), ("Tensor | None", TENSOR), ("float | Tensor", NUMBER),
    (float, NUMBER), ("float", NUMBER), ("typing.Optional[float]", NUMBER), (int, "2"), (bool, "False"),
    (Sequence[Tensor], "['float64 (5,)', 'float64 (5,)']"), ("list[Tensor]", "['float64 (5,)', 'float64 (5,)']"),
    ("tuple[Tensor, Tensor]", "('float64 (5,)', 'float64 (5,)')"), ("Sequence[int]", "(5,)"),
    ("Unheard[of]", NUMBER), ("not an annotation", NUMBER),
])  # fmt: skip
def test_an_annotation_decides(annotation, expected):
    assert first(annotated(annotation)) == [f"x: float64 (5,), lam: {expected}"]


def test_a_default_goes_before_what_the_annotation_allows():
    def forward(ctx, x: Tensor, n: int = 3, bias: Tensor | None = None, mode: str = "sum"):
        return x

    assert first(forward) == ["x: float64 (5,), n: 3, bias: float64 (5,), mode: 'sum'"]


class Ridge(gw.autograd.Function):
    """Its ``lam`` is a tensor."""

    @staticmethod
    def forward(ctx, x, lam, zeppelin):
        ctx.save_for_backward(x, lam)
        return x * lam

    @staticmethod
    def backward(ctx, g):
        def helper():
            return None

        x, lam = ctx.saved_tensors
        if not ctx.needs_input_grad[1]:
            return g * lam, None, None
        return g * lam, g * x, None


def test_what_backward_returns_decides_between_a_tensor_and_a_number():
    assert first(Ridge.forward, Ridge.backward) == ["x: float64 (5,), lam: float64 (5,), zeppelin: 0.7"]
    assert first(Ridge.forward) == ["x: float64 (5,), lam: float64 (5,), zeppelin: float64 (5,)"]


def test_what_is_saved_without_a_gradient_is_no_number():
    def forward(ctx, x, which):
        ctx.save_for_backward(which)
        return x

    def backward(ctx, g):
        return g, None

    found = first(forward, backward, n=600)
    assert found[0] == "x: float64 (5,), which: int64 (5,)"
    assert {c.partition("which: ")[2].split()[0] for c in found} >= {"int64", "bool", "float64"}


def test_what_something_is_indexed_with():
    def forward(ctx, x, row):
        return x[row]

    assert first(forward, n=1) == ["x: float64 (5,), row: 0"]


def test_shapes_come_to_a_matrix_product():
    parameters = list(inspect.signature(lambda a, b: a).parameters.values())
    shapes = [[a.array.shape for a in c.args] for c in guessed(parameters, {})]
    assert [(3, 4), (4, 2)] in shapes
    assert [(5,), ()] in shapes
