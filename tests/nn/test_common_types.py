"""Names for annotations."""

from gradwright.nn import common_types


def test_the_names_are_pytorchs(torch):
    ours = [name for name in vars(common_types) if name.endswith("_t")]
    assert len(ours) > 10
    assert [name for name in ours if not hasattr(torch.nn.common_types, name)] == []
