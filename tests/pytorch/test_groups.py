"""Tensors by device and dtype: as PyTorch sorts them."""

import importlib

import pytest

import gradwright as gw
from gradwright.pytorch import groups as ours


@pytest.fixture(scope="module")
def theirs():
    pytest.importorskip("torch")
    return importlib.import_module("torch.utils._foreach_utils")


def sorted_by(module, t, lists, **options):
    """What the lists of numbers, each the dtype and then the value of a tensor, are sorted into, as numbers again."""
    lists = [[x if x is None or isinstance(x, str) else t.tensor(x[1], dtype=getattr(t, x[0])) for x in xs]
             for xs in lists]  # fmt: skip
    found = module._group_tensors_by_device_and_dtype(lists, **options)
    plain = lambda x: x if x is None or isinstance(x, str) else x.item()
    return {str(dtype): ([[plain(x) for x in xs] for xs in split], at) for (_, dtype), (split, at) in found.items()}


A = [("float32", 1.0), ("float64", 2.0), ("float32", 3.0)]


@pytest.mark.parametrize("lists", [[A], [A, [None] * 3], [A, [("float32", 4.0), None, ("float32", 5.0)], []]])
@pytest.mark.parametrize("with_indices", [False, True])
def test_groups_are_pytorchs(theirs, lists, with_indices):
    torch = importlib.import_module("torch")
    mine = sorted_by(ours, gw, lists, with_indices=with_indices)
    assert mine == sorted_by(theirs, torch, lists, with_indices=with_indices)


def test_tensors_in_the_groups_are_those_given():
    x = gw.ones(2)
    ((found,), _), = ours._group_tensors_by_device_and_dtype([[x]]).values()
    assert found[0] is x


@pytest.mark.parametrize("lists", [[], [[]], [[None, *A], [None] * 4], [A, A[:2]]])
def test_what_cannot_be_sorted_is_told(theirs, lists):
    for module, t in ((ours, gw), (theirs, importlib.import_module("torch"))):
        with pytest.raises(RuntimeError):
            sorted_by(module, t, lists)


def test_questions(theirs):
    torch = importlib.import_module("torch")
    for module, t in ((ours, gw), (theirs, torch)):
        cpu = t.device("cpu")
        assert module._device_has_foreach_support(cpu)
        assert module._has_foreach_support([t.ones(1), None], cpu)
        assert "cuda" in module._get_foreach_kernels_supported_devices()
    assert {*ours.__all__} <= {*vars(theirs)}
    assert ours._get_fused_kernels_supported_devices() == []
