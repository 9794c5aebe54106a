"""Special functions, factors of matrices, short-time transforms, windows."""

TEXTS = {
    "erf": """\
dy/dx = 2/sqrt(pi) exp(-x**2). Needs SciPy. -1 and 1 at the infinities.
>>> gw.erf(gw.tensor([-gw.inf, 0.0, 1.0]))
tensor([-1.0000,  0.0000,  0.8427])
""",
    "erfc": """\
dy/dx = -2/sqrt(pi) exp(-x**2). Needs SciPy.
>>> gw.erfc(gw.tensor([0.0, 1.0, 4.0]))
tensor([1.0000e+00, 1.5730e-01, 1.5417e-08])
""",
    "erfinv": """\
Needs SciPy.
>>> gw.erfinv(gw.tensor([-1.0, 0.0, 0.5, 2.0]))
tensor([  -inf, 0.0000, 0.4769,    nan])
""",
    "lgamma": """\
dy/dx is `digamma`. Needs SciPy.
>>> gw.lgamma(gw.tensor([0.0, 1.0, 5.0]))
tensor([   inf, 0.0000, 3.1781])
""",
    "digamma": """\
dy/dx is ``polygamma(1, x)``. -inf at 0, inf at -0.0, NaN at the other poles. Also `special.psi`. Needs SciPy.
>>> gw.digamma(gw.tensor([0.0, 1.0, 2.0]))
tensor([   -inf, -0.5772,  0.4228])
""",
    "polygamma": """\
Shape: any, and the result has the same. Dtypes: floating-point; integers become the default one. The derivative is
``polygamma(n + 1, input)``. Needs SciPy.
>>> gw.polygamma(1, gw.tensor([1.0, 2.0]))
tensor([1.6449, 0.6449])
""",
    "mvlgamma": """\
Shape: any, and the result has the same. Also `special.multigammaln`. Needs SciPy.
>>> gw.mvlgamma(gw.tensor([2.0, 3.0]), 2)
tensor([0.4516, 1.5502])
""",
    "i0": """\
Shape: any, and the result has the same. dy/dx is `special.i1`. NaN at the infinities. Needs SciPy.
>>> gw.i0(gw.tensor([0.0, 1.0]))
tensor([1.0000, 1.2661])
""",
    "igamma": """\
Shape: the arguments broadcast. Raises NotImplementedError for integers and complex numbers, and in a backward pass
towards ``input``. Also `special.gammainc`. Needs SciPy.
>>> gw.igamma(gw.tensor([1.0, 2.0]), gw.tensor([1.0, 1.0]))
tensor([0.6321, 0.2642])
""",
    "igammac": """\
Shape: the arguments broadcast. Raises NotImplementedError for integers and complex numbers, and in a backward pass
towards ``input``. Also `special.gammaincc`. Needs SciPy.
>>> gw.igammac(gw.tensor([1.0, 2.0]), gw.tensor([1.0, 1.0]))
tensor([0.3679, 0.7358])
""",
    "sinc": """\
>>> gw.sinc(gw.tensor([0.0, 0.5, 1.5]))
tensor([ 1.0000,  0.6366, -0.2122])
""",
    "logit": """\
Shape: any, and the result has the same. Dtypes: floating-point; integers become the default one. -inf at 0, inf at 1,
NaN outside, without ``eps``. The derivative is 1 / (x (1 - x)), with ``eps`` 0 outside of eps and 1 - eps.
>>> gw.logit(gw.tensor([0.0, 0.25, 1.0]))
tensor([   -inf, -1.0986,     inf])
>>> gw.logit(gw.tensor([0.0, 0.25]), eps=0.1)
tensor([-2.1972, -1.0986])
""",
    "xlogy": """\
dz/dx = log y (0 where x = 0 and y <= 0), dz/dy = x / y. One argument may be a number.
>>> gw.xlogy(gw.tensor([0.0, 2.0]), gw.tensor([0.0, 1.0]))
tensor([0., 0.])
""",
    "cholesky": """\
Shape: (*, n, n), and the result has the same. Raises RuntimeError unless the matrices are square; see
`linalg.cholesky`.
>>> gw.cholesky(gw.tensor([[4.0, 2.0], [2.0, 5.0]]))
tensor([[2., 0.],
        [1., 2.]])
""",
    "cholesky_inverse": """\
Shape: (*, n, n), and the result has the same. Of the triangle that is not read the gradient is 0.
>>> gw.cholesky_inverse(gw.tensor([[2.0, 0.0], [1.0, 2.0]]))
tensor([[ 0.3125, -0.1250],
        [-0.1250,  0.2500]])
""",
    "cholesky_solve": """\
Args:
    input: the right-hand sides (*, n, k).
    L: the factor (*, n, n), lower, or upper if ``upper``; its other triangle is not read, and gets gradient 0.
    upper: whether ``L`` is the upper factor.

Shape: (*, n, k). Raises RuntimeError for fewer than two dims, and for two dtypes.
>>> gw.cholesky_solve(gw.tensor([[4.0], [7.0]]), gw.tensor([[2.0, 0.0], [1.0, 2.0]]))
tensor([[0.3750],
        [1.2500]])
""",
    "triangular_solve": """\
Args:
    b: the right-hand sides (*, n, k).
    A: (*, n, n), of which one triangle is read.
    upper: whether that is the upper one.
    transpose: whether T^T X = b is solved.
    unitriangular: whether the diagonal counts as 1, and is not read.

Raises RuntimeError for fewer than two dims. `linalg.solve_triangular` is the newer form.
>>> gw.triangular_solve(gw.tensor([[4.0], [2.0]]), gw.tensor([[2.0, 1.0], [0.0, 2.0]]))
torch.return_types.triangular_solve(
solution=tensor([[1.5000],
        [1.0000]]),
cloned_coefficient=tensor([[2., 1.],
        [0., 2.]]))
""",
    "lu": """\
Shape: (*, m, n) to (*, m, n), (*, min(m, n)) in int32, and (*). `linalg.lu` gives P, L and U.
>>> gw.lu(gw.tensor([[2.0, 1.0], [4.0, 4.0]]))
(tensor([[ 4.0000,  4.0000],
        [ 0.5000, -1.0000]]), tensor([2, 2], dtype=torch.int32))
""",
    "lu_solve": """\
Args:
    input: the right-hand sides (*, n, k).
    LU_data: (*, n, n), as `lu` gives it.
    LU_pivots: (*, n), as `lu` gives it.
>>> factors, swaps = gw.lu(gw.tensor([[2.0, 1.0], [4.0, 4.0]]))
>>> gw.allclose(gw.lu_solve(gw.tensor([[3.0], [8.0]]), factors, swaps), gw.ones(2, 1))
True
""",
    "lu_unpack": """\
Shape: of (*, m, n) and (*, k), with k = min(m, n): (*, m, m), (*, m, k) and (*, k, n).

Raises RuntimeError for pivots that are not int32.
>>> P, L, U = gw.lu_unpack(*gw.lu(gw.tensor([[2.0, 1.0], [4.0, 4.0]])))
>>> P @ L @ U
tensor([[2., 1.],
        [4., 4.]])
""",
    "qr": """\
Shape: (*, m, n) to (*, m, k) and (*, k, n), with k = min(m, n), or m if not ``some``.
>>> A = gw.tensor([[3.0, 1.0], [4.0, 2.0]])
>>> Q, R = gw.qr(A)
>>> gw.allclose(Q @ R, A)
True
""",
    "svd": """\
Shape: (*, m, n) to (*, m, k), (*, k) and (*, n, k), with k = min(m, n). V, not its adjoint as in `linalg.svd`.
>>> gw.svd(gw.tensor([[3.0, 0.0], [0.0, 2.0]])).S
tensor([3., 2.])
""",
    "pinverse": """\
Shape: (*, m, n) to (*, n, m).
>>> gw.pinverse(gw.tensor([[2.0, 0.0], [0.0, 4.0]]))
tensor([[0.5000, 0.0000],
        [0.0000, 0.2500]])
""",
    "svd_lowrank": """\
Shape: (*, m, n) to (*, m, q), (*, q) and (*, n, q). The subspace is drawn anew by each call.
>>> U, S, V = gw.svd_lowrank(gw.tensor([[3.0, 0.0], [0.0, 2.0]]), q=2)
>>> gw.allclose(U @ gw.diag(S) @ V.T, gw.tensor([[3.0, 0.0], [0.0, 2.0]]), atol=1e-5)
True
""",
    "pca_lowrank": """\
Shape: (*, m, n) to (*, m, q), (*, q) and (*, n, q). ``q`` is min(6, m, n) if it is None.

Raises ValueError for a ``q`` out of range, and for a negative ``niter``.
>>> [x.shape for x in gw.pca_lowrank(gw.ones(4, 3), q=2)]
[torch.Size([4, 2]), torch.Size([2]), torch.Size([3, 2])]
""",
    "geqrf": """\
Shape: (*, m, n) to (*, m, n) and (*, min(m, n)). Raises NotImplementedError for an input that requires a gradient.
>>> gw.geqrf(gw.tensor([[3.0, 1.0], [4.0, 2.0]])).tau
tensor([1.6000, 0.0000])
""",
    "ormqr": """\
Args:
    input: (*, m, k) if ``left``, as `geqrf` gives it.
    tau: (*, k), as `geqrf` gives it.
    other: the matrix C.
    left: whether Q stands at the left of C.
    transpose: whether Q^H stands in place of Q.
>>> a, tau = gw.geqrf(gw.tensor([[3.0, 1.0], [4.0, 2.0]]))
>>> gw.allclose(gw.ormqr(a, tau, gw.eye(2)), gw.orgqr(a, tau))
True
""",
    "logdet": """\
Shape: (*, n, n) to (*). Raises RuntimeError unless the matrices are square, and for integers.
>>> gw.logdet(gw.tensor([[2.0, 0.0], [0.0, 3.0]]))
tensor(1.7918)
""",
    "stft": """\
Raises RuntimeError for integers, for other dims, for a window of another length than ``win_length``, and for real
signals without ``return_complex``.
>>> gw.stft(gw.ones(8), 4, window=gw.ones(4), return_complex=True).shape
torch.Size([3, 9])
""",
    "istft": """\
>>> window = gw.hann_window(4)
>>> x = gw.arange(8.0)
>>> gw.allclose(gw.istft(gw.stft(x, 4, window=window, return_complex=True), 4, window=window), x, atol=1e-5)
True
""",
    "bartlett_window": """\
Args:
    window_length: how many entries, at least 0.
    periodic: whether it is one entry longer, without the last: m is ``window_length`` + 1, else ``window_length``.
    dtype: a floating-point one; the default one if None.
    device: where it is.
    requires_grad: whether operations on it are recorded.

Raises RuntimeError for a negative length, and for other dtypes.
>>> gw.bartlett_window(4), gw.bartlett_window(3, periodic=False)
(tensor([0.0000, 0.5000, 1.0000, 0.5000]), tensor([0., 1., 0.]))
""",
    "blackman_window": """\
The arguments and what it raises are those of `bartlett_window`.
>>> gw.blackman_window(4)[1:]
tensor([0.3400, 1.0000, 0.3400])
""",
    "hann_window": """\
The arguments and what it raises are those of `bartlett_window`.
>>> gw.hann_window(4), gw.hann_window(3, periodic=False)
(tensor([0.0000, 0.5000, 1.0000, 0.5000]), tensor([0., 1., 0.]))
""",
    "hamming_window": """\
The other arguments and what it raises are those of `bartlett_window`; ``alpha`` and ``beta`` follow ``periodic``.
>>> gw.hamming_window(4)
tensor([0.0800, 0.5400, 1.0000, 0.5400])
""",
    "kaiser_window": """\
The other arguments and what it raises are those of `bartlett_window`; ``beta`` follows ``periodic``.
>>> gw.kaiser_window(4, beta=2.0)
tensor([0.4387, 0.8348, 1.0000, 0.8348])
""",
}
