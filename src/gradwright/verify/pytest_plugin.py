"""A plugin for pytest: derivatives are tests.

    def test_scale(check_function):
        check_function(Scale, (x, 3.0))         # fails unless it passes the whole battery of `gradwright check`

    pytest --gradwright-check=mypackage.functions       # a test for everything with a derivative in there
    pytest --gradwright-audit       # the derivatives that the tests use, looked at when they have ended

While it is on, every test runs under `gradwright.autograd.strict`: a `GradientWarning` is an error. To have warnings
again, put ``gradwright_strict = false`` under ``[tool.pytest.ini_options]``. Under ``gradwright run -m pytest`` they
are warnings unless it says ``true``: the tests of a program for PyTorch expect what PyTorch does.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest

from gradwright.engine.strict import strict
from gradwright.face.reading.keywords import hint
from gradwright.pytorch.hook import is_installed
from gradwright.verify.audit import audit
from gradwright.verify.check import Checked, Outcome
from gradwright.verify.check.battery import examine
from gradwright.verify.check.discover import subject_of
from gradwright.verify.check.isolate import LIMIT, Pool
from gradwright.verify.check.table import layout, told


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup("gradwright")
    group.addoption("--gradwright-check", metavar="MODULE", action="append", default=[],
                    help="test everything with a hand-written derivative in this file or module; may be given again")
    group.addoption("--gradwright-time-limit", metavar="SECONDS", type=float, default=LIMIT,
                    help=f"for importing such a module, and for each test of it (default: {LIMIT:g})")
    group.addoption("--gradwright-audit", action="store_true",
                    help="look at the derivatives that the tests use and hand to libraries; a wrong one is a failure")
    parser.addini("gradwright_strict", "whether a GradientWarning is an error (default: true, and false under "
                  "`gradwright run`)", "bool", not is_installed())  # fmt: skip


@pytest.fixture(autouse=True)
def gradwright_strict(pytestconfig: pytest.Config) -> Iterator[None]:
    """Run the test under `gradwright.autograd.strict`, as far as the ini file's ``gradwright_strict`` says."""
    with strict(bool(pytestconfig.getini("gradwright_strict"))):
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(call: pytest.CallInfo[Any]) -> None:
    """Say what a function of gradwright's takes that was given a wrong keyword."""
    if call.excinfo is not None:
        hint(call.excinfo.value)


@pytest.fixture
def check_function() -> Callable[..., Checked]:
    """``check_function(f, *samples)``: fail the test unless ``f`` passes the whole battery.

    ``f`` is a Function, a custom_op, an Op, or a Function of PyTorch's; each sample is a tuple of its arguments (of an
    Op, a `gradwright.op.Sample`). Without samples, its own are taken, or some are made up. Returns what was found, a
    `gradwright.check.Checked`.
    """

    def check(f: Any, *calls: Any) -> Checked:
        subject = subject_of(f, samples=[*calls]) if calls else subject_of(f)
        checked = examine(subject)
        if checked.verdict is not Outcome.PASS:
            pytest.fail(_text(checked), pytrace=False)
        return checked

    return check


def _text(checked: Checked) -> str:
    return "\n".join("".join(text for text, _ in line) for line in told(checked, 100)).strip()


class Wrong(Exception):  # noqa: N818 - it is told as a failure
    """A derivative that did not pass."""


class Derivative(pytest.Item):
    """A test of one subject."""

    def __init__(self, pool: Pool, found: dict[str, Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.pool, self.found = pool, found

    def runtest(self) -> None:
        """Check it, in a process of its own."""
        if "problem" in self.found:
            raise Wrong(f"{self.pool.target}: {self.found['problem']}")
        checked = self.pool.check(self.found, fast=False)
        if checked.verdict is not Outcome.PASS:
            raise Wrong(_text(checked))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        return str(excinfo.value) if isinstance(excinfo.value, Wrong) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        line = self.found.get("line") or 1
        return self.found.get("file") or self.path, line - 1, f"{self.pool.target}::{self.name}"


_POOLS = pytest.StashKey[list[Pool]]()


def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the tests that ``--gradwright-check`` asks for."""
    pools = config.stash.setdefault(_POOLS, [])
    for target in config.getoption("gradwright_check"):
        pool = Pool(target, config.getoption("gradwright_time_limit"))
        pools.append(pool)
        listed = pool.list()
        parent = session
        for found in [listed] if "problem" in listed else listed["subjects"]:
            name = found.get("name", "import")
            nodeid = f"{target}::{name}"
            items.append(Derivative.from_parent(parent, name=name, nodeid=nodeid, pool=pool, found=found))


_REPORT = pytest.StashKey[Any]()


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, Any, Any]:
    """Run the tests in an audit, if ``--gradwright-audit`` asks for that."""
    if not session.config.getoption("gradwright_audit"):
        return (yield)
    with audit(shown=False) as found:
        result = yield
    session.config.stash[_REPORT] = found.report
    session.testsfailed += found.report.totals.get(Outcome.FAIL, 0) if found.report is not None else 0
    return result


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Tell what the audit has found."""
    report = config.stash.get(_REPORT, None)
    if report is not None:
        terminalreporter.section("gradwright audit")
        for line in layout(report, 100):
            terminalreporter.write_line("".join(text for text, _ in line).rstrip())


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the processes."""
    for pool in config.stash.get(_POOLS, []):
        pool.close()


__all__ = ["check_function", "gradwright_strict"]
