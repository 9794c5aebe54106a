"""The table of how many of PyTorch's names there are."""

from gradwright.base.absent import Absent
from gradwright.cli import main
from gradwright.pytorch import count
from gradwright.pytorch.known import COUNTED, table


def test_each_module_is_counted_name_by_name():
    found = {c.module: c for c in count.counts()}
    assert tuple(found) == COUNTED
    for module, (_, here, missing) in found.items():
        assert set(here) | set(missing) == table()[module].public
        assert not set(here) & set(missing)
    assert "sin" in found["torch"].here
    assert "requires_grad_" in found["torch.Tensor"].here
    assert "fbgemm_linear_quantize_weight" in found["torch"].missing
    assert found["torch.special"].missing == ()


def test_what_stands_for_a_name_that_is_not_here_does_not_count():
    class Holder:
        a, b = 1, Absent("torch.b")

    assert [count._is_here(Holder, name) for name in "abc"] == [True, False, False]


def test_the_command_prints_it(capsys):
    assert main(["run", "--names"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for c in count.counts():
        assert f"{c.module:<28}{len(c.here):>5} of {len(c.here) + len(c.missing)}" in lines
