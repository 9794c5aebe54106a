"""Paths of 0.2: public ones keep their names, pickles load, and private ones name their new place."""

import importlib
import pickle  # noqa: TID251 - files that people have written
import subprocess
import sys
from pathlib import Path

import pytest

import gradwright as gw
from gradwright.base import paths

HERE = Path(__file__).parent


def table(name: str) -> dict[str, str]:
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return dict(line.split(":", 1) for line in lines)


PUBLIC = table("public_paths.txt")
PICKLED = table("pickled_names.txt")


@pytest.mark.parametrize("path", PUBLIC)
def test_public_names_are_where_they_were(path: str) -> None:
    module = importlib.import_module(path)
    assert [name for name in PUBLIC[path].split() if not hasattr(module, name)] == []


def test_a_public_path_is_the_module_itself() -> None:
    for path, place in paths.PUBLIC.items():
        assert importlib.import_module(path) is importlib.import_module(place)
        assert importlib.import_module(place).__spec__.name == place
    assert importlib.import_module("gradwright.sparse.rows") is importlib.import_module("gradwright.face.sparse.rows")


def test_a_public_path_is_an_attribute_that_nobody_need_import() -> None:
    program = "import gradwright as gw; print(gw.errors.__name__, gw.autograd.hooks.__name__)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["gradwright.base.errors", "gradwright.engine.hooks"]


@pytest.mark.parametrize("path", PICKLED)
def test_pickles_find_what_they_name(path: str) -> None:
    module = importlib.import_module(path)
    assert [name for name in PICKLED[path].split() if not hasattr(module, name)] == []


def test_pickles_of_0_2_load() -> None:
    pickles = pickle.loads((HERE / "pickles_0_2.pkl").read_bytes())  # noqa: S301 - our own file
    loaded = {name: pickle.loads(data) for name, data in pickles.items()}  # noqa: S301
    assert loaded["tensor"].requires_grad
    assert loaded["tensor"].tolist() == [1.0, 1.0, 1.0]
    assert type(loaded["param"]) is gw.nn.Parameter
    assert loaded["net"](gw.ones(4, 2))[0].shape == (4, 2)
    assert loaded["dtype"] is gw.float32
    assert gw.tensor([1.0]).item() == 1.0  # no module has taken the function's place


def test_a_moved_path_names_its_new_place() -> None:
    for path, place in paths.MOVED.items():
        importlib.import_module(place)
        if any(name.startswith(path) for name in paths.PICKLED):
            with pytest.raises(ImportError, match=f"{path} is private to gradwright and has moved: it is {place} now"):
                _ = importlib.import_module(path).anything
            continue
        with pytest.raises(ImportError, match=f"{path} is private to gradwright and has moved: it is {place} now"):
            importlib.import_module(path)
    with pytest.raises(ImportError, match=r"it is gradwright\.function\.watched now"):
        importlib.import_module("gradwright.guards.replay")
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'gradwright\.nothing'"):
        importlib.import_module("gradwright.nothing")


def test_no_module_hides_a_name_of_its_package() -> None:
    """`gradwright.autograd.strict` is the context manager, whoever imports the module of that name."""
    program = (
        "import importlib, gradwright as gw, gradwright.autograd as autograd\n"
        f"for path in {[p for p in (*PUBLIC, *PICKLED) if p != 'gradwright']}: importlib.import_module(path)\n"
        "print(*[type(getattr(autograd, n)).__name__ for n in autograd.__all__])\n"
        "print(*[type(f).__name__ for f in (gw.tensor, gw.op, gw.compile, gw.audit)])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    of_autograd, at_the_top = done.stdout.splitlines()
    assert of_autograd.split().count("module") == 3, done.stdout  # forward_ad, functional and graph
    assert set(at_the_top.split()) == {"function"}
