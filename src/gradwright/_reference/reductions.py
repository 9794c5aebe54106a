"""Reductions: sums, extrema, norms, statistics, histograms."""

OVER = """\
    dim: one dim, several, or None for all; also called ``axis``.
    keepdim: whether reduced dims stay, with length 1; also called ``keepdims``."""
RANGE = "Raises IndexError for a ``dim`` that there is not."
KEEP = "    keepdim: whether the dim stays, with length 1; also called ``keepdims``."
ALONG = "    dim: the dim, also called ``axis``."

TEXTS = {
    "sum": f"""\
Args:
    input: of any dtype.
{OVER}
    dtype: what ``input`` is converted to first; by default integers and booleans become int64.

Shape: that of ``input`` without the reduced dims. Of no entries the sum is 0.

{RANGE}
>>> x = gw.tensor([[1.0, 2.0], [3.0, 4.0]])
>>> gw.sum(x), gw.sum(x, 0), gw.sum(x, 1, keepdim=True)
(tensor(10.), tensor([4., 6.]), tensor([[3.],
        [7.]]))
""",
    "nansum": f"""\
Args:
    input: of any dtype but complex.
{OVER}
    dtype: what ``input`` is converted to first; by default integers and booleans become int64.

Shape: that of ``input`` without the reduced dims. Entries that are NaN get no gradient.
>>> gw.nansum(gw.tensor([1.0, gw.nan, 2.0]))
tensor(3.)
""",
    "mean": f"""\
Args:
    input: floating-point or complex.
{OVER}
    dtype: what ``input`` is converted to first.

Shape: that of ``input`` without the reduced dims. Of no entries the mean is NaN.

{RANGE}
>>> gw.mean(gw.tensor([[1.0, 2.0], [3.0, 6.0]]), dim=1)
tensor([1.5000, 4.5000])
>>> gw.mean(gw.tensor([1, 2]), dtype=gw.float32)
tensor(1.5000)
""",
    "nanmean": f"""\
Args:
    input: floating-point.
{OVER}
    dtype: that of the sum.

Shape: that of ``input`` without the reduced dims. NaN where all entries are. Entries that are NaN get no gradient.

Raises RuntimeError for integers.
>>> gw.nanmean(gw.tensor([1.0, gw.nan, 2.0]))
tensor(1.5000)
""",
    "prod": f"""\
Args:
    input: of any dtype.
    dim: one dim, or None for all; also called ``axis``.
{KEEP}
    dtype: what ``input`` is converted to first; by default integers and booleans become int64.

The derivative by an entry is the product of the others, right where entries are 0, too. Of no entries the product is 1.
>>> x = gw.tensor([0.0, 2.0, 3.0], requires_grad=True)
>>> gw.prod(x).backward()
>>> x.grad
tensor([6., 0., 0.])
""",
    "amax": f"""\
Args:
    input: of any dtype but complex (NotImplementedError).
{OVER}

Shape: that of ``input`` without the reduced dims. NaN where an entry is.

Raises IndexError or RuntimeError where there are no entries.
>>> x = gw.tensor([1.0, 3.0, 3.0], requires_grad=True)
>>> gw.amax(x).backward()
>>> x.grad
tensor([0.0000, 0.5000, 0.5000])
""",
    "amin": f"""\
Args:
    input: of any dtype but complex (NotImplementedError).
{OVER}

Shape: that of ``input`` without the reduced dims. NaN where an entry is.

Raises IndexError or RuntimeError where there are no entries.
>>> gw.amin(gw.tensor([[1.0, 3.0], [2.0, 0.0]]), dim=1)
tensor([1., 0.])
""",
    "aminmax": f"""\
Args:
    input: of any dtype but complex (NotImplementedError).
    dim: one dim, or None for all; also called ``axis``.
{KEEP}

Tied entries share the gradient. Raises RuntimeError where there are no entries.
>>> gw.aminmax(gw.tensor([3.0, 1.0, 2.0]))
torch.return_types.aminmax(
min=tensor(1.),
max=tensor(3.))
""",
    "max": f"""\
Args:
    input: of any dtype but complex (NotImplementedError).
    dim: one dim, or None for all; also called ``axis``.
{KEEP}
    other: a tensor to take the entrywise `maximum` with, instead.

NaN is the largest of all. Of equal entries the first is found along a dim, and gets the whole gradient; of all entries
those that tie share it.

Raises RuntimeError or IndexError where there are no entries.
>>> x = gw.tensor([[1.0, 5.0], [7.0, 7.0]])
>>> gw.max(x)
tensor(7.)
>>> values, indices = gw.max(x, dim=1)
>>> values, indices
(tensor([5., 7.]), tensor([1, 0]))
""",
    "min": f"""\
Args:
    input: of any dtype but complex (NotImplementedError).
    dim: one dim, or None for all; also called ``axis``.
{KEEP}
    other: a tensor to take the entrywise `minimum` with, instead.

NaN is found before all. Of equal entries the first is found along a dim, and gets the whole gradient; of all entries
those that tie share it.

Raises RuntimeError or IndexError where there are no entries.
>>> gw.min(gw.tensor([[1.0, 5.0], [7.0, 7.0]]), dim=1)
torch.return_types.min(
values=tensor([1., 7.]),
indices=tensor([0, 0]))
""",
    "logsumexp": f"""\
Args:
    input: floating-point or complex; integers and booleans become the default dtype.
    dim: one dim, or several; also called ``axis``.
{KEEP}

Shape: that of ``input`` without the reduced dims. The derivative is `softmax`. Of no entries, or where all are -inf,
the result is -inf; the derivative is NaN then.
>>> gw.logsumexp(gw.tensor([1000.0, 1000.0]), 0)
tensor(1000.6932)
""",
    "norm": """\
Args:
    input: floating-point or complex.
    p: the order: a number, ``inf`` for the largest magnitude, 0 for the number of entries that are not 0, "fro" or None
        for 2, "nuc".
    dim: one dim, several, or None for all; two for "nuc".
    keepdim: whether reduced dims stay, with length 1.
    dtype: what ``input`` is converted to first.

The derivative at 0 is taken as 0. Raises RuntimeError for integers, and for another string.
>>> gw.norm(gw.tensor([3.0, 4.0])), gw.norm(gw.tensor([3.0, -4.0]), 1), gw.norm(gw.tensor([3.0, -4.0]), gw.inf)
(tensor(5.), tensor(7.), tensor(4.))
""",
    "any": f"""\
Args:
    input: of any dtype; NaN counts as nonzero.
{OVER}

Shape: that of ``input`` without the reduced dims. Of no entries False.
>>> gw.any(gw.tensor([[False, True], [False, False]]), dim=1)
tensor([ True, False])
""",
    "all": f"""\
Args:
    input: of any dtype; NaN counts as nonzero.
{OVER}

Shape: that of ``input`` without the reduced dims. Of no entries True.
>>> gw.all(gw.tensor([[True, True], [False, True]]), dim=1)
tensor([ True, False])
""",
    "count_nonzero": """\
Shape: that of ``input`` without the dims in ``dim`` (also called ``axis``), all if it is None; int64. NaN is counted.
>>> gw.count_nonzero(gw.tensor([[0.0, 1.0], [2.0, 3.0]]), 0)
tensor([1, 2])
""",
    "argmax": f"""\
Args:
    input: of any dtype but complex (NotImplementedError).
    dim: one dim, or None for the flattened tensor; also called ``axis``.
{KEEP}

Of equal entries the first, and NaN before all; int64. Raises IndexError where there are no entries.
>>> gw.argmax(gw.tensor([[1.0, 5.0], [7.0, 7.0]])), gw.argmax(gw.tensor([[1.0, 5.0], [7.0, 7.0]]), dim=1)
(tensor(2), tensor([1, 0]))
""",
    "argmin": f"""\
Args:
    input: of any dtype but complex (NotImplementedError).
    dim: one dim, or None for the flattened tensor; also called ``axis``.
{KEEP}

Of equal entries the first, and NaN before all; int64. Raises IndexError where there are no entries.
>>> gw.argmin(gw.tensor([[1.0, 5.0], [7.0, 7.0]])), gw.argmin(gw.tensor([[1.0, 5.0], [7.0, 7.0]]), dim=1)
(tensor(0), tensor([0, 0]))
""",
    "softmax": f"""\
y_i = e**x_i / sum_j e**x_j, and dx = y (g - sum(g y)).

Args:
    input: floating-point.
{ALONG}
    dtype: what ``input`` is converted to first.

Shape: any, and the result has the same. NaN where all entries along ``dim`` are -inf.

Raises RuntimeError for integers without ``dtype``, NotImplementedError for complex numbers, IndexError for a ``dim``
that there is not.
>>> gw.softmax(gw.tensor([1000.0, 1000.0, -gw.inf]), dim=0)
tensor([0.5000, 0.5000, 0.0000])
""",
    "log_softmax": f"""\
y_i = x_i - log sum_j e**x_j, and dx = g - e**y sum(g).

Args:
    input: floating-point.
{ALONG}
    dtype: what ``input`` is converted to first.

Shape: any, and the result has the same. Raises what `softmax` does.
>>> gw.log_softmax(gw.tensor([0.0, 1000.0]), dim=0)
tensor([-1000.,     0.])
""",
    "var": f"""\
Args:
    input: floating-point or complex.
{OVER}
    unbiased: the older form: True is ``correction=1``, False ``correction=0``. It may be given in place of ``dim``.
    correction: what is taken from the number of entries n.

Shape: that of ``input`` without the reduced dims; of complex numbers the variance is real. NaN for n <= correction.

Raises RuntimeError for integers, TypeError for both ``unbiased`` and ``correction``.
>>> gw.var(gw.tensor([1.0, 3.0])), gw.var(gw.tensor([1.0, 3.0]), correction=0)
(tensor(2.), tensor(1.))
""",
    "std": """\
The arguments are those of `var`. Where all entries are equal the derivative is taken as 0.
>>> gw.std(gw.tensor([[1.0, 3.0], [2.0, 2.0]]), dim=1)
tensor([1.4142, 0.0000])
""",
    "var_mean": """\
The arguments are those of `var`.
>>> gw.var_mean(gw.tensor([1.0, 3.0]))
(tensor(2.), tensor(2.))
""",
    "std_mean": """\
The arguments are those of `var`.
>>> gw.std_mean(gw.tensor([1.0, 3.0]))
(tensor(1.4142), tensor(2.))
""",
    "quantile": f"""\
Args:
    input: float or double, with at least one entry.
    q: a number, or a vector of them of the dtype of ``input``.
    dim: one dim, or None for all; also called ``axis``.
{KEEP}
    interpolation: what stands for a place between two entries.

Differentiable in both. Raises RuntimeError for other dtypes, no entries, and a ``q`` outside [0, 1].
>>> gw.quantile(gw.tensor([1.0, 2.0, 4.0]), 0.75)
tensor(3.)
>>> gw.quantile(gw.tensor([1.0, 2.0, 4.0]), gw.tensor([0.0, 0.5]), interpolation="nearest")
tensor([1., 2.])
""",
    "nanquantile": """\
The arguments are those of `quantile`. NaN where all entries are.
>>> gw.nanquantile(gw.tensor([1.0, gw.nan, 3.0]), 0.5)
tensor(2.)
""",
    "cov": """\
Args:
    input: (variables, observations), or (observations,).
    correction: what is taken from the number of observations n.
    fweights: whole numbers (observations,), how often each was observed.
    aweights: floating-point numbers (observations,).

Shape: (variables, variables); 0-d for one variable. Raises RuntimeError for more dims, booleans, and for weights of
another length, below 0 or of sum 0.
>>> gw.cov(gw.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
tensor([[ 1., -1.],
        [-1.,  1.]])
""",
    "corrcoef": """\
Shape: (variables, observations) to (variables, variables); 0-d for one variable. A row that is constant gives NaN.

Raises RuntimeError for more than two dims.
>>> gw.corrcoef(gw.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
tensor([[ 1., -1.],
        [-1.,  1.]])
""",
    "histc": """\
Args:
    input: floating-point.
    bins: how many parts there are.
    min: where they begin.
    max: where they end, which belongs to the last; if both are 0, the least and the largest entry.

Entries outside, and NaN, are not counted. The result has no derivative. Raises NotImplementedError for integers.
>>> gw.histc(gw.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3)
tensor([0., 2., 1., 0.])
""",
    "histogram": """\
Args:
    input: floating-point.
    bins: how many parts there are, or their edges in order.
    range: where they begin and end; by default at the least and the largest entry.
    weight: what each entry counts, 1 by default.
    density: whether the counts are divided by their sum and the width of the part.
>>> gw.histogram(gw.tensor([1.0, 2.0, 1.0]), bins=2)
torch.return_types.histogram(
hist=tensor([2., 1.]),
bin_edges=tensor([1.0000, 1.5000, 2.0000]))
""",
    "histogramdd": """\
Args:
    input: points (*, n), floating-point.
    bins: how many parts there are in each of the n dims, one number for all, or a list of edges.
    range: 2 n numbers, where the parts of each dim begin and end.
    weight: what each point counts, 1 by default.
    density: whether the counts are divided by their sum and the volume of the part.
>>> gw.histogramdd(gw.tensor([[0.0, 1.0], [1.0, 0.0]]), bins=2)
torch.return_types.histogramdd(
hist=tensor([[0., 1.],
        [1., 0.]]),
bin_edges=(tensor([0.0000, 0.5000, 1.0000]), tensor([0.0000, 0.5000, 1.0000])))
""",
}
