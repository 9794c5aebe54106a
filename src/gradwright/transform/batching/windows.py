"""Where the batch goes in convolutions."""

from __future__ import annotations

from typing import Any

from gradwright.transform.batching.rules import Call, first, of_none, rule


@rule("conv", "biased_conv")
def _conv(call: Call) -> Any:
    """The batch goes into the images if the weight is the same for all, else into the groups."""
    (x, *rest), (a, *own), size = call.xs, call.which, call.size
    if not size:
        return of_none(call)
    if not any(own):
        return _of_more_images(call)
    weights = [_into(0, first(w, b, size)) for w, b in zip(rest, own, strict=True)]
    if not a and call.static["groups"] == 1:  # all weights see one image
        out = call.of([x, *weights])
    else:
        out = call.of([_into(1, first(x, a, size)), *weights], groups=size * call.static["groups"])
    return _out_of(1, out, size)


@rule("conv_transpose")
def _conv_transpose(call: Call) -> Any:
    """As the convolution of which it is the adjoint."""
    if not call.size:
        return of_none(call)
    if not call.which[1]:
        return _of_more_images(call)
    x, weight = call.all_first()
    return _out_of(1, call.of([_into(1, x), _into(0, weight)], groups=call.size * call.static["groups"]), call.size)


@rule("conv_weight")
def _conv_weight(call: Call) -> Any:
    """The batch goes into the groups."""
    if not call.size:
        return of_none(call)
    x, y = (_into(1, x) for x in call.all_first())
    return _out_of(0, call.of([x, y], groups=call.size * call.static["groups"]), call.size)


def _of_more_images(call: Call) -> Any:
    x, *rest = call.xs
    return _out_of(0, call.of([_into(0, x), *rest]), call.size)


def _into(dim: int, x: Any) -> Any:
    """The batch, the first dim, joined with dim ``dim`` of each example."""
    if dim:
        x = x.transpose(0, 1)
    shape = x.array.shape
    return x.reshape(*shape[:dim], shape[dim] * shape[dim + 1], *shape[dim + 2 :])


def _out_of(dim: int, x: Any, size: int) -> Any:
    """The batch out of that dim again, as the first one."""
    shape = x.array.shape
    x = x.reshape(*shape[:dim], size, shape[dim] // size, *shape[dim + 1 :])
    return x.transpose(0, 1) if dim else x
