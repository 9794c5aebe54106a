"""Names for annotations."""

from gradwright.pytorch import types


def test_the_names_are_pytorchs(torch):
    assert [name for name in types.__all__ if not hasattr(torch.types, name)] == []
    assert [n for n in ("_TensorOrTensors", "_dtype", "_size", "_int") if not hasattr(torch.types, n)] == []
    assert isinstance(1.5, types.Number)
    assert types._int is int
