"""A notebook, run from end to end, and the page that it makes."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

import gradwright as gw

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: it is in the extra notebook")
nbconvert = pytest.importorskip("nbconvert", reason="nbconvert is not installed: it is in the extra notebook")
pytest.importorskip("ipykernel", reason="ipykernel is not installed: it is in the extra notebook")
pytestmark = pytest.mark.filterwarnings("ignore")  # theirs, of the asyncio and the frozen modules that they use

CELLS = {
    "tensor": '''import gradwright as gw
from gradwright import nn, viz
x = gw.tensor([[1.0, 2.0]], requires_grad=True)
x * 2''',
    "diagnosis": '''class Thrice(gw.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 3 * x
    @staticmethod
    def backward(ctx, g):
        return g
gw.autograd.diagnose(Thrice.apply, gw.ones(2, dtype=gw.float64, requires_grad=True))''',
    "gradcheck": "gw.autograd.gradcheck(Thrice.apply, gw.ones(2, dtype=gw.float64, requires_grad=True))",
    "caught": """try:
    gw.autograd.gradcheck(Thrice.apply, gw.ones(2, dtype=gw.float64, requires_grad=True))
except gw.GradcheckError as e:
    caught = e
caught""",
    "error": "nn.Linear(3, 4)(gw.ones(5))",
    "summary": "viz.summary(nn.Linear(2, 3), gw.ones(1, 2))",
    "profile": "with gw.profiler.profile() as p:\n    (x * x).sum().backward()\np",
    "explain": "@gw.compile\ndef step(x):\n    return x * 2\n_ = step(gw.ones(3)), step(gw.ones(3))\nstep.explain()",
    "picture": "viz.graph((x * x).sum())",
    "explorer": "viz.explore((x * x).sum())",
    "check": "from gradwright.check import check\ncheck('wrong.py', jobs=1)",
}  # fmt: skip
WRONG = """
import gradwright as gw
class Wrong(gw.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 3 * x
    @staticmethod
    def backward(ctx, g):
        return g
"""


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from nbformat import v4

    folder = tmp_path_factory.mktemp("notebook")
    (folder / "wrong.py").write_text(WRONG)
    made = v4.new_notebook(cells=[v4.new_code_cell(text) for text in CELLS.values()])
    source = str(Path(gw.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH"))))}
    nbclient.NotebookClient(made, timeout=120, kernel_name="python3", allow_errors=True,
                            resources={"metadata": {"path": str(folder)}}).execute(env=env)  # fmt: skip
    return made


@pytest.fixture
def shown(notebook: Any) -> dict[str, list[Any]]:
    return {name: cell.outputs for name, cell in zip(CELLS, notebook.cells, strict=True)}


@pytest.mark.parametrize(("name", "form", "said"), [
    ("tensor", "text/html", "2., 4.\\]\\]</pre>.*shape \\[1, 2\\] · float32 · cpu · made by MulBackward0"),
    ("tensor", "text/plain", r"^tensor\(\[\[2., 4.\]\], grad_fn=<MulBackward0>\)$"),
    ("diagnosis", "text/html", "<pre.*WRONG: the gradient of Thrice by `x` is wrong"),
    ("diagnosis", "text/plain", "^WRONG: "),
    ("caught", "text/html", "<pre>GradcheckError: Jacobian mismatch.*WRONG: the gradient of Thrice by `x` is wrong"),
    ("caught", "text/plain", "^GradcheckError: Jacobian mismatch"),
    ("summary", "text/html", "<table.*Linear"),
    ("profile", "text/html", "<pre.*operation .*multiply"),
    ("explain", "text/html", "<pre.*step: 1 program"),
    ("explorer", "text/html", '^<iframe srcdoc="&lt;!doctype html&gt;'),
    ("check", "text/html", "<table.*✗ wrong"),
])  # fmt: skip
def test_what_is_shown(shown: dict[str, list[Any]], name: str, form: str, said: str) -> None:
    data = shown[name][-1]["data"]
    assert re.search(said, data[form], re.DOTALL), data[form][:2000]


def test_a_picture_is_drawn_or_told(shown: dict[str, list[Any]]) -> None:
    data = shown["picture"][-1]["data"]
    assert "MulBackward0" in data["text/plain"]
    assert data.get("image/svg+xml", "<svg").startswith("<svg")


@pytest.mark.parametrize(("name", "line", "said"), [
    ("gradcheck", "----> 1 gw.autograd.gradcheck(", "multiply the gradient of `x` in backward by"),
    ("error", "----> 1 nn.Linear(3, 4)(gw.ones(5))", "mat1 and mat2 shapes cannot be multiplied"),
])
def test_errors_are_short(shown: dict[str, list[Any]], name: str, line: str, said: str) -> None:
    (error,) = shown[name]
    text = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error["traceback"]))
    assert line in text
    assert said in text
    assert "gradwright/" not in text


def test_progress_is_one_line(shown: dict[str, list[Any]]) -> None:
    assert shown["check"][0]["data"]["text/plain"] == "checking: 1 of 1"


def test_the_page_of_it_has_it_all(notebook: Any) -> None:
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    for part in ("made by MulBackward0", "<iframe ", "srcdoc=", "✗ wrong", "step: 1 program"):
        assert part in page
