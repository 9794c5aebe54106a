"""What the source of a derivative says of it."""

from typing import Any

import numpy as np
import pytest

from gradwright.function.contract.surrogate import surrogate
from gradwright.verify.pairs.pair import Pair, Point
from gradwright.verify.pairs.source import Source, declared, source_of


def jtj(x: Any) -> Any:
    J = np.eye(2)
    return 2 * J.T @ J


def weighted(x: Any) -> Any:
    J, w = np.eye(2), np.eye(2)
    return J.T @ w @ J


def dotted(x: Any) -> Any:
    J = np.eye(2)
    return np.dot(J.T, J)


def worded(x: Any) -> Any:
    """The Hessian without its second-order part: a Gauss-Newton approximation."""
    return x


def to_scale(x: Any) -> Any:
    return x  # right up to a constant factor


def plain(x: Any) -> Any:
    A, B = np.eye(2), np.eye(2)
    return A.T @ B


def fills_not(x: Any, grad: Any) -> None:
    grad = 2 * x  # noqa: F841


def fills(x: Any, grad: Any) -> None:
    if grad.size > 0:
        grad[:] = 2 * x


@surrogate("straight-through")
def meant(x: Any) -> Any:
    return x


def of(function: Any) -> Source:
    return source_of(Pair("gradient", sum, lambda x: function(x), (Point(1.0),),
                          where=(__file__, function.__code__.co_firstlineno)))  # fmt: skip


@pytest.mark.parametrize(("function", "squares"), [(jtj, "2 * J.T @ J"), (weighted, "J.T @ w @ J"),
                                                   (dotted, "np.dot(J.T, J)"), (plain, "")])  # fmt: skip
def test_a_matrix_times_its_transpose_is_seen(function: Any, squares: str) -> None:
    assert of(function).squares == squares


def test_words_are_read() -> None:
    assert of(worded).meant(second=True) == "Gauss-Newton"
    assert of(worded).meant(second=False) == ""
    assert of(to_scale).scaled == "up to a constant factor"
    assert of(plain).meant(second=True) == of(plain).scaled == ""


def test_a_parameter_that_is_bound_and_not_filled_is_seen() -> None:
    assert of(fills_not).rebound == "grad"
    assert of(fills).rebound == ""


def test_a_decorator_declares_it() -> None:
    pair = Pair("gradient", sum, meant, (Point(1.0),))
    assert declared(pair, source_of(pair)) == "straight-through"
