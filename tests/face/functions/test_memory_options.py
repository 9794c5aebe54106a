"""``layout=`` and ``pin_memory=`` of what makes tensors: taken where PyTorch takes them, and what is refused."""

import numpy as np
import pytest

import gradwright as gw

MAKERS = {
    "zeros": lambda T, **k: T.zeros(2, 3, **k),
    "ones": lambda T, **k: T.ones(2, 3, **k),
    "empty": lambda T, **k: T.empty(2, 3, **k),
    "full": lambda T, **k: T.full((2, 3), 0.5, **k),
    "eye": lambda T, **k: T.eye(2, 3, **k),
    "arange": lambda T, **k: T.arange(1, 4, **k),
    "linspace": lambda T, **k: T.linspace(0, 1, 3, **k),
    "logspace": lambda T, **k: T.logspace(0, 1, 3, **k),
    "scalar_tensor": lambda T, **k: T.scalar_tensor(2, **k),
    "empty_strided": lambda T, **k: T.empty_strided((2, 3), (1, 2), **k),
    "empty_permuted": lambda T, **k: T.empty_permuted((2, 3), (1, 0), **k),
    "rand": lambda T, **k: T.rand(2, 3, **k),
    "randn": lambda T, **k: T.randn(2, 3, **k),
    "randint": lambda T, **k: T.randint(3, (2, 3), **k),
    "randperm": lambda T, **k: T.randperm(3, **k),
    "normal": lambda T, **k: T.normal(0.0, 1.0, (2, 3), **k),
    "zeros_like": lambda T, **k: T.zeros_like(T.ones(2, 3), **k),
    "ones_like": lambda T, **k: T.ones_like(T.ones(2, 3), **k),
    "empty_like": lambda T, **k: T.empty_like(T.ones(2, 3), **k),
    "full_like": lambda T, **k: T.full_like(T.ones(2, 3), 0.5, **k),
    "rand_like": lambda T, **k: T.rand_like(T.ones(2, 3), **k),
    "randn_like": lambda T, **k: T.randn_like(T.ones(2, 3), **k),
    "randint_like": lambda T, **k: T.randint_like(T.ones(2, 3), 4, **k),
    "new_zeros": lambda T, **k: T.ones(2).new_zeros((2, 3), **k),
    "new_ones": lambda T, **k: T.ones(2).new_ones((2, 3), **k),
    "new_empty": lambda T, **k: T.ones(2).new_empty((2, 3), **k),
    "new_full": lambda T, **k: T.ones(2).new_full((2, 3), 0.5, **k),
    "new_empty_strided": lambda T, **k: T.ones(2).new_empty_strided((2, 3), (1, 2), **k),
    "tril_indices": lambda T, **k: T.tril_indices(2, 3, **k),
    "triu_indices": lambda T, **k: T.triu_indices(2, 3, **k),
    "fftfreq": lambda T, **k: T.fft.fftfreq(3, **k),
    "rfftfreq": lambda T, **k: T.fft.rfftfreq(3, **k),
    "hann_window": lambda T, **k: T.hann_window(3, **k),
    "kaiser_window": lambda T, **k: T.kaiser_window(3, **k),
}
DRAWN = {"empty", "empty_strided", "empty_permuted", "rand", "randn", "randint", "randperm", "normal", "empty_like",
         "rand_like", "randn_like", "randint_like", "new_empty", "new_empty_strided"}  # fmt: skip
FEW = ("zeros", "empty", "zeros_like", "empty_like", "new_zeros", "new_empty")


@pytest.mark.parametrize("name", MAKERS)
def test_strided_and_unpinned_are_what_there_is_anyway(name):
    torch = pytest.importorskip("torch")
    for options in ({"pin_memory": False}, {"layout": "strided"}, {"layout": "strided", "pin_memory": None}):
        mine, theirs = (MAKERS[name](T, **_own(T, options)) for T in (gw, torch))
        assert (mine.shape, str(mine.dtype), mine.stride()) == (tuple(theirs.shape), str(theirs.dtype), theirs.stride())
        assert str(mine.layout) == str(theirs.layout) == "torch.strided"
        if name not in DRAWN:
            np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-6, atol=1e-7)


def _own(T, options):
    return {key: getattr(T, value) if key == "layout" else value for key, value in options.items()}


@pytest.mark.parametrize("name", MAKERS)
def test_pinned_memory_makes_no_difference(name):
    assert MAKERS[name](gw, pin_memory=True).shape == MAKERS[name](gw).shape


def test_tensor_takes_pin_memory():
    assert gw.tensor([1.0], pin_memory=False).tolist() == [1.0]


@pytest.mark.parametrize("name", FEW)
def test_sparse_tensors_without_entries(name):
    made = MAKERS[name](gw, layout=gw.sparse_coo, dtype=gw.float64)
    assert made.layout is gw.sparse_coo
    assert made.dtype is gw.float64
    assert made._nnz() == 0
    assert made.to_dense().tolist() == [[0.0] * 3] * 2


def test_sparse_like_a_transposed_one():
    assert gw.zeros_like(gw.ones(3, 2).T, layout=gw.sparse_coo).shape == (2, 3)


@pytest.mark.parametrize("name", sorted(MAKERS.keys() - {*FEW}))
def test_others_make_no_sparse_ones(name):
    with pytest.raises(NotImplementedError, match=r"strided.*layout=torch.sparse_coo: to_sparse\(\)"):
        MAKERS[name](gw, layout=gw.sparse_coo)


@pytest.mark.parametrize("name", ["zeros", "rand_like", "hann_window"])
def test_what_is_refused(name):
    make = MAKERS[name]
    with pytest.raises(NotImplementedError, match=r"coordinate form.*layout=torch.sparse_csr"):
        make(gw, layout=gw.sparse_csr)
    with pytest.raises(TypeError, match=r"'layout' must be torch\.layout, not str"):
        make(gw, layout="strided")
    with pytest.raises(TypeError, match="'pin_memory' must be bool, not int"):
        make(gw, pin_memory=3)


def test_another_argument_is_told():
    with pytest.raises(TypeError, match=r"zeros\(\) got an unexpected keyword argument 'dtyp'; did you mean 'dtype'"):
        gw.zeros(2, dtyp=gw.float64)
    with pytest.raises(TypeError, match="'layouts'; did you mean 'layout'"):
        gw.rand_like(gw.ones(2), layouts=gw.strided)
