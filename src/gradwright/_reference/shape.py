"""Shapes: rearranging, joining, cutting, repeating."""

TEXTS = {
    "reshape": """\
Called with a tuple or with the sizes one by one. Raises RuntimeError for a shape with another number of entries.
>>> gw.reshape(gw.arange(6), (2, -1))
tensor([[0, 1, 2],
        [3, 4, 5]])
>>> gw.arange(6).reshape(3, 2).shape
torch.Size([3, 2])
""",
    "permute": """\
Called with a list or with the dims one by one. Raises RuntimeError unless each dim is named once.
>>> gw.permute(gw.ones(2, 3, 4), (2, 0, 1)).shape
torch.Size([4, 2, 3])
""",
    "transpose": """\
A 0-d tensor stays as it is. Raises IndexError for a dim that there is not. Also `swapaxes`, `swapdims`.
>>> gw.transpose(gw.tensor([[1, 2], [3, 4]]), 0, 1)
tensor([[1, 3],
        [2, 4]])
""",
    "swapaxes": """\
>>> gw.swapaxes(gw.ones(2, 3, 4), 0, 2).shape
torch.Size([4, 3, 2])
""",
    "swapdims": """\
>>> gw.swapdims(gw.ones(2, 3, 4), 0, 2).shape
torch.Size([4, 3, 2])
""",
    "adjoint": """\
Shape: (*, m, n) to (*, n, m). A view of real matrices. Raises RuntimeError for a vector.
>>> gw.adjoint(gw.tensor([[1 + 2j, 3j]]))
tensor([[1.-2.j],
        [0.-3.j]])
""",
    "t": """\
Shape: (m, n) to (n, m), as a view.
>>> gw.t(gw.tensor([[1, 2], [3, 4]]))
tensor([[1, 3],
        [2, 4]])
""",
    "movedim": """\
Args:
    input: a tensor.
    source: one dim, or several.
    destination: where each of them goes.

Raises RuntimeError if they are not as many, or one is named twice. Also `moveaxis`.
>>> gw.movedim(gw.ones(2, 3, 4), 0, -1).shape
torch.Size([3, 4, 2])
""",
    "broadcast_to": """\
What is repeated shares memory; its gradients are summed. Raises RuntimeError where a dim has another length than 1.
>>> gw.broadcast_to(gw.tensor([1, 2]), (3, 2))
tensor([[1, 2],
        [1, 2],
        [1, 2]])
""",
    "broadcast_shapes": """\
>>> gw.broadcast_shapes((2, 1), (3,), 1)
torch.Size([2, 3])
""",
    "broadcast_tensors": """\
Raises RuntimeError if there is no common shape.
>>> x, y = gw.broadcast_tensors(gw.ones(2, 1), gw.ones(3))
>>> x.shape, y.shape
(torch.Size([2, 3]), torch.Size([2, 3]))
""",
    "squeeze": """\
Args:
    input: a tensor.
    dim: one dim, several, or None for all; also called ``axis``. One of another length than 1 stays.

Raises IndexError for a dim that there is not, RuntimeError for one that is named twice.
>>> gw.squeeze(gw.ones(1, 2, 1)).shape, gw.squeeze(gw.ones(1, 2, 1), 0).shape
(torch.Size([2]), torch.Size([2, 1]))
""",
    "unsqueeze": """\
Args:
    input: a tensor.
    dim: from -input.ndim - 1 to input.ndim; also called ``axis``.
>>> gw.unsqueeze(gw.tensor([1, 2]), 0).shape, gw.unsqueeze(gw.tensor([1, 2]), -1).shape
(torch.Size([1, 2]), torch.Size([2, 1]))
""",
    "flatten": """\
A view where memory allows it, else a copy; a 0-d tensor becomes a vector. Raises RuntimeError if ``start_dim`` comes
after ``end_dim``.
>>> gw.flatten(gw.ones(2, 3, 4)).shape, gw.flatten(gw.ones(2, 3, 4), 1).shape
(torch.Size([24]), torch.Size([2, 12]))
""",
    "ravel": """\
A view where memory allows it, else a copy.
>>> gw.ravel(gw.tensor([[1, 2], [3, 4]]))
tensor([1, 2, 3, 4])
""",
    "unflatten": """\
Args:
    input: a tensor.
    dim: the dim to be split.
    sizes: what it is split into; one may be -1.

Raises RuntimeError unless the product of ``sizes`` is the length of the dim.
>>> gw.unflatten(gw.ones(2, 12), 1, (3, -1)).shape
torch.Size([2, 3, 4])
""",
    "clone": """\
>>> x = gw.tensor([1.0, 2.0], requires_grad=True)
>>> gw.clone(x)
tensor([1., 2.], grad_fn=<CloneBackward0>)
""",
    "detach": """\
What is written to one is written to the other.
>>> x = gw.tensor([1.0], requires_grad=True)
>>> gw.detach(x).requires_grad
False
""",
    "cat": """\
Args:
    tensors: tensors with as many dims; their other sizes must agree.
    dim: along which dim; also called ``axis``.

Dtypes: converted to the common one (`result_type`).

Raises RuntimeError for sizes that do not agree and for 0-d tensors, ValueError for an empty list. Also `concat`,
`concatenate`.
>>> gw.cat([gw.ones(1, 2), gw.zeros(2, 2)])
tensor([[1., 1.],
        [0., 0.],
        [0., 0.]])
>>> gw.cat([gw.ones(2, 1), gw.zeros(2, 2)], dim=1)
tensor([[1., 0., 0.],
        [1., 0., 0.]])
""",
    "stack": """\
Args:
    tensors: tensors of one shape.
    dim: where the new dim stands in the result; also called ``axis``.

Dtypes: converted to the common one (`result_type`). Raises RuntimeError for two shapes and for an empty list.
>>> gw.stack([gw.tensor([1, 2]), gw.tensor([3, 4])])
tensor([[1, 2],
        [3, 4]])
>>> gw.stack([gw.tensor([1, 2]), gw.tensor([3, 4])], dim=1)
tensor([[1, 3],
        [2, 4]])
""",
    "hstack": """\
Raises RuntimeError for sizes that do not fit, and for an empty list.
>>> gw.hstack([gw.tensor([1, 2]), gw.tensor([3])])
tensor([1, 2, 3])
>>> gw.hstack([gw.tensor([[1], [2]]), gw.tensor([[3], [4]])])
tensor([[1, 3],
        [2, 4]])
""",
    "vstack": """\
Also `row_stack`. Raises RuntimeError for sizes that do not fit, and for an empty list.
>>> gw.vstack([gw.tensor([1, 2]), gw.tensor([[3, 4], [5, 6]])])
tensor([[1, 2],
        [3, 4],
        [5, 6]])
""",
    "dstack": """\
Raises RuntimeError for sizes that do not fit, and for an empty list.
>>> gw.dstack([gw.tensor([1, 2]), gw.tensor([3, 4])])
tensor([[[1, 3],
         [2, 4]]])
""",
    "column_stack": """\
Raises RuntimeError for sizes that do not fit, and for an empty list.
>>> gw.column_stack([gw.tensor([1, 2]), gw.tensor([3, 4])])
tensor([[1, 3],
        [2, 4]])
""",
    "block_diag": """\
Dtypes: converted to the common one (`result_type`). Raises RuntimeError for more than two dims, and for no tensor.
>>> gw.block_diag(gw.tensor([[1, 2]]), gw.tensor([[3], [4]]))
tensor([[1, 2, 0],
        [0, 0, 3],
        [0, 0, 4]])
""",
    "meshgrid": """\
Args:
    tensors: vectors, or numbers in 0-d tensors, of one dtype; one by one or in a list.
    indexing: "ij" or "xy"; without it a warning, as in PyTorch, and "ij".

Shape: (n, m, ...) for vectors of lengths n, m, ..., as views; with "xy" (m, n, ...).

Raises RuntimeError for more dims, and for two dtypes.
>>> rows, columns = gw.meshgrid(gw.tensor([1, 2]), gw.tensor([3, 4, 5]), indexing="ij")
>>> rows
tensor([[1, 1, 1],
        [2, 2, 2]])
>>> columns
tensor([[3, 4, 5],
        [3, 4, 5]])
""",
    "split": """\
Args:
    tensor: a tensor of at least one dim.
    split_size_or_sections: the size of each piece, or a list of sizes that sum to the length of ``dim``.
    dim: along which dim.
    split_size: another name for ``split_size_or_sections``.

The pieces cannot be written in place where gradients are recorded: `tensor_split` gives views that can.

Raises RuntimeError for a negative size, and for sizes of another sum.
>>> gw.split(gw.arange(5), 2)
(tensor([0, 1]), tensor([2, 3]), tensor([4]))
>>> gw.split(gw.arange(5), [1, 4])
(tensor([0]), tensor([1, 2, 3, 4]))
""",
    "split_with_sizes": """\
Raises RuntimeError unless the sizes sum to the length of ``dim``.
>>> gw.split_with_sizes(gw.arange(5), [1, 4])
(tensor([0]), tensor([1, 2, 3, 4]))
""",
    "tensor_split": """\
Args:
    input: a tensor of at least one dim.
    indices_or_sections: a number of pieces, of which the first may have one entry more, or a list of indices.
    dim: along which dim.
    indices: another name for a list.
    sections: another name for a number.
    tensor_indices_or_sections: another name for either in a tensor of int64.

Raises RuntimeError for a number below 1, and for a 0-d ``input``.
>>> gw.tensor_split(gw.arange(5), 2)
(tensor([0, 1, 2]), tensor([3, 4]))
>>> gw.tensor_split(gw.arange(5), [1, 3])
(tensor([0]), tensor([1, 2]), tensor([3, 4]))
""",
    "hsplit": """\
Raises RuntimeError for a 0-d tensor, and for a number of pieces that does not divide the length.
>>> gw.hsplit(gw.tensor([[1, 2], [3, 4]]), 2)
(tensor([[1],
        [3]]), tensor([[2],
        [4]]))
""",
    "vsplit": """\
Raises RuntimeError for fewer than two dims, and for a number of pieces that does not divide the length.
>>> gw.vsplit(gw.tensor([[1, 2], [3, 4]]), 2)
(tensor([[1, 2]]), tensor([[3, 4]]))
""",
    "dsplit": """\
Raises RuntimeError for fewer than three dims, and for a number of pieces that does not divide the length.
>>> [x.shape for x in gw.dsplit(gw.ones(1, 2, 4), 2)]
[torch.Size([1, 2, 2]), torch.Size([1, 2, 2])]
""",
    "chunk": """\
Fewer, if that many pieces of equal size are too many.

Raises RuntimeError for a number below 1, and for a 0-d ``input``.
>>> gw.chunk(gw.arange(5), 3)
(tensor([0, 1]), tensor([2, 3]), tensor([4]))
>>> len(gw.chunk(gw.arange(6), 4))
3
""",
    "unbind": """\
``dim`` is also called ``axis``. Raises IndexError for a 0-d ``input``.
>>> gw.unbind(gw.tensor([[1, 2], [3, 4]]))
(tensor([1, 2]), tensor([3, 4]))
""",
    "unsafe_split": """\
>>> gw.unsafe_split(gw.arange(3), 2)
(tensor([0, 1]), tensor([2]))
""",
    "unsafe_chunk": """\
>>> gw.unsafe_chunk(gw.arange(3), 2)
(tensor([0, 1]), tensor([2]))
""",
    "unsafe_split_with_sizes": """\
>>> gw.unsafe_split_with_sizes(gw.arange(3), [1, 2])
(tensor([0]), tensor([1, 2]))
""",
    "flip": """\
Called with a list or with the dims one by one.
>>> gw.flip(gw.tensor([[1, 2], [3, 4]]), (0,))
tensor([[3, 4],
        [1, 2]])
""",
    "fliplr": """\
Raises RuntimeError for fewer than two dims.
>>> gw.fliplr(gw.tensor([[1, 2], [3, 4]]))
tensor([[2, 1],
        [4, 3]])
""",
    "flipud": """\
Raises RuntimeError for a 0-d tensor.
>>> gw.flipud(gw.tensor([[1, 2], [3, 4]]))
tensor([[3, 4],
        [1, 2]])
""",
    "roll": """\
Raises RuntimeError if ``shifts`` and ``dims`` are not as many.
>>> gw.roll(gw.tensor([1, 2, 3]), 1)
tensor([3, 1, 2])
>>> gw.roll(gw.tensor([[1, 2], [3, 4]]), 1, 0)
tensor([[3, 4],
        [1, 2]])
""",
    "rot90": """\
Raises RuntimeError unless two different dims are named, and for fewer than two dims.
>>> gw.rot90(gw.tensor([[1, 2], [3, 4]]))
tensor([[2, 4],
        [1, 3]])
""",
    "tile": """\
Called with a list or with the numbers one by one.
>>> gw.tile(gw.tensor([1, 2]), (2, 2))
tensor([[1, 2, 1, 2],
        [1, 2, 1, 2]])
""",
    "repeat_interleave": """\
Args:
    input: a tensor.
    repeats: a number, or a tensor of whole numbers, one for each slice.
    dim: along which dim; None for the flattened tensor.
    output_size: the length of the result; RuntimeError if it is another.

Raises RuntimeError for negative ``repeats``, and for a wrong number of them.
>>> gw.repeat_interleave(gw.tensor([1, 2]), 2)
tensor([1, 1, 2, 2])
>>> gw.repeat_interleave(gw.tensor([[1, 2], [3, 4]]), gw.tensor([1, 2]), dim=0)
tensor([[1, 2],
        [3, 4],
        [3, 4]])
>>> gw.repeat_interleave(gw.tensor([1, 0, 2]))
tensor([0, 2, 2])
""",
    "atleast_1d": """\
Of several tensors, or a list of them, a tuple.
>>> gw.atleast_1d(gw.tensor(1.0))
tensor([1.])
""",
    "atleast_2d": """\
Of several tensors, or a list of them, a tuple. A vector becomes a row.
>>> gw.atleast_2d(gw.tensor([1, 2]))
tensor([[1, 2]])
""",
    "atleast_3d": """\
Of several tensors, or a list of them, a tuple. A matrix (m, n) becomes (m, n, 1), a vector (1, n, 1).
>>> gw.atleast_3d(gw.ones(2, 3)).shape, gw.atleast_3d(gw.ones(2)).shape
(torch.Size([2, 3, 1]), torch.Size([1, 2, 1]))
""",
    "constant_pad_nd": """\
Raises RuntimeError for an odd number of pads, more than two for each dim, and a size that would be negative.
>>> gw.constant_pad_nd(gw.tensor([[1, 2]]), (1, 0, 0, 1))
tensor([[0, 1, 2],
        [0, 0, 0]])
""",
}
