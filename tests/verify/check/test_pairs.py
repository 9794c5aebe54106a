"""Functions with derivatives beside them, as `gradwright check` tells of them."""

from pathlib import Path

import numpy as np
import pytest

from gradwright.cli import main
from gradwright.verify.check import check
from gradwright.verify.check.pairs import compared
from gradwright.verify.check.records import Outcome

TEXT = """
import numpy as np
x0 = np.array([1.5, 0.5])
def cost(x): return np.sum(x ** 4)
def cost_grad(x): return 4 * x ** 3
def cost_hess(x): return np.diag(6 * x ** 2)
def slope(x): return 4 * x
class Model:
    def fun(self, x): return np.sin(x)
    def jac(self, x): return np.diag(np.cos(x))
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "model_of_a_test.py"
    path.write_text(TEXT)
    return str(path)


def test_pairs_of_a_file_are_found_and_judged(file: str) -> None:
    report = check(file)
    assert not report.problems
    outcomes = {c.name: {f.check: f.outcome for f in c.findings} for c in report.checked}
    assert outcomes == {"cost": {"jac": Outcome.PASS, "hess": Outcome.FAIL}, "Model.fun": {"jac": Outcome.PASS}}
    wrong = report.checked[0].failures[0]
    assert wrong.cause == "half"
    assert wrong.lines == (6,)
    assert report.checked[0].samples == ("at x = [1.5 0.5]",)


@pytest.mark.parametrize(("given", "status", "said"), [
    (["--jac", "cost_grad", "--at", "1,2,3"], 0, "1 right"), (["--jac", "slope", "--at", "1,2"], 1, "`slope`"),
    (["--jac", "Model.fun"], 2, "AttributeError"),
])  # fmt: skip
def test_derivatives_are_given_by_name(file: str, given: list[str], status: int, said: str,
                                       capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    if status == 2:
        given = ["--jac", "nothing"]
    assert main(["check", f"{file}:cost", *given]) == status
    out = capsys.readouterr()
    assert said in out.out + out.err


def test_an_x_and_bounds_come_from_files(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "x.npy", np.array([0.0, 1.0]))
    np.save(tmp_path / "bounds.npy", np.array([[0.0, 2.0], [0.0, 1.0]]))
    given = ["--at", str(tmp_path / "x.npy"), "--bounds", str(tmp_path / "bounds.npy")]
    assert main(["check", f"{file}:cost", "--jac", f"{file}:cost_grad", *given]) == 0
    assert main(["check", file, "--jac", "cost_grad"]) == 2
    assert "--jac, --hess and --hessp go with one function" in capsys.readouterr().err


def test_where_no_x_can_be_made_up_it_is_said() -> None:
    found = compared("f", lambda x: x @ np.ones(99), {"jac": lambda x: np.ones(99)})
    assert found.verdict is Outcome.INCONCLUSIVE
    assert "say at=" in found.failures[0].sentence
