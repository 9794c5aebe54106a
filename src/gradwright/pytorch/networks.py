"""Layers as functions at PyTorch's top: recurrent networks, and bags of rows, of weights that are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwright.base.dtypes import int64
from gradwright.face.creation import zeros
from gradwright.face.reading.keywords import unexpected
from gradwright.nn.functional.recurrent import network
from gradwright.nn.functional.sparse import bounded
from gradwright.nn.functional.sparse import embedding_bag as _bags

__all__ = ["embedding_bag", "embedding_renorm_", "gru", "lstm", "rnn_relu", "rnn_tanh"]

_NAMES = "hx", "params", "has_biases", "num_layers", "dropout", "train", "bidirectional"


def _network(name: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        packed = "batch_sizes" in kwargs or (len(args) > 3 and isinstance(args[3], (list, tuple)))
        names = ("data", "batch_sizes", *_NAMES) if packed else ("input", *_NAMES, "batch_first")
        if len(args) > len(names):
            raise TypeError(f"{name}(): takes {', '.join(names)}, but got {len(args)} arguments")
        given = dict(zip(names, args, strict=False))
        if not kwargs.keys() <= {*names} - given.keys():
            raise unexpected(name, kwargs, [n for n in names if n not in given])
        given |= kwargs
        if absent := [n for n in names if n not in given]:
            raise TypeError(f"{name}(): missing {', '.join(absent)}; it takes {', '.join(names)}")
        return _run(name, given, packed)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""The network of `nn.{name.partition("_")[0].upper()}` with the weights ``params``.

    ``{name}(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)``, or of a packed
    sequence ``{name}(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional)``.
    """
    return call


def _run(name: str, given: dict[str, Any], packed: bool) -> Any:
    x = given["data" if packed else "input"]
    turned = not packed and given["batch_first"]
    states = tuple(given["hx"]) if name == "lstm" else (given["hx"],)
    directions = 1 + bool(given["bidirectional"])
    places = given["num_layers"] * directions
    each, rest = divmod(len(given["params"]), places)
    least = 4 if given["has_biases"] else 2
    if rest or each not in (least, least + (name == "lstm")):
        raise RuntimeError(f"{name}(): expected {least} weights for each of {places} layers and directions, but got "
                           f"{len(given['params'])}")  # fmt: skip
    weights = [_five(given["params"][k : k + each], least) for k in range(0, len(given["params"]), each)]
    sizes = given["batch_sizes"].tolist() if packed else None
    dropout = given["dropout"] if given["train"] else 0.0
    x = x.transpose(0, 1) if turned else x
    output, last = network(name.upper(), x, sizes, states, weights, directions, dropout)
    return (output.transpose(0, 1) if turned else output, *last)


def _five(weights: Any, least: int) -> list[Any]:
    """Weights of a layer, its biases (None if there are none), and its projection (or None)."""
    biases = weights[2:4] if least == 4 else (None, None)
    return [*weights[:2], *biases, weights[least] if len(weights) > least else None]


gru, lstm, rnn_tanh, rnn_relu = map(_network, ("gru", "lstm", "rnn_tanh", "rnn_relu"))


def embedding_bag(weight: Any, indices: Any, offsets: Any, scale_grad_by_freq: bool = False, mode: int = 0,
                  sparse: bool = False, per_sample_weights: Any = None, include_last_offset: bool = False,
                  padding_idx: int | None = None) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    """`nn.functional.embedding_bag`, ``mode`` 0 for the sum, 1 the mean, 2 the maximum; first of four results.

    The others are for PyTorch's backward, and empty here.
    """
    out = _bags(indices, weight, offsets, None, 2.0, scale_grad_by_freq, ("sum", "mean", "max")[mode], sparse,
                per_sample_weights, include_last_offset, padding_idx)  # fmt: skip
    return out, zeros(0, dtype=int64), zeros(0, dtype=int64), zeros(0, dtype=int64)


def embedding_renorm_(weight: Any, indices: Any, max_norm: float, norm_type: float) -> Any:
    """Scale down, in place, those rows at ``indices`` that are longer than ``max_norm``."""
    bounded(indices, weight, max_norm, norm_type)
    return weight
