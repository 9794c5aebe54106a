"""Errors, completion and what is shown, in IPython."""

import subprocess
import sys
from typing import Any

import pytest

import gradwright as gw
from gradwright.face.interop import ipython

pytest.importorskip("IPython", reason="IPython is not installed: it is in the extra dev")

OFFERED: dict[str, set[str]] = {
    "gw.op": {"op", "optim"},
    "gw.viz.expl": {"explore"},
    "gw.nn.Lin": {"Linear", "LinearCrossEntropyLoss"},
    "gw.linalg.sv": {"svd", "svdvals"},
    "gw.late": set(),
    "x.unsq": {"unsqueeze", "unsqueeze_"},
    "net.wei": {"weight"},
}
SHELL = '''
import sys, traceback, warnings
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.completer import provisionalcompleter
sys.argv = ["x"]
shell = InteractiveShell.instance(colors="nocolor", cache_size=0)
shell.run_cell("import gradwright as gw; from gradwright import nn")
def cell(name, text):
    print("===", name)
    shell.run_cell(text)
cell("layer", "nn.Linear(3, 4)(gw.ones(5))")
cell("backward", """class Double(gw.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x
    @staticmethod
    def backward(ctx, g):
        return g[5]
Double.apply(gw.ones(2, requires_grad=True)).sum().backward()""")
print("=== kept")
print(*traceback.format_exception(sys.last_value))
cell("chain", """try:
    gw.ones(2).backward()
except RuntimeError as e:
    raise ValueError("mine") from e""")
cell("own", "1 / 0")
cell("typo", "gw.ones(2).sigmod()")
cell("report", """class Thrice(gw.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 3 * x
    @staticmethod
    def backward(ctx, g):
        return g
gw.autograd.diagnose(Thrice.apply, gw.ones(2, dtype=gw.float64, requires_grad=True))""")
shell.run_cell("x, net = gw.ones(3, requires_grad=True) * 2, nn.Linear(1, 1)")
print("=== completion")
warnings.simplefilter("error")
for shell.Completer.use_jedi in (shell.Completer.use_jedi, False):
    for text in TEXTS:
        with provisionalcompleter():
            print(text, *(c.text.lstrip(".") for c in shell.Completer.completions(text, len(text))))
print("=== mode")
shell.run_line_magic("xmode", "Verbose")
cell("verbose", "gw.ones(2, requires_grad=True).backward()")
from gradwright.face.interop.ipython import shorten_errors
shell.set_custom_exc((KeyError,), lambda self, *error, tb_offset=None: print("theirs"))
shorten_errors()
cell("handled", "{}[1]")
'''


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    """What a fresh IPython prints, of each thing that it is asked to do."""
    program = SHELL.replace("TEXTS", repr(list(OFFERED)))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert not done.returncode, done.stderr
    parts = done.stdout.split("=== ")[1:]
    return {head.strip(): rest for head, _, rest in (part.partition("\n") for part in parts)}


def test_errors_have_the_users_frames_alone(said: dict[str, str]) -> None:
    assert "----> 1 nn.Linear(3, 4)(gw.ones(5))" in said["layer"]
    assert "mat1 and mat2 shapes cannot be multiplied" in said["layer"]
    assert "----> 7     return g[5]" in said["backward"]  # which the engine calls
    assert "index 5 is out of bounds" in said["backward"]
    assert said["chain"].count("----> ") == 2
    assert "ValueError: mine" in said["chain"]
    for name in ("layer", "backward", "chain"):
        assert "gradwright/" not in said[name]
        assert "<gradwright" not in said[name]


def test_all_frames_are_there_when_they_are_asked_for(said: dict[str, str]) -> None:
    assert "gradwright/engine/calls.py" in said["verbose"]
    assert "gradwright/engine/general.py" in said["kept"]


def test_a_misspelt_attribute_is_told_the_nearest(said: dict[str, str]) -> None:
    assert "'Tensor' object has no attribute 'sigmod'\ndid you mean 'sigmoid'?" in said["typo"]


def test_errors_that_are_none_of_ours_and_handlers_of_others_stay(said: dict[str, str]) -> None:
    assert "----> 1 1 / 0" in said["own"]
    assert said["handled"] == "theirs\n"


def test_completion_offers_what_is_public(said: dict[str, str]) -> None:
    lines = [line.split() for line in said["completion"].splitlines()]
    assert len(lines) == 2 * len(OFFERED)
    for text, *names in lines:
        assert set(names) == OFFERED[text], text


def test_completion_in_ipython_by_jedi_is_what_dir_lists() -> None:
    jedi = pytest.importorskip("jedi", reason="jedi is not installed: it is in the extra dev")
    for text in ("gw.", "gw.nn.", "gw.autograd.", "gw.optim.", "gw.linalg.", "gw.viz."):
        found = {c.name for c in jedi.Interpreter(text, [{"gw": gw}]).complete()}
        space = gw if text == "gw." else getattr(gw, text[3:-1])
        assert {n for n in found if n[0] != "_"} == {n for n in dir(space) if n[0] != "_"}


def test_jedi_in_an_editor_knows_the_modules_in_a_fresh_process() -> None:
    jedi = pytest.importorskip("jedi", reason="jedi is not installed: it is in the extra dev")
    offered = {c.name for c in jedi.Script("import gradwright as gw\ngw.").complete()}
    assert {"optim", "viz", "nn", "exp", "tensor", "Tensor", "linalg"} <= offered


def test_reports_are_shown_as_they_print(said: dict[str, str]) -> None:
    assert "WRONG: the gradient of Thrice by `x` is wrong at 2 of 2 entries" in said["report"]
    assert "Diagnosis(" not in said["report"]


class Shell:
    """As much of a notebook's IPython as is asked for."""

    kernel = "a kernel"
    custom_exceptions: tuple[type, ...] = ()

    def set_custom_exc(self, kinds: tuple[type, ...], handler: Any) -> None:
        self.custom_exceptions = kinds


def test_nothing_is_done_where_no_ipython_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert ipython.shell() is None
    ipython.shorten_errors()
    ipython.counter("checking")(1, 2, None)
    assert capsys.readouterr().out == ""


def test_a_traceback_that_is_all_ours_stays() -> None:
    assert ipython.users(None) is None
    try:
        ipython.counter()  # type: ignore[call-arg]
    except TypeError as error:
        found = ipython.users(error.__traceback__)
    assert found is not None
    assert found.tb_frame.f_code.co_filename == __file__


def test_a_notebook_has_a_line_that_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []

    class Line:
        def update(self, data: Any, raw: bool) -> None:
            shown.append(data["text/plain"])

    monkeypatch.setattr("IPython.display.display", lambda data, **_: shown.append(data["text/plain"]) or Line())
    monkeypatch.setattr(ipython, "shell", Shell)
    advance = ipython.counter("checking")
    advance(1, 2, None)
    assert shown == ["checking ...", "checking: 1 of 2"]
