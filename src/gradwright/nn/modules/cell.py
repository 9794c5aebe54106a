"""One step of a recurrent network as a layer: input (n, input_size) and state (n, hidden_size) to the next state.

Both may leave out n. A state that is not given is zeros. The parameters are called as in PyTorch: ``weight_ih`` for the
input, ``weight_hh`` for the state, ``bias_ih`` and ``bias_hh`` (None without a bias), with as many times hidden_size
rows as there are gates, drawn from U(-1/sqrt(hidden_size), 1/sqrt(hidden_size)).

Called, each raises ValueError for other numbers of dims, RuntimeError for sizes or dtypes that do not fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.nn.functional.recurrent import GATES, State, cell
from gradwright.nn.modules.parametric import Parametric, check_whole
from gradwright.nn.parameter import Parameter

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike, DType, Tensor



class RNNCellBase(Parametric):
    """What the cells share: sizes, parameters, checks."""

    mode: str
    _states: ClassVar[int] = 1
    weight_ih: Parameter
    weight_hh: Parameter
    bias_ih: Parameter | Any
    bias_hh: Parameter | Any

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: DeviceLike = None,
                 dtype: DType = None
                 ) -> None:  # fmt: skip
        super().__init__()
        check_whole(self, input_size=input_size, hidden_size=hidden_size)
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        self._allocate(device, dtype, () if bias else ("bias_ih", "bias_hh"))

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        rows = GATES[self.mode] * self.hidden_size
        return {"weight_ih": (rows, self.input_size), "weight_hh": (rows, self.hidden_size),
                "bias_ih": (rows,), "bias_hh": (rows,)}  # fmt: skip

    def reset_parameters(self) -> None:
        """Draw all anew."""
        self._draw_within(self.hidden_size)

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias is True else f", bias={self.bias}")

    def _step(self, input: Any, given: Sequence[Any] | None) -> State:
        """The next state, without n if the input has none."""
        if input.dim() not in (1, 2):
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 1D or 2D, got {input.dim()}D instead: shape "
                f"{tuple(input.shape)}, expected (n, {self.input_size}) or ({self.input_size},)"
            )
        for i, s in enumerate(given or ()):
            if s.dim() not in (1, 2):
                what = f"hx[{i}]" if self._states > 1 else "hidden"
                raise ValueError(f"{type(self).__name__}: Expected {what} to be 1D or 2D, got {s.dim()}D instead")
        single = input.dim() == 1
        x = input.unsqueeze(0) if single else input
        if given is None:
            state: State = (x.new_zeros(x.size(0), self.hidden_size),) * self._states
        else:
            state = tuple(s.unsqueeze(0) if single else s for s in given)
        self._check(x, state)
        new = cell(self.mode, x, state, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return tuple(s.squeeze(0) for s in new) if single else new

    def _check(self, x: Any, state: State) -> None:
        if x.size(1) != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {x.size(1)} expected {self.input_size}")
        for i, s in enumerate(state):
            if s.size(-1) != self.hidden_size:
                raise RuntimeError(
                    f"hidden{i} has inconsistent hidden_size: got {s.size(-1)}, expected {self.hidden_size}"
                )
            if s.size(0) != x.size(0):
                raise RuntimeError(f"Input batch size {x.size(0)} doesn't match hidden{i} batch size {s.size(0)}")
        for t in (x, *state):
            if t.dtype != self.weight_ih.dtype:
                what, due = "an input" if t is x else "a state", self.weight_ih.dtype
                raise RuntimeError(f"mat1 and mat2 must have the same dtype, but got {what} of {t.dtype} and weights "
                                   f"of {due}. {dtypes.remedy(t.dtype, due)}")  # fmt: skip


class RNNCell(RNNCellBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or the rectifier in place of tanh.

    Args:
        input_size: the last size of the input.
        hidden_size: the last size of the state.
        bias: whether there are biases.
        nonlinearity: "tanh" or "relu"; called, RuntimeError for another.
        device: where the parameters live.
        dtype: their dtype; the default one (float32) if None.

    >>> import gradwright as gw
    >>> step = RNNCell(3, 4)
    >>> step(gw.ones(2, 3)).shape, step(gw.ones(2, 3), gw.zeros(2, 4)).shape
    (torch.Size([2, 4]), torch.Size([2, 4]))
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh",
                 device: DeviceLike = None, dtype: DType = None) -> None:  # fmt: skip
        self.mode = f"RNN_{nonlinearity.upper()}" if nonlinearity == "relu" else "RNN_TANH"
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state of ``hx``."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}; expected 'tanh' or 'relu'")
        return self._step(input, None if hx is None else (hx,))[0]

    def extra_repr(self) -> str:
        return super().extra_repr() + ("" if self.nonlinearity == "tanh" else f", nonlinearity={self.nonlinearity}")


class LSTMCell(RNNCellBase):
    """Long short-term memory: c' = f c + i g and h' = o tanh c', a state of two.

    The gates i, f, g, o, in this order the rows of the parameters, are W_ih x + b_ih + W_hh h + b_hh, of which g goes
    through tanh and the others through the logistic function.

    Args:
        input_size: the last size of the input.
        hidden_size: the last size of h and c.
        bias: whether there are biases.
        device: where the parameters live.
        dtype: their dtype; the default one (float32) if None.

    >>> import gradwright as gw
    >>> h, c = LSTMCell(3, 4)(gw.ones(2, 3))
    >>> h.shape, c.shape
    (torch.Size([2, 4]), torch.Size([2, 4]))
    """

    mode = "LSTM"
    _states = 2

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """The next (h, c) of ``hx``, which is such a pair."""
        if hx is not None and (not isinstance(hx, (tuple, list)) or len(hx) != 2):
            got = kind(hx) if not isinstance(hx, (tuple, list)) else f"{len(hx)} of them"
            raise TypeError(f"lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, h and c, not {got}")
        h, c = self._step(input, hx)
        return h, c


class GRUCell(RNNCellBase):
    """Gated recurrent unit: h' = (1 - z) n + z h.

    r and z are logistic functions of W_ih x + b_ih + W_hh h + b_hh, n is tanh(W_ih x + b_ih + r (W_hh h + b_hh)); r, z,
    n is the order of the rows of the parameters.

    Args:
        input_size: the last size of the input.
        hidden_size: the last size of the state.
        bias: whether there are biases.
        device: where the parameters live.
        dtype: their dtype; the default one (float32) if None.

    >>> import gradwright as gw
    >>> GRUCell(3, 4)(gw.ones(3)).shape
    torch.Size([4])
    """

    mode = "GRU"

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state of ``hx``."""
        return self._step(input, None if hx is None else (hx,))[0]
