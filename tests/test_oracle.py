"""gradwright against PyTorch's operator database: two samples of every operation that exists.

`python -m oracle` shows and checks more: all samples, other dtypes, methods and in-place forms, refused inputs.
"""

import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import gradwright
from gradwright.op import Rule, table

pytest.importorskip("torch", reason="the oracle is PyTorch, which is not installed")

from oracle import check, resolve
from oracle.entries import ENTRIES, chosen, group_of, name_of
from oracle.known import KNOWN
from oracle.records import Record
from oracle.refusals import check_errors
from oracle.report import DOCS, operators_page
from oracle.runner import run_entry
from oracle.transforms import fails

PRESENT = {name_of(e): e for e in ENTRIES if resolve.callable_for(e) is not None}
ROOT = Path(__file__).parent.parent
TWO = check.Options(samples=2)


def entry(name):
    return next(e for e in chosen([name]) if name_of(e) == name)


@pytest.mark.parametrize("name", sorted(PRESENT.keys() - KNOWN.keys()))
def test_agrees(name):
    assert run_entry(PRESENT[name], TWO).reasons() == []


class Differs(BaseException):
    """The first difference is found."""


@pytest.mark.parametrize("name", sorted(KNOWN.keys() & PRESENT.keys()))
def test_what_is_known_to_differ_still_does(name, monkeypatch):
    """The first difference will do."""
    def note(self, check, difference, where=""):
        if difference is not None:
            raise Differs
        return True

    monkeypatch.setattr(Record, "note", note)
    with pytest.raises(Differs):  # else it agrees: take it out of oracle/known.py
        run_entry(entry(name), check.Options(samples=None, dtypes=True, forms=True, errors=True))


OPERATIONS = [name for name, e in PRESENT.items() if group_of(e) not in ("modules", "optimizers")]


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_transforms_agree(name):
    record = run_entry(PRESENT[name], check.Options(samples=1, transforms=True))
    assert fails(record) == [], record.reasons()


def test_finds_a_wrong_tangent(monkeypatch):
    op = table["sin"]
    monkeypatch.setattr(op, "pushes", {"x": Rule(lambda xp, t, x: t * xp.cos(x) * 1.001, ("x",))})
    monkeypatch.setattr(op, "plans", {})
    assert fails(run_entry(entry("sin"), check.Options(samples=1, transforms=True))) == ["jvp", "torch jvp"]


def test_operators_page_is_what_docs_would_write():
    assert DOCS.read_text(encoding="utf-8") == operators_page(), "run: python -m oracle --docs"


def with_broken(monkeypatch, broken, name="exp", **options):
    monkeypatch.setattr(gradwright, name, broken)
    return run_entry(entry(name), check.Options(samples=2, **options))


def test_finds_a_wrong_value(monkeypatch):
    exp = gradwright.exp
    record = with_broken(monkeypatch, lambda x: exp(x) * 1.001)
    assert record.status == "disagree"
    assert "value" in record.reasons()[0]


def test_finds_a_wrong_gradient_behind_a_right_value(monkeypatch):
    exp = gradwright.exp
    record = with_broken(monkeypatch, lambda x: exp(x) + 0.001 * (x - x.detach()))
    assert record.checks["value"].failed == 0
    assert record.checks["gradient"].failed


def test_finds_a_wrong_second_gradient_behind_a_right_gradient(monkeypatch):
    exp = gradwright.exp
    record = with_broken(monkeypatch, lambda x: exp(x) + 0.001 * (x - x.detach()) ** 2)
    assert record.checks["value"].failed == record.checks["gradient"].failed == 0
    assert record.checks["second"].failed


@pytest.mark.parametrize(("broken", "reason"), [
    (lambda x: gradwright.sin(x).float(), "dtype: "),
    (lambda x: (gradwright.sin(x),), "expected a tensor, got tuple"),
    (lambda x: gradwright.sin(x).detach(), "expected requires_grad=True"),
    (lambda x: gradwright.sin(x)[None], "expected shape"),
    (lambda x: 1 / 0, "ZeroDivisionError"),
])  # fmt: skip
def test_finds_a_wrong_kind_of_result(monkeypatch, broken, reason):
    assert reason in " ".join(with_broken(monkeypatch, broken).reasons())


def test_finds_inputs_that_are_accepted_silently():
    record = Record("cat", "tensors")
    check_errors(record, entry("cat"), lambda *args, **kwargs: None)
    assert "accepted silently" in record.checks["errors"].reason


def test_finds_a_warning_that_leaks():
    def warns(x):
        warnings.warn("divide by zero", RuntimeWarning, stacklevel=1)
        return gradwright.exp(x)

    record = Record("exp", "elementwise")
    check.check_samples(record, entry("exp"), warns, check.torch.float64, 1)
    assert "leaks a warning" in record.checks["warnings"].reason


def test_missing_names_are_missing_and_not_errors(monkeypatch):
    monkeypatch.setattr(resolve, "lookup", lambda path: None)
    monkeypatch.setattr(gradwright.Tensor, "exp", None, raising=False)
    assert run_entry(entry("exp"), TWO).status == "missing"


def test_finds_nothing_between_pytorch_and_itself():
    few = ["--samples", "1", "--op", "linalg.*", "--op", "fft.*r*", "--op", "nn.functional.drop*", "--op", "*pool*"]
    done = subprocess.run([sys.executable, "-m", "oracle.selfcheck", *few], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
