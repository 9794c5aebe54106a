"""Doors that are open: what goes through, what is looked at, and what is said of what is not."""

import importlib.metadata
import sys
import types

import numpy as np
import pytest

import gradwright.verify.audit.doors.opened as opened
from gradwright.verify.audit import audit
from gradwright.verify.audit.doors.door import Door
from gradwright.verify.pairs import Pair, Point
from tests.verify.audit.doors.table import audited, run, verdicts

HEAD = """
import scipy.optimize as so
def f(x, a=2.0): return np.sum((x - a) ** 4)
def g(x, a=2.0): return 4 * (x - a) ** 3
x0 = np.array([0.5, 0.3])
few = {'maxiter': 3}
"""


def test_a_loop_of_closures_one_of_which_is_wrong():
    found = verdicts(HEAD + """
def fit(k):
    show(so.minimize(lambda x: k * f(x), x0, jac=lambda x: (k if k != 6 else 1) * g(x), options=few).x)
for k in range(1, 9):
    fit(k)
""")  # fmt: skip
    assert set(found.values()) == {"FAIL"}


@pytest.mark.parametrize("copied", [True, False])
def test_the_state_is_that_of_the_run(monkeypatch, copied):
    monkeypatch.setattr(opened, "_can_be_copied", lambda: copied)
    assert set(verdicts(HEAD + """
a, data = 3.0, [1.0]
class Model:
    def f(self, x): return self.scale * np.sum((x - a) ** 2) + data[0]
    def g(self, x): return 2 * self.scale * (x - a)
model = Model()
model.scale = 2.0
show(so.minimize(model.f, x0, jac=model.g).x)
a = data[0] = model.scale = None
""").values()) == {"PASS"}  # fmt: skip


MEMO = """
class Shared:
    last = None
    def f(self, x):
        self.last, self.work = x.copy(), x - 2
        return np.sum(self.work ** 4)
    def g(self, x): return 4 * (WORK) ** 3
both = Shared()
show(so.minimize(both.f, x0, jac=both.g, options=few).x)
"""


def test_functions_that_share_work():
    assert set(verdicts(HEAD + MEMO.replace("WORK", "self.work")).values()) == {"PASS"}
    assert set(verdicts(HEAD + MEMO.replace("WORK", "self.work + 0.1")).values()) == {"FAIL"}


def test_a_door_within_a_users_function():
    found = verdicts(HEAD + """
def inner(y, x): return y ** 3 + y - x[0]
def slope(y, x): return 3 * y ** 2 + 2
def outer(x):
    y = so.newton(inner, 1.0, fprime=slope, args=(x,))
    return f(x) + y
def by(x):
    y = so.newton(inner, 1.0, fprime=slope, args=(x,))
    return g(x) + np.array([1 / (3 * y ** 2 + 1), 0])
show(so.minimize(outer, x0, jac=by, options=few).x)
""")  # fmt: skip
    assert found == {("outer", "gradient"): "PASS", ("inner", "jacobian"): "FAIL"}


def test_a_warning_is_that_of_the_programs_line():
    assert audited(HEAD + """
import warnings
def loud(x):
    warnings.warn('loud', stacklevel=2)
    return f(x)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter('always')
    so.minimize(loud, x0, jac=g, hess=lambda x: np.eye(2), method='BFGS', options=few)
show(sorted({(str(w.message), w.filename.rpartition('<')[0], 'program' in w.filename or w.lineno) for w in told}))
""").checked  # fmt: skip


def test_a_librarys_own_functions_are_its_own_affair():
    report = audited("""
from sklearn.linear_model import LogisticRegression
X = np.random.default_rng(0).normal(size=(30, 2))
show(LogisticRegression().fit(X, X[:, 0] > 0).coef_)
""")  # fmt: skip
    assert report.checked == ()


def test_what_was_recorded_before_an_error_is_judged():
    with pytest.raises(ZeroDivisionError), audit(shown=False) as found:
        run(HEAD + "so.minimize(f, x0, jac=lambda x: -g(x), options=few)\n1 / 0")
    assert [c.verdict.value for c in found.report.checked] == ["FAIL"]
    with pytest.raises(ValueError, match="enough"), audit(shown=False) as found:
        run(HEAD + """
def h(x):
    if so_far.append(1) or len(so_far) > 3: raise ValueError('enough')
    return g(x)
so_far = []
so.minimize(f, x0, jac=h)""")  # fmt: skip
    assert len(found.report.checked) == 1


CANNOT = {
    "a generator": ("stream = iter([4.0, 3.0, 2.5] + [2.0] * 40)\ndef h(x): return next(stream)", "f"),
    "not a number": ("def h(x): return np.nan * np.sum(x)", "f"),
}  # fmt: skip


@pytest.mark.parametrize("name", CANNOT)
def test_what_cannot_be_judged_is_never_right(name):
    text, _ = CANNOT[name]
    found = verdicts(HEAD + f"{text}\nshow(so.minimize(h, x0, jac=g, options=few).nit)")
    assert "PASS" not in found.values()


def test_a_door_that_has_moved_is_told_once():
    doors = [Door("scipy.optimize", "minimise", lambda call: None)]
    with opened.Doors(doors) as there:
        import scipy.optimize

        assert scipy.optimize.minimize(lambda x: x[0] ** 2, [1.0]).success
    version = importlib.metadata.version("scipy")
    (said,) = there.problems
    assert said == f"scipy {version} has no scipy.optimize.minimise: what is handed over there is not looked at"
    there.told(1.0)


def test_a_door_that_takes_another_thing_leaves_the_program_alone():
    import scipy.optimize

    with opened.Doors([Door("scipy.optimize", "brentq", lambda call: call.given["jac"])]) as there:
        assert scipy.optimize.brentq(lambda x: x - 1, 0, 3) == pytest.approx(1)
        with pytest.raises(TypeError):
            scipy.optimize.brentq()
    assert len(there.problems) == 1
    there.told(1.0)


class Beam:
    def __derivatives__(self):
        yield Pair("gradient", lambda x: np.sum(x**2), lambda x: x, (Point(np.ones(2)),), ("beam", "dbeam"))


def test_a_library_declares_doors_and_objects_yield_pairs(monkeypatch):
    library = types.ModuleType("beams")
    library.solve = lambda beam: beam
    monkeypatch.setitem(sys.modules, "beams", library)
    entry = types.SimpleNamespace(load=lambda: lambda: [Door("beams", "solve", lambda call: None)])
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [entry] if group == opened.GROUP else [])
    with audit(shown=False) as found:
        library.solve(Beam())
    (row,) = found.report.checked
    assert (row.name, row.verdict.value) == ("beam", "FAIL")


def test_many_runs_are_few_that_are_looked_at():
    text = HEAD + "for k in range(200): so.minimize(f, x0, jac=g, args=(1.0 + k,), options={'maxiter': 1})"
    with opened.Doors(opened_doors()) as there:
        run(text)
    assert there.snapshots.made + len(there.here) <= opened.EACH
    assert len(there.told(20.0).checked) == 1


def opened_doors():
    from gradwright.verify.audit.doors.known import DOORS

    return DOORS
