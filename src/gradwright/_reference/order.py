"""Running sums, order, sets, differences and distances."""

ALONG = "    dim: the dim, also called ``axis``."
RANGE = "Raises IndexError for a ``dim`` that there is not."
KEEP = "    keepdim: whether the dim stays, with length 1; also called ``keepdims``."
PAIR = """\
Shape: both results have that of ``input`` without ``dim``. The gradient goes to the entry that was chosen; the
indices are int64."""

TEXTS = {
    "cumsum": f"""\
Args:
    input: of any dtype.
{ALONG}
    dtype: what ``input`` is converted to first; by default integers and booleans become int64.

Shape: any, and the result has the same. {RANGE}
>>> gw.cumsum(gw.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=0)
tensor([[1., 2.],
        [4., 6.]])
""",
    "cumprod": f"""\
Args:
    input: of any dtype.
{ALONG}
    dtype: what ``input`` is converted to first; by default integers and booleans become int64.

Shape: any, and the result has the same. The derivative is right where entries are 0, too. {RANGE}
>>> gw.cumprod(gw.tensor([1.0, 2.0, 3.0]), dim=0)
tensor([1., 2., 6.])
""",
    "cummax": """\
Shape: both results have that of ``input``. NaN stays once it has come. The gradient goes to the entry found. ``dim`` is
also called ``axis``.

Raises NotImplementedError for complex numbers, IndexError for a ``dim`` that there is not.
>>> gw.cummax(gw.tensor([1.0, 3.0, 2.0, 3.0]), dim=0)
torch.return_types.cummax(
values=tensor([1., 3., 3., 3.]),
indices=tensor([0, 1, 1, 3]))
""",
    "cummin": """\
Shape: both results have that of ``input``. NaN stays once it has come. The gradient goes to the entry found. ``dim`` is
also called ``axis``.

Raises NotImplementedError for complex numbers, IndexError for a ``dim`` that there is not.
>>> gw.cummin(gw.tensor([3.0, 1.0, 2.0, 1.0]), dim=0)
torch.return_types.cummin(
values=tensor([3., 1., 1., 1.]),
indices=tensor([0, 1, 1, 3]))
""",
    "logcumsumexp": """\
Shape: any, and the result has the same. Dtypes: floating-point and complex; integers become the default one.
``dim`` is also called ``axis``.
>>> gw.logcumsumexp(gw.tensor([1000.0, 1000.0]), dim=0)
tensor([1000.0000, 1000.6932])
""",
    "sort": f"""\
Args:
    input: of any dtype but complex.
{ALONG}
    descending: whether the largest comes first.
    stable: equal entries keep their order in any case.

Shape: both results have that of ``input``. NaN counts as the largest. The gradient goes back to where the entries
stood; the indices are int64.

Raises RuntimeError for complex numbers, IndexError for a ``dim`` that there is not.
>>> gw.sort(gw.tensor([3.0, 1.0, 2.0]))
torch.return_types.sort(
values=tensor([1., 2., 3.]),
indices=tensor([1, 2, 0]))
""",
    "argsort": """\
The arguments are those of `sort`, whose second result this is: int64.
>>> gw.argsort(gw.tensor([3.0, 1.0, 2.0]), descending=True)
tensor([0, 2, 1])
""",
    "msort": """\
`sort` with ``dim=0``, without the indices.
>>> gw.msort(gw.tensor([[3.0, 1.0], [2.0, 4.0]]))
tensor([[2., 1.],
        [3., 4.]])
""",
    "topk": f"""\
Args:
    input: of any dtype but complex.
    k: how many, from 0 to the length of the dim.
{ALONG}
    largest: whether the largest or the smallest.
    sorted: the results are in order in any case.

Shape: both results have that of ``input``, with length ``k`` in ``dim``. NaN counts as the largest. The gradient goes
to the entries found; the indices are int64.

Raises RuntimeError for complex numbers and for a ``k`` out of range.
>>> gw.topk(gw.tensor([1.0, 3.0, 2.0]), 2)
torch.return_types.topk(
values=tensor([3., 2.]),
indices=tensor([1, 2]))
""",
    "kthvalue": f"""\
Args:
    input: of any dtype but complex.
    k: which, from 1 to the length of the dim.
{ALONG}
{KEEP}

{PAIR}

Raises RuntimeError for complex numbers and for a ``k`` out of range.
>>> gw.kthvalue(gw.tensor([1.0, 3.0, 2.0]), 2)
torch.return_types.kthvalue(
values=tensor(2.),
indices=tensor(2))
""",
    "median": f"""\
Args:
    input: of any dtype but bool and complex.
    dim: one dim, or None for all; also called ``axis``.
{KEEP}

Of all entries those that are equal to the median share the gradient; along a dim the one found gets it. Of no entries
NaN. Raises NotImplementedError for booleans.
>>> gw.median(gw.tensor([1.0, 4.0, 2.0, 3.0]))
tensor(2.)
>>> gw.median(gw.tensor([[1.0, 4.0, 2.0]]), dim=1)
torch.return_types.median(
values=tensor([2.]),
indices=tensor([2]))
""",
    "nanmedian": """\
The arguments are those of `median`. NaN where all entries are.
>>> gw.nanmedian(gw.tensor([1.0, gw.nan, 3.0, 2.0]))
tensor(2.)
""",
    "mode": f"""\
Args:
    input: of any dtype but complex.
{ALONG}
{KEEP}

{PAIR}
>>> gw.mode(gw.tensor([1.0, 2.0, 2.0, 1.0, 3.0]))
torch.return_types.mode(
values=tensor(1.),
indices=tensor(3))
""",
    "unique": """\
Args:
    input: of any dtype but complex.
    sorted: the result is sorted in any case.
    return_inverse: whether to say for each entry where it stands in the result.
    return_counts: whether to say how often each occurs.
    dim: the slices along it are compared, instead of entries.

Each NaN is one of its own. Raises NotImplementedError for complex numbers.
>>> gw.unique(gw.tensor([3, 1, 2, 1]), return_counts=True)
(tensor([1, 2, 3]), tensor([2, 1, 1]))
""",
    "unique_consecutive": """\
The arguments are those of `unique`. Only neighbours are compared, so that an entry may come again.
>>> gw.unique_consecutive(gw.tensor([1, 1, 2, 1]))
tensor([1, 2, 1])
""",
    "isin": """\
Args:
    elements: a tensor, or a number.
    test_elements: a tensor, or a number.
    assume_unique: nothing is made of it.
    invert: whether to ask for those that are not among them.

Shape: that of ``elements``; of dtype bool.
>>> gw.isin(gw.tensor([1, 2, 3]), gw.tensor([2, 5]))
tensor([False,  True, False])
""",
    "bincount": """\
Args:
    input: whole numbers (n,), none below 0.
    weights: what each counts (n,), 1 by default.
    minlength: the least length of the result.

The result has no derivative.

Raises RuntimeError for other dims, and for numbers below 0, NotImplementedError for other dtypes.
>>> gw.bincount(gw.tensor([0, 1, 1, 3]))
tensor([1, 2, 0, 1])
""",
    "bucketize": """\
Args:
    input: numbers of any shape, which the result has.
    boundaries: the edges (n,) in ascending order.
    out_int32: whether the result is int32, else int64.
    right: whether an entry equal to an edge lies behind it.
>>> gw.bucketize(gw.tensor([0.0, 1.0, 2.0]), gw.tensor([1.0, 2.0]))
tensor([0, 0, 1])
>>> gw.bucketize(gw.tensor([0.0, 1.0, 2.0]), gw.tensor([1.0, 2.0]), right=True)
tensor([0, 1, 2])
""",
    "searchsorted": """\
Args:
    sorted_sequence: (n,), or (*, n) with the other dims of ``input``, in ascending order along the last dim.
    input: a tensor, whose shape the result has, or a number.
    out_int32: whether the result is int32, else int64.
    right: whether an entry goes behind those equal to it.
    side: "left", or "right" for ``right=True``.
    sorter: the indices that sort ``sorted_sequence``, if it is not in order.

Raises RuntimeError for dims that do not fit, and for a ``side`` that contradicts ``right``.
>>> gw.searchsorted(gw.tensor([1.0, 3.0, 5.0]), gw.tensor([3.0, 6.0]))
tensor([1, 3])
""",
    "combinations": """\
Args:
    input: a vector.
    r: how many to choose.
    with_replacement: whether an entry may be chosen again.

Raises RuntimeError for more dims, and for a negative ``r``.
>>> gw.combinations(gw.tensor([1, 2, 3]))
tensor([[1, 2],
        [1, 3],
        [2, 3]])
""",
    "cartesian_prod": """\
Shape: (n,), (m,), ... to (n m ..., number of tensors). Raises RuntimeError for other dims, and for two dtypes.
>>> gw.cartesian_prod(gw.tensor([1, 2]), gw.tensor([3, 4]))
tensor([[1, 3],
        [1, 4],
        [2, 3],
        [2, 4]])
""",
    "diff": """\
Args:
    input: of any dtype; of booleans the difference is `logical_xor`.
    n: how often.
    dim: along which dim; also called ``axis``.
    prepend: what is put before ``input`` first.
    append: what is put after it.

Shape: that of ``input``, with ``n`` entries less in ``dim``.

Raises RuntimeError for a negative ``n``, for a 0-d ``input``, and for a ``prepend`` or ``append`` of other dims.
>>> gw.diff(gw.tensor([1.0, 4.0, 9.0]))
tensor([3., 5.])
""",
    "gradient": """\
Args:
    input: floating-point or complex.
    spacing: how far apart entries lie: a number, one for each dim, or vectors of coordinates. 1 by default.
    dim: one dim, several, or None for all.
    edge_order: 1 or 2, the order of the differences at the ends.

Raises RuntimeError for a dim with fewer than ``edge_order`` + 1 entries, or named twice.
>>> gw.gradient(gw.tensor([1.0, 4.0, 9.0]))
(tensor([3., 4., 5.]),)
""",
    "trapezoid": """\
Args:
    y: the heights.
    x: where they are; else they are ``dx`` apart.
    dx: 1 by default.
    dim: along which dim; also called ``axis``.

Also `trapz`. Raises TypeError for both ``x`` and ``dx``, RuntimeError for an ``x`` of another length.
>>> gw.trapezoid(gw.tensor([1.0, 2.0, 4.0]), dx=0.5)
tensor(2.2500)
""",
    "cumulative_trapezoid": """\
The arguments are those of `trapezoid`. Shape: that of ``y``, with one entry less in ``dim``.
>>> gw.cumulative_trapezoid(gw.tensor([1.0, 2.0, 4.0]))
tensor([1.5000, 4.5000])
""",
    "cdist": """\
Args:
    x1: (*, m, d), float or double.
    x2: (*, n, d); the dims in front broadcast.
    p: the order of the norm, at least 0.
    compute_mode: whether Euclidean distances come from a matrix product: with more than 25 rows by default,
        "use_mm_for_euclid_dist" always, "donot_use_mm_for_euclid_dist" never.

Shape: (*, m, n). Where two points are equal the derivative is taken as 0.

Raises RuntimeError for other dtypes, two dtypes, fewer than two dims, and a negative ``p``.
>>> gw.cdist(gw.tensor([[0.0, 0.0], [3.0, 0.0]]), gw.tensor([[0.0, 4.0]]))
tensor([[4.],
        [5.]])
""",
    "renorm": """\
Args:
    input: floating-point or complex, of two dims or more.
    p: the order of the norm.
    dim: the dim whose slices are scaled.
    maxnorm: their largest norm.

Raises RuntimeError for fewer dims, a ``p`` that is not positive, or a negative ``maxnorm``.
>>> gw.renorm(gw.tensor([[3.0, 4.0], [0.3, 0.4]]), p=2, dim=0, maxnorm=1.0)
tensor([[0.6000, 0.8000],
        [0.3000, 0.4000]])
""",
}
