"""Names of modules beside the places of their files: public paths that stay, and where private ones have gone."""

from __future__ import annotations

import importlib
import importlib.abc
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

PUBLIC = {
    "gradwright.autograd.anomaly": "gradwright.debug.anomaly",
    "gradwright.autograd.anomaly_mode": "gradwright.debug.anomaly",
    "gradwright.autograd.custom": "gradwright.function.custom_op",
    "gradwright.autograd.diagnosis": "gradwright.verify.diagnosis",
    "gradwright.autograd.hooks": "gradwright.engine.hooks",
    "gradwright.autograd.node": "gradwright.engine.node",
    "gradwright.autograd.public": "gradwright.autograd",
    "gradwright.autograd.pushforward": "gradwright.function.pushforward",
    "gradwright.autograd.saved": "gradwright.engine.saved_hooks",
    "gradwright.autograd.strict": "gradwright.engine.strict",
    "gradwright.autograd.surrogate": "gradwright.function.contract.surrogate",
    "gradwright.autograd.variable": "gradwright.face.methods.variable",
    "gradwright.autograd.why": "gradwright.debug.why_none",
    "gradwright.check": "gradwright.verify.check",
    "gradwright.check.audit": "gradwright.verify.audit",
    "gradwright.creation": "gradwright.face.creation",
    "gradwright.cuda": "gradwright.face.cuda",
    "gradwright.dtypes": "gradwright.base.dtypes",
    "gradwright.errors": "gradwright.base.errors",
    "gradwright.fft": "gradwright.face.fft",
    "gradwright.formatting": "gradwright.base.formatting",
    "gradwright.linalg": "gradwright.face.linalg",
    "gradwright.masked": "gradwright.face.masked",
    "gradwright.op": "gradwright.ops.declare",
    "gradwright.pytest_plugin": "gradwright.verify.pytest_plugin",
    "gradwright.random": "gradwright.face.random",
    "gradwright.signal": "gradwright.face.signal",
    "gradwright.sparse": "gradwright.face.sparse",
    "gradwright.special": "gradwright.face.special_names",
    "gradwright.tensor": "gradwright.face.tensor",
    "gradwright.typed": "gradwright.face.typed",
    "gradwright.xp": "gradwright.face.xp",
}
"""Module paths that programs use, and the modules they are, with all that lies below them."""

MERGED = {
    "gradwright.distributions.composed": ["folded", "independent", "mixture", "transformed_distribution"],
    "gradwright.distributions.continuous": ["location_scale", "normal", "von_mises"],
    "gradwright.distributions.discrete": ["binary", "categorical"],
    "gradwright.distributions.multivariate": ["matrices", "multivariate_normal"],
    "gradwright.distributions.positive": ["gamma"],
    "gradwright.distributions.shares": ["continuous_bernoulli", "dirichlet", "relaxed"],
    "gradwright.distributions.transforms.transform": ["joined"],
    "gradwright.optim.adagrad": ["adafactor"],
    "gradwright.optim.adam": ["sparse_adam"],
    "gradwright.optim.lr_scheduler.base": ["composed", "plateau"],
    "gradwright.optim.lr_scheduler.factors": ["cosine"],
    "gradwright.optim.optimizer": ["idle"],
    "gradwright.optim.rules": ["fused"],
    "gradwright.optim.sgd": ["muon"],
    "gradwright.utils.checkpoint": ["old_checkpoint"],
    "gradwright.utils.data.dataset": ["collate"],
    "gradwright.distributed.session": ["sampling", "saving"],
    "gradwright.verify.diagnosis.records": ["report"],
    "gradwright.verify.proof.series": ["library"],
}
"""Modules that hold what modules beside them held, by the names of those."""

PICKLED = {
    **{f"{new.rpartition('.')[0]}.{name}": new for new, names in MERGED.items() for name in names},
    "gradwright.contract.trees": "gradwright.function.contract.trees",
    "gradwright.face.memory_format": "gradwright.face.functions.memory_format",
    "gradwright.methods.storage": "gradwright.face.methods.storage",
    "gradwright.nn.functional.adaptive_pool": "gradwright.nn.functional.pool",
    "gradwright.nn.functional.softmax": "gradwright.nn.functional.activation",
    "gradwright.nn.modules.adaptive": "gradwright.nn.modules.pool",
    "gradwright.nn.modules.cell": "gradwright.nn.modules.recurrent",
    "gradwright.nn.modules.classification": "gradwright.nn.modules.loss",
    "gradwright.nn.modules.fold": "gradwright.nn.modules.rearrange",
    "gradwright.nn.modules.pixel": "gradwright.nn.modules.rearrange",
    "gradwright.nn.modules.rectifier": "gradwright.nn.modules.activation",
    "gradwright.nn.modules.resize": "gradwright.nn.modules.rearrange",
    "gradwright.nn.modules.response": "gradwright.nn.modules.norm",
    "gradwright.nn.modules.shape": "gradwright.nn.modules.rearrange",
    "gradwright.nn.modules.softmax": "gradwright.nn.modules.activation",
    "gradwright.nn.modules.synchronised": "gradwright.nn.modules.norm",
    "gradwright.watchers.why_none": "gradwright.debug.why_none",
}
"""Private paths of 0.2 that its pickles name: they lead on."""

MOVED = {
    "gradwright._reference": "gradwright.face.reference",
    "gradwright._typing": "gradwright.face.typing",
    "gradwright.absent": "gradwright.base.absent",
    "gradwright.around": "gradwright.pytorch",
    "gradwright.building": "gradwright.base.compiler",
    "gradwright.contract": "gradwright.function.contract",
    "gradwright.face.algebra": "gradwright.face.functions.algebra",
    "gradwright.guards": "gradwright.function.watched",
    "gradwright.interpreter": "gradwright.base.cpython",
    "gradwright.later": "gradwright.base.lazy",
    "gradwright.methods": "gradwright.face.methods",
    "gradwright.neighbours": "gradwright.face.interop",
    "gradwright.pages": "gradwright.base.pages",
    "gradwright.reading": "gradwright.face.reading",
    "gradwright.torch_names": "gradwright.pytorch",
    "gradwright.transform.program": "gradwright.compilation",
    "gradwright.watchers": "gradwright.debug",
}
MOVED |= {f"gradwright.face.{name}": f"gradwright.face.functions.{name}" for name in (
    "activation", "arithmetic", "compare", "complex", "diagonal", "differences", "distance", "elementwise", "forms",
    "histogram", "indexing", "join", "keys", "memory_options", "order", "rearrange", "reduce", "returns", "scan",
    "scatter", "sets", "shape", "special", "statistics", "views", "windows",
)}  # fmt: skip
"""Private paths of 0.2: importing one raises ImportError with the new place. These rows go after the next release."""


PUBLIC_NAMES = {place: path for path, place in PUBLIC.items() if not path.startswith("gradwright.autograd.")}
"""The public paths of modules, by where they lie: what messages call them."""


def _at(name: str, table: dict[str, str]) -> str | None:
    """Where a module of this name lies by the longest row of ``table`` that it begins with; None without a row."""
    head = name
    while head not in table:
        head, _, _ = head.rpartition(".")
        if not head:
            return None
    return table[head] + name[len(head) :]


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives the module itself for another path of it; raises for a path that has moved."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith("gradwright."):
            return None
        new = _at(fullname, PICKLED) or (_at(fullname, MOVED) and fullname) or _at(fullname, PUBLIC)
        return ModuleSpec(fullname, self, loader_state=new, is_package=new == fullname) if new else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        if spec.loader_state != spec.name:
            module = importlib.import_module(spec.loader_state)
            spec.loader_state = module, module.__spec__
            return module
        if not any(name.startswith(f"{spec.name}.") for name in PICKLED):
            raise _moved(spec.name)
        return _Moved(spec.name)  # for what lies below

    def exec_module(self, module: ModuleType) -> None:
        if not isinstance(module, _Moved) and module.__spec__ is not None:
            module.__spec__ = module.__spec__.loader_state[1]  # its own, which the import system exchanged


class _Moved(ModuleType):
    """A package that has moved, of which pickles name a module: whatever else is asked of it raises."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _moved(self.__name__)


def _moved(name: str) -> ImportError:
    return ImportError(f"{name} is private to gradwright and has moved: it is {_at(name, MOVED)} now. "
                       "What is public has kept its path", name=name)  # fmt: skip


def install() -> None:
    """From now on the tables above hold. Once, by the package itself, when what it always loads is there."""
    for name, place in PUBLIC.items():
        if place in sys.modules:  # so that importing it later does not put a module in the place of a public function
            sys.modules[name] = sys.modules[place]
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())  # before the one of files, which would find those below once more
