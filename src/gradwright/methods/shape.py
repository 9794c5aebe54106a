"""Methods that rearrange, view, join and split."""

from __future__ import annotations

from gradwright.face import shape as s


class Shapes:
    """Methods that rearrange, view, join and split."""

    __slots__ = ()

    reshape, view, view_as, reshape_as = s.reshape, s.view, s.view_as, s.reshape_as
    permute, transpose, swapaxes, movedim, t = s.permute, s.transpose, s.swapaxes, s.movedim, s.t
    expand, expand_as, broadcast_to, sum_to_size = s.expand, s.expand_as, s.broadcast_to, s.sum_to_size
    squeeze, unsqueeze, flatten, ravel, unflatten = (
        s.squeeze, s.unsqueeze, s.flatten, s.ravel, s.unflatten,
    )  # fmt: skip
    split, chunk, unbind, narrow, select = s.split, s.chunk, s.unbind, s.narrow, s.select
    flip, roll, tril, triu, diag, diagonal = s.flip, s.roll, s.tril, s.triu, s.diag, s.diagonal
    clone = s.clone
