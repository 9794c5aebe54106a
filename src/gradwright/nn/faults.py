"""Which layer an exception comes from: the note that a failing call of a module adds to what is raised.

>>> from gradwright import nn, ones
>>> net = nn.Sequential(nn.Linear(8, 4), nn.Sequential(nn.ReLU(), nn.Linear(3, 2)))
>>> net(ones(1, 8))
Traceback (most recent call last):
...
RuntimeError: linear(): mat1 and mat2 shapes cannot be multiplied (...)
in Sequential.1.1: Linear(in_features=3, out_features=2, bias=True) was given float32 (1, 4); it takes (..., 3)
"""

from __future__ import annotations

from typing import Any

from gradwright.base.errors import kind
from gradwright.face.tensor import Tensor

FAULTS = (RuntimeError, TypeError, ValueError, LookupError, ArithmeticError, AssertionError, AttributeError)
"""What a wrong argument makes a layer raise."""

_TAKES = {
    "in_features": "(..., {})", "input_size": "(..., {})", "embed_dim": "(..., {})", "d_model": "(..., {})",
    "in_channels": "(N, {}, ...)", "num_channels": "(N, {}, ...)", "num_features": "(N, {}, ...)",
}  # fmt: skip
"""The shape that a layer takes, by the name under which it keeps the size in question."""


class _Note(str):
    """The note on an exception: where it was raised, as far as the calls that it went through know.

    Attributes:
        top: the outermost of them.
        path: that of the innermost, from there.
        layer: what is said of the innermost.
    """

    __slots__ = ("layer", "path", "top")
    top: Any
    path: str
    layer: str

    @classmethod
    def of(cls, top: Any, path: str, layer: str) -> _Note:
        note = cls(f"in {type(top).__name__}.{path}: {layer}" if path else layer)
        note.top, note.path, note.layer = top, path, layer
        return note


def blame(error: BaseException, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Note on ``error``, which a call of ``module`` raised, the innermost module, and its path from this one."""
    notes = getattr(error, "__notes__", [])
    for k, note in enumerate(notes):
        if isinstance(note, _Note):
            if note.top is not module:
                notes[k] = _Note.of(module, ".".join(filter(None, (path_to(note.top, module), note.path))), note.layer)
            return
    error.add_note(_Note.of(module, "", _said(module, args, kwargs)))


def path_to(module: Any, top: Any) -> str:
    """The path of ``module`` from ``top``; its class in angle brackets if it is not registered there."""
    paths = (path for path, found in top.named_modules() if found is module)
    return next(paths, f"<{type(module).__name__}>")


def _said(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    given = [*map(_described, args), *(f"{name}={_described(value)}" for name, value in kwargs.items())]
    takes = module._takes()
    text = f"{title(module)} was given {', '.join(given) or 'nothing'}" + (f"; it takes {takes}" if takes else "")
    own = next((p.dtype for p in module.parameters(recurse=False)), None)
    mixed = any(isinstance(a, Tensor) and a.is_floating_point() and a.dtype != own for a in args)
    return f"{text}; its parameters are {own.name}" if own is not None and mixed else text


def title(module: Any) -> str:
    """A module on one line, without its children."""
    try:
        extra = " ".join(module.extra_repr().split())
    except FAULTS:  # a layer that cannot even be printed must not hide what is wrong with it
        extra = "..."
    return f"{module._get_name()}({extra or ('...' if module._modules else '')})"


def takes(module: Any) -> str:
    """The shape that a module takes, if its attributes tell."""
    held = vars(module)
    return next((form.format(held[name]) for name, form in _TAKES.items() if isinstance(held.get(name), int)), "")


def _described(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"{value.dtype.name} {tuple(value.shape)}"
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__} of {', '.join(map(_described, value[:4]))}{', ...' if len(value) > 4 else ''}"
    return repr(value) if isinstance(value, (bool, int, float, str, type(None))) else kind(value)
