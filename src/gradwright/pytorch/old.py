"""Functions of PyTorch's that have another name or place today, and that old programs call at the top."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from gradwright.face import linalg
from gradwright.face.reference import attach
from gradwright.nn.functional import recurrent

if TYPE_CHECKING:
    from gradwright.face.typing import Cell, Dims, LSTMCell, Tensor

__all__ = [
    "frobenius_norm", "gru_cell", "lstm_cell", "norm_except_dim", "nuclear_norm", "rnn_relu_cell", "rnn_tanh_cell",
]  # fmt: skip


def frobenius_norm(input: Tensor, dim: Dims = (), keepdim: bool = False) -> Tensor:
    """sqrt(sum of abs(x)²) over ``dim``, over all dims by default."""
    dims = tuple(range(input.ndim)) if dim in ((), []) else dim
    return linalg.vector_norm(input, 2, dims, keepdim)


def nuclear_norm(input: Tensor, dim: tuple[int, int] = (-2, -1), keepdim: bool = False) -> Tensor:
    """The sum of the singular values of matrices over two dims."""
    return linalg.matrix_norm(input, "nuc", dim, keepdim)


def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """The norm of order ``pow`` over all dims but one, the others having size 1 then; over all if ``dim`` is -1."""
    if dim == -1:
        return linalg.vector_norm(v, pow)
    return linalg.vector_norm(v, pow, [k for k in range(v.ndim) if k != dim], True)


def _cell(mode: str) -> Callable[..., Any]:
    def step(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
        state = tuple(hx) if mode == "LSTM" else (hx,)
        found = recurrent.cell(mode, input, state, w_ih, w_hh, b_ih, b_hh)
        return found if mode == "LSTM" else found[0]

    step.__name__ = step.__qualname__ = f"{mode.lower()}_cell"
    step.__doc__ = f"The next state of a recurrent cell, as `nn.{mode.partition('_')[0]}Cell`'s."
    return step


gru_cell, rnn_tanh_cell, rnn_relu_cell = cast("tuple[Cell, Cell, Cell]", map(_cell, ("GRU", "RNN_TANH", "RNN_RELU")))
lstm_cell = cast("LSTMCell", _cell("LSTM"))


attach(globals(), "pytorch")
