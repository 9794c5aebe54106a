"""What there is to check."""

import sys
import textwrap
from pathlib import Path
from types import ModuleType

import pytest

import gradwright as gw
from gradwright.verify.check.discover import files_in, load, subject_of, subjects
from gradwright.verify.check.isolate import check

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


FUNCTION = """
import gradwright as gw
class Twice(gw.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x
    @staticmethod
    def backward(ctx, g):
        return g * FACTOR
"""
FILES = {
    "a.py": FUNCTION.replace("FACTOR", "2"),
    "deep/b.py": FUNCTION.replace("FACTOR", "1").replace("Twice", "Once"),
    "train.py": "raise SystemExit('a script without derivatives is not run')",
    "op.py": "from gradwright import custom_op\n@custom_op\ndef double(x):\n    return 2 * x\n",
    "base.py": "class Own(Base):\n    def forward(ctx, x): ...\n    def backward(ctx, g): ...\n",
    "broken.py": "class F(Function:",
    "python2.py": "print 'hello'",
    ".hidden/c.py": FUNCTION,
    "venv/pyvenv.cfg": "",
    "venv/lib/d.py": FUNCTION,
    "deep/__pycache__/e.py": FUNCTION,
    "notes.txt": FUNCTION,
}


def made(folder: Path) -> Path:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_files_that_write_derivatives(tmp_path):
    found = [Path(f).relative_to(tmp_path).as_posix() for f in files_in(str(made(tmp_path)))]
    assert found == ["a.py", "base.py", "broken.py", "deep/b.py", "op.py"]


def test_a_folder_is_checked(tmp_path):
    for name in ("a.py", "deep/b.py", "train.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(FILES[name])
    (tmp_path / "none").mkdir()
    report = check([str(tmp_path), str(tmp_path / "none")], fast=True, jobs=1)
    assert [(c.name, c.verdict.value) for c in report.checked] == [("Twice", "PASS"), ("Once", "FAIL")]
    (problem,) = report.problems
    assert "no Python file in this folder" in problem[1]
