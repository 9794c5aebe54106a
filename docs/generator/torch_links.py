"""Where PyTorch's documentation has a name, by the rules that its addresses follow; nothing is fetched."""

from __future__ import annotations

from docs.generator.names import Name, torch_path
from gradwright.pytorch import known

BASE = "https://docs.pytorch.org/docs/stable"
_EACH = (  # modules whose names have a page each
    "torch.Tensor", "torch.nn", "torch.nn.functional", "torch.nn.utils", "torch.nn.utils.parametrizations",
    "torch.nn.utils.parametrize", "torch.nn.utils.prune", "torch.nn.utils.rnn", "torch.linalg", "torch.fft",
    "torch.func", "torch.optim", "torch.optim.lr_scheduler", "torch.signal.windows", "torch.sparse", "torch.cuda",
    "torch.autograd.functional", "torch.autograd.forward_ad", "torch.jit", "torch.compiler",
)  # fmt: skip
_TOGETHER = {  # the page that has all names of a module
    "torch.special": "special", "torch.nn.init": "nn.init", "torch.utils.data": "data",
    "torch.utils.checkpoint": "checkpoint", "torch.utils.cpp_extension": "cpp_extension", "torch.masked": "masked",
    "torch.testing": "testing", "torch.futures": "futures", "torch.hub": "hub", "torch.library": "library",
    "torch.overrides": "torch.overrides", "torch.multiprocessing": "multiprocessing", "torch.amp": "amp",
    "torch.profiler": "profiler", "torch.distributions": "distributions", "torch.distributed": "distributed",
    "torch.distributions.constraints": "distributions", "torch.autograd.graph": "autograd",
}  # fmt: skip


def link(name: Name, where: str) -> str | None:
    """A link to PyTorch's name, made in the file ``where``; to a search for it if its page does not follow a rule."""
    module = torch_path(name.namespace)
    path = f"{module}.{name.name}"
    if module is None or not known.is_known(path):
        return None
    each = module in _EACH or (module == "torch" and "/face/" in where and not where.endswith("memory_format.py"))
    if each and callable(name.value):
        address = f"generated/{path}.html"
    elif module in _TOGETHER:
        address = f"{_TOGETHER[module]}.html"
    else:
        address = f"search.html?q={path}"
    return f"PyTorch: `{_shown(path)} <{BASE}/{address}>`__"


def _shown(path: str) -> str:
    return path.replace("_", "\\_")
