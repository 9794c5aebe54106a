"""Methods that rearrange, view, join and split."""

from __future__ import annotations

from gradwright.face import diagonal as d
from gradwright.face import join as j
from gradwright.face import rearrange as r
from gradwright.face import shape as s
from gradwright.face import views as v
from gradwright.face.forms import inplace


class Shapes:
    """Methods that rearrange, view, join and split."""

    __slots__ = ()

    T, mT, H, mH = map(property, (s.T, s.mT, s.H, s.mH))  # noqa: N815
    reshape, view, view_as, reshape_as = s.reshape, s.view, s.view_as, s.reshape_as
    permute, transpose, swapaxes, swapdims, t, adjoint = s.permute, s.transpose, s.swapaxes, s.swapdims, s.t, s.adjoint
    movedim, moveaxis, clone, contiguous = s.movedim, s.moveaxis, s.clone, v.contiguous
    expand, expand_as, broadcast_to, sum_to_size = s.expand, s.expand_as, s.broadcast_to, s.sum_to_size
    squeeze, unsqueeze, flatten, ravel, unflatten = s.squeeze, s.unsqueeze, s.flatten, s.ravel, s.unflatten
    squeeze_, unsqueeze_, transpose_, swapaxes_, swapdims_, t_ = (
        s.rearranging(f) for f in (s.squeeze, s.unsqueeze, s.transpose, s.swapaxes, s.swapdims, s.t)
    )
    split, split_with_sizes, tensor_split = j.split, j.split_with_sizes, j.tensor_split
    hsplit, vsplit, dsplit, chunk, unbind = j.hsplit, j.vsplit, j.dsplit, j.chunk, j.unbind
    unsafe_split, unsafe_split_with_sizes, unsafe_chunk = j.unsafe_split, j.unsafe_split_with_sizes, j.unsafe_chunk
    flip, fliplr, flipud, roll, rot90 = r.flip, r.fliplr, r.flipud, r.roll, r.rot90
    repeat, tile, repeat_interleave = r.repeat, r.tile, r.repeat_interleave
    tril, triu, diag, diagonal, diag_embed, diagflat, trace = (
        d.tril, d.triu, d.diag, d.diagonal, d.diag_embed, d.diagflat, d.trace,
    )  # fmt: skip
    tril_, triu_ = inplace(d.tril), inplace(d.triu)
    narrow, narrow_copy, select, unfold, as_strided, as_strided_, alias = (
        v.narrow, v.narrow_copy, v.select, v.unfold, v.as_strided, v.as_strided_, v.alias,
    )  # fmt: skip
    select_scatter, slice_scatter, diagonal_scatter, as_strided_scatter = (
        v.select_scatter, v.slice_scatter, v.diagonal_scatter, v.as_strided_scatter,
    )  # fmt: skip
    resize_, resize_as_, set_, storage_offset = v.resize_, v.resize_as_, v.set_, v.storage_offset
