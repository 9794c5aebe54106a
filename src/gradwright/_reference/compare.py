"""Comparisons, logic, bits, and the parts of complex numbers: entry by entry."""

TEXTS = {
    "allclose": """\
Args:
    input: a tensor.
    other: a tensor of the same dtype; the shapes broadcast.
    rtol: how far an entry may be from that of ``other``, relative to its magnitude.
    atol: how far besides.
    equal_nan: whether NaN is close to NaN.

Infinities are close if they are equal. Raises what `isclose` does.
>>> gw.allclose(gw.tensor([1.0, 2.0]), gw.tensor([1.0, 2.00001]))
True
>>> gw.allclose(gw.tensor([gw.nan]), gw.tensor([gw.nan]))
False
""",
    "equal": """\
Of two shapes the answer is False; they do not broadcast. Dtypes may differ. Entry by entry it is `eq`.
>>> gw.equal(gw.tensor([1.0, 2.0]), gw.tensor([1, 2]))
True
>>> gw.equal(gw.ones(2), gw.ones(1, 2))
False
""",
    "eq": """\
The result is of dtype bool and has no derivative. NaN equals nothing. `equal` compares tensors as a whole.
>>> gw.eq(gw.tensor([1.0, 2.0, gw.nan]), gw.tensor([1.0, 3.0, gw.nan]))
tensor([ True, False, False])
""",
    "ne": """\
The result is of dtype bool and has no derivative. NaN differs from everything. Also `not_equal`.
>>> gw.ne(gw.tensor([1.0, 2.0, gw.nan]), gw.tensor([1.0, 3.0, gw.nan]))
tensor([False,  True,  True])
""",
    "lt": """\
The result is of dtype bool and has no derivative; False where one is NaN. Also `less`.
>>> gw.lt(gw.tensor([1.0, 2.0, 3.0]), 2.0)
tensor([ True, False, False])
""",
    "le": """\
The result is of dtype bool and has no derivative; False where one is NaN. Also `less_equal`.
>>> gw.le(gw.tensor([1.0, 2.0, 3.0]), 2.0)
tensor([ True,  True, False])
""",
    "gt": """\
The result is of dtype bool and has no derivative; False where one is NaN. Also `greater`.
>>> gw.gt(gw.tensor([1.0, 2.0, 3.0]), 2.0)
tensor([False, False,  True])
""",
    "ge": """\
The result is of dtype bool and has no derivative; False where one is NaN. Also `greater_equal`.
>>> gw.ge(gw.tensor([1.0, 2.0, 3.0]), 2.0)
tensor([False,  True,  True])
""",
    "isclose": """\
Args:
    input: a tensor.
    other: a tensor of the same dtype; the shapes broadcast, and the result, of dtype bool, has the common one.
    rtol: how far an entry may be from that of ``other``, relative to its magnitude.
    atol: how far besides.
    equal_nan: whether NaN is close to NaN.
>>> gw.isclose(gw.tensor([1.0, 2.0, gw.inf]), gw.tensor([1.1, 2.00001, gw.inf]))
tensor([False,  True,  True])
""",
    "is_floating_point": """\
>>> gw.is_floating_point(gw.ones(2)), gw.is_floating_point(gw.tensor([1]))
(True, False)
""",
    "is_complex": """\
>>> gw.is_complex(gw.ones(2)), gw.is_complex(gw.tensor([1j]))
(False, True)
""",
    "is_tensor": """\
>>> gw.is_tensor(gw.ones(2)), gw.is_tensor([1.0])
(True, False)
""",
    "numel": """\
>>> gw.numel(gw.ones(2, 3)), gw.numel(gw.tensor(1.0))
(6, 1)
""",
    "isfinite": """\
Shape: any; the result, of dtype bool, has the same. A complex number is finite if both parts are.
>>> gw.isfinite(gw.tensor([1.0, gw.inf, gw.nan]))
tensor([ True, False, False])
""",
    "isinf": """\
Shape: any; the result, of dtype bool, has the same. A complex number is infinite if a part is.
>>> gw.isinf(gw.tensor([1.0, -gw.inf, gw.nan]))
tensor([False,  True, False])
""",
    "isnan": """\
Shape: any; the result, of dtype bool, has the same. A complex number is NaN if a part is.
>>> gw.isnan(gw.tensor([1.0, gw.inf, gw.nan]))
tensor([False, False,  True])
""",
    "isposinf": """\
Shape: any; the result, of dtype bool, has the same. RuntimeError for complex numbers.
>>> gw.isposinf(gw.tensor([1.0, gw.inf, -gw.inf]))
tensor([False,  True, False])
""",
    "isneginf": """\
Shape: any; the result, of dtype bool, has the same. RuntimeError for complex numbers.
>>> gw.isneginf(gw.tensor([1.0, gw.inf, -gw.inf]))
tensor([False, False,  True])
""",
    "isreal": """\
Shape: any; the result, of dtype bool, has the same. Numbers that are not complex all are.
>>> gw.isreal(gw.tensor([1 + 0j, 1j]))
tensor([ True, False])
""",
    "signbit": """\
Shape: any; the result, of dtype bool, has the same. NotImplementedError for complex numbers.
>>> gw.signbit(gw.tensor([-1.0, -0.0, 0.0, 2.0]))
tensor([ True,  True, False, False])
""",
    "logical_and": """\
The result is of dtype bool. NaN counts as nonzero.
>>> gw.logical_and(gw.tensor([1.0, 0.0, 2.0]), gw.tensor([5, 5, 0]))
tensor([ True, False, False])
""",
    "logical_or": """\
The result is of dtype bool. NaN counts as nonzero.
>>> gw.logical_or(gw.tensor([1.0, 0.0, 0.0]), gw.tensor([5, 5, 0]))
tensor([ True,  True, False])
""",
    "logical_xor": """\
The result is of dtype bool. NaN counts as nonzero.
>>> gw.logical_xor(gw.tensor([1.0, 0.0, 0.0]), gw.tensor([5, 5, 0]))
tensor([False,  True, False])
""",
    "logical_not": """\
Shape: any; the result, of dtype bool, has the same. NaN counts as nonzero; complex numbers too.
>>> gw.logical_not(gw.tensor([0.0, 2.0, gw.nan]))
tensor([ True, False, False])
""",
    "bitwise_and": """\
RuntimeError for floats.
>>> gw.bitwise_and(gw.tensor([12, 7]), 10)
tensor([8, 2])
>>> gw.bitwise_and(gw.tensor([True, True]), gw.tensor([True, False]))
tensor([ True, False])
""",
    "bitwise_or": """\
RuntimeError for floats.
>>> gw.bitwise_or(gw.tensor([12, 7]), 10)
tensor([14, 15])
""",
    "bitwise_xor": """\
RuntimeError for floats.
>>> gw.bitwise_xor(gw.tensor([12, 7]), 10)
tensor([ 6, 13])
""",
    "bitwise_not": """\
Shape: any, and the result has the same. Of booleans it is "not", of integers -x - 1.

Raises RuntimeError for floats, NotImplementedError for complex numbers.
>>> gw.bitwise_not(gw.tensor([0, 5, -1]))
tensor([-1, -6,  0])
>>> gw.bitwise_not(gw.tensor([True, False]))
tensor([False,  True])
""",
    "bitwise_left_shift": """\
RuntimeError for floats.
>>> gw.bitwise_left_shift(gw.tensor([1, 3]), gw.tensor([3, 1]))
tensor([8, 6])
""",
    "bitwise_right_shift": """\
RuntimeError for floats.
>>> gw.bitwise_right_shift(gw.tensor([8, -8]), 1)
tensor([ 4, -4])
""",
    "angle": """\
Shape: any, and the result has the same. Integers and booleans become the default dtype. The derivative is 0 for real
numbers, and at 0 for complex ones. NaN gives NaN.
>>> gw.angle(gw.tensor([1.0, -1.0]))
tensor([0.0000, 3.1416])
>>> gw.angle(gw.tensor([1j, -1 + 0j]))
tensor([1.5708, 3.1416])
""",
    "complex": """\
Shape: the parts broadcast. Raises RuntimeError for parts of two dtypes, and unless they are half, float or double.
>>> gw.complex(gw.tensor([1.0, 0.0]), gw.tensor([0.0, -2.0]))
tensor([1.+0.j, 0.-2.j])
""",
    "polar": """\
Shape: the arguments broadcast. Raises RuntimeError for two dtypes.
>>> gw.polar(gw.tensor([1.0, 2.0]), gw.tensor([0.0, gw.pi / 2]))
tensor([ 1.0000e+00+0.j, -8.7423e-08+2.j])
""",
    "conj": """\
Shape: any, and the result has the same. Nothing is put off until it is asked for, as it is in PyTorch.
>>> gw.conj(gw.tensor([1 + 2j]))
tensor([1.-2.j])
""",
    "conj_physical": """\
Shape: any, and the result has the same.
>>> gw.conj_physical(gw.tensor([1 + 2j]))
tensor([1.-2.j])
""",
    "real": """\
Shape: that of ``input``. What is written to it is written to ``input``.
>>> gw.real(gw.tensor([1 + 2j, 3j]))
tensor([1., 0.])
""",
    "imag": """\
Shape: that of ``input``. What is written to it is written to ``input``.
>>> gw.imag(gw.tensor([1 + 2j, 3j]))
tensor([2., 3.])
""",
    "resolve_conj": """\
>>> gw.resolve_conj(gw.tensor([1 + 2j]))
tensor([1.+2.j])
""",
    "resolve_neg": """\
>>> gw.resolve_neg(gw.tensor([1.0]))
tensor([1.])
""",
    "view_as_complex": """\
Shape: (*, 2) to (*). Raises RuntimeError for another last size, and unless ``input`` is half, float or double.
>>> gw.view_as_complex(gw.tensor([[1.0, 2.0], [3.0, 4.0]]))
tensor([1.+2.j, 3.+4.j])
""",
    "view_as_real": """\
Shape: (*) to (*, 2). What is written to it is written to ``input``.
>>> gw.view_as_real(gw.tensor([1 + 2j, 3j]))
tensor([[1., 2.],
        [0., 3.]])
""",
}
