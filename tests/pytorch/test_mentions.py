"""What mentions a name, and what asks whether it is there."""

import pytest

from gradwright.pytorch import mentions


@pytest.fixture
def m():
    """Tells of each name that it has none of whether who asks for it mentions it, as the import hook does."""
    hook = {"__name__": "gradwright.pytorch.hook", "mentioned": mentions.mentioned}
    exec("class Module:\n    def __getattr__(self, name): return mentioned()", hook)  # noqa: S102
    return hook["Module"]()


@pytest.mark.parametrize(("code", "wanted"), [
    ("m.x", True), ("(m.x, 1)", True), ("(lambda: m.x)()", True), ("[m.x for _ in '1'][0]", True),
    ("getattr(m, 'x')", False), ("getattr(m, 'x', None)", False), ("vars(m).get('x') or m.x", True),
])  # fmt: skip
def test_expressions(m, code, wanted):
    found = eval(code, {"m": m})  # noqa: S307 - what the code looks like is what is tested
    assert (found[0] if isinstance(found, tuple) else found) is wanted


def test_what_stands_in_a_try_is_a_question(m):
    assert m.x
    with pytest.raises(ZeroDivisionError):
        assert 1 / m.x == 0  # in a `with`, which may handle what is raised
    assert m.x
