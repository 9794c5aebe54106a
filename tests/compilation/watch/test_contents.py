"""What unwatched code reads, the libraries' and C: a change of any part of it is noticed, or the step is refused."""

from __future__ import annotations

import copy
import copyreg
import dataclasses
import enum
import math
import string
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.interpolate
import scipy.sparse
import scipy.stats

import gradwright as gw
from gradwright.compilation.watch.guards import compiled_guards
from gradwright.compilation.watch.observe import observed
from gradwright.op import op

dist = gw.distributions
one = gw.ones(())


class Plain:
    default = 1.0

    def __init__(self, k: Any = 1.0) -> None:
        self.k = k


class Slots:
    __slots__ = ("__hidden", "k")

    def __init__(self) -> None:
        self.k, self.__hidden = 1.0, [1.0]

    def put(self, value: float) -> None:
        self.__hidden[0] = value

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__hidden[0]


@dataclasses.dataclass
class Record:
    k: Any = 1.0


class Own(dict[str, Any]):
    def __getitem__(self, key: str) -> Any:
        return dict.__getitem__(self, key)


class Scaled(gw.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.k = 1.0

    def forward(self, x: Any) -> Any:
        return x * self.k


class Sloped(dist.Normal):
    shift = 1.0

    def log_prob(self, value: Any) -> Any:
        return super().log_prob(value) * self.shift


def phases() -> Any:
    class Phase(enum.Enum):
        WARM = {"lr": 1.0}

        def __init__(self, value: Any) -> None:
            self.scale = 1.0

    return Phase


def matched(a: Any) -> Any:
    match a:
        case Record(k=Record(k=found)) | {"a": Record(found)}:
            return found


def squared() -> Any:
    @op(kind="elementwise")
    def square(xp: Any, x: Any) -> Any:
        return x * x

    square.vjp(x=lambda xp, g, x, out: g * x)
    return square, gw.ones(1, requires_grad=True)


def noted(w: Any) -> Any:
    w.k = 1.0
    return w


def put(**values: Any) -> Callable[[Any], None]:
    return lambda o: [setattr(o, name, value) for name, value in values.items()] and None


def fill(array: Any) -> None:
    array[...] = 7.0


def normal() -> Any:
    return dist.Normal(one * 0, one)


def affine() -> Any:
    return dist.AffineTransform(0.0, 2.0)


def sparse() -> Any:
    return scipy.sparse.csr_matrix(np.eye(2))


def spline() -> Any:
    return scipy.interpolate.CubicSpline([0, 1, 2], [0.0, 1.0, 0.0])


CASES: dict[str, tuple[Callable[[], Any], Callable[[Any], Any], Callable[[Any], Any]]] = {
    "asdict of a nested record": (lambda: Record([Record()]), lambda o: dataclasses.asdict(o)["k"][0]["k"], lambda o: put(k=7.0)(o.k[0])),
    "replace": (Record, lambda o: dataclasses.replace(o).k, put(k=7.0)),
    "copy": (Plain, lambda o: copy.copy(o).k, put(k=7.0)),
    "copy of a default": (lambda: type("P", (Plain,), {})(), lambda o: copy.copy(o).default, lambda o: setattr(type(o), "default", 7.0)),
    "deepcopy": (lambda: Plain([Plain()]), lambda o: copy.deepcopy(o).k[0].k, lambda o: put(k=7.0)(o.k[0])),
    "deepcopy of a slot": (Slots, copy.deepcopy, lambda o: o.put(7.0)),
    "deepcopy of a module": (lambda: gw.nn.Sequential(Scaled()), lambda o: copy.deepcopy(o)(one), lambda o: put(k=7.0)(o[0])),
    "copy of a tensor": (lambda: noted(gw.ones(1)), lambda o: copy.copy(o).k, put(k=7.0)),
    "format": (Plain, lambda o: float("{0.k}".format(o)), put(k=7.0)),  # noqa: UP032
    "reduce": (Plain, lambda o: float(str(o.__reduce_ex__(2)[2]).count("7")), put(k=7.0)),
    "template": (lambda: string.Template("1"), lambda o: float(o.substitute()), put(template="7")),
    "attribute of a member": (phases, lambda o: o.WARM.scale, lambda o: put(scale=7.0)(o.WARM)),
    "value of a member": (phases, lambda o: o.WARM.value["lr"], lambda o: o.WARM.value.update(lr=7.0)),
    "class pattern": (lambda: Record(Record()), matched, lambda o: put(k=7.0)(o.k)),
    "mapping pattern": (lambda: {"a": Record()}, matched, lambda o: put(k=7.0)(o["a"])),
    "sparse data": (sparse, lambda o: float((o @ np.ones(2))[0]), lambda o: fill(o.data)),
    "sparse indices": (sparse, lambda o: float((o @ np.array([1.0, 2.0]))[0]), lambda o: o.indices.__setitem__(slice(None), [1, 0])),
    "spline": (spline, lambda o: float(o(0.5)), lambda o: fill(o.c)),
    "polynomial": (lambda: np.polynomial.Polynomial([1.0, 2.0]), lambda o: float(o(0.5)), lambda o: fill(o.coef)),
    "masked array": (lambda: np.ma.array([1.0, 2.0], mask=[0, 0]), lambda o: float(o.sum()), lambda o: o.__setitem__(0, np.ma.masked)),
    "array of objects": (lambda: np.array([[1.0], None], dtype=object), lambda o: o.tolist()[0][0], lambda o: o[0].__setitem__(0, 7.0)),
    "log_prob": (normal, lambda o: o.log_prob(one), put(loc=one * 7)),
    "entropy": (normal, lambda o: o.entropy(), put(scale=one * 7)),
    "independent": (lambda: dist.Independent(dist.Normal(gw.zeros(2), gw.ones(2)), 1), lambda o: o.log_prob(gw.ones(2)), lambda o: put(loc=gw.ones(2))(o.base_dist)),
    "transformed": (lambda: dist.TransformedDistribution(normal(), [affine()]), lambda o: o.log_prob(one), lambda o: put(scale=5.0)(o.transforms[0])),
    "one's own distribution": (lambda: type("S", (Sloped,), {})(one * 0, one), lambda o: o.log_prob(one), put(loc=one)),
    "kl_divergence": (lambda: (normal(), normal()), lambda o: dist.kl_divergence(*o), lambda o: put(loc=one)(o[1])),
    "transform": (affine, lambda o: o(one), put(scale=5.0)),
    "remembering transform": (lambda: dist.AffineTransform(0.0, 2.0, cache_size=1), lambda o: o(gw.ones(1)), put(scale=5.0)),
    "composed transform": (lambda: dist.ComposeTransform([affine()]), lambda o: o.inv(one), lambda o: put(loc=5.0)(o.parts[0])),
    "op declared anew": (squared, lambda o: gw.autograd.grad(o[0](o[1]).sum(), o[1])[0], lambda o: o[0].vjp(x=lambda xp, g, x, out: g * 2 * x)),
    "attribute of a parameter": (lambda: gw.ones(1, requires_grad=True), lambda o: getattr(o, "k", 1.0), put(k=7.0)),
    "deterministic": (lambda: gw, lambda o: float(gw.are_deterministic_algorithms_enabled()), lambda o: gw.use_deterministic_algorithms(True)),
    "way to copy": (lambda: type("P", (Plain,), {})(), lambda o: copy.copy(o).k, lambda o: copyreg.pickle(type(o), lambda old: (Plain, (7.0,)))),
    "method of an array": (lambda: (a := np.ones(2), a.sum), lambda o: float(o[1]()), lambda o: fill(o[0])),
    "method of a dictionary": (lambda: (d := {"k": 1.0}, d.get), lambda o: o[1]("k"), lambda o: o[0].update(k=7.0)),
    "read-only": (lambda: np.ones(1), lambda o: 1.0 + o.flags.writeable, lambda o: o.setflags(write=False)),
    "size of a dictionary with its own way": (lambda: Own(a=1.0), lambda o: float(len(o)), lambda o: o.update(b=2.0)),
    "pattern of such a dictionary": (lambda: Own(a=Record()), matched, lambda o: o.update(a=Record(7.0))),
    "strides": (lambda: gw.ones(2), lambda o: float(o.stride(0)), lambda o: put(data=gw.ones(4)[::2])(o)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_change_of_what_unwatched_code_reads_is_noticed(name: str) -> None:
    make, read, change = CASES[name]
    held = make()
    step = lambda x: x * read(held)  # noqa: E731
    compiled = gw.compile(step, backend="plan")
    try:
        for _ in range(4):
            assert compiled(gw.ones(1)).tolist() == step(gw.ones(1)).tolist()
        assert not compiled.programs.reason
        before = step(gw.ones(1)).tolist()
        change(held)
        assert step(gw.ones(1)).tolist() != before
        assert compiled(gw.ones(1)).tolist() == step(gw.ones(1)).tolist()
    finally:
        gw.use_deterministic_algorithms(False)


def graded() -> Any:
    w = gw.ones(1, requires_grad=True)
    w.sum().backward()
    w.grad.k = 1.0
    return w


@pytest.mark.parametrize(("held", "read"), [
    (graded(), lambda o: o.grad.k),
    (graded(), lambda o: getattr(o.grad, "other", 1.0)),
    (scipy.sparse.csr_matrix(np.ones((1, 1 << 20))), lambda o: float(o.sum())),
    (scipy.stats.norm(), lambda o: float(o.rvs())),
    (np.zeros(1), lambda o: float(len(str(o)))),
    (np.vectorize(np.random.default_rng(0).normal), lambda o: float(o(0.0))),
    (np.zeros(1), lambda o: float(np.geterr()["over"] == "raise")),
    (gw.ones(4)[2:], lambda o: float(o.storage_offset())),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_what_cannot_be_compared_is_refused_with_the_line(held: Any, read: Any) -> None:
    found = observed(lambda: one * read(held)).refusals
    assert found
    assert all(refusal.place is not None for refusal in found)


def test_strictness_is_a_switch() -> None:
    def step() -> Any:
        try:
            return one * float(w * 2)
        except RuntimeError:
            return one * 7.0

    w = gw.ones(1, requires_grad=True)
    compiled = gw.compile(step, backend="plan")
    with pytest.warns(UserWarning, match="scalar"):
        assert [compiled().item() for _ in range(4)] == [2.0] * 4
    with gw.autograd.strict(True):
        assert compiled().item() == 7.0


@pytest.mark.parametrize("read", [
    lambda o: o.param_groups[0]["lr"],
    lambda o: [group["lr"] for _, group in enumerate(o.param_groups)][0],
    lambda o: [value for key, value in o.param_groups[0].items() if key == "lr"][0],
    lambda o: {**o.param_groups[0]}["lr"],
    lambda o: o.state_dict()["param_groups"][0]["lr"],
    lambda o: math.fsum(v for v in o.param_groups[0].values() if type(v) is float),
])  # fmt: skip
def test_an_option_that_the_step_reads_beside_its_optimiser_is_another_one(read: Any) -> None:
    def trained(wrap: Any) -> list[float]:
        w = gw.ones(1, requires_grad=True)
        optimizer = gw.optim.SGD([w], lr=0.1)

        @wrap
        def step() -> Any:
            optimizer.zero_grad()
            w.square().sum().backward()
            optimizer.step()
            return w * read(optimizer)

        found = []
        for k in range(8):
            optimizer.param_groups[0]["lr"] = 0.1 if k < 4 else 0.5
            found.append(step().item())
        return found

    assert trained(lambda f: gw.compile(f, backend="plan")) == pytest.approx(trained(lambda f: f))


def test_an_option_that_only_the_optimiser_reads_makes_no_second_program() -> None:
    w = gw.ones(1, requires_grad=True)
    optimizer = gw.optim.SGD([w], lr=0.1)

    @gw.compile
    def step() -> Any:
        optimizer.zero_grad()
        w.square().sum().backward()
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                parameter.grad.mul_(0.5)
        optimizer.step()

    for k in range(10):
        optimizer.param_groups[0]["lr"] = 0.1 + k
        step()
    assert len(step.programs.traced) == 1


def test_a_counter_beside_the_step_is_not_compared() -> None:
    held = Plain()
    held.record, held.count = Record(), 0  # type: ignore[attr-defined]
    seen = observed(lambda: one * dataclasses.asdict(held.record)["k"])  # type: ignore[attr-defined]
    assert not seen.refusals
    held.count += 1  # type: ignore[attr-defined]
    assert compiled_guards(seen.guards)() is None


def test_a_namespace_is_read_whole_by_copying_it() -> None:
    held = types.SimpleNamespace(a=np.ones(2), b={Plain(): [1.0]})
    seen = observed(lambda: one * copy.deepcopy(held).a[0])
    assert not seen.refusals
    asked = compiled_guards(seen.guards)
    assert asked() is None
    next(iter(held.b.values()))[0] = 7.0
    assert asked() is not None
