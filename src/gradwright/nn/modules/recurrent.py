"""Recurrent networks, over whole sequences and step by step.

Input (t, n, input_size), or (n, t, input_size) with ``batch_first``, or (t, input_size), or a `PackedSequence` of
sequences of several lengths. The results are the output of the last layer at every step, (t, n, directions times
hidden_size) laid out as the input is, and the last states (layers times directions, n, hidden_size), of which the input
may bring the first ones as ``hx``; they are zeros otherwise.

The parameters are called as in PyTorch, so that state_dicts carry over: weight_ih_l0, weight_hh_l0, bias_ih_l0,
bias_hh_l0, with _reverse behind them for the second direction, and l1, l2, ... for further layers. All are drawn from
U(-1/sqrt(hidden_size), 1/sqrt(hidden_size)).

A cell is one step: input (n, input_size) and state (n, hidden_size), both perhaps without n, to the next state; its
parameters have no _l0 in their names, and are None without a bias. Called, cells raise ValueError for other numbers of
dims, RuntimeError for sizes or dtypes that do not fit.
"""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.base.source_line import warn
from gradwright.face.reading.torch import tensor_arg
from gradwright.nn.functional.recurrent import GATES, State, cell, network
from gradwright.nn.modules.parametric import Parametric, check_whole
from gradwright.nn.parameter import Parameter
from gradwright.nn.utils.rnn import PackedSequence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwright.face.typing import DeviceLike, DType, Tensor

    Steps = TypeVar("Steps", Tensor, PackedSequence)

__all__ = ["RNNBase", "RNN", "LSTM", "GRU", "RNNCellBase", "RNNCell", "LSTMCell", "GRUCell"]


class RNNBase(Parametric):
    """What `RNN`, `LSTM` and `GRU` share; their arguments, after ``mode``, which is one of `GATES`.

    Args:
        mode: "RNN_TANH", "RNN_RELU", "LSTM" or "GRU".
        input_size: the last size of the input.
        hidden_size: the last size of the states.
        num_layers: how many layers, each but the first taking the output of the one before.
        bias: whether there are biases.
        batch_first: whether input and output are (n, t, ...). The states are not affected.
        dropout: the probability with which entries between layers are dropped in training.
        bidirectional: whether each layer also runs from the end to the beginning, with parameters of its own, giving
            the second half of its output's last dim, and every second state.
        proj_size: LSTM only: if not 0, h goes through a matrix (proj_size, hidden_size), weight_hr_l0 and so on.
        device: where the parameters live.
        dtype: their dtype; the default one (float32) if None.

    Raises TypeError or ValueError for arguments of a wrong kind. Called, ValueError if the input has another number of
    dims or another dtype than the parameters, RuntimeError if sizes, or the dtype of the states, do not fit.
    """

    _mode: ClassVar[str]
    mode: str
    input_size: int
    hidden_size: int
    num_layers: int
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    proj_size: int

    def __init__(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0,
        device: DeviceLike = None, dtype: DType = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if mode not in GATES:
            raise ValueError(f"Unrecognized RNN mode: {mode}; expected one of {', '.join(GATES)}")
        if isinstance(dropout, bool) or not isinstance(dropout, numbers.Real) or not 0 <= dropout <= 1:
            raise ValueError("dropout should be a number in range [0, 1] representing the probability of an element "
                             f"being zeroed, but got {dropout!r}")  # fmt: skip
        if dropout > 0 and num_layers == 1:
            warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                f"num_layers greater than 1, but got dropout={dropout} and num_layers={num_layers}"
            )
        for name, value, wanted in (("bias", bias, bool), ("batch_first", batch_first, bool),
                                    ("input_size", input_size, int), ("hidden_size", hidden_size, int)):  # fmt: skip
            if not isinstance(value, wanted):
                raise TypeError(f"{name} should be of type {wanted.__name__}, got: {type(value).__name__}")
        check_whole(self, num_layers=num_layers, proj_size=proj_size)
        for name, size in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
            if size <= 0:
                raise ValueError(f"{name} must be greater than zero, but got {size}")
        if proj_size < 0:
            raise ValueError(f"proj_size should be a positive integer or zero to disable projections, got {proj_size}")
        if proj_size >= hidden_size:
            raise ValueError(f"proj_size has to be smaller than hidden_size, but got {proj_size} and {hidden_size}")
        if proj_size and mode != "LSTM":
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._allocate(device, dtype)

    def _places(self) -> list[str]:
        """What the names of the parameters of each layer and direction end in."""
        ends = ("", "_reverse") if self.bidirectional else ("",)
        return [f"_l{k}{end}" for k in range(self.num_layers) for end in ends]

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        rows, out = GATES[self.mode] * self.hidden_size, self.proj_size or self.hidden_size
        places = self._places()
        found: dict[str, tuple[int, ...]] = {}
        directions = len(places) // self.num_layers
        for k, place in enumerate(places):
            found[f"weight_ih{place}"] = (rows, self.input_size if k < directions else out * directions)
            found[f"weight_hh{place}"] = (rows, out)
            if self.bias:
                found |= {f"bias_ih{place}": (rows,), f"bias_hh{place}": (rows,)}
            if self.proj_size:
                found[f"weight_hr{place}"] = (self.proj_size, self.hidden_size)
        return found

    def reset_parameters(self) -> None:
        """Draw all anew."""
        self._draw_within(self.hidden_size)

    def flatten_parameters(self) -> None:
        """Nothing: there is no library that wants the parameters side by side in memory."""

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters of each layer and direction."""
        return [[w for w in self._weights(place) if w is not None] for place in self._places()]

    def _weights(self, place: str) -> list[Any]:
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
        return [getattr(self, f"{name}{place}", None) for name in names]

    def extra_repr(self) -> str:
        shown = [str(self.input_size), str(self.hidden_size)]
        usual = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0,
                 "bidirectional": False}  # fmt: skip
        return ", ".join(shown + [f"{n}={getattr(self, n)}" for n, value in usual.items() if getattr(self, n) != value])

    def forward(self, input: Tensor | PackedSequence, hx: Tensor | Sequence[Tensor] | None = None) -> tuple[Any, Any]:
        """The output, a `PackedSequence` if the input is one, and the last states; both as told in the module."""
        packed = isinstance(input, PackedSequence)
        parts: Any = input if packed else (input, None, None, None)
        data, lengths, order, back = parts
        if not packed and data.dim() not in (2, 3):
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {data.dim()}D tensor instead: "
                             f"shape {tuple(data.shape)}")  # fmt: skip
        given = self._given(hx)
        single = not packed and data.dim() == 2
        given = given if packed else self._with_batch(given, single)
        x = data.unsqueeze(1) if single else data.transpose(0, 1) if self.batch_first and not packed else data
        sizes = None if lengths is None else lengths.tolist()
        states = self._first(x, x.size(1) if sizes is None else sizes[0], given)
        if order is not None:
            states = tuple(s.index_select(1, order) for s in states)
        output, states = self._run(x, sizes, states)
        if back is not None:
            states = tuple(s.index_select(1, back) for s in states)
        if single:
            output, states = output.squeeze(1), tuple(s.squeeze(1) for s in states)
        elif packed:
            output = PackedSequence(output, lengths, order, back)
        elif self.batch_first:
            output = output.transpose(0, 1)
        return output, states if self.mode == "LSTM" else states[0]

    def _given(self, hx: Any) -> tuple[Any, ...] | None:
        """The given states: two for an LSTM, or one."""
        if hx is None:
            return None
        if self.mode != "LSTM":
            return (tensor_arg(type(self).__name__, hx, "hx", 2),)
        if len(hx) != 2:
            raise RuntimeError(f"lstm expects two hidden states, (h_0, c_0), but got {len(hx)}")
        return tuple(hx)

    def _with_batch(self, given: Any, single: bool) -> Any:
        """The given states, which must have as many dims as the input, with a batch."""
        wanted, batched = (2, "unbatched") if single else (3, "batched")
        dims = [s.dim() for s in given or () if s.dim() != wanted]
        if dims:
            what = "hx and cx" if self.mode == "LSTM" else "hx"
            raise RuntimeError(f"For {batched} {wanted}-D input, {what} should also be {wanted}-D but got {dims[0]}-D "
                               f"tensor{'s' * (self.mode == 'LSTM')}")  # fmt: skip
        return tuple(s.unsqueeze(1) for s in given) if given is not None and single else given

    def _first(self, x: Any, batch: int, given: Any) -> tuple[Any, ...]:
        """The first states, (layers directions, n, size) each; errors if they or the input do not fit."""
        dtype = self.weight_ih_l0.dtype
        if x.dtype != dtype:
            raise ValueError(f"RNN input dtype ({x.dtype}) does not match weight dtype ({dtype}). "
                             f"{dtypes.remedy(x.dtype, dtype)}")  # fmt: skip
        if x.size(-1) != self.input_size:
            raise RuntimeError(f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got "
                               f"{x.size(-1)}")  # fmt: skip
        if not x.size(0):
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        n = len(self._places())
        shapes = [(n, batch, self.proj_size or self.hidden_size)]
        if self.mode == "LSTM":
            shapes.append((n, batch, self.hidden_size))
        if given is None:
            return tuple(x.new_zeros(shape) for shape in shapes)
        for i, (s, shape) in enumerate(zip(given, shapes, strict=True)):
            if tuple(s.shape) != shape:
                which = f"hidden[{i}]" if self.mode == "LSTM" else "hidden"
                raise RuntimeError(f"Expected {which} size {shape}, got {list(s.shape)}")
            if s.dtype != dtype:
                raise RuntimeError("Input and hidden tensors are not the same dtype, found input tensor with "
                                   f"{dtype} and hidden tensor with {s.dtype}: convert it, .to({dtype})")  # fmt: skip
        return tuple(given)

    def _run(self, x: Any, sizes: list[int] | None, first: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
        """All layers over x, (t, n, in) or packed."""
        places = self._places()
        weights = [self._weights(place) for place in places]
        chance = self.dropout if self.training else 0.0
        return network(self.mode, x, sizes, first, weights, len(places) // self.num_layers, chance)


class RNN(RNNBase):
    """Layers of `RNNCell` over time: h_t = tanh(W_ih x_t + b_ih + W_hh h_(t-1) + b_hh), or with the rectifier.

    The arguments are those of `RNNBase`, with ``nonlinearity``, "tanh" or "relu" (ValueError for another), behind
    ``num_layers``.

    >>> output, h = RNN(3, 4, num_layers=2)(gw.ones(5, 2, 3))
    >>> output.shape, h.shape
    (torch.Size([5, 2, 4]), torch.Size([2, 2, 4]))
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh", bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0,
        device: DeviceLike = None, dtype: DType = None,
    ) -> None:  # fmt: skip
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", input_size, hidden_size, num_layers, bias, batch_first, dropout,
                         bidirectional, proj_size, device, dtype)  # fmt: skip
        self.nonlinearity = nonlinearity

    if TYPE_CHECKING:

        def forward(self, input: Steps, hx: Tensor | None = None) -> tuple[Steps, Tensor]: ...  # type: ignore[override]

        __call__ = forward  # type: ignore[assignment]


class _OfMode(RNNBase):
    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0, device: DeviceLike = None,
        dtype: DType = None,
    ) -> None:  # fmt: skip
        super().__init__(self._mode, input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
                         proj_size, device, dtype)  # fmt: skip


class LSTM(_OfMode):
    """Layers of `LSTMCell` over time. The states are pairs (h, c); with ``proj_size`` h has that last size.

    The arguments are those of `RNNBase`.

    >>> output, (h, c) = LSTM(3, 4, batch_first=True, bidirectional=True)(gw.ones(2, 5, 3))
    >>> output.shape, h.shape, c.shape
    (torch.Size([2, 5, 8]), torch.Size([2, 2, 4]), torch.Size([2, 2, 4]))
    """

    _mode = "LSTM"

    if TYPE_CHECKING:

        def forward(self, input: Steps, hx: Sequence[Tensor] | None = None) -> tuple[Steps, tuple[Tensor, Tensor]]: ...  # type: ignore[override]

        __call__ = forward  # type: ignore[assignment]


class GRU(_OfMode):
    """Layers of `GRUCell` over time. The arguments are those of `RNNBase`.

    >>> output, h = GRU(3, 4)(gw.ones(5, 3))
    >>> output.shape, h.shape
    (torch.Size([5, 4]), torch.Size([1, 4]))
    """

    _mode = "GRU"

    if TYPE_CHECKING:

        def forward(self, input: Steps, hx: Tensor | None = None) -> tuple[Steps, Tensor]: ...  # type: ignore[override]

        __call__ = forward  # type: ignore[assignment]


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

    >>> GRUCell(3, 4)(gw.ones(3)).shape
    torch.Size([4])
    """

    mode = "GRU"

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state of ``hx``."""
        return self._step(input, None if hx is None else (hx,))[0]
