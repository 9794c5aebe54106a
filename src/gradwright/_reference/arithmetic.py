"""Arithmetic, rounding, choosing: entry by entry."""

TEXTS = {
    "abs": """\
Also `absolute`.
>>> x = gw.tensor([-1.5, 0.0, 2.0], requires_grad=True)
>>> gw.abs(x).sum().backward()
>>> x.grad
tensor([-1.,  0.,  1.])
>>> gw.abs(gw.tensor([3 - 4j]))
tensor([5.])
""",
    "add": """\
Args:
    input: a tensor, or a number if ``other`` is a tensor.
    other: a tensor, or a number.
    alpha: a number that ``other`` is multiplied by; of no higher kind than both (no float for integers).

Shape: the arguments broadcast; RuntimeError if they do not.

Dtypes: converted to the common one (`result_type`); of booleans the result is "or"; complex numbers too.

Raises RuntimeError for an ``alpha`` of a higher kind than both.
>>> gw.add(gw.tensor([1.0, 2.0]), gw.tensor([[10.0], [20.0]]), alpha=0.5)
tensor([[ 6.,  7.],
        [11., 12.]])
>>> gw.add(gw.tensor([1, 2]), 0.5)
tensor([1.5000, 2.5000])
""",
    "ceil": """\
>>> gw.ceil(gw.tensor([-1.5, 0.2, 3.0]))
tensor([-1.,  1.,  3.])
""",
    "clamp": """\
Args:
    input: real numbers.
    min: the least value, a number or a tensor that broadcasts with ``input``.
    max: the largest value; where it is less than ``min`` the result is ``max``.

Dtypes: converted to the common one (`result_type`); NotImplementedError for complex numbers.

NaN stays NaN. Also `clip`; `clamp_min` and `clamp_max` take one bound.
>>> x = gw.tensor([-2.0, -1.0, 0.0, 3.0], requires_grad=True)
>>> gw.clamp(x, -1.0, 1.0)
tensor([-1., -1.,  0.,  1.], grad_fn=<ClampBackward1>)
>>> gw.clamp(x, -1.0, 1.0).sum().backward()
>>> x.grad
tensor([0., 1., 1., 0.])
""",
    "clamp_max": """\
The larger entries become ``max``, a number or a tensor that broadcasts; an entry equal to it gets the whole gradient.
>>> gw.clamp_max(gw.tensor([-1.0, 2.0, 3.0]), 2.0)
tensor([-1.,  2.,  2.])
""",
    "clamp_min": """\
The smaller entries become ``min``, a number or a tensor that broadcasts; an entry equal to it gets the whole gradient.
>>> gw.clamp_min(gw.tensor([-1.0, 2.0, 3.0]), 2.0)
tensor([2., 2., 3.])
""",
    "div": """\
Args:
    input: a tensor, or a number if ``other`` is a tensor.
    other: a tensor, or a number.
    rounding_mode: None for the exact quotient, "trunc" for one rounded towards 0, "floor" for one rounded down.

Shape: the arguments broadcast; RuntimeError if they do not.

Dtypes: converted to the common one (`result_type`). Integers are divided in the default dtype; with a
``rounding_mode`` they stay integers. The exact quotient is of complex numbers too.

At a pole the quotient is infinite, or NaN for 0 / 0. Raises RuntimeError where an integer is divided by 0 with a
``rounding_mode``, and for an unknown one. Also `divide`.
>>> x, y = gw.tensor([-5.0, 5.0]), gw.tensor([3.0, 0.0])
>>> gw.div(x, y)
tensor([-1.6667,     inf])
>>> gw.div(x, y, rounding_mode="trunc")
tensor([-1., inf])
>>> gw.div(gw.tensor([-5, 5]), 3, rounding_mode="floor")
tensor([-2,  1])
""",
    "floor": """\
>>> gw.floor(gw.tensor([-1.5, 0.2, 3.0]))
tensor([-2.,  0.,  3.])
""",
    "floor_divide": """\
A float divided by 0 gives an infinity or NaN.

Raises RuntimeError for an integer divided by 0, and for booleans.
>>> gw.floor_divide(gw.tensor([-5, 5]), 3)
tensor([-2,  1])
>>> gw.floor_divide(gw.tensor([5.0, 1.0]), gw.tensor([-3.0, 0.0]))
tensor([-2., inf])
""",
    "fmod": """\
NaN where y is 0.

Raises RuntimeError for an integer divided by 0, and for booleans.
>>> gw.fmod(gw.tensor([-5.0, 5.0]), 3.0)
tensor([-2.,  2.])
>>> gw.remainder(gw.tensor([-5.0, 5.0]), 3.0)
tensor([1., 2.])
""",
    "frac": """\
Shape: any, and the result has the same. Of an infinity NaN.

Raises NotImplementedError unless ``input`` is floating-point.
>>> gw.frac(gw.tensor([-1.25, 0.5, 3.0]))
tensor([-0.2500,  0.5000,  0.0000])
""",
    "frexp": """\
Shape: both results have that of ``input``. The mantissa has its dtype, the exponent is int32.

The derivative of the mantissa is 2**-exponent. Raises RuntimeError unless ``input`` is floating-point.
>>> gw.frexp(gw.tensor([0.0, 3.0, -0.25]))
torch.return_types.frexp(
mantissa=tensor([ 0.0000,  0.7500, -0.5000]),
exponent=tensor([ 0,  2, -1], dtype=torch.int32))
""",
    "ldexp": """\
The arguments broadcast. Dtypes: the common one with the default dtype, so that halves become float32.

Differentiable in both: d/d other = log 2 times the result.
>>> gw.ldexp(gw.tensor([1.0, 3.0]), gw.tensor([2, -1]))
tensor([4.0000, 1.5000])
""",
    "lerp": """\
Args:
    input: where it starts: floating-point or complex.
    end: where it ends, of the same dtype.
    weight: the share of the way, a number or a tensor of the same dtype (or 0-d); not kept within 0 and 1.

Shape: the tensors broadcast. With a weight of 1 the result is exactly ``end``.

Raises RuntimeError for other dtypes than that of ``input``, NotImplementedError for integers.
>>> gw.lerp(gw.tensor([0.0, 10.0]), gw.tensor([1.0, 20.0]), 0.25)
tensor([ 0.2500, 12.5000])
""",
    "masked_fill": """\
Args:
    input: of any dtype.
    mask: of dtype bool, which broadcasts with ``input``.
    value: a number, or a 0-d tensor, which gets the sum of the gradient where the mask is True.

Raises RuntimeError for a mask that is not boolean, and for a value with dims.
>>> gw.masked_fill(gw.tensor([1.0, 2.0, 3.0]), gw.tensor([True, False, True]), -1.0)
tensor([-1.,  2., -1.])
""",
    "maximum": """\
NaN in either gives NaN.
>>> x, y = (gw.tensor(v, requires_grad=True) for v in ([1.0, 2.0, 3.0], [3.0, 2.0, 1.0]))
>>> gw.maximum(x, y)
tensor([3., 2., 3.], grad_fn=<MaximumBackward0>)
>>> gw.maximum(x, y).sum().backward()
>>> x.grad
tensor([0.0000, 0.5000, 1.0000])
""",
    "minimum": """\
NaN in either gives NaN.
>>> x, y = (gw.tensor(v, requires_grad=True) for v in ([1.0, 2.0, 3.0], [3.0, 2.0, 1.0]))
>>> gw.minimum(x, y)
tensor([1., 2., 1.], grad_fn=<MinimumBackward0>)
>>> gw.minimum(x, y).sum().backward()
>>> x.grad
tensor([1.0000, 0.5000, 0.0000])
""",
    "mul": """\
Also `multiply`. Of booleans it is "and".
>>> gw.mul(gw.tensor([1.0, 2.0]), gw.tensor([[3.0], [4.0]]))
tensor([[3., 6.],
        [4., 8.]])
>>> gw.mul(gw.tensor([1, 2]), 0.5)
tensor([0.5000, 1.0000])
""",
    "nan_to_num": """\
Args:
    input: of any dtype; a copy of integers and booleans. Of complex numbers each part by itself.
    nan: what stands for NaN, 0 if None.
    posinf: what stands for the positive infinity, the largest number of the dtype if None.
    neginf: what stands for the negative infinity, the lowest number of the dtype if None.
>>> gw.nan_to_num(gw.tensor([gw.nan, gw.inf, 1.0]), nan=-1.0, posinf=9.0)
tensor([-1.,  9.,  1.])
""",
    "neg": """\
Also `negative`. Of unsigned integers it wraps round.
>>> gw.neg(gw.tensor([-1.0, 0.0, 2.0]))
tensor([ 1., -0., -2.])
""",
    "nextafter": """\
Shape: the arguments broadcast. Raises NotImplementedError for integers and booleans.
>>> gw.nextafter(gw.tensor([1.0]), gw.tensor([2.0])) - 1
tensor([1.1921e-07])
""",
    "positive": """\
Shape and dtype are those of ``input``; no copy is made.
>>> gw.positive(gw.tensor([-1.0, 2.0]))
tensor([-1.,  2.])
""",
    "remainder": """\
NaN where y is 0.

Raises RuntimeError for an integer divided by 0, and for booleans.
>>> gw.remainder(gw.tensor([-5.0, 5.0]), 3.0)
tensor([1., 2.])
>>> gw.fmod(gw.tensor([-5.0, 5.0]), 3.0)
tensor([-2.,  2.])
""",
    "round": """\
Shape: any, and the result has the same. Dtypes: any but bool (RuntimeError); NotImplementedError for complex
numbers, and for integers with ``decimals``.
>>> gw.round(gw.tensor([0.5, 1.5, 2.5]))
tensor([0., 2., 2.])
>>> gw.round(gw.tensor([3.14159, 1234.5]), decimals=2)
tensor([   3.1400, 1234.5000])
""",
    "rsub": """\
The arguments, their shapes and dtypes are those of `sub`, the other way round.
>>> gw.rsub(gw.tensor([1.0, 2.0]), 10.0, alpha=2)
tensor([8., 6.])
""",
    "sgn": """\
Shape and dtype are those of ``input``; booleans stay as they are.
>>> gw.sgn(gw.tensor([-2.0, 0.0, 3.0]))
tensor([-1.,  0.,  1.])
>>> gw.sgn(gw.tensor([3 + 4j]))
tensor([0.6000+0.8000j])
""",
    "sign": """\
Shape and dtype are those of ``input``; NaN gives NaN.
>>> gw.sign(gw.tensor([-2.0, 0.0, 3.0]))
tensor([-1.,  0.,  1.])
""",
    "sub": """\
Args:
    input: a tensor, or a number if ``other`` is a tensor.
    other: a tensor, or a number.
    alpha: a number that ``other`` is multiplied by; of no higher kind than both (no float for integers).

Shape: the arguments broadcast; RuntimeError if they do not.

Dtypes: converted to the common one (`result_type`); complex numbers too. Also `subtract`.
>>> gw.sub(gw.tensor([1.0, 2.0]), gw.tensor([[10.0], [20.0]]), alpha=0.5)
tensor([[-4., -3.],
        [-9., -8.]])
>>> gw.sub(5, gw.tensor([1, 2]))
tensor([4, 3])
""",
    "true_divide": """\
`div` without a ``rounding_mode``.
>>> gw.true_divide(gw.tensor([1, 0]), 2)
tensor([0.5000, 0.0000])
>>> gw.true_divide(1.0, gw.tensor([0.0, 4.0]))
tensor([   inf, 0.2500])
""",
    "trunc": """\
Also `fix`.
>>> gw.trunc(gw.tensor([-1.5, 0.2, 3.0]))
tensor([-1.,  0.,  3.])
""",
    "where": """\
Args:
    condition: of dtype bool.
    input: a tensor or a number.
    other: a tensor or a number.

Shape: the three broadcast. Dtypes: converted to the common one (`result_type`) of ``input`` and ``other``.

The gradient goes to the one that is chosen, 0 to the other: but a NaN or infinity that the other made before stays one
in its own derivative (0 times infinity). With a condition alone it is ``condition.nonzero(as_tuple=True)``.

Raises RuntimeError for a condition that is not boolean.
>>> x = gw.tensor([-1.0, 2.0])
>>> gw.where(x > 0, x, 0.0)
tensor([0., 2.])
>>> gw.where(x > 0)
(tensor([1]),)
""",
    "addcdiv": """\
Shape: the three tensors broadcast. Dtypes: converted to the common one; complex numbers too.
>>> gw.addcdiv(gw.tensor([1.0, 1.0]), gw.tensor([1.0, 2.0]), gw.tensor([2.0, 4.0]), value=10.0)
tensor([6., 6.])
""",
    "addcmul": """\
Shape: the three tensors broadcast. Dtypes: converted to the common one; complex numbers too.

Raises NotImplementedError for booleans.
>>> gw.addcmul(gw.tensor([1.0, 1.0]), gw.tensor([1.0, 2.0]), gw.tensor([2.0, 4.0]), value=10.0)
tensor([21., 81.])
""",
    "copysign": """\
dz/dx is -1 or 1, dz/dy 0.
>>> gw.copysign(gw.tensor([0.0, 1.0, -2.0]), gw.tensor([-1.0, -0.0, 3.0]))
tensor([-0., -1.,  2.])
""",
    "dist": """\
Shape: the tensors broadcast; the result is 0-d. ``p`` may be ``inf``. Where both are equal the derivative is 0.

Raises RuntimeError for integers.
>>> gw.dist(gw.tensor([1.0, 2.0]), gw.tensor([4.0, 6.0]))
tensor(5.)
""",
    "fmax": """\
Shape: the arguments broadcast. RuntimeError for complex numbers. `maximum` gives NaN, and shares the gradient.
>>> gw.fmax(gw.tensor([1.0, gw.nan, 2.0]), gw.tensor([3.0, 0.0, 2.0]))
tensor([3., 0., 2.])
""",
    "fmin": """\
Shape: the arguments broadcast. RuntimeError for complex numbers. `minimum` gives NaN, and shares the gradient.
>>> gw.fmin(gw.tensor([1.0, gw.nan, 2.0]), gw.tensor([3.0, 0.0, 2.0]))
tensor([1., 0., 2.])
""",
    "gcd": """\
Shape: the arguments broadcast. The result is not negative, and gcd(0, 0) is 0; it has no derivative.

Raises NotImplementedError for floats, booleans and complex numbers.
>>> gw.gcd(gw.tensor([12, -12, 0]), gw.tensor([18, 8, 5]))
tensor([6, 4, 5])
""",
    "lcm": """\
Shape: the arguments broadcast. The result is not negative, and 0 where one argument is; it has no derivative.

Raises NotImplementedError for floats, booleans and complex numbers.
>>> gw.lcm(gw.tensor([4, -3, 0]), gw.tensor([6, 5, 5]))
tensor([12, 15,  0])
""",
    "heaviside": """\
Shape: the arguments broadcast. NaN gives 0.

Raises RuntimeError for two dtypes, and for complex numbers; NotImplementedError in the backward pass, as it has no
derivative.
>>> gw.heaviside(gw.tensor([-1.0, 0.0, 2.0]), gw.tensor([0.5]))
tensor([0.0000, 0.5000, 1.0000])
""",
}
