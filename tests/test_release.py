"""What a release is made of."""

import importlib.util
import re
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

import gradwright as gw

ROOT = Path(__file__).parents[1]
HOME = "https://example.org/gradwright"


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    pytest.importorskip("hatchling", reason="hatchling is not installed: it is in the extra dev")
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_one_version_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == gw.__version__
    assert f"version: {gw.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    major_minor = gw.__version__.rpartition(".")[0]
    assert f"It is version {major_minor}." in (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"目前是 {major_minor} 版" in (ROOT / "README.zh-CN.md").read_text(encoding="utf-8")


def test_links_lead_somewhere_from_an_index(hook: ModuleType) -> None:
    text = "[a](docs/a.md#x), [b](https://b.org), ![Picture](docs/p.png), [c](#here)"
    led = f"[a]({HOME}/blob/HEAD/docs/a.md#x), [b](https://b.org), ![Picture]({HOME}/raw/HEAD/docs/p.png), [c](#here)"
    assert hook.page(text, HOME) == led
    assert hook.page(text, "") == "a, [b](https://b.org), *Picture*, [c](#here)"
    assert hook.urls("") == {}
    assert hook.urls(HOME)["Issues"] == f"{HOME}/issues"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for home in ("", HOME):
        assert not re.findall(r"\]\((?!https?://|#)", hook.page(readme, home))


def test_the_wheel_has_what_runs_and_nothing_else(our_wheel: Path) -> None:
    wheel = our_wheel
    assert wheel.name == f"gradwright-{gw.__version__}-py3-none-any.whl"
    assert wheel.stat().st_size < 3e6
    names = set(zipfile.ZipFile(wheel).namelist())
    source = ROOT / "src"
    ours = {path.relative_to(source).as_posix() for path in (source / "gradwright").rglob("*")
            if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".so", ".pyc")}  # fmt: skip
    about = f"gradwright-{gw.__version__}.dist-info"
    assert ours <= names
    assert {name.partition("/")[0] for name in names} == {"gradwright", about}
    assert {"gradwright/py.typed", f"{about}/licenses/LICENSE"} <= names
