"""Powers, exponentials, logarithms, trigonometry: entry by entry."""

TEXTS = {
    "acos": """\
Also `arccos`. A complex number has the principal value.
>>> gw.acos(gw.tensor([-1.0, 0.0, 1.0, 2.0]))
tensor([3.1416, 1.5708, 0.0000,    nan])
""",
    "acosh": """\
Also `arccosh`.
>>> gw.acosh(gw.tensor([0.5, 1.0, 2.0]))
tensor([   nan, 0.0000, 1.3170])
""",
    "asin": """\
Also `arcsin`.
>>> gw.asin(gw.tensor([-1.0, 0.0, 0.5, 2.0]))
tensor([-1.5708,  0.0000,  0.5236,     nan])
""",
    "asinh": """\
Also `arcsinh`.
>>> gw.asinh(gw.tensor([-1.0, 0.0, 1.0]))
tensor([-0.8814,  0.0000,  0.8814])
""",
    "atan": """\
Also `arctan`.
>>> gw.atan(gw.tensor([-gw.inf, 0.0, 1.0]))
tensor([-1.5708,  0.0000,  0.7854])
""",
    "atan2": """\
In (-pi, pi]; ``input`` is y, ``other`` x. Also `arctan2`.
>>> gw.atan2(gw.tensor([0.0, 1.0, 0.0]), gw.tensor([1.0, 0.0, -1.0]))
tensor([0.0000, 1.5708, 3.1416])
""",
    "atanh": """\
Also `arctanh`.
>>> gw.atanh(gw.tensor([-1.0, 0.0, 0.5, 2.0]))
tensor([  -inf, 0.0000, 0.5493,    nan])
""",
    "cos": """\
NaN at the infinities.
>>> gw.cos(gw.tensor([0.0, gw.pi / 3, gw.pi]))
tensor([ 1.0000,  0.5000, -1.0000])
""",
    "cosh": """\
>>> gw.cosh(gw.tensor([-1.0, 0.0, 1.0]))
tensor([1.5431, 1.0000, 1.5431])
""",
    "deg2rad": """\
Shape: any, and the result has the same. Whole numbers become floating-point; RuntimeError for complex numbers.
>>> gw.deg2rad(gw.tensor([0.0, 90.0, 180.0]))
tensor([0.0000, 1.5708, 3.1416])
""",
    "exp": """\
>>> gw.exp(gw.tensor([-gw.inf, 0.0, 1.0]))
tensor([0.0000, 1.0000, 2.7183])
>>> gw.exp(gw.tensor([1]))
tensor([2.7183])
""",
    "exp2": """\
>>> gw.exp2(gw.tensor([-1.0, 0.0, 3.0]))
tensor([0.5000, 1.0000, 8.0000])
""",
    "expm1": """\
>>> gw.expm1(gw.tensor([0.0, 1e-10, 1.0]))
tensor([0.0000e+00, 1.0000e-10, 1.7183e+00])
""",
    "float_power": """\
Dtypes: float64, or complex128 if one argument is complex, whatever the arguments have. The derivatives are those of
`pow`; one argument may be a number.

Raises TypeError if neither argument is a tensor.
>>> gw.float_power(gw.tensor([1, 2, 4]), -0.5)
tensor([1.0000, 0.7071, 0.5000], dtype=torch.float64)
""",
    "hypot": """\
>>> gw.hypot(gw.tensor([3.0, 1e30]), gw.tensor([4.0, 1e30]))
tensor([5.0000e+00, 1.4142e+30])
""",
    "log": """\
Of a complex number the principal value.
>>> gw.log(gw.tensor([-1.0, 0.0, 1.0, gw.e]))
tensor([nan, -inf, 0., 1.])
>>> gw.log(gw.tensor([-1 + 0j]))
tensor([0.+3.1416j])
""",
    "log10": """\
-inf at 0, NaN below.
>>> gw.log10(gw.tensor([0.0, 1.0, 1000.0]))
tensor([  -inf, 0.0000, 3.0000])
""",
    "log1p": """\
-inf at -1, NaN below.
>>> gw.log1p(gw.tensor([-1.0, 0.0, 1e-10]))
tensor([      -inf, 0.0000e+00, 1.0000e-10])
""",
    "log2": """\
-inf at 0, NaN below.
>>> gw.log2(gw.tensor([0.0, 1.0, 8.0]))
tensor([-inf, 0., 3.])
""",
    "logaddexp": """\
Shape: the arguments broadcast. Of two entries -inf the result is -inf, and its derivatives are NaN.
Complex numbers too.

Raises NotImplementedError for integers and booleans.
>>> gw.logaddexp(gw.tensor([0.0, 1000.0]), gw.tensor([0.0, 1000.0]))
tensor([6.9315e-01, 1.0007e+03])
""",
    "logaddexp2": """\
Shape: the arguments broadcast. The share of each argument is its derivative: 2**input / (2**input + 2**other).
Integers become the default dtype; complex numbers too.
>>> gw.logaddexp2(gw.tensor([0.0, 1000.0]), gw.tensor([0.0, 1000.0]))
tensor([1.0000e+00, 1.0010e+03])
""",
    "pow": """\
Args:
    input: the base, a tensor, or a number if ``exponent`` is a tensor.
    exponent: a number or a tensor.

Shape: the arguments broadcast. Dtypes: converted to the common one (`result_type`); complex numbers too.

The derivatives are n x**(n-1) by the base x (0 if n is 0) and x**n log x by the exponent n, taken as 0 where x = 0 and
n >= 0. Of a negative base with an exponent that is not whole the result is NaN.

Raises RuntimeError for two booleans, and for integers with a negative number as exponent.
>>> gw.pow(gw.tensor([1.0, 2.0, -3.0]), 2)
tensor([1., 4., 9.])
>>> gw.pow(gw.tensor([1, 2]), 0.5)
tensor([1.0000, 1.4142])
>>> gw.pow(2.0, gw.tensor([-1.0, 3.0]))
tensor([0.5000, 8.0000])
""",
    "rad2deg": """\
Shape: any, and the result has the same. Whole numbers become floating-point; RuntimeError for complex numbers.
>>> gw.rad2deg(gw.tensor([0.0, gw.pi]))
tensor([  0., 180.])
""",
    "reciprocal": """\
>>> gw.reciprocal(gw.tensor([-2.0, 0.0, 4.0]))
tensor([-0.5000,     inf,  0.2500])
""",
    "relu": """\
NaN is kept. Also `nn.functional.relu`.
>>> x = gw.tensor([-1.0, 0.0, 2.0], requires_grad=True)
>>> gw.relu(x)
tensor([0., 0., 2.], grad_fn=<ReluBackward0>)
>>> gw.relu(x).sum().backward()
>>> x.grad
tensor([0., 0., 1.])
""",
    "rsqrt": """\
Infinite at 0, NaN below.
>>> gw.rsqrt(gw.tensor([-1.0, 0.0, 4.0]))
tensor([   nan,    inf, 0.5000])
""",
    "sigmoid": """\
Neither side overflows. Also `special.expit`.
>>> gw.sigmoid(gw.tensor([-1000.0, 0.0, 1.0]))
tensor([0.0000, 0.5000, 0.7311])
""",
    "sin": """\
NaN at the infinities.
>>> gw.sin(gw.tensor([0.0, gw.pi / 6, gw.pi / 2]))
tensor([0.0000, 0.5000, 1.0000])
""",
    "sinh": """\
>>> gw.sinh(gw.tensor([-1.0, 0.0, 1.0]))
tensor([-1.1752,  0.0000,  1.1752])
""",
    "sqrt": """\
>>> x = gw.tensor([0.0, 1.0, 4.0], requires_grad=True)
>>> gw.sqrt(x).sum().backward()
>>> x.grad
tensor([   inf, 0.5000, 0.2500])
""",
    "square": """\
Shape: any, and the result has the same. Dtypes: any; of booleans it is int64. The derivative is 2 x.
>>> gw.square(gw.tensor([-3.0, 0.5]))
tensor([9.0000, 0.2500])
""",
    "tan": """\
>>> gw.tan(gw.tensor([0.0, gw.pi / 4, 1.0]))
tensor([0.0000, 1.0000, 1.5574])
""",
    "tanh": """\
>>> gw.tanh(gw.tensor([-gw.inf, 0.0, 1.0]))
tensor([-1.0000,  0.0000,  0.7616])
""",
}
