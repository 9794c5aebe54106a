"""What stands for names that are not here may be mentioned, and says so when it is used."""

import pytest

from gradwright.base.absent import Absent

GONE = r"^gradwright has no torch\.rpc yet: ask first$"


@pytest.fixture
def rpc():
    return Absent("torch.rpc", "ask first")


@pytest.mark.parametrize("use", [
    lambda x: x(), lambda x: x(1, a=2), lambda x: bool(x), lambda x: len(x), lambda x: list(x), lambda x: x.__enter__(),
    lambda x: 1 in x,
])  # fmt: skip
def test_to_use_it_is_an_error_with_its_name(rpc, use):
    with pytest.raises(AttributeError, match=GONE):
        use(rpc)


def test_what_belongs_to_it_is_not_there_either(rpc):
    inner = rpc.backends.GLOO
    with pytest.raises(AttributeError, match=r"^gradwright has no torch\.rpc\.backends\.GLOO yet: ask first$"):
        inner()
    with pytest.raises(AttributeError, match=r"^gradwright has no torch\.rpc\.flag yet"):
        rpc.flag = True
    with pytest.raises(AttributeError, match=r"^gradwright has no torch\.rpc yet"):
        del rpc.flag
    assert not hasattr(rpc, "__wrapped__")  # which Python asks


def test_it_may_be_named_in_annotations_and_questions(rpc):
    def f(x: rpc.RRef[int] | None = None, y: rpc | int = 1) -> None:
        pass

    assert f.__annotations__.keys() == {"x", "y", "return"}
    assert not isinstance(1, rpc)
    assert not isinstance(1, (rpc.RRef, str))
    assert not issubclass(int, rpc)
    assert rpc is not None
    assert {rpc: 1}[rpc] == 1
    assert "torch.rpc" in repr(rpc)


def test_a_class_derived_from_it_can_be_defined_and_has_no_instances(rpc):
    class Mine(rpc.RRef):
        x = 1

    assert Mine.x == 1
    with pytest.raises(AttributeError, match=r"^gradwright has no torch\.rpc\.RRef yet: ask first$"):
        Mine(2)


def test_without_a_mend():
    with pytest.raises(AttributeError, match=r"^gradwright has no torch\.x yet$"):
        Absent("torch.x")()


def test_whether_it_is_available_has_an_answer(rpc):
    assert rpc.is_available() is False
