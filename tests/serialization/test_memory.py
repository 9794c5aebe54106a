"""What shares memory is stored once and shares it again; what only lies close by does not."""

import io

import numpy as np
import pytest

import gradwright as gw
from gradwright.serialization.memory import Store, restore


def there_and_back(data):
    file = io.BytesIO()
    gw.save(data, file)
    file.seek(0)
    return gw.load(file)


def stored(*tensors):
    """The names and shapes of what is stored for these tensors, called a, b, c and so on."""
    store = Store()
    for name, t in zip("abcdef", tensors, strict=False):
        store.number(t, name)
    return {name: a.shape for name, a in store.lay_out()[0].items()}


BASE = gw.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize(
    ("tensors", "expected"),
    [
        ((BASE, BASE.detach()), {"a": (3, 4)}),
        ((BASE.t(), BASE.t()), {"a": (4, 3)}),
        ((BASE[1], BASE), {"b": (3, 4)}),
        ((BASE[:2], BASE[1:]), {"a.memory": (48,)}),
        ((BASE[0], BASE[1]), {"a": (4,), "b": (4,)}),
        ((BASE[:, :2], BASE[:, 2:]), {"a": (3, 2), "b": (3, 2)}),
        ((BASE[:, :3], BASE[:, 1:]), {"a.memory": (48,)}),
        ((BASE.t(), BASE), {"b": (3, 4)}),
        ((BASE[:0], BASE[:0], BASE), {"a": (0, 4), "b": (0, 4), "c": (3, 4)}),
        ((BASE.clone(), BASE.clone()), {"a": (3, 4), "b": (3, 4)}),
    ],
)
def test_what_is_stored(tensors, expected):
    assert stored(*tensors) == expected


def test_names_are_unlike():
    data = {"a": {"b": gw.ones(1)}, "a.b": gw.ones(2), "": gw.ones(3), "__metadata__": gw.ones(4), "\ud800": gw.ones(5)}
    back = there_and_back(data)
    assert back.keys() == data.keys()
    assert [back[k].numel() for k in ("a.b", "", "__metadata__", "\ud800")] == [2, 3, 4, 5]


def test_tied_parameters_are_one_again():
    w = gw.nn.Parameter(gw.ones(2))
    back = there_and_back({"encoder": w, "decoder": w, "values": w.detach(), "frozen": gw.nn.Parameter(w, False)})
    assert back["encoder"] is back["decoder"]
    assert type(back["encoder"]) is gw.nn.Parameter
    assert not back["frozen"].requires_grad
    back["values"][0] = 5
    assert back["encoder"][0] == back["frozen"][0] == 5


def test_buffers_come_back_as_buffers():
    first, second = there_and_back([gw.nn.Buffer(gw.ones(2), persistent=False), gw.nn.Buffer(gw.ones(2))])
    assert type(first) is type(second) is gw.nn.Buffer
    assert (first.persistent, second.persistent) == (False, True)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex128"])
def test_views_share_again(dtype):
    base = gw.arange(12).reshape(3, 4).to(dtype=dtype)
    views = [base[:2], base[1:, ::2], base.t()[1:3], base[1, 1], base[2].expand(2, 4)]
    for data in (views, [*views, base], [*views, base.numpy()[::-1]]):
        back = there_and_back(data)
        assert all(np.array_equal(np.asarray(b), np.asarray(d)) for b, d in zip(back, data, strict=True))
        back[0][1, 1] = 77
        assert back[1][0, 0] != 77
        assert back[2][0, 1] == back[3] == 77


def test_shared_memory_shares_its_version():
    a, b = there_and_back([BASE, BASE.detach()])
    a.requires_grad_()
    saved = a * a
    with gw.no_grad():
        b.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        saved.sum().backward()


def test_saving_changes_nothing_and_loading_gives_memory_of_its_own():
    t = BASE.clone()
    [back] = there_and_back([t])
    back.zero_()
    assert t.sum() == 66
    assert back.array.flags.writeable
    assert back.array.base is None or back.array.base.nbytes == back.array.nbytes


@pytest.mark.parametrize(
    "change",
    [
        {"in": "b"}, {"dtype": "float64"}, {"dtype": "object"}, {"is": "Module"},
        {"shape": [3], "strides": [8], "offset": 0}, {"shape": [2], "strides": [-4], "offset": 0},
        {"shape": [1], "strides": [4], "offset": 100}, {"shape": [2**40], "strides": [4], "offset": 0},
    ],
)  # fmt: skip
def test_records_that_reach_beyond_their_array(change):
    record = {"is": "Tensor", "dtype": "float32", "grad": False, "in": "a"}
    arrays = {"a": np.zeros(4, np.float32)}
    assert restore([record], arrays)[0].shape == (4,)
    with pytest.raises((ValueError, TypeError, KeyError)):
        restore([record | change], arrays)
