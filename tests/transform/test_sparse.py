"""Sparse Jacobians and Hessians: against whole ones, in both modes, recorded, in other transforms; and the check."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import gradwright as gw
import gradwright.backends.strict  # makes its arrays known
from gradwright.transform.forward import jvp
from gradwright.transform.jacobians import hessian, jacfwd, jacrev
from gradwright.transform.reverse import grad
from gradwright.transform.sparse import sparse_hessian, sparse_jacobian
from gradwright.transform.sparsity import sparsity
from gradwright.transform.vmap import vmap

X = np.random.default_rng(0).uniform(0.3, 2.0, 12)


def reaction(x):
    """Diffusion and reaction on a line: tridiagonal."""
    p = gw.nn.functional.pad(x, (1, 1))
    return p[2:] - 2.0 * x + p[:-2] + x * (1.0 - x * x)


def energy(x):
    """A chain, and one variable that meets all."""
    return (x[1:] ** 2 * x[:-1].sin()).sum() + x[0] * (x**3).sum()


def tridiagonal(n):
    i = np.arange(n)
    return np.concatenate([i, i[1:], i[:-1]]), np.concatenate([i, i[:-1], i[1:]])


@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
@pytest.mark.parametrize("chunk_size", [1, 2, None])
@pytest.mark.parametrize("pattern", [None, tridiagonal(12)])
def test_a_jacobian_is_that_of_jacrev(mode, chunk_size, pattern):
    x = gw.tensor(X)
    found = sparse_jacobian(reaction, pattern, mode=mode, chunk_size=chunk_size)(x)
    expected = jacrev(reaction)(x).numpy()
    np.testing.assert_allclose(found.to_dense().numpy(), expected, rtol=1e-12)
    np.testing.assert_allclose(found.to_scipy().toarray(), expected, rtol=1e-12)
    np.testing.assert_allclose(found.values.numpy(), expected[tuple(found.indices.numpy())], rtol=1e-12)
    assert found.shape == (12, 12)
    assert found.indices.dtype == gw.int64


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.floats(0, 1), st.integers(0, 99),
       st.sampled_from([None, "forward", "reverse"]))  # fmt: skip
def test_any_pattern_in_any_mode(m, n, share, seed, mode):
    generator = np.random.default_rng(seed)
    matrix = generator.standard_normal((m, n)) * (generator.random((m, n)) < share)
    a = gw.tensor(matrix)
    f = lambda x: (a @ x).sin()
    x = gw.tensor(generator.standard_normal(n))
    found = sparse_jacobian(f, scipy.sparse.csr_array(matrix), mode=mode)(x)
    np.testing.assert_allclose(found.to_dense().numpy(), jacfwd(f)(x).numpy(), rtol=1e-10, atol=1e-12)


def test_the_cheaper_mode_is_taken():
    tall = sparse_jacobian(lambda x: gw.cat([x[0] * x, x[0] * x]))
    tall_calls = count(tall, gw.tensor(X))
    assert tall_calls > 1  # tangents: two colours of columns, and the check
    assert count(sparse_jacobian(lambda x: (x * x).sum()[None]), gw.tensor(X)) == 1


def count(jacobian, x):
    """How often the function runs once the pattern is there."""
    calls = []
    f = jacobian.__wrapped__
    jacobian = sparse_jacobian(lambda x: calls.append(1) or f(x))
    jacobian(x)
    calls.clear()
    jacobian(x)
    return len(calls)


def test_pattern_and_colours_are_kept_while_shapes_remain():
    calls = []
    jacobian = sparse_jacobian(lambda x: calls.append(1) or x * x)
    jacobian(gw.tensor(X))
    first = len(calls)
    jacobian(gw.tensor(X + 1.0))
    assert len(calls) == first + 1
    assert jacobian(gw.ones(3)).shape == (3, 3)


def test_shapes_dtypes_and_other_arguments():
    f = lambda a, x: a @ x * x
    a, x = gw.eye(3), gw.rand(3, 2)
    found = sparse_jacobian(f, argnums=1)(a, x)
    expected = jacrev(f, 1)(a, x)
    assert found.to_dense().shape == expected.shape == (3, 2, 3, 2)
    np.testing.assert_allclose(found.to_dense().numpy(), expected.numpy(), rtol=1e-5)
    assert found.values.dtype == gw.float32
    narrow = sparse_jacobian(lambda x: (x * x).float())(gw.tensor(X))
    np.testing.assert_allclose(narrow.to_dense().numpy(), np.diag(2 * X), rtol=1e-6)


@pytest.mark.parametrize("kind", [{"device": "array-api-strict", "dtype": gw.float64}, {"dtype": gw.float16}])
def test_other_libraries_and_half_precision(kind):
    x = gw.tensor([0.5, 1.0, 2.0], **kind)
    assert sparse_jacobian(lambda x: x[1:] * x[:-1])(x).to_dense().tolist() == [[1.0, 0.5, 0.0], [0.0, 2.0, 1.0]]
    found = sparse_hessian(lambda x: (x[1:] * x[:-1]).sum())(x)
    assert found.to_dense().tolist() == [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    assert found.values.device == x.device
    with pytest.raises(RuntimeError, match=MISSING):
        sparse_jacobian(lambda x: x[1:] * x[:-1], ([0, 1], [0, 1]))(x)


def test_no_entries_and_no_numbers():
    found = sparse_jacobian(lambda x: gw.ones(3) * 1.0)(gw.ones(2))
    assert found.to_dense().tolist() == [[0.0, 0.0]] * 3
    assert sparse_jacobian(lambda x: x * x)(gw.ones(0)).to_dense().shape == (0, 0)
    assert sparse_hessian(lambda x: x.sum())(gw.ones(2)).to_dense().tolist() == [[0.0, 0.0]] * 2


@pytest.mark.parametrize("chunk_size", [1, None])
@pytest.mark.parametrize("triangle", [None, np.tril, np.triu])
def test_a_hessian_is_that_of_hessian(chunk_size, triangle):
    x = gw.tensor(X)
    expected = hessian(energy)(x).numpy()
    pattern = None if triangle is None else triangle(expected != 0)
    found = sparse_hessian(energy, pattern, chunk_size=chunk_size)(x)
    np.testing.assert_allclose(found.to_dense().numpy(), expected, rtol=1e-11, atol=1e-12)
    assert found.pattern.star_colours.max() + 1 <= 4


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_values_have_a_history(mode):
    x = gw.tensor(X, requires_grad=True)
    values = sparse_jacobian(reaction, mode=mode)(x).values
    (values**2).sum().backward()
    expected = gw.tensor(X, requires_grad=True)
    (gw.autograd.functional.jacobian(reaction, expected, create_graph=True) ** 2).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), expected.grad.numpy(), rtol=1e-10)
    with gw.no_grad():
        assert not sparse_jacobian(reaction)(x).values.requires_grad
    h = gw.tensor(X, requires_grad=True)
    sparse_hessian(lambda x: (x**3).sum())(h).values.sum().backward()
    np.testing.assert_allclose(h.grad.numpy(), np.full(12, 6.0))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_inside_other_transforms(mode):
    x = gw.tensor(X)
    pattern = sparsity(reaction, x)
    size = lambda x: (sparse_jacobian(reaction, pattern, mode=mode)(x).to_dense() ** 2).sum()
    whole = lambda x: (jacrev(reaction)(x) ** 2).sum()
    np.testing.assert_allclose(grad(size)(x).numpy(), grad(whole)(x).numpy(), rtol=1e-10)
    np.testing.assert_allclose(jvp(size, (x,), (x,))[1].item(), jvp(whole, (x,), (x,))[1].item())
    batch = gw.tensor(np.stack([X, 2 * X]))
    np.testing.assert_allclose(vmap(size)(batch).numpy(), [size(b).item() for b in batch])
    energies = vmap(lambda x: sparse_hessian(energy, pattern=np.ones((12, 12), bool))(x).values)(batch)
    np.testing.assert_allclose(energies.numpy()[1].reshape(12, 12), hessian(energy)(batch[1]).numpy(), atol=1e-10)


MISSING = "the pattern misses entries.*sparsity"


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("missing", [0, 17, 33])
def test_a_pattern_that_misses_an_entry_is_noticed(mode, missing):
    rows, columns = (np.delete(p, missing) for p in tridiagonal(12))
    with pytest.raises(RuntimeError, match=MISSING):
        sparse_jacobian(reaction, (rows, columns), mode=mode)(gw.tensor(X))
    sparse_jacobian(reaction, (rows, columns), mode=mode, check=False)(gw.tensor(X))


def test_a_small_entry_that_is_missed_is_noticed_in_its_own_row():
    scales = gw.tensor([1.0, 1e-12], dtype=gw.float64)
    f = lambda x: scales * x.sum()
    with pytest.raises(RuntimeError, match=MISSING):
        sparse_jacobian(f, ([0, 0, 1], [0, 1, 0]), mode="forward")(gw.ones(2, dtype=gw.float64))


def test_an_entry_that_is_0_where_the_pattern_was_found_is_noticed_elsewhere():
    f = lambda x: gw.where(x[0] > 100.0, x[0] * x, x)
    jacobian = sparse_jacobian(f)
    assert len(jacobian(gw.tensor(X)).pattern) == 12
    there = gw.tensor(X + 100.0)
    with pytest.raises(RuntimeError, match=MISSING):
        jacobian(there)
    np.testing.assert_allclose(sparse_jacobian(f)(there).to_dense().numpy(), jacrev(f)(there).numpy())


def test_a_hessian_with_a_missing_entry_is_noticed():
    with pytest.raises(RuntimeError, match=f"sparse_hessian: {MISSING}"):
        sparse_hessian(energy, tridiagonal(12))(gw.tensor(X))
    with pytest.raises(RuntimeError, match=MISSING):
        sparse_hessian(energy, ([], []))(gw.tensor(X))


def test_the_check_allows_for_rounding_and_more_if_told():
    f = lambda x: (x.float() * 0.1).double() * x
    with pytest.raises(RuntimeError, match="check=1e-3"):
        sparse_jacobian(lambda x: reaction(reaction(x.float()).double()), tridiagonal(12))(gw.tensor(X))
    rough = sparse_jacobian(lambda x: (x.float().cumsum(0)).double(), check=1e-4)
    np.testing.assert_allclose(rough(gw.tensor(X)).to_dense().numpy(), np.tri(12))
    assert sparse_jacobian(f, check=1e-5)(gw.tensor(X)).shape == (12, 12)


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"mode": "both"}, ValueError, "mode must be 'forward', 'reverse'.*'both'"),
        ({"chunk_size": 0}, ValueError, "chunk_size must be None or greater than 0, but is 0"),
        ({"pattern": np.ones((2, 2), bool)}, ValueError, r"pattern is of shape \(2, 2\), but the matrix has 12 rows"),
        ({"pattern": ([12], [0])}, ValueError, "row 12, but the rows are 0 to 11"),
        ({"argnums": (0, 1)}, TypeError, "argnums must be one int"),
    ],
)
def test_bad_input_is_named_with_its_mend(arguments, error, says):
    with pytest.raises(error, match=says):
        sparse_jacobian(reaction, **arguments)(gw.tensor(X))


def test_bad_input_of_a_hessian():
    with pytest.raises(ValueError, match="sparse_hessian: chunk_size"):
        sparse_hessian(energy, chunk_size=-1)
    with pytest.raises(ValueError, match=r"sparse_hessian: pattern is of shape \(2, 2\)"):
        sparse_hessian(energy, np.ones((2, 2), bool))(gw.tensor(X))
    with pytest.raises(RuntimeError, match=r"sparse_hessian|grad"):
        sparse_hessian(reaction)(gw.tensor(X))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_an_output_of_another_size_than_before_is_named(mode):
    jacobian = sparse_jacobian(lambda x: x[x > 0] * 2.0, mode=mode)
    assert jacobian(gw.tensor([1.0, -1.0, 2.0])).to_dense().tolist() == [[2.0, 0.0, 0.0], [0.0, 0.0, 2.0]]
    with pytest.raises(RuntimeError, match=r"returned 1 entries, but the pattern is of a matrix of shape \(2, 3\)"):
        jacobian(gw.tensor([1.0, -1.0, -2.0]))


def test_scipy_is_asked_for_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "scipy.sparse", None)
    found = sparse_jacobian(reaction)(gw.tensor(X))
    with pytest.raises(ImportError, match="pip install scipy"):
        found.to_scipy()
    assert "34 entries of 12 x 12" in repr(found)


def test_that_of_a_number_by_a_number_has_no_dims():
    assert sparse_jacobian(lambda x: x.sin())(gw.tensor(0.0)).to_dense().shape == ()
