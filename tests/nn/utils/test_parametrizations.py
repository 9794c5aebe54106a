"""Ready parametrizations, against PyTorch and against what they promise."""

import numpy as np
import pytest

import gradwright as gw


def layer(lib, rows=3, columns=2, dtype=None):
    m = lib.nn.Linear(columns, rows, dtype=dtype or lib.float64)
    values = lib.arange(float(rows * columns), dtype=dtype or lib.float64).reshape(rows, columns)
    m.load_state_dict({"weight": values, "bias": lib.zeros(rows)})
    return m


def state(m):
    return {name: np.asarray(t.detach().tolist()) for name, t in m.state_dict().items()}


def gradients(m):
    return [np.asarray(p.grad.tolist()) for p in m.parameters()]


def close(ones, others):
    for one, other in zip(ones, others, strict=True):
        assert one.shape == other.shape
        assert one == pytest.approx(other, abs=1e-7)


# ---- weight_norm ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [0, 1, -1, None])
def test_weight_norm(torch, dim):
    both = []
    for lib in (gw, torch):
        m = lib.nn.utils.parametrizations.weight_norm(layer(lib), dim=dim)
        m(lib.ones(1, 2, dtype=lib.float64)).sum().backward()
        both.append(m)
    assert list(state(both[0])) == list(state(both[1]))
    close(state(both[0]).values(), state(both[1]).values())
    close(gradients(both[0]), gradients(both[1]))


def test_weight_norm_loads_what_was_saved_of_old(lib):
    m = lib.nn.utils.parametrizations.weight_norm(layer(lib))
    old = {"bias": lib.zeros(3), "weight_g": lib.full((3, 1), 5.0), "weight_v": lib.tensor([[3.0, 4.0]] * 3)}
    assert repr(m.load_state_dict(old)) == "<All keys matched successfully>"
    assert m.weight.tolist() == [[3, 4]] * 3


# ---- spectral_norm --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [None, 0, 1])
def test_spectral_norm(lib, dim):
    m = lib.nn.utils.parametrizations.spectral_norm(layer(lib), dim=dim)
    assert list(state(m)) == [
        "bias", "parametrizations.weight.original", "parametrizations.weight.0._u", "parametrizations.weight.0._v",
    ]  # fmt: skip
    for _ in range(20):
        m.weight
    raw = m.parametrizations.weight.original
    assert np.linalg.norm(m.weight.tolist(), 2) == pytest.approx(1, rel=1e-9)
    ratio = np.asarray(raw.tolist()) / np.linalg.norm(raw.tolist(), 2)
    assert np.asarray(m.weight.tolist()) == pytest.approx(ratio, rel=1e-9)


def test_the_gradient_of_spectral_norm(torch):
    both = [lib.nn.utils.parametrizations.spectral_norm(layer(lib)).eval() for lib in (gw, torch)]
    for lib, m in zip((gw, torch), both, strict=True):
        m.load_state_dict({name: lib.tensor(t.tolist(), dtype=lib.float64) for name, t in state(both[0]).items()})
        (m(lib.ones(1, 2, dtype=lib.float64)) ** 2).sum().backward()
    close(gradients(both[0]), gradients(both[1]))


def test_spectral_norm_iterates_in_training_only(lib):
    m = lib.nn.utils.parametrizations.spectral_norm(layer(lib, 6, 6))
    with lib.no_grad():
        m.parametrizations.weight.original.add_(lib.eye(6, dtype=lib.float64) * 30)
    m.eval()
    assert (m.weight == m.weight).all()
    m.train()
    assert (m.weight != m.weight).any()


def test_spectral_norm_of_a_vector_and_of_a_convolution(lib):
    m = lib.nn.utils.parametrizations.spectral_norm(layer(lib), "bias")
    m.parametrizations.bias.original.data.copy_(lib.tensor([3.0, 4.0, 0.0]))
    assert m.bias.tolist() == pytest.approx([0.6, 0.8, 0])
    conv = lib.nn.utils.parametrizations.spectral_norm(lib.nn.ConvTranspose1d(2, 5, 3))
    assert conv.parametrizations.weight[0]._u.shape == (5,)
    conv = lib.nn.utils.parametrizations.spectral_norm(lib.nn.Conv1d(2, 5, 3))
    assert conv.parametrizations.weight[0]._v.shape == (6,)


@pytest.mark.parametrize(("args", "error", "message"), [
    (("foo",), ValueError, "has no parameter or buffer with name 'foo'"),
    (("weight", 0), ValueError, "Expected n_power_iterations to be positive, but got n_power_iterations=0"),
    (("weight", 1, 1e-12, 2), IndexError, "Dimension out of range"),
])  # fmt: skip
def test_spectral_norm_refuses(lib, args, error, message):
    with pytest.raises(error, match=message):
        lib.nn.utils.parametrizations.spectral_norm(layer(lib), *args)


# ---- orthogonal -----------------------------------------------------------------------------------------


def is_orthogonal(q):
    q = np.asarray(q.detach().tolist())
    small = q.conj().T @ q if q.shape[0] >= q.shape[1] else q @ q.conj().T
    return np.allclose(small, np.eye(len(small)))


@pytest.mark.parametrize("size", [(3, 3), (4, 2), (2, 4)])
@pytest.mark.parametrize("name", [None, "matrix_exp", "cayley", "householder"])
def test_orthogonal(lib, name, size):
    m = lib.nn.utils.parametrizations.orthogonal(layer(lib, *size), orthogonal_map=name)
    assert is_orthogonal(m.weight)
    new = lib.nn.init.orthogonal_(lib.empty(size, dtype=lib.float64))
    m.weight = new
    assert np.asarray(m.weight.tolist()) == pytest.approx(np.asarray(new.tolist()))
    with lib.no_grad():
        m.parametrizations.weight.original.add_((lib.arange(float(new.numel())).reshape(size) / 7).tril(-1))
    assert is_orthogonal(m.weight)


@pytest.mark.parametrize("size", [(3, 3), (4, 2), (2, 4)])
@pytest.mark.parametrize("name", ["matrix_exp", "cayley", "householder"])
def test_the_maps_and_their_gradients(torch, name, size):
    both = []
    for lib in (gw, torch):
        m = lib.nn.utils.parametrizations.orthogonal(layer(lib, *size), orthogonal_map=name, use_trivialization=False)
        original = m.parametrizations.weight.original
        original.data = lib.arange(float(original.numel()), dtype=lib.float64).reshape(size) / 5 - 0.3
        original.data.diagonal().fill_(-1.0)
        (m.weight * lib.arange(float(original.numel()), dtype=lib.float64).reshape(size)).sum().backward()
        both.append((np.asarray(m.weight.tolist()), np.asarray(original.grad.tolist())))
    close(*both)


def test_householder_is_inverted(lib):
    m = lib.nn.utils.parametrizations.orthogonal(layer(lib, 4, 2), orthogonal_map="householder",
                                                 use_trivialization=False)  # fmt: skip
    new = lib.nn.init.orthogonal_(lib.empty(4, 2, dtype=lib.float64))
    m.weight = new
    assert np.asarray(m.weight.tolist()) == pytest.approx(np.asarray(new.tolist()))


def test_unitary(lib):
    m = lib.nn.Module()
    m.w = lib.nn.Parameter(lib.eye(3, dtype=lib.complex128) * 1j)
    lib.nn.utils.parametrizations.orthogonal(m, "w")
    assert is_orthogonal(m.w)


@pytest.mark.parametrize(("args", "options", "error", "message"), [
    (("foo",), {}, ValueError, "has no parameter or buffer with name 'foo'"),
    (("bias",), {}, ValueError, "Expected a matrix or batch of matrices. Got a tensor of 1 dimensions"),
    (("weight", "foo"), {}, ValueError, 'orthogonal_map has to be one of "matrix_exp", "cayley", "householder"'),
])  # fmt: skip
def test_orthogonal_refuses(lib, args, options, error, message):
    with pytest.raises(error, match=message):
        lib.nn.utils.parametrizations.orthogonal(layer(lib), *args, **options)


def test_what_cannot_be_assigned_to(lib):
    m = lib.nn.utils.parametrizations.orthogonal(layer(lib), orthogonal_map="cayley", use_trivialization=False)
    with pytest.raises(NotImplementedError, match="It is not possible to assign to the matrix exponential or the Cay"):
        m.weight = lib.ones(3, 2, dtype=lib.float64)
    m = lib.nn.utils.parametrizations.orthogonal(layer(lib))
    with pytest.raises(ValueError, match="Expected a matrix or batch of matrices of shape"):
        m.weight = lib.ones(2, 2, dtype=lib.float64)
