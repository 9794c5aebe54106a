"""Patterns: those that are found, and those that are given."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import gradwright as gw
from gradwright.transform.jacobians import jacrev
from gradwright.transform.sparsity import Sparsity, sparsity
from gradwright.transform.sparsity import given as read
from gradwright.transform.vmap import vmap


def line(*numbers):
    return gw.tensor(np.array(numbers, float))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 20), st.integers(1, 20), st.floats(0, 1), st.integers(0, 99))
def test_the_pattern_of_a_matrix_is_found(m, n, share, seed):
    generator = np.random.default_rng(seed)
    matrix = generator.standard_normal((m, n)) * (generator.random((m, n)) < share)
    a = gw.tensor(matrix)
    found = sparsity(lambda x: a @ x, gw.zeros(n, dtype=gw.float64))
    np.testing.assert_array_equal(found.to_dense(), matrix != 0)


def test_a_zero_at_one_point_is_no_zero():
    f = lambda x: x.prod() * x.relu()
    zero, below = gw.zeros(4, dtype=gw.float64), line(-1, -2, -3, -4)
    assert len(sparsity(f, zero, points=0)) == 0
    assert sparsity(f, zero).to_dense().all()
    assert sparsity(f, below, points=4).to_dense().all()


def test_points_where_there_is_no_derivative_are_passed_over():
    found = sparsity(lambda x: x.log() + x.sqrt(), line(1, 2, 3))
    np.testing.assert_array_equal(found.to_dense(), np.eye(3, dtype=bool))


def test_points_where_the_function_raises_are_passed_over():
    def f(x):
        if (x <= 0).any():
            raise ValueError("it is defined for positive numbers")
        return gw.linalg.cholesky(gw.diag(x)).diagonal()

    np.testing.assert_array_equal(sparsity(f, line(1, 2, 3), points=6).to_dense(), np.eye(3, dtype=bool))
    with pytest.raises(ValueError, match="positive"):
        sparsity(f, line(1, -2, 3))


@pytest.mark.parametrize("dtype", [gw.float32, gw.float64, gw.bfloat16])
def test_shapes_are_flattened_and_dtypes_are_all_the_same(dtype):
    f = lambda x: (x * x).sum(1)
    found = sparsity(f, gw.ones(3, 2).to(dtype))
    np.testing.assert_array_equal(found.to_dense(), np.kron(np.eye(3), [1, 1]) > 0)
    assert found.shape == (3, 6)
    assert repr(found) == "Sparsity(6 entries of 3 x 6)"


def test_wide_and_tall_matrices_take_few_products():
    calls = []

    def f(x):
        calls.append(1)
        return gw.cat([x, x * 2.0, x.exp()])

    found = sparsity(f, gw.ones(64, dtype=gw.float64), points=0)
    np.testing.assert_array_equal(found.to_dense(), np.tile(np.eye(64), (3, 1)) > 0)
    assert len(calls) <= 1 + 2 * 7


def test_another_argument_and_no_entries():
    a = gw.ones(2, 3)
    found = sparsity(lambda a, x: a.sum(1) + x, a, gw.ones(2), argnums=1)
    np.testing.assert_array_equal(found.to_dense(), np.eye(2, dtype=bool))
    assert len(sparsity(lambda x: a * 1.0, a)) == 0
    assert sparsity(lambda x: x * 1.0, gw.ones(0)).shape == (0, 0)


def test_neither_history_nor_random_numbers_are_touched():
    x = gw.ones(3, requires_grad=True)
    before = gw.get_rng_state()
    sparsity(lambda x: x * x, x)
    np.testing.assert_array_equal(before.numpy(), gw.get_rng_state().numpy())
    assert x.grad is None


def test_inside_other_transforms():
    x = line(1, 2, 3)
    seen = []

    def f(x):
        seen.append(sparsity(lambda x: x[1:] * x[:-1], x).to_dense())
        return x * x

    jacrev(f)(x)
    gw.func.jvp(f, (x,), (x,))
    for found in seen:
        np.testing.assert_array_equal(found, [[1, 1, 0], [0, 1, 1]])
    with pytest.raises(RuntimeError, match=r"inside vmap.*pattern="):
        vmap(f)(gw.ones(2, 3))


DENSE = np.array([[True, False, True], [False, True, False]])


@pytest.mark.parametrize(
    "pattern",
    [
        DENSE,
        gw.tensor(DENSE),
        np.nonzero(DENSE),
        ([0, 0, 1], [0, 2, 1]),
        (gw.tensor([0, 1, 0]), gw.tensor([2, 1, 0])),
        gw.tensor([[0, 0, 1], [0, 2, 1]]),
        scipy.sparse.csr_array(DENSE),
        scipy.sparse.coo_matrix(DENSE),
        Sparsity([0, 0, 1], [0, 2, 1], (2, 3)),
    ],
)
def test_ways_to_give_a_pattern(pattern):
    np.testing.assert_array_equal(read("f", pattern, (2, 3)).to_dense(), DENSE)


@pytest.mark.parametrize(
    ("pattern", "error", "says"),
    [
        (DENSE.T, ValueError, r"pattern is of shape \(3, 2\), but the matrix has 2 rows.*3 columns.*flatten"),
        (scipy.sparse.eye_array(3), ValueError, r"pattern is of shape \(3, 3\)"),
        (Sparsity([0], [0], (1, 1)), ValueError, r"pattern is of shape \(1, 1\)"),
        (([0, 2], [0, 0]), ValueError, "pattern has row 2, but the rows are 0 to 1"),
        (([0, 1], [0, -1]), ValueError, "pattern has column -1, but the columns are 0 to 2"),
        (([0, 1], [0]), ValueError, "has 2 rows and 1 columns"),
        (([0.0], [1.0]), TypeError, "rows are of float64"),
        (DENSE.astype(float), TypeError, "an array of float64; for numbers write pattern != 0"),
        (DENSE.astype(int).T, ValueError, r"of shape \(2, entries\).*\(3, 2\)"),
        ("tridiagonal", TypeError, "is str"),
    ],
)
def test_bad_patterns_are_named_with_their_mend(pattern, error, says):
    with pytest.raises(error, match=says):
        read("f", pattern, (2, 3))


@pytest.mark.parametrize(
    ("f", "x", "error", "says"),
    [
        (lambda x: (x, x), gw.ones(2), TypeError, "must return one tensor"),
        (lambda x: x["a"], {"a": gw.ones(2), "b": gw.ones(2)}, ValueError, r"inputs\[0\] has 2: make one"),
        (lambda x: x, gw.ones(2, dtype=gw.complex64), RuntimeError, "real"),
    ],
)
def test_bad_functions_and_inputs(f, x, error, says):
    with pytest.raises(error, match=says):
        sparsity(f, x)


def test_argnums_is_one_number():
    with pytest.raises(TypeError, match="argnums must be one int"):
        sparsity(lambda x: x, gw.ones(2), argnums=(0,))
