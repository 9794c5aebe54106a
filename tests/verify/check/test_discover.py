"""What there is to check."""

import sys
import textwrap
from types import ModuleType

import pytest

import gradwright as gw
from gradwright.verify.check.discover import load, subject_of, subjects

CODE = """
import gradwright as gw
from gradwright import custom_op, op
from gradwright.autograd import Function

class Base(Function):
    "no forward yet"

class Second(Base):
    @staticmethod
    def forward(ctx, x, y=2):
        return x
    @staticmethod
    def backward(ctx, g):
        return g, None

@op(kind="elementwise")
def third(xp, x):
    return xp.tanh(x)

@custom_op
def fourth(x, n: int = 3):
    return x * n
"""


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "thing_to_check.py"
    path.write_text(CODE)
    return path


def test_operations_in_cpp_belong_to_the_module_that_has_loaded_them():
    extension, cpp = ModuleType("made_of_cpp"), ("a.cpp", 7)
    first = type("First", (gw.autograd.Function,), {
        "__module__": "made_of_cpp", "__gradwright_place__": cpp,
        "forward": staticmethod(lambda ctx, x: x), "backward": staticmethod(lambda ctx, g: g),
    })
    vars(extension).update(__gradwright_extension__=True, First=first, plain=len)
    user = ModuleType("user")
    user.extension = extension
    user.First = first
    assert [(s.name, s.kind, s.file, s.line) for s in subjects(user)] == [("First", "function", *cpp)]


def test_a_file(file):
    found = subjects(*load(str(file)))
    assert [(s.name, s.kind) for s in found] == [("Second", "function"), ("third", "op"), ("fourth", "custom_op")]
    assert found[0].line == 9
    assert found[0].source.startswith("class Second(Base):")
    assert found[0].names(2) == ["x", "y"]
    assert found[1].names(1) == ["x"]
    assert found[2].full((1,)) == (1, 3)


def test_a_name(file):
    assert [s.name for s in subjects(*load(f"{file}:Second"))] == ["Second"]
    with pytest.raises(LookupError, match="has no Fifth"):
        subjects(*load(f"{file}:Fifth"))
    with pytest.raises(LookupError, match="gw is no Function"):
        subjects(*load(f"{file}:gw"))


def test_a_module():
    found = subjects(*load("gradwright.ops.elementary"))
    assert "exp" in [s.name for s in found]
    assert {s.kind for s in found} == {"op"}


def test_a_file_in_a_package(tmp_path):
    package = tmp_path / "package_to_check"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "base.py").write_text(CODE)
    (package / "more.py").write_text("from .base import Second\nclass Fifth(Second): ...\n")
    assert [s.name for s in subjects(*load(str(package / "more.py")))] == ["Fifth"]


def test_a_file_named_as_a_module_does_not_hide_it(tmp_path):
    (tmp_path / "json.py").write_text(textwrap.dedent(CODE))
    module, _ = load(str(tmp_path / "json.py"))
    assert sys.modules["json"] is not module
    assert len(subjects(module)) == 3


def test_nothing(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        load(str(tmp_path / "none.py"))
    (tmp_path / "empty_to_check.py").write_text("")
    with pytest.raises(LookupError, match="no Function"):
        subjects(*load(str(tmp_path / "empty_to_check.py")))


def test_an_object():
    class F(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

    assert subject_of(F).kind == "function"
    with pytest.raises(LookupError):
        subject_of(3)


def test_a_function_of_pytorch(torch):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(x, n):
            return x

        @staticmethod
        def setup_context(ctx, inputs, output): ...

    assert subject_of(F).kind == "torch"
    assert subject_of(F).T is torch
    assert subject_of(F).names(2) == ["x", "n"]
