"""Functions that few programs call, against PyTorch's, SciPy's and what defines them."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.pytorch import seldom


def symmetric(seed, m):
    a = np.random.default_rng(seed).standard_normal((m, m))
    return a @ a.T + m * np.eye(m)


@pytest.mark.parametrize("largest", [None, True, False])
@pytest.mark.parametrize("general", [False, True])
def test_eigenvalues(torch, largest, general):
    a, b = symmetric(0, 9), symmetric(1, 9) if general else None
    theirs = torch.lobpcg(torch.tensor(a), 2, b if b is None else torch.tensor(b), largest=largest, niter=100,
                          X=torch.tensor(np.random.default_rng(2).standard_normal((9, 2))))  # fmt: skip
    e, x = seldom.lobpcg(gw.tensor(a), 2, b if b is None else gw.tensor(b), largest=largest)
    np.testing.assert_allclose(e.numpy(), theirs[0].numpy(), rtol=1e-6)
    b = np.eye(9) if b is None else b
    np.testing.assert_allclose(a @ x.numpy(), b @ x.numpy() * e.numpy(), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(np.diag(x.numpy().T @ b @ x.numpy()), 1, rtol=1e-8)


def test_eigenvalues_of_a_sparse_matrix_and_their_derivative():
    a = gw.tensor(symmetric(0, 6))
    assert gw.allclose(seldom.lobpcg(a.to_sparse())[0], gw.linalg.eigvalsh(a)[-1:])
    assert gw.autograd.gradcheck(lambda a: seldom.lobpcg((a + a.mT) / 2, 2)[0], (a.requires_grad_(),))


def test_too_many_eigenvalues_are_refused():
    with pytest.raises(RuntimeError, match=r"A rows \(=5\) is smaller than 3 x .*\(=2\): take linalg.eigh"):
        seldom.lobpcg(gw.eye(5), 2)


def test_norms(torch):
    x = np.random.default_rng(0).standard_normal((3, 4))
    sparse = torch.tensor(x).to_sparse()
    np.testing.assert_allclose(seldom.native_norm(gw.tensor(x).to_sparse()), torch.native_norm(sparse))
    np.testing.assert_allclose(seldom.native_norm(gw.tensor(x), 3), np.linalg.norm(x.ravel(), 3))
    found = seldom.native_norm(gw.tensor(x, dtype=gw.float32), 2, 1, True, gw.float64)
    np.testing.assert_allclose(found, np.linalg.norm(x.astype("f4").astype("f8"), axis=1, keepdims=True))


def test_copies_of_complex_views(torch):
    z = np.array([1 + 2j, 3j])
    mine = seldom.view_as_real_copy(given := gw.tensor(z))
    assert mine.tolist() == torch.view_as_real_copy(torch.tensor(z)).tolist()
    mine.zero_()
    assert given.tolist() == z.tolist()
    assert seldom.view_as_complex_copy(gw.view_as_real(given)).tolist() == z.tolist()


@pytest.mark.parametrize(("value", "words"), [
    (0.0, "^Expected Tensor with single nonzero value, but got zero"),
    ([True, False], "^Boolean value of Tensor with more"),
    ([], "^Boolean value of Tensor with no values"),
])  # fmt: skip
def test_assertions_of_tensors(torch, value, words):
    for t, assert_async in ((gw, seldom._assert_async), (torch, torch._assert_async)):
        assert assert_async(t.tensor(True), "message") is None
        with pytest.raises(RuntimeError, match=words):
            assert_async(t.tensor(value))
        with pytest.raises(RuntimeError, match="message"):
            assert_async(t.tensor(False), "message")


@pytest.mark.parametrize("x", [
    np.float32([[1, -2, 3], [4, np.inf, -0.0]]), np.float64([[0.1, 0.2], [0.3, np.nan]]), np.int8([[-1, 3], [7, 5]]),
    np.uint8([[200, 3]]), np.array([[True, False, True]]), np.int64([[-(2**62), 5]]),
])  # fmt: skip
def test_hashes_of_tensors(torch, x):
    for options in ({}, {"dim": 0}, {"dim": -1, "keepdim": True}, {"dim": (0, 1)}, {"dim": (), "keepdim": True}):
        mine = seldom.hash_tensor(gw.tensor(x), **options)
        theirs = torch.hash_tensor(torch.tensor(x), **options)
        assert str(mine.dtype) == str(theirs.dtype)
        assert mine.numpy().tolist() == theirs.numpy().tolist()
    assert seldom.hash_tensor(gw.tensor(x[0, 0])).tolist() == torch.hash_tensor(torch.tensor(x[0, 0])).item()


@pytest.mark.parametrize(("shape", "options", "error"), [
    ((2,), {"mode": 1}, RuntimeError), ((0,), {}, RuntimeError), ((0, 2), {"dim": 0}, IndexError),
    ((2,), {"dim": 5}, IndexError),
])  # fmt: skip
def test_what_has_no_hash(torch, shape, options, error):
    for t, hash_tensor in ((gw, seldom.hash_tensor), (torch, torch.hash_tensor)):
        with pytest.raises(error):
            hash_tensor(t.ones(shape), **options)
        with pytest.raises(NotImplementedError):
            hash_tensor(t.ones(2) * 1j)


def test_assertions_are_made_or_asked(T):
    check = seldom._assert if T is gw else T._assert
    check(T.tensor(1.0) > 0, "fine")
    with pytest.raises(AssertionError, match=r"^not so$"):
        check(T.tensor(1.0) < 0, "not so")

    class Asked:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise LookupError(func.__name__, args[1])

    with pytest.raises(LookupError, match="message"):
        check(Asked(), "message")
