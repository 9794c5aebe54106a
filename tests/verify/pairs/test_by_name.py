"""Pairs in a module, by how they are called."""

from types import ModuleType

import pytest

from gradwright.verify.pairs.by_name import named

CLASS = """
class Model:
    def fun(self, x): return x
    def jac(self, x): return x
    def hessp(self, x, v): return v
class Needs:
    def __init__(self, data): pass
    def fun(self, x): return x
    def jac(self, x): return x
"""


@pytest.mark.parametrize(("text", "found"), [
    ("def f(x): pass\ndef f_prime(x): pass", {"f": ("f_prime", None, None)}),
    ("def rosen(x): pass\ndef rosen_der(x): pass\ndef rosen_hess(x): pass\ndef rosen_hess_prod(x, p): pass",
     {"rosen": ("rosen_der", "rosen_hess", None)}),
    ("def loss(w, data=None): pass\ndef grad_loss(w, data=None): pass\ndef loss_hessp(w, p): pass",
     {"loss": ("grad_loss", None, "loss_hessp")}),
    ("def fun(x): pass\ndef jac(x): pass", {"fun": ("jac", None, None)}),
    ("def f(x): pass\ndef g(x): pass\ndef h(x): pass", {"f": ("g", "h", None)}),
    ("def f(x): pass\ndef df(x): pass\ndef g(x): pass\ndef h(x): pass", {"f": ("df", None, None)}),
    ("def fun(x): pass\ndef fun_der(x): pass\ndef hess(x): pass\ndef hessp(x, v): pass",
     {"fun": ("fun_der", "hess", "hessp")}),
    ("def fun(x): pass\ndef fun_der(x): pass\ndef cost(x): pass\ndef hess(x): pass", {"fun": ("fun_der", None, None),
     "cost": (None, "hess", None)}),
    ("def fun(x): pass\ndef cost(x): pass\ndef jac(x): pass", {}), ("def f(x, y): pass\ndef df(x, y): pass", {}),
    ("def f(x): pass\ndef g_of_it(x): pass", {}), (CLASS, {"Model.fun": ("jac", None, "hessp")}),
])  # fmt: skip
def test_names_tell_what_belongs_together(text: str, found: dict[str, tuple[object, ...]]) -> None:
    module = ModuleType("made")
    exec(text, vars(module))  # noqa: S102 - it is written above
    told = {p.name: (p.jac, p.hess, p.hessp) for p in named(module)}
    assert {n: tuple(d and d.__name__ for d in given) for n, given in told.items()} == found


def test_an_x_to_begin_with_is_taken_from_the_module() -> None:
    module = ModuleType("made")
    exec("x0 = [1, 2]\ndef f(x): pass\ndef df(x): pass", vars(module))  # noqa: S102
    assert named(module)[0].at.tolist() == [1, 2]
