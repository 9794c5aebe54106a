"""Reading and writing by index, and products of matrices."""

TEXTS = {
    "gather": """\
Args:
    input: a tensor.
    dim: along which dim.
    index: int64 or int32, with as many dims, no longer than ``input`` in those that are not ``dim``.
    sparse_grad: nothing is made of it: the gradient is dense.

Shape: that of ``index``. The gradient of an entry is the sum over the places that took it.

Raises RuntimeError for an ``index`` of another dtype, of dims that do not fit, or out of range.
>>> gw.gather(gw.tensor([[1, 2], [3, 4]]), 1, gw.tensor([[0, 0], [1, 0]]))
tensor([[1, 1],
        [4, 3]])
""",
    "scatter": """\
Args:
    input: a tensor.
    dim: along which dim.
    index: int64 or int32, with as many dims, no longer than ``input`` in those that are not ``dim``.
    src: a tensor of the dtype of ``input``, at least as long as ``index`` in each dim, or a number.
    value: a number, in place of ``src``.
    reduce: None, "add" or "multiply".

Entries that are overwritten get no gradient. Raises RuntimeError for an ``index`` of another dtype, of dims that do not
fit, or out of range, and for a ``src`` of another dtype.
>>> gw.scatter(gw.zeros(3), 0, gw.tensor([2, 0]), gw.tensor([1.0, 2.0]))
tensor([2., 0., 1.])
>>> gw.scatter(gw.zeros(3), 0, gw.tensor([2, 2]), 1.0, reduce="add")
tensor([0., 0., 2.])
""",
    "scatter_add": """\
Args:
    input: a tensor.
    dim: along which dim.
    index: int64 or int32, with as many dims, no longer than ``input`` in those that are not ``dim``.
    src: a tensor of the dtype of ``input``, at least as long as ``index`` in each dim.

Raises what `scatter` does.
>>> gw.scatter_add(gw.zeros(3), 0, gw.tensor([2, 2, 0]), gw.tensor([1.0, 2.0, 3.0]))
tensor([3., 0., 3.])
""",
    "scatter_reduce": """\
The other arguments are those of `scatter_add`. The gradient of products is right where entries are 0, too.

Raises what `scatter` does, and RuntimeError for another ``reduce``.
>>> x, index, src = gw.tensor([1.0, 1.0]), gw.tensor([0, 0, 1]), gw.tensor([2.0, 3.0, 4.0])
>>> gw.scatter_reduce(x, 0, index, src, "prod")
tensor([6., 4.])
>>> gw.scatter_reduce(x, 0, index, src, "mean", include_self=False)
tensor([2.5000, 4.0000])
""",
    "index_add": """\
Args:
    input: a tensor.
    dim: along which dim.
    index: int64 or int32, a vector; repeated indices add up.
    source: of the dtype of ``input``, with as many slices as ``index`` has entries.
    alpha: a number.

Raises IndexError for an ``index`` out of range, RuntimeError for another dtype or shape.
>>> gw.index_add(gw.zeros(3), 0, gw.tensor([0, 2, 2]), gw.tensor([1.0, 2.0, 3.0]), alpha=10)
tensor([10.,  0., 50.])
""",
    "index_copy": """\
Slices that are overwritten get no gradient. Raises what `index_add` does.
>>> gw.index_copy(gw.zeros(3), 0, gw.tensor([0, 2]), gw.tensor([1.0, 2.0]))
tensor([1., 0., 2.])
""",
    "index_fill": """\
An index may be negative. The gradient of ``value`` is the sum over its places.

Raises IndexError for an ``index`` out of range, RuntimeError for a ``value`` with dims.
>>> gw.index_fill(gw.zeros(2, 3), 1, gw.tensor([0, 2]), 5.0)
tensor([[5., 0., 5.],
        [5., 0., 5.]])
""",
    "index_reduce": """\
The other arguments are those of `index_add`, ``include_self`` is that of `scatter_reduce`.

Raises what `index_add` does, and RuntimeError for another ``reduce``.
>>> gw.index_reduce(gw.ones(2), 0, gw.tensor([0, 0]), gw.tensor([2.0, 3.0]), "prod")
tensor([6., 1.])
""",
    "index_select": """\
A copy. The gradients of slices that are taken several times add up. ``index`` is int64 or int32.

Raises IndexError for an ``index`` out of range, or of more dims.
>>> gw.index_select(gw.tensor([[1, 2], [3, 4]]), 0, gw.tensor([1, 0, 1]))
tensor([[3, 4],
        [1, 2],
        [3, 4]])
""",
    "index_put": """\
Args:
    input: a tensor.
    indices: one index tensor for each dim, or None for all of a dim; masks too.
    values: of the dtype of ``input``; it broadcasts to the shape of ``input[indices]``.
    accumulate: whether to add.

Raises IndexError for indices out of range, RuntimeError for another dtype or shape.
>>> gw.index_put(gw.zeros(3), [gw.tensor([0, 0])], gw.tensor([1.0, 2.0]), accumulate=True)
tensor([3., 0., 0.])
""",
    "index_put_": """\
>>> gw.index_put_(gw.zeros(3), [gw.tensor([0, 2])], gw.tensor(1.0))
tensor([1., 0., 1.])
""",
    "fill": """\
Raises RuntimeError for a ``value`` with dims.
>>> gw.fill(gw.ones(2), 3.0)
tensor([3., 3.])
""",
    "fill_": """\
Raises RuntimeError for a ``value`` with dims, and for a leaf that requires a gradient.
>>> gw.fill_(gw.ones(2), 3.0)
tensor([3., 3.])
""",
    "zero_": """\
Raises RuntimeError for a leaf that requires a gradient.
>>> gw.zero_(gw.ones(2))
tensor([0., 0.])
""",
    "masked_select": """\
Shape: (number of Trues,). The mask is of dtype bool, else RuntimeError.
>>> gw.masked_select(gw.tensor([[1, 2], [3, 4]]), gw.tensor([[True, False], [False, True]]))
tensor([1, 4])
""",
    "masked_scatter": """\
Args:
    input: a tensor.
    mask: of dtype bool; it broadcasts with ``input``.
    source: of the dtype of ``input``, with at least as many entries as the mask has Trues.

Raises RuntimeError for another dtype, and for too few entries.
>>> gw.masked_scatter(gw.zeros(3), gw.tensor([True, False, True]), gw.tensor([1.0, 2.0, 3.0]))
tensor([1., 0., 2.])
""",
    "take": """\
``index`` is int64, and may be negative. Raises IndexError if it is out of range, RuntimeError for another dtype.
>>> gw.take(gw.tensor([[1, 2], [3, 4]]), gw.tensor([0, -1]))
tensor([1, 4])
""",
    "put": """\
``index`` is int64, and ``source`` has as many entries and the dtype of ``input``.

Raises IndexError for an ``index`` out of range, RuntimeError for others.
>>> gw.put(gw.zeros(2, 2), gw.tensor([0, 3]), gw.tensor([1.0, 2.0]))
tensor([[1., 0.],
        [0., 2.]])
""",
    "take_along_dim": """\
``indices`` is int64, with as many dims as ``input`` if ``dim`` is named. Raises RuntimeError if it is not.
>>> x = gw.tensor([[3, 1], [2, 4]])
>>> gw.take_along_dim(x, gw.argsort(x, dim=1), dim=1)
tensor([[1, 3],
        [2, 4]])
""",
    "nonzero": """\
Shape: (number of them, ndim), int64; with ``as_tuple`` (number of them,) each. In row-major order. NaN is nonzero.
>>> gw.nonzero(gw.tensor([[0, 1], [2, 0]]))
tensor([[0, 1],
        [1, 0]])
>>> gw.nonzero(gw.tensor([0, 1, 2]), as_tuple=True)
(tensor([1, 2]),)
""",
    "nonzero_static": """\
Raises RuntimeError for a negative ``size``.
>>> gw.nonzero_static(gw.tensor([0, 1, 2]), size=3)
tensor([[ 1],
        [ 2],
        [-1]])
""",
    "argwhere": """\
Shape: (number of them, ndim), int64. In row-major order.
>>> gw.argwhere(gw.tensor([[0, 1], [2, 0]]))
tensor([[0, 1],
        [1, 0]])
""",
    "is_nonzero": """\
>>> gw.is_nonzero(gw.tensor([0.5]))
True
""",
    "unravel_index": """\
Raises ValueError for indices that are not whole numbers.
>>> gw.unravel_index(gw.tensor([0, 5]), (2, 3))
(tensor([0, 1]), tensor([0, 2]))
""",
    "matmul": """\
Args:
    input: (n,), (m, n) or (*, m, n).
    other: (n,), (n, k) or (*, n, k), of the same dtype.

Shape: (*, m, k) without the dim of a vector; 0-d for two vectors.

Raises RuntimeError for sizes that do not fit, for two dtypes and for a 0-d tensor.
>>> a = gw.tensor([[1.0, 2.0], [3.0, 4.0]])
>>> gw.matmul(a, a), gw.matmul(a, gw.ones(2)), gw.matmul(gw.ones(5, 3, 2), a).shape
(tensor([[ 7., 10.],
        [15., 22.]]), tensor([3., 7.]), torch.Size([5, 3, 2]))
""",
    "mm": """\
Shape: (m, n) and (n, k) to (m, k). Raises RuntimeError for other dims, sizes that do not fit, and two dtypes.
>>> gw.mm(gw.tensor([[1.0, 2.0]]), gw.tensor([[3.0], [4.0]]))
tensor([[11.]])
""",
    "mv": """\
Shape: (m, n) and (n,) to (m,). Raises RuntimeError for other dims, sizes that do not fit, and two dtypes.
>>> gw.mv(gw.tensor([[1.0, 2.0], [3.0, 4.0]]), gw.tensor([1.0, 10.0]))
tensor([21., 43.])
""",
    "bmm": """\
Shape: (b, m, n) and (b, n, k) to (b, m, k). Raises RuntimeError for other dims, sizes that do not fit, and two dtypes.
>>> gw.bmm(gw.ones(2, 3, 4), gw.ones(2, 4, 5)).shape
torch.Size([2, 3, 5])
""",
    "dot": """\
Shape: (n,) and (n,) to a 0-d one. Nothing is conjugated: `vdot` does that.

Raises RuntimeError for other dims, lengths that differ, and two dtypes.
>>> gw.dot(gw.tensor([1.0, 2.0]), gw.tensor([3.0, 4.0]))
tensor(11.)
""",
    "vdot": """\
Shape: (n,) and (n,) to a 0-d one. Raises RuntimeError for other dims, lengths that differ, and two dtypes.
>>> gw.vdot(gw.tensor([1j]), gw.tensor([1j]))
tensor(1.+0.j)
""",
    "outer": """\
Shape: (m,) and (n,) to (m, n). Raises RuntimeError for other dims. Also `ger`.
>>> gw.outer(gw.tensor([1, 2]), gw.tensor([3, 4]))
tensor([[3, 4],
        [6, 8]])
""",
    "inner": """\
Shape: (*, n) and (+, n) to (*, +). Raises RuntimeError for lengths that differ, and for two dtypes.
>>> gw.inner(gw.tensor([1.0, 2.0]), gw.tensor([[3.0, 4.0], [5.0, 6.0]]))
tensor([11., 17.])
""",
    "kron": """\
Shape: of each dim the product of the two lengths.
>>> gw.kron(gw.tensor([1, 10]), gw.tensor([1, 2]))
tensor([ 1,  2, 10, 20])
""",
    "cross": """\
Shape: the tensors broadcast; ``dim`` has length 3, else RuntimeError.
>>> gw.cross(gw.tensor([1.0, 0.0, 0.0]), gw.tensor([0.0, 1.0, 0.0]), dim=0)
tensor([0., 0., 1.])
""",
    "tensordot": """\
Args:
    a: a tensor.
    b: a tensor of the same dtype.
    dims: how many dims to sum over, or two lists of dims: those of ``a`` and those of ``b``.

Shape: the other dims of ``a``, then those of ``b``. Raises RuntimeError for lengths that differ.
>>> gw.tensordot(gw.ones(2, 3), gw.ones(3, 4), dims=1).shape
torch.Size([2, 4])
>>> gw.tensordot(gw.ones(2, 3), gw.ones(2, 4), dims=([0], [0])).shape
torch.Size([3, 4])
""",
    "chain_matmul": """\
Raises RuntimeError for no matrix, other dims, and sizes that do not fit.
>>> gw.chain_matmul(gw.ones(2, 3), gw.ones(3, 4), gw.ones(4, 1)).shape
torch.Size([2, 1])
""",
    "vander": """\
Raises RuntimeError for other dims.
>>> gw.vander(gw.tensor([1, 2, 3]))
tensor([[1, 1, 1],
        [4, 2, 1],
        [9, 3, 1]])
""",
    "addmm": """\
Shape: ``input`` broadcasts to (m, k), of (m, n) and (n, k). With ``beta=0`` what ``input`` holds, NaN too, is left out.

Raises RuntimeError for other dims, sizes that do not fit, and two dtypes.
>>> gw.addmm(gw.ones(2), gw.tensor([[1.0, 2.0]]), gw.eye(2), alpha=10)
tensor([[11., 21.]])
""",
    "addmv": """\
Shape: ``input`` broadcasts to (m,), of (m, n) and (n,). With ``beta=0`` what ``input`` holds, NaN too, is left out.

Raises RuntimeError for other dims, sizes that do not fit, and two dtypes.
>>> gw.addmv(gw.ones(2), gw.eye(2), gw.tensor([1.0, 2.0]), alpha=10)
tensor([11., 21.])
""",
    "addr": """\
Shape: ``input`` broadcasts to (m, n), of (m,) and (n,). With ``beta=0`` what ``input`` holds, NaN too, is left out.

Raises RuntimeError for other dims.
>>> gw.addr(gw.ones(2, 2), gw.tensor([1.0, 2.0]), gw.tensor([1.0, 10.0]))
tensor([[ 2., 11.],
        [ 3., 21.]])
""",
    "addbmm": """\
Shape: ``input`` broadcasts to (m, k), of (b, m, n) and (b, n, k). With ``beta=0`` what ``input`` holds, NaN too, is
left out.

Raises RuntimeError for other dims, sizes that do not fit, and two dtypes.
>>> gw.addbmm(gw.zeros(2, 2), gw.ones(3, 2, 4), gw.ones(3, 4, 2))
tensor([[12., 12.],
        [12., 12.]])
""",
    "baddbmm": """\
Shape: ``input`` broadcasts to (b, m, k), of (b, m, n) and (b, n, k). With ``beta=0`` what ``input`` holds, NaN too, is
left out.

Raises RuntimeError for other dims, sizes that do not fit, and two dtypes.
>>> gw.baddbmm(gw.zeros(1, 2, 2), gw.ones(1, 2, 4), gw.ones(1, 4, 2))
tensor([[[4., 4.],
         [4., 4.]]])
""",
    "einsum": """\
>>> a, b = gw.tensor([[1.0, 2.0], [3.0, 4.0]]), gw.tensor([1.0, 10.0])
>>> gw.einsum("ij,j->i", a, b), gw.einsum("ii", a)
(tensor([21., 43.]), tensor(5.))
""",
}
