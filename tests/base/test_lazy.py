"""What is imported only when it is asked for."""

import inspect
import pickle  # noqa: TID251 - of functions made here
import subprocess
import sys
from importlib import import_module
from types import FunctionType
from typing import Any

import pytest

import gradwright as gw
from gradwright.base.lazy import SURROUNDINGS, nearest
from gradwright.nn.functional import aten, top

LOADED = {
    "autograd", "backends", "base", "debug", "engine", "face", "face.creation", "face.fft", "face.functions",
    "face.interop", "face.linalg", "face.methods", "face.random", "face.reading", "face.reference",
    "face.special_names", "face.tensor", "face.xp", "function", "native", "ops", "transform",
}  # fmt: skip
"""The parts that `import gradwright` loads. Before you add one: it is time that every program pays."""

PUBLIC = (
    "autograd autograd.forward_ad autograd.functional autograd.graph check cuda distributed distributions "
    "distributions.constraints distributions.transforms fft func linalg masked nn nn.functional nn.init "
    "nn.parameter nn.utils nn.utils.fusion nn.utils.parametrizations nn.utils.parametrize nn.utils.prune "
    "nn.utils.rnn optim optim.lr_scheduler optim.swa_utils profiler random serialization signal signal.windows "
    "sparse special testing utils utils.checkpoint utils.cpp_extension utils.data viz xp"
)
BESIDE = {
    "gradwright": {"check", "optim", "testing", "viz"},
    "gradwright.nn": {"modules", "parameter"},
    "gradwright.nn.utils": {"fusion", "prune"},
    "gradwright.optim": {"swa_utils"},
}
"""Modules that are offered, and are not in ``__all__``."""


def _fresh(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_what_an_import_loads() -> None:
    parts = _fresh("""if True:
        import sys, gradwright
        own = [m.split(".") for m in sys.modules if m.startswith("gradwright.") and sys.modules[m].__name__ == m]
        print(*{".".join(m[1:2 + (m[1] == "face")]) for m in own})
        """)
    assert set(parts.split()) <= LOADED


@pytest.mark.parametrize("module", [aten, top])
def test_functions_of_layers_are_listed(module: Any) -> None:
    assert {name for name in module.__all__ if name[0] != "_"} <= set(dir(gw))
    assert all(inspect.unwrap(getattr(gw, name)) is inspect.unwrap(getattr(module, name)) for name in module.__all__)


@pytest.mark.parametrize("name", ["nn", "optim", "viz", "check", "save", "conv2d"])
def test_it_is_offered_and_comes_when_asked_for(name: str) -> None:
    assert _fresh(f"import gradwright as g; print({name!r} in dir(g), g.{name}.__name__)").startswith("True")


def test_all_is_what_a_star_gives() -> None:
    scope: dict[str, Any] = {}
    exec("from gradwright import *", scope)  # noqa: S102 - written here
    assert {"nn", "conv2d", "Tensor", "save", "autograd"} <= set(scope)
    assert not {"viz", "engine", "lazy", "typing"} & set(scope)


def test_a_module_with_the_name_of_its_function() -> None:
    out = _fresh("""if True:
        import gradwright.autograd.gradcheck
        from gradwright.autograd.gradcheck import gradcheck, GradcheckError
        print(gradwright.autograd.gradcheck is gradcheck, callable(gradcheck))
        """)
    assert out.split() == ["True", "True"]


def _offered(module: Any) -> set[str]:
    return {name for name in dir(module) if not name.startswith("__")}


@pytest.mark.parametrize("name", ["gradwright", *(f"gradwright.{name}" for name in PUBLIC.split())])
def test_what_is_public_is_offered_and_only_that(name: str) -> None:
    module = import_module(name)
    assert _offered(module) == set(module.__all__) | BESIDE.get(name, set())
    assert all(hasattr(module, offered) for offered in dir(module))
    assert "__name__" in dir(module)


@pytest.mark.parametrize("name", ["", ".nn", ".linalg", ".autograd", ".utils", ".optim"])
def test_what_is_offered_does_not_depend_on_what_was_imported(name: str) -> None:
    fresh = _fresh(f"import gradwright{name} as m; print(*dir(m))").split()
    assert {n for n in fresh if n[:2] != "__"} == _offered(import_module(f"gradwright{name}"))


@pytest.mark.parametrize(("typo", "meant"), [
    ("sinn", "sin"), ("Tenser", "Tensor"), ("float23", "float32"), ("optm", "optim"),
    ("nn.Lineer", "Linear"), ("nn.functional.cross_entrpy", "cross_entropy"),
    ("nn.init.zeros", "zeros_"),
    ("linalg.invv", "inv"), ("fft.fttn", "fftn"), ("special.erff", "erf"), ("optim.adam_w", "AdamW"),
    ("optim.lr_scheduler.StepLr", "StepLR"), ("autograd.gradchek", "gradcheck"), ("func.hesian", "hessian"),
    ("utils.dta", "data"), ("utils.data.Dataloader", "DataLoader"), ("viz.explor", "explore"), ("xp.summ", "sum"),
    ("distributions.Norml", "Normal"),
])  # fmt: skip
def test_a_typo_is_told_the_nearest_name(typo: str, meant: str) -> None:
    above, _, name = f"gradwright.{typo}".rpartition(".")
    with pytest.raises(AttributeError) as caught:
        getattr(import_module(above), name)
    assert str(caught.value) == f"{above} has no {name!r}; did you mean {meant!r}?"


@pytest.mark.parametrize(("name", "where"), [
    ("grad", "gradwright.autograd.grad and gradwright.func.grad"), ("hessian", "gradwright.func.hessian"),
    ("Linear", "gradwright.nn.Linear"), ("mse_loss", "gradwright.nn.functional.mse_loss"),
    ("Adam", "gradwright.optim.Adam"), ("nn.relu", "gradwright.nn.functional.relu"),
])  # fmt: skip
def test_a_name_of_a_module_below_is_told_its_place(name: str, where: str) -> None:
    out = _fresh(f"""if True:
        import gradwright, gradwright.func, gradwright.nn, gradwright.optim
        try:
            gradwright.{name}
        except AttributeError as error:
            print(error)
        """)
    above, _, last = f"gradwright.{name}".rpartition(".")
    assert out == f"{above} has no {last!r}; there is {where}\n"


def test_a_name_like_no_other_is_told_none() -> None:
    with pytest.raises(AttributeError, match=r"^gradwright has no 'qqqq'$"):
        gw.qqqq
    assert not hasattr(gw, "")
    assert nearest("__wrapped__", ["__wrapped"]) == ""


@pytest.mark.parametrize("ask", [lambda: gw.amp, lambda: gw.jit.script, lambda: gw.autograd.profiler,
                                 lambda: gw.backends.cudnn.benchmark])
def test_what_only_programs_for_pytorch_have_is_told_from_a_typo(ask: Any) -> None:
    with pytest.raises(AttributeError, match=r"has no '\w+'; that is torch\.[\w.]+: `gradwright run`, or `import grad"):
        ask()
    with pytest.raises(AttributeError, match=r"^gradwright.backends has no 'cudann'$"):
        gw.backends.cudann


def test_they_have_all_of_it() -> None:
    program = f"import gradwright.as_torch\n{'; '.join(f'import {path}' for path in sorted(SURROUNDINGS))}"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("path", ["", ".nn.functional", ".nn.init", ".linalg", ".fft", ".special", ".nn.utils"])
def test_pickle_finds_each_function(path: str) -> None:
    module = import_module(f"gradwright{path}")
    public = [getattr(module, name) for name in dir(module) if name[0] != "_"]
    functions = [f for f in public if isinstance(f, FunctionType)]
    assert len(functions) > 10
    assert [f for f in functions if pickle.loads(pickle.dumps(f)) is not f] == []  # noqa: S301
