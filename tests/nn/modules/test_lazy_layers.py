"""Layers that take a size from their first input: each becomes what it is named after, and computes the same."""

import pytest

import gradwright as gw
from tests.nn.module_cases import compare, double, translated

LAYERS = [
    ("LazyLinear", (3,), (2, 4)),
    *((f"LazyConv{kind}{n}d", (4, 2), (2, 3, *range(4, 4 + n))) for kind in ("", "Transpose") for n in (1, 2, 3)),
    *((f"LazyConv{kind}2d", (4, 2), (3, 4, 5)) for kind in ("", "Transpose")),
    *((f"Lazy{kind}Norm{n}d", (), (2, 3, *range(4, 4 + n))) for kind in ("Batch", "Instance") for n in (1, 2, 3)),
]


@pytest.mark.parametrize(("name", "args", "shape"), LAYERS)
def test_pytorch_agrees(torch, name, args, shape):
    with double(torch):
        theirs, mine = (getattr(lib.nn, name)(*args) for lib in (torch, gw))
        assert repr(mine) == repr(theirs)
        assert list(mine.state_dict()) == list(theirs.state_dict())
        x = torch.randn(shape, requires_grad=True)
        theirs(x), mine(translated(x))
        assert type(mine).__name__ == type(theirs).__name__ == name.removeprefix("Lazy")
        compare(mine, theirs, (x,))


def test_initial_values_are_those_of_the_layer_it_becomes(lib):
    drawn = []
    for m in (lib.nn.LazyConv2d(4, 3), lib.nn.Conv2d(2, 4, 3)):
        lib.manual_seed(1)
        if "Lazy" in type(m).__name__:
            m(lib.zeros(1, 2, 5, 5))
        else:
            m.reset_parameters()
        drawn.append(m.weight.tolist())
    assert drawn[0] == drawn[1]


def test_without_a_bias(lib):
    m = lib.nn.LazyLinear(2, bias=False)
    m(lib.ones(1, 3))
    assert m.bias is None
    assert m.weight.shape == (2, 3)


def test_dtype_and_state(lib):
    m = lib.nn.LazyBatchNorm1d(dtype=lib.float64)
    m.load_state_dict(lib.nn.BatchNorm1d(3, dtype=lib.float64).state_dict())
    assert m.weight.shape == m.running_mean.shape == (3,)
    assert m.running_mean.dtype is lib.float64


@pytest.mark.parametrize(("name", "args", "shape"), [("Linear", (2,), (1, 3)), ("Conv2d", (2, 3), (1, 3, 4, 4)),
                                                     ("BatchNorm1d", (), (2, 3))])  # fmt: skip
def test_what_was_loaded_stays(name, args, shape):
    """PyTorch's convolutions and normalisations keep 0 for their size."""
    whole, m = getattr(gw.nn, name)(3, *args), getattr(gw.nn, f"Lazy{name}")(*args)
    state = {key: t.clone() for key, t in whole.state_dict().items()}
    m.load_state_dict(state)
    wrong = gw.ones(shape[0], 4, *shape[2:])
    with pytest.raises(RuntimeError, match=r"^The \w+ inferred from input: 4 is not equal to \w+ from self") as caught:
        m(wrong)
    assert "it takes" not in caught.value.__notes__[0]
    m.eval()(gw.ones(shape))
    assert repr(m) == repr(whole)
    assert all(gw.equal(t, state[key]) for key, t in m.state_dict().items())


def test_settings_are_kept(lib):
    m = lib.nn.LazyInstanceNorm2d(affine=False, momentum=0.5)
    m(lib.ones(2, 3, 4, 4))
    assert (m.affine, m.momentum, m.track_running_stats, m.weight) == (False, 0.5, True, None)
    assert m.running_mean.shape == (3,)


@pytest.mark.parametrize(("name", "args", "error"), [("LazyConv2d", (4, 2), RuntimeError),
                                                     ("LazyBatchNorm2d", (), ValueError)])  # fmt: skip
def test_another_number_of_dims(lib, name, args, error):
    with pytest.raises(error, match=r"(?i)expected "):
        getattr(lib.nn, name)(*args)(lib.ones(2, 3))


def test_a_refused_input_leaves_the_layer_as_it_was():
    m = gw.nn.LazyConv2d(4, 2)
    with pytest.raises(RuntimeError, match="to LazyConv2d, but got input of size"):
        m(gw.ones(2, 3))
    assert m.has_uninitialized_params()
    assert m(gw.ones(1, 3, 4, 4)).shape == (1, 4, 3, 3)
