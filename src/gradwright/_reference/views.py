"""Diagonals and triangles, views, written views, and views as copies."""

TEXTS = {
    "diag": """\
Args:
    input: a vector or a matrix.
    diagonal: which one: above the main one if positive, below it if negative.

Raises RuntimeError for other dims.
>>> gw.diag(gw.tensor([1, 2]))
tensor([[1, 0],
        [0, 2]])
>>> gw.diag(gw.tensor([[1, 2], [3, 4]]), 1)
tensor([2])
""",
    "diag_embed": """\
Shape: (*, n) to (*, n + abs(offset), n + abs(offset)), the last two at ``dim1`` and ``dim2``.

Raises RuntimeError for a 0-d tensor, and for one dim named twice.
>>> gw.diag_embed(gw.tensor([1, 2]), offset=1)
tensor([[0, 1, 0],
        [0, 0, 2],
        [0, 0, 0]])
""",
    "diagflat": """\
>>> gw.diagflat(gw.tensor([[1, 2]]))
tensor([[1, 0],
        [0, 2]])
""",
    "diagonal": """\
``offset`` is above the main one if positive, below it if negative. What is written to it is written to ``input``.

Raises RuntimeError for one dim named twice.
>>> gw.diagonal(gw.tensor([[1, 2], [3, 4]]))
tensor([1, 4])
""",
    "trace": """\
Integers are summed in int64. Raises RuntimeError unless ``input`` is a matrix.
>>> gw.trace(gw.tensor([[1.0, 2.0], [3.0, 4.0]]))
tensor(5.)
""",
    "tril": """\
Shape: (*, m, n), as that of the result. ``diagonal`` is above the main one if positive, below it if negative.

Raises RuntimeError for fewer than two dims.
>>> gw.tril(gw.tensor([[1, 2], [3, 4]]))
tensor([[1, 0],
        [3, 4]])
""",
    "triu": """\
Shape: (*, m, n), as that of the result. ``diagonal`` is above the main one if positive, below it if negative.

Raises RuntimeError for fewer than two dims.
>>> gw.triu(gw.tensor([[1, 2], [3, 4]]), 1)
tensor([[0, 2],
        [0, 0]])
""",
    "tril_indices": """\
Raises RuntimeError for a negative size.
>>> gw.tril_indices(2, 3)
tensor([[0, 1, 1],
        [0, 0, 1]])
""",
    "triu_indices": """\
Raises RuntimeError for a negative size.
>>> gw.triu_indices(2, 3)
tensor([[0, 0, 0, 1, 1],
        [0, 1, 2, 1, 2]])
""",
    "narrow": """\
Args:
    input: a tensor of at least one dim.
    dim: along which dim.
    start: the first, from the end if negative; a number or a 0-d tensor of integers.
    length: how many.

Raises IndexError for a ``start`` out of range, RuntimeError where the end is, and for a negative ``length``.
>>> gw.narrow(gw.arange(5), 0, 1, 3)
tensor([1, 2, 3])
""",
    "select": """\
Raises IndexError for an ``index`` out of range, and for a 0-d tensor.
>>> gw.select(gw.tensor([[1, 2], [3, 4]]), 0, 1)
tensor([3, 4])
""",
    "as_strided": """\
>>> gw.as_strided(gw.arange(6), (2, 2), (3, 1))
tensor([[0, 1],
        [3, 4]])
""",
    "as_strided_": """\
>>> gw.as_strided_(gw.arange(6), (2, 2), (3, 1))
tensor([[0, 1],
        [3, 4]])
""",
    "as_strided_scatter": """\
The arguments after ``src`` are those of `as_strided`. Raises RuntimeError if its shape is another.
>>> gw.as_strided_scatter(gw.zeros(4), gw.ones(2), (2,), (2,))
tensor([1., 0., 1., 0.])
""",
    "diagonal_scatter": """\
The arguments after ``src`` are those of `diagonal`. Raises RuntimeError if its shape is another.
>>> gw.diagonal_scatter(gw.zeros(2, 2), gw.ones(2))
tensor([[1., 0.],
        [0., 1.]])
""",
    "select_scatter": """\
The arguments after ``src`` are those of `select`. Raises RuntimeError if its shape is another.
>>> gw.select_scatter(gw.zeros(2, 2), gw.ones(2), 0, 1)
tensor([[0., 0.],
        [1., 1.]])
""",
    "slice_scatter": """\
The arguments after ``src`` are those of `slice_copy`. Raises RuntimeError if its shape is another.
>>> gw.slice_scatter(gw.zeros(4), gw.ones(2), 0, 1, 3)
tensor([0., 1., 1., 0.])
""",
    "resize_as_": """\
>>> gw.resize_as_(gw.arange(6), gw.ones(2, 2))
tensor([[0, 1],
        [2, 3]])
""",
    "alias_copy": """\
>>> gw.alias_copy(gw.tensor([1, 2]))
tensor([1, 2])
""",
    "as_strided_copy": """\
>>> gw.as_strided_copy(gw.arange(6), (2, 2), (3, 1))
tensor([[0, 1],
        [3, 4]])
""",
    "detach_copy": """\
>>> gw.detach_copy(gw.tensor([1.0], requires_grad=True))
tensor([1.])
""",
    "diagonal_copy": """\
>>> gw.diagonal_copy(gw.tensor([[1, 2], [3, 4]]))
tensor([1, 4])
""",
    "expand_copy": """\
>>> gw.expand_copy(gw.tensor([1, 2]), (2, 2))
tensor([[1, 2],
        [1, 2]])
""",
    "narrow_copy": """\
>>> gw.narrow_copy(gw.arange(5), 0, 1, 3)
tensor([1, 2, 3])
""",
    "permute_copy": """\
>>> gw.permute_copy(gw.tensor([[1, 2], [3, 4]]), (1, 0))
tensor([[1, 3],
        [2, 4]])
""",
    "select_copy": """\
>>> gw.select_copy(gw.tensor([[1, 2], [3, 4]]), 0, 1)
tensor([3, 4])
""",
    "slice_copy": """\
Every ``step``-th slice along ``dim``, from ``start`` to below ``end``.
>>> gw.slice_copy(gw.arange(6), 0, 1, 5, 2)
tensor([1, 3])
""",
    "split_copy": """\
>>> gw.split_copy(gw.arange(3), 2)
(tensor([0, 1]), tensor([2]))
""",
    "split_with_sizes_copy": """\
>>> gw.split_with_sizes_copy(gw.arange(3), [1, 2])
(tensor([0]), tensor([1, 2]))
""",
    "squeeze_copy": """\
>>> gw.squeeze_copy(gw.ones(1, 2))
tensor([1., 1.])
""",
    "t_copy": """\
>>> gw.t_copy(gw.tensor([[1, 2], [3, 4]]))
tensor([[1, 3],
        [2, 4]])
""",
    "transpose_copy": """\
>>> gw.transpose_copy(gw.tensor([[1, 2], [3, 4]]), 0, 1)
tensor([[1, 3],
        [2, 4]])
""",
    "unbind_copy": """\
>>> gw.unbind_copy(gw.tensor([[1, 2], [3, 4]]))
(tensor([1, 2]), tensor([3, 4]))
""",
    "unfold_copy": """\
>>> gw.unfold_copy(gw.arange(4), 0, 2, 1)
tensor([[0, 1],
        [1, 2],
        [2, 3]])
""",
    "unsqueeze_copy": """\
>>> gw.unsqueeze_copy(gw.tensor([1, 2]), 0)
tensor([[1, 2]])
""",
    "view_copy": """\
>>> gw.view_copy(gw.arange(4), (2, 2))
tensor([[0, 1],
        [2, 3]])
""",
}
