"""Short-time Fourier transforms under PyTorch's names: a signal cut into frames, each windowed and transformed."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from gradwright.base import dtypes
from gradwright.face import xp
from gradwright.face.functions.complex import view_as_real
from gradwright.face.reading.require import require
from gradwright.face.reading.torch import tensor_arg
from gradwright.ops import fft as _fft

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor

__all__ = ["istft", "stft"]

_PADDING = ("reflect", "replicate", "circular")


def _lengths(name: str, n_fft: int, hop_length: int | None, win_length: int | None) -> tuple[int, int]:
    """The hop and the length of the window, by default a quarter of a frame and all of it."""
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    if hop <= 0:
        raise RuntimeError(f"{name}(n_fft={n_fft}, hop_length={hop}): expected hop_length > 0, but got {hop}")
    if not 0 < width <= n_fft:
        raise RuntimeError(f"{name}(n_fft={n_fft}): expected 0 < win_length <= n_fft, but got win_length={width}")
    return hop, width


def _window(name: str, window: Any, width: int, n_fft: int, like: Any) -> Any:
    """The window (ones if there is none) with zeros on both sides, as long as a frame."""
    if window is None:
        window = xp.ones_like(like, shape=(width,), dtype=dtypes.of(like.array.dtype).to_real())
    elif tensor_arg(name, window, "window").array.shape != (width,):
        raise RuntimeError(
            f"{name}(): expected a 1D window tensor of size equal to win_length={width}, but got window with size "
            f"{list(window.array.shape)}"
        )
    left = (n_fft - width) // 2
    ends = [xp.zeros_like(window, shape=(k,)) for k in (left, n_fft - width - left)]
    return window if width == n_fft else xp.concat([ends[0], window, ends[1]])


def _padded(x: Any, n: int, mode: str) -> Any:
    """Signals with ``n`` entries put before and after."""
    length = x.array.shape[-1]
    if mode == "constant":
        gap = xp.zeros_like(x, shape=(x.array.shape[0], n))
        return xp.concat([gap, x, gap], axis=1)
    if mode not in _PADDING:
        raise NotImplementedError(f"stft(): Unrecognised padding mode {mode}")
    if mode != "replicate" and n >= length + (mode == "circular"):
        raise RuntimeError(
            "Argument #4: Padding size should be less than the corresponding input dimension, but got: "
            f"padding ({n}, {n}) at dimension 2 of input {[1, *x.array.shape]}"
        )
    if mode == "reflect":
        ends = [xp.flip(part, axis=1) for part in (x[:, 1 : n + 1], x[:, length - 1 - n : length - 1])]
    elif mode == "replicate":
        ends = [xp.broadcast_to(part, (x.array.shape[0], n)) for part in (x[:, :1], x[:, length - 1 :])]
    else:
        ends = [x[:, length - n :], x[:, :n]]
    return xp.concat([ends[0], x, ends[1]], axis=1)


def _cut(x: Any, n_fft: int, hop: int) -> Any:
    """(batch, length) -> (batch, frames, n_fft): blocks of ``hop`` entries, put side by side."""
    batch, length = x.array.shape
    frames, steps = (length - n_fft) // hop + 1, -(-n_fft // hop)
    blocks = xp.reshape(_fitted(x, (frames + steps - 1) * hop), (batch, -1, hop))
    return xp.concat([blocks[:, j : j + frames] for j in range(steps)], axis=2)[:, :, :n_fft]


def _laid(pieces: Any, hop: int) -> Any:
    """The adjoint of `_cut`: frames laid over each other where they stood, and added up."""
    batch, frames, n_fft = pieces.array.shape
    steps = -(-n_fft // hop)
    pieces = xp.reshape(_fitted(pieces, steps * hop), (batch, frames, steps, hop))
    total: Any = 0
    for j in range(steps):
        ends = [xp.zeros_like(pieces, shape=(batch, k, hop)) for k in (j, steps - 1 - j)]
        total = total + xp.concat([ends[0], pieces[:, :, j], ends[1]], axis=1)
    return xp.reshape(total, (batch, -1))[:, : n_fft + hop * (frames - 1)]


def _fitted(x: Any, n: int) -> Any:
    """The last axis cut off, or filled up with zeros, to ``n`` entries."""
    return _fft.resized(xp, x, (n,), (x.array.ndim - 1,))


def stft(input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
         window: Tensor | None = None, center: bool = True, pad_mode: str = "reflect", normalized: bool = False,
         onesided: bool | None = None, return_complex: bool | None = None,
         align_to_window: bool | None = None) -> Tensor:  # fmt: skip
    """Short-time transform: X[f, t] = sum_k window[k] input[t hop + k] e**(-2 pi i f k / n_fft).

    ``input`` is (length,) or (batch, length); the result (..., frequencies, frames). With ``center``, frames are
    centred on their place, the signal being padded. ``normalized`` divides by sqrt(n_fft). ``onesided`` (the default
    for real signals) gives the n_fft // 2 + 1 frequencies from 0; with ``return_complex=False`` as pairs of reals.
    """
    x = tensor_arg("stft", input)
    complex_ = x.is_complex() or (window is not None and tensor_arg("stft", window, "window", 5).is_complex())
    if return_complex is None and not complex_:
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will further require that "
            "return_complex=True in a future PyTorch release."
        )
    if align_to_window is not None and center:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if dtypes.of(x.array.dtype).category < dtypes.FLOAT:
        raise RuntimeError(f"stft(): expected a tensor of floating point or complex values, but got {x.dtype}")
    if x.array.ndim not in (1, 2):
        raise RuntimeError(f"stft(): expected a 1D or 2D tensor, but got {x.array.ndim}D")
    single = x.array.ndim == 1
    x = x[None] if single else x
    x = _padded(x, n_fft // 2, pad_mode) if center else x
    if not 0 < n_fft <= x.array.shape[1]:
        raise RuntimeError(f"stft(n_fft={n_fft}): expected 0 < n_fft < {x.array.shape[1]}, but got n_fft={n_fft}")
    hop, width = _lengths("stft", n_fft, hop_length, win_length)
    if onesided and complex_:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    weights = _window("stft", window, width, n_fft, x)
    if align_to_window:
        skip = (n_fft - width) // 2
        x = xp.concat([xp.zeros_like(x, shape=(x.array.shape[0], skip)), x], axis=1) if skip else x
    frames = _cut(x, n_fft, hop) * weights
    formula = _fft.transform if complex_ or onesided is False else _fft.half_transform
    out = formula(xp, frames, (n_fft,), (2,), "ortho" if normalized else "backward", True).transpose(1, 2)
    out = out[0] if single else out
    return out if return_complex or (complex_ and return_complex is None) else view_as_real(out)


def istft(input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
          window: Tensor | None = None, center: bool = True, normalized: bool = False, onesided: bool | None = None,
          length: int | None = None, return_complex: bool = False) -> Tensor:  # fmt: skip
    """Inverse of `stft`: the frames transformed back, windowed, added up and divided by the sum of window**2.

    ``input`` is (..., frequencies, frames). The result has ``length`` entries, or those that all frames cover.
    RuntimeError where that sum is 0, so that the frames do not determine the signal.
    """
    x = tensor_arg("istft", input)
    if not x.is_complex():
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    if not x.array.size:
        raise RuntimeError("istft(): input tensor cannot be empty.")
    if x.array.ndim not in (2, 3):
        raise RuntimeError(f"istft(): expected a tensor with 2 or 3 dimensions, but got {x.array.ndim}")
    hop, width = _lengths("istft", n_fft, hop_length, win_length)
    if hop > width:
        raise RuntimeError(f"istft(): expected 0 < hop_length <= win_length, but got {hop} and {width}")
    single = x.array.ndim == 2
    x = x[None] if single else x
    batch, rows, frames = x.array.shape
    onesided = rows != n_fft if onesided is None else onesided
    if rows != (n_fft // 2 + 1 if onesided else n_fft):
        raise RuntimeError(
            "istft(): expected the frequency dimension (3rd to the last) of the input tensor to match n_fft "
            f"({n_fft}; onesided={onesided}), but got {rows}"
        )
    if onesided and return_complex:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if window is not None and window.is_complex() and not return_complex:
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    weights = _window("istft", window, width, n_fft, x)
    formula = _fft.real_transform if onesided else _fft.transform
    pieces = formula(xp, x.transpose(1, 2), (n_fft,), (2,), "ortho" if normalized else "backward", False)
    pieces = (pieces if return_complex or onesided else xp.real(pieces)) * weights
    signal = _laid(pieces, hop)
    squares = _laid(xp.broadcast_to(weights * weights, (1, frames, n_fft)), hop)
    whole = signal.array.shape[1]
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else whole - start
    signal, squares = signal[:, start:end], squares[:, start:end]
    sizes = xp.abs(squares)
    require((sizes > 1e-11).array, lambda: (
        f"istft(n_fft={n_fft}, hop_length={hop}): window overlap add min: {xp.min(sizes).item():g}, not above 0"
    ))  # fmt: skip
    out = signal / squares
    if end > whole:
        warnings.warn("The length of signal is shorter than the length parameter. Result is being padded with zeros in "
                      "the tail. Please check your center and hop_length settings.", stacklevel=2)  # fmt: skip
        out = xp.concat([out, xp.zeros_like(out, shape=(batch, end - whole))], axis=1)
    return out[0] if single else out
