"""What every test shares: PyTorch to compare with where it is installed, a browser, and fixed random numbers.

With GRADWRIGHT_REQUIRE_TORCH=1 a missing PyTorch fails the run; without it, the comparisons are skipped. So it is with
GRADWRIGHT_REQUIRE_COMPILER, and with GRADWRIGHT_REQUIRE_CHROMIUM.
"""

import gc
import importlib.metadata
import importlib.util
import os
import shutil
import signal
import warnings
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from gradwright.formatting import OPTIONS
from hypothesis import settings

import gradwright
from gradwright.compilation import comparison, race
from gradwright.compilation.by_c import build
from gradwright.utils.cpp_extension import check_compiler
from tests.browser import Browser

# Run by tests, but hold none.
collect_ignore = ["seed_programs", "cli/training_scripts", "typed_programs", "verify/audit/programs"]

if "xla_force_host_platform_device_count" not in os.environ.get("XLA_FLAGS", ""):  # JAX shows the CPU as 8 devices
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8".strip()
os.environ.setdefault("NPROC", "264")  # as gradwright does where it starts JAX: a test may start it before

settings.register_profile("dev", deadline=None, max_examples=20)  # a fifth of what CI tries
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


@pytest.fixture(autouse=True, scope="session")
def _compiled_as_tests_need() -> Iterator[None]:
    """No time passes for compiled functions, which run eagerly where that takes less; no second look at one is taken:

    guards have to see what has changed. C is compiled with -O2, in two thirds of the time of -O3.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(race, "clock", lambda: 0.0)
        patch.setattr(comparison, "next_look", lambda calls: -1)
        patch.setattr(build, "FLAGS", [flag.replace("-O3", "-O2") for flag in build.FLAGS])
        yield


def torch_version() -> str | None:
    """The installed PyTorch's version, without importing it."""
    try:
        return importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return None


def is_required(what: str) -> bool:
    return os.environ.get(f"GRADWRIGHT_REQUIRE_{what}", "") not in ("", "0")


def torch_is_required() -> bool:
    return is_required("TORCH")


def pytest_configure() -> None:
    # A shell starts what runs in its background with Ctrl-C ignored, and so would be the programs that tests start.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Here as well as in the fixture, so that a test module's own importorskip cannot skip unseen.
    if torch_is_required() and torch_version() is None:
        raise pytest.UsageError("GRADWRIGHT_REQUIRE_TORCH is set, but torch is not installed")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Generator[None, Any, Any]:
    """Tests hold no examples to look for, which is a quarter of what it takes to collect them."""
    return [collector for collector in (yield) if type(collector) is pytest.Module]


def pytest_report_header() -> str:
    version = torch_version()
    return f"torch: {version}" if version else "torch: not installed, comparisons with it are skipped"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What was skipped for want of PyTorch, in a line: with ``-q`` there is no header."""
    if torch_version() is None:
        skipped = terminalreporter.stats.get("skipped", ())
        for_torch = sum("torch" in str(report.longrepr) for report in skipped)
        terminalreporter.write_line(f"{for_torch:,} of {len(skipped):,} skipped tests compare with PyTorch, which is "
                                    'not installed: .venv/bin/pip install -e ".[oracle]" brings it')  # fmt: skip


@pytest.fixture(scope="session")
def torch() -> ModuleType:
    """PyTorch, on one thread. Skips the test if it is not installed; fails if it is installed but broken."""
    if torch_version() is None:
        if torch_is_required():
            pytest.fail("GRADWRIGHT_REQUIRE_TORCH is set, but torch is not installed")
        pytest.skip("torch is not installed: comparison with PyTorch not made")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import torch
    torch.set_num_threads(1)
    return torch


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Headless Chromium. Skips where there is none; with GRADWRIGHT_REQUIRE_CHROMIUM=1 it fails."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        if is_required("CHROMIUM"):
            pytest.fail("GRADWRIGHT_REQUIRE_CHROMIUM is set, but there is no chromium")
        pytest.skip("chromium is not installed: the page not opened")
    browser = Browser(program, tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture(params=["gradwright", "torch"])
def T(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """The library under test."""
    if request.param == "gradwright":
        yield gradwright
        return
    torch = request.getfixturevalue("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield torch


@pytest.fixture
def no_gc() -> Iterator[None]:
    """What is freed, is freed by reference counting."""
    gc.disable()
    yield
    gc.enable()


def settings_now() -> dict[str, Any]:
    return {
        "set_printoptions": vars(OPTIONS).copy(),
        "set_default_dtype": gradwright.get_default_dtype(),
        "set_default_device": gradwright.get_default_device(),
        "set_grad_enabled": gradwright.is_grad_enabled(),
        "set_detect_anomaly": gradwright.is_anomaly_enabled(),
        "set_deterministic_debug_mode": gradwright.get_deterministic_debug_mode(),
        "set_float32_matmul_precision": gradwright.get_float32_matmul_precision(),
        "set_num_threads": gradwright.get_num_threads(),
        "set_warn_always": gradwright.is_warn_always_enabled(),
    }


@pytest.fixture(autouse=True)
def _alike_whatever_ran_before() -> Iterator[None]:
    """A test draws the same numbers, and one that leaves a setting behind fails: not some other that comes after it."""
    np.random.seed(0)
    before = settings_now()
    yield
    after = settings_now()
    left = {name: value for name, value in after.items() if value != before[name]}
    if left:  # the tests that come after it are not to fail, too
        vars(OPTIONS).update(before["set_printoptions"])
        for name in before.keys() - {"set_printoptions", "set_detect_anomaly"}:
            getattr(gradwright, name)(before[name])
    assert not left, f"the test left these settings behind it: {left}"


@pytest.fixture(scope="session")
def compiler() -> None:
    """Skips the test where there is no compiler, or no nanobind; with GRADWRIGHT_REQUIRE_COMPILER=1 it fails."""
    missing = pytest.fail if is_required("COMPILER") else pytest.skip
    if importlib.util.find_spec("nanobind") is None:
        missing("nanobind is not installed: no extension built")
    try:
        check_compiler()
    except RuntimeError as e:
        missing(str(e).partition("\n")[0])


@pytest.fixture(scope="session")
def our_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as it is published without a native core, built once for all who look into it or install it."""
    builder = pytest.importorskip("hatchling.builders.wheel", reason="hatchling is not installed: no wheel built")
    root, folder = Path(__file__).resolve().parents[1], tmp_path_factory.mktemp("wheel")
    with pytest.MonkeyPatch.context() as pure:
        pure.setenv("GRADWRIGHT_CORE", "0")
        (wheel,) = builder.WheelBuilder(str(root)).build(directory=str(folder), versions=["standard"])
    return Path(wheel)


@pytest.fixture
def leaf(T: ModuleType) -> Callable[..., Any]:
    """``leaf(data)``: a float64 tensor that requires grad."""
    return lambda data: T.tensor(data, dtype=T.float64, requires_grad=True)
