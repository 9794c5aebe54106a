"""What the reference calls public, against what the package says in other places."""

import importlib
import inspect

import gradwright
from docs.generator import names as n
from gradwright.base.lazy_names import LAZY
from gradwright.pytorch.count import counts
from gradwright.pytorch.served import ELSEWHERE, MORE

NAMES = n.names()
PATHS = {name.path for name in NAMES}


def test_all_that_the_modules_declare_is_public() -> None:
    for namespace in ("", ".nn", ".nn.functional", ".optim", ".linalg", ".special", ".distributions", ".viz", ".check"):
        module = importlib.import_module(f"gradwright{namespace}")
        names = (name for name in module.__all__ if not inspect.ismodule(getattr(module, name)))
        own = {f"gradwright{namespace}.{name}" for name in names}
        assert own <= PATHS


def test_all_of_pytorch_that_is_counted_as_here_is_public() -> None:
    here = {f"{count.module}.{name}".replace("torch", "gradwright", 1) for count in counts() for name in count.here
            if name not in MORE.get(count.module, ()) and f"{count.module}.{name}" not in ELSEWHERE}  # fmt: skip
    modules = {path for path in here if inspect.ismodule(at(path))}
    private = {path for path in here if path.rpartition(".")[2].startswith("_")}
    assert {path for path in here - PATHS - modules - private if ".Tensor." not in path} == set()


def at(path: str) -> object:
    holder, _, name = path.rpartition(".")
    return getattr(gradwright.Tensor if holder == "gradwright.Tensor" else importlib.import_module(holder), name)


def test_modules_that_all_leaves_out_are_named() -> None:
    modules = {name for home, names in LAZY.items() for name in names.split() if home == f"gradwright.{name}"}
    assert modules - {*gradwright.__all__} == {"check", "optim", "testing", "viz"} <= set(n.OWN)
    assert {f"gradwright.{name}" for name in modules} <= set(n.namespaces())


def test_nothing_private_and_no_helper_is_public() -> None:
    assert not [name.path for name in NAMES if name.name.startswith("_") or inspect.ismodule(name.value)]
    assert {"gradwright.xp.exp", "gradwright.xp.e", "gradwright.xp.newaxis"} <= PATHS
    helpers = {"gradwright.xp.Any", "gradwright.xp.annotations", "gradwright.xp.table", "gradwright.nn.init.F",
               "gradwright.distributions.shares.TYPE_CHECKING"}  # fmt: skip
    assert not helpers & PATHS


def test_what_has_several_names_is_described_once() -> None:
    first = {name.path: found.path for name, found in n.first_of_each(NAMES).items()}
    assert first["gradwright.absolute"] == first["gradwright.abs"] == "gradwright.abs"
    assert first["gradwright.clip"] == "gradwright.clamp"
    assert first["gradwright.multiply"] == "gradwright.mul"
    assert first["gradwright.double"] == "gradwright.float64"
    assert first["gradwright.special.expit"] == "gradwright.sigmoid"
    assert first["gradwright.pi"] == "gradwright.pi"
    assert first["gradwright.nn.functional.relu"] == "gradwright.nn.functional.relu"


def test_pytorchs_modules_are_found() -> None:
    assert n.torch_path("gradwright") == "torch"
    assert n.torch_path("gradwright.nn.init") == "torch.nn.init"
    assert n.torch_path("gradwright.pytorch.hub") == "torch.hub"
    assert n.torch_path("gradwright.viz") is None
