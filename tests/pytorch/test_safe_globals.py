"""What a pickle may name: kept as PyTorch keeps it."""

from gradwright.pytorch import safe_globals as ours


class A:
    pass


class B:
    pass


def test_names_are_kept_as_in_pytorch(torch):
    for module in (ours, torch.serialization):
        before = {*module.get_safe_globals()}
        with module.safe_globals([A]):
            module.add_safe_globals([B, A])
            assert {*module.get_safe_globals()} - before == {A, B}
        assert {*module.get_safe_globals()} - before == {B}
        with module.safe_globals([B]):
            pass
        assert {*module.get_safe_globals()} == before


def test_they_are_forgotten():
    with ours.safe_globals([A]):
        ours.add_safe_globals([B])
        ours.clear_safe_globals()
        assert ours.get_safe_globals() == []
    assert ours.get_safe_globals() == []
