"""Which files of a folder are looked at."""

from pathlib import Path

from gradwright.verify.check.folders import files_in
from gradwright.verify.check.isolate import check

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
    report = check([str(tmp_path), str(tmp_path / "none")], fast=True)
    assert [(c.name, c.verdict.value) for c in report.checked] == [("Twice", "PASS"), ("Once", "FAIL")]
    (problem,) = report.problems
    assert "no Python file in this folder" in problem[1]
