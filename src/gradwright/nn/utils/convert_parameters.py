"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

from gradwright.base.errors import kind
from gradwright.face.functions.join import cat
from gradwright.face.tensor import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The elements of all parameters, one after another, as a tensor of one dim. Differentiable.

    >>> from gradwright import nn
    >>> parameters_to_vector(nn.Linear(2, 3).parameters()).shape
    torch.Size([9])
    """
    return cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Give each parameter its part of ``vec``, whose memory it then shares: the reverse of `parameters_to_vector`.

    Raises TypeError if ``vec`` is no tensor, RuntimeError if it has more or fewer elements than the parameters.

    >>> layer = gw.nn.Linear(2, 1)
    >>> gw.nn.utils.vector_to_parameters(gw.tensor([1.0, 2.0, 3.0]), layer.parameters())
    >>> layer.bias
    Parameter containing:
    tensor([3.], requires_grad=True)
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {kind(vec)}")
    held = list(parameters)
    total = sum(p.numel() for p in held)
    if vec.dim() != 1 or vec.numel() != total:
        raise RuntimeError(f"vector_to_parameters: expected a vector of {total} elements, as the parameters have, got "
                           f"shape {tuple(vec.shape)}")  # fmt: skip
    start = 0
    for p in held:
        p.data = vec[start : start + p.numel()].view(p.shape).data
        start += p.numel()
