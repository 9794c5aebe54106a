"""Functions that are right as they are usually run, of which some go wrong in other conditions."""

from functools import partial
from itertools import product

import numpy as np
import pytest

import gradwright as gw
from gradwright.autograd import Function, diagnose, gradcheck, gradgradcheck
from gradwright.engine.base import wrap
from gradwright.op import table
from gradwright.verify.audit.session import audit
from gradwright.verify.check.battery.run import examine
from gradwright.verify.check.discover import subject_of
from gradwright.verify.experiments import EXPERIMENTS, Conditions, Visit, fault
from gradwright.verify.gradcheck.settings import SUITS
from gradwright.verify.numeric.again import OfFunction
from gradwright.verify.numeric.jacobian import Subject, rounding
from gradwright.verify.numeric.jacobian import leaf as leaf_of
from gradwright.verify.testing import draw
from tests.thorough import some

RANDOM = np.random.default_rng(0)


def leaf(*shape, dtype=gw.float64):
    values = RANDOM.uniform(0.5, 1.5, shape) * (1 + (0.5j if dtype.is_complex else 0))
    return gw.tensor(values, dtype=dtype, requires_grad=True)


def raw(t):
    return t.detach().numpy()


def in_memory_order(t):
    return gw.from_numpy(raw(t).ravel("K").reshape(t.shape).copy())


class Cube(Function):
    """Right."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * g * (x * x).conj()


class Product(Function):
    """Right."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b, g * a


def made(base=Cube, **parts):
    """A Function with other parts; state for itself as ``held``."""
    return type("Made", (base,), {**{k: staticmethod(v) for k, v in parts.items()}, "held": None})


def off(wrong):
    """A right backward, off where ``wrong(g, x)``."""
    return made(backward=lambda ctx, g: Cube.backward(ctx, g) * (1.5 if wrong(g, *ctx.saved_tensors) else 1))


# ---- wrong in other conditions ---------------------------------------------------------------------------

STRIDES = {
    "stride-0 grad_output": off(lambda g, x: 0 in raw(g).strides),
    "negative-stride grad_output": off(lambda g, x: min(raw(g).strides) < 0),
    "transposed grad_output": made(backward=lambda ctx, g: Cube.backward(ctx, in_memory_order(g))),
    "strided grad_output": off(lambda g, x: raw(g).strides[-1] == 16),
    "read-only grad_output": off(lambda g, x: not raw(g).flags.writeable and 0 not in raw(g).strides),
    "stride-0 `x`": off(lambda g, x: 0 in raw(x).strides),
    "negative-stride `x`": off(lambda g, x: min(raw(x).strides) < 0),
    "transposed `x`": made(forward=lambda ctx, x: Cube.forward(ctx, in_memory_order(x))),
    "arrays that lie in several ways": made(
        backward=lambda ctx, g: Cube.backward(ctx, g) * (
            2 if raw(g).strides[0] < 0 and raw(*ctx.saved_tensors).strides[0] == 8 else 1)),
}  # fmt: skip


def keeps_the_last():
    def forward(ctx, x):
        F.held = x
        return x * x * x

    F = made(forward=forward, backward=lambda ctx, g: 3 * g * F.held**2)
    return F


def keeps_the_last_ctx():
    def forward(ctx, x):
        F.held = ctx
        return Cube.forward(ctx, x)

    F = made(forward=forward, backward=lambda ctx, g: Cube.backward(F.held, g))
    return F


def keeps_a_buffer():
    buffers = {}

    def forward(ctx, x):
        buffer = ctx.x = buffers.setdefault(tuple(x.shape), np.empty(x.shape))
        buffer[...] = raw(x)
        return x * x * x

    return made(forward=forward, backward=lambda ctx, g: 3 * g * gw.from_numpy(ctx.x.copy()) ** 2)


STATE = {f.__name__: f for f in (keeps_the_last, keeps_the_last_ctx, keeps_a_buffer)}


def keeps_the_first():
    def forward(ctx, x):
        if F.held is None:
            F.held = raw(x).copy()
        return x * x * x

    F = made(forward=forward, backward=lambda ctx, g: 3 * g * gw.from_numpy(F.held) ** 2)
    return F


def computes_only_once():
    def backward(ctx, g):
        if F.held is None:
            F.held = 3 * raw(*ctx.saved_tensors) ** 2
        return g * gw.from_numpy(F.held)

    F = made(backward=backward)
    return F


def in_forward(ctx, a, b):
    ctx.a_too = ctx.needs_input_grad[0]
    return Product.forward(ctx, a, b)


def three_in_backward(ctx, g):
    a, b, c = ctx.saved_tensors
    return g * b * c, g * a * c, g * a * b if ctx.needs_input_grad[1] else g * a


def three(ctx, a, b, c):
    ctx.save_for_backward(a, b, c)
    return a * b * c


NEEDS = {
    "in backward": (made(Product, backward=lambda ctx, g: tuple(
        p * (1 if all(ctx.needs_input_grad) else 2) for p in Product.backward(ctx, g))), 2),
    "in forward": (made(Product, forward=in_forward, backward=lambda ctx, g: (
        Product.backward(ctx, g)[0], Product.backward(ctx, g)[1] if ctx.a_too else g)), 2),
    "by requires_grad": (made(Product, backward=lambda ctx, g: tuple(
        p * (1 if ctx.saved_tensors[1].requires_grad else 2) for p in Product.backward(ctx, g))), 2),
    "of three": (made(Product, forward=three, backward=three_in_backward), 3),
}  # fmt: skip


def with_output(second, give=lambda y, s: (y, s)):
    """A cube, and another output that is marked."""

    def forward(ctx, x):
        y, s = Cube.forward(ctx, x), second(x)
        ctx.mark_non_differentiable(s)
        return give(y, s)

    return made(forward=forward, backward=lambda ctx, *gs: Cube.backward(ctx, max(gs, key=lambda g: g.numel())))


MARKED = {
    "cosine": with_output(lambda x: x.cos()),
    "a norm": with_output(lambda x: x.norm()),
    "complex": with_output(lambda x: gw.complex(x, x * x)),
    "first": with_output(lambda x: x.sum(), give=lambda y, s: (s, y)),
    "behind an integer": with_output(lambda x: x.cos(), give=lambda y, s: (s.argmax(), y, s)),
    "one entry": with_output(lambda x: gw.cat([x.detach()[0, :1], gw.ones(4, dtype=x.dtype)])),
}

def contiguous_only(ctx, x):
    assert x.is_contiguous()
    return Cube.forward(ctx, x)


WHICH = {"first": 0, "behind an integer": 2}
FAULTS = {
    **{f"strides: {k}": (F, (leaf(2, 3),), "strides", k) for k, F in STRIDES.items()},
    "strides: inputs refuse them": (
        made(forward=contiguous_only, backward=STRIDES["negative-stride grad_output"].backward), (leaf(2, 3),),
        "strides", "negative-stride grad_output"),
    "strides: by half a percent": (made(backward=lambda ctx, g: Cube.backward(ctx, g) * (
        1.005 if min(raw(g).strides) < 0 else 1)), (leaf(2, 3),), "strides", "negative-stride"),
    "strides: of a row": (off(lambda g, x: raw(g).strides[0] == -8), (leaf(5),), "strides", "negative-stride"),
    "strides: complex": (off(lambda g, x: raw(g).strides[0] == -16), (leaf(5, dtype=gw.complex128),), "strides", ""),
    "grad mode": (off(lambda g, x: gw.is_grad_enabled()), (leaf(3),), "grad mode", "create_graph"),
    **{f"needs: {k}": (F, tuple(leaf(3) for _ in range(n)), "needs_input_grad", "requires grad")
       for k, (F, n) in NEEDS.items()},
    **{f"marked: {k}": (F, (leaf(2, 3),), "non-differentiable", f"output {WHICH.get(k, 1)}")
       for k, F in MARKED.items()},
}  # fmt: skip


def found(checker, call, inputs, says, **options):
    with pytest.raises(gw.GradcheckError, match=f"(?i){says}") as error:
        checker(call, inputs, **options)
    assert "Mend: " in str(error.value)
    assert not checker(call, inputs, raise_exception=False, **options)


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("name", FAULTS)
def test_gradcheck_names_it(name, fast):
    F, inputs, _, says = FAULTS[name]
    found(gradcheck, F.apply, inputs, says, fast_mode=fast)


@pytest.mark.parametrize("name", FAULTS)
def test_diagnose_names_it(name):
    F, inputs, kind, says = FAULTS[name]
    d = diagnose(F, inputs)
    assert (d.verdict, d.reason) == ("WRONG", kind), str(d)
    assert says.lower() in str(d).lower()


@pytest.mark.parametrize("name", [n for n in FAULTS if "several ways" not in n])
def test_gradwright_check_finds_it(name):
    F, inputs, *_ = FAULTS[name]
    assert examine(subject_of(F, [inputs])).verdict == "FAIL"


@pytest.mark.parametrize("shape", [(), (1,), (4,)])
@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("name", STATE)
def test_what_the_last_call_left(name, fast, shape):
    found(gradcheck, STATE[name]().apply, leaf(*shape), "after another call of forward backward gives", fast_mode=fast)
    assert diagnose(STATE[name](), leaf(*shape)).reason == "stale state"


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("make", [keeps_the_first, computes_only_once])
def test_what_the_first_call_left(make, fast):
    with pytest.raises(gw.GradcheckError, match="Jacobian mismatch"):
        gradcheck(make().apply, leaf(3), fast_mode=fast)


def test_a_function_that_returns_something_else_unrecorded():
    found(gradcheck, lambda x: x * x if gw.is_grad_enabled() else x, leaf(3), "where nothing is recorded")


def test_what_only_the_second_derivative_depends_on():
    class Backward(Product):
        @staticmethod
        def forward(ctx, g, x):
            ctx.save_for_backward(g, x)
            return 3 * g * x * x

        @staticmethod
        def backward(ctx, h):
            g, x = ctx.saved_tensors
            return 3 * h * x * x, 6 * h * g * x * (2 if min(raw(h).strides) < 0 else 1)

    F = made(backward=lambda ctx, g: Backward.apply(g, *ctx.saved_tensors))
    x = leaf(2, 3)
    assert gradcheck(F.apply, x)
    found(gradgradcheck, F.apply, x, "for a negative-stride grad_output")
    d = diagnose(F, x, order=2)
    assert (d.verdict, d.reason, d.order) == ("WRONG", "strides", 2)


# ---- right whatever the conditions ----------------------------------------------------------------------


def refuses(ctx, g):
    assert g.is_contiguous()
    return Cube.backward(ctx, g)


def in_numpy(ctx, g):
    return gw.from_numpy(3 * raw(g) * raw(*ctx.saved_tensors) ** 2)


def changes_a_clone(x):
    y = x.clone()
    y.mul_(2)
    return y * x


NET = gw.nn.Sequential(gw.nn.Linear(3, 4), gw.nn.LayerNorm(4), gw.nn.Tanh()).double()
BATCH = gw.nn.BatchNorm1d(3).double()
RIGHT = {
    "refuses what is not contiguous": (made(backward=refuses).apply, (leaf(2, 3),)),
    "cannot be recorded": (made(backward=gw.autograd.function.once_differentiable(in_numpy)).apply, (leaf(2, 3),)),
    "an integer": (with_output(lambda x: x.argmax()).apply, (leaf(2, 3),)),
    "a mask": (with_output(lambda x: (x > 1)).apply, (leaf(2, 3),)),
    "a constant": (with_output(lambda x: gw.ones(2, dtype=x.dtype)).apply, (leaf(2, 3),)),
    "flat pieces": (with_output(lambda x: x.sign() + x.round() + (x > 1).to(x.dtype)).apply, (leaf(2, 3),)),
    "a jump right there": (with_output(lambda x: (x > 1).to(x.dtype)).apply,
                           (gw.tensor([1.0, 0.7], dtype=gw.float64, requires_grad=True),)),
    "detached by hand": (lambda x: (x.exp(), x.exp().detach()), (leaf(2, 3),)),
    "its result detached by hand": (lambda x: (Cube.apply(x), Cube.apply(x).detach()), (leaf(2, 3),)),
    "its own parameters": (lambda x, *_: NET(x), (leaf(2, 3), *NET.parameters())),
    "batch statistics": (BATCH, (leaf(4, 3),)),
    "a matrix with an inverse": (lambda x: gw.linalg.inv(x + 3 * gw.eye(3, dtype=gw.float64)), (leaf(3, 3),)),
    "a singular matrix elsewhere": (gw.linalg.inv, (leaf(3, 3),)),
    "a logarithm of a difference": (lambda x, y: (x + 2 - y).log() + (x - y).abs().log(), (leaf(3), leaf(3))),
    "places of the largest": (lambda x: x.sort().values * x.max(), (leaf(2, 3),)),
    "a normal direction": (lambda x: (x - x.mean()) / x.std(), (leaf(2, 3),)),
    "a clone is changed": (changes_a_clone, (leaf(2, 3),)),
    "the same input twice": (Product.apply, (leaf(3),) * 2),
    "one input is no variable": (Product.apply, (leaf(3), leaf(3).detach())),
    "asks what is needed": (made(Product, backward=lambda ctx, g: tuple(
        p if n else None for p, n in zip(Product.backward(ctx, g), ctx.needs_input_grad, strict=True)
    )).apply, (leaf(3), leaf(3))),
    "a number": (Cube.apply, (leaf(),)),
    "one entry": (Cube.apply, (leaf(1, 1),)),
    "no entries": (Cube.apply, (leaf(0, 3),)),
    "zeros": (Cube.apply, (gw.zeros(3, dtype=gw.float64, requires_grad=True),)),
    "a view": (Cube.apply, (leaf(2, 3, 2).detach()[..., 1].requires_grad_(),)),
    "a result": (Cube.apply, (leaf(2, 3) * 2,)),
    "complex": (Cube.apply, (leaf(2, 3, dtype=gw.complex128),)),
    "two outputs": (lambda x: (x.sin(), Cube.apply(x).sum()), (leaf(2, 3),)),
    "a gradient inside": (lambda x: gw.autograd.grad((x**3).sum(), x, create_graph=True)[0], (leaf(3),)),
    "restricted": (lambda x: (x - 0.7).acos() + (1.6 - x).log(), (leaf(3),)),
}  # fmt: skip

@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("name", RIGHT)
def test_right_functions_pass(name, fast):
    f, inputs = RIGHT[name]
    before = [x.detach().clone() for x in inputs]
    nodes = [x._node for x in inputs]
    assert gradcheck(f, inputs, fast_mode=fast)
    assert all((x == b).all() for x, b in zip(inputs, before, strict=True))
    assert [x._node for x in inputs] == nodes


@pytest.mark.parametrize("name", RIGHT)
def test_diagnose_calls_nothing_right_wrong(name):
    f, inputs = RIGHT[name]
    assert diagnose(f, inputs).verdict != "WRONG"


def test_single_precision():
    x = leaf(4, 5, dtype=gw.float32)
    with pytest.warns(UserWarning, match="not a double precision"):
        assert gradcheck(lambda x: (x @ x.t()).softmax(0), x)
    wrong = FAULTS["strides: transposed grad_output"][0]
    with pytest.warns(UserWarning, match="not a double precision"):
        assert not gradcheck(wrong.apply, x, raise_exception=False)


# ---- linear in grad_output, whatever it is ---------------------------------------------------------------

BENT = {
    "abs": lambda g: g.abs(), "relu": gw.relu, "a mask": lambda g: g * (g > 0), "below 2": lambda g: g * (g < 2),
    "a square": lambda g: g * g, "a cube": lambda g: g**3, "a root": lambda g: g.sign() * g.abs().sqrt(),
    "clipped to 10": lambda g: g.clamp(-10, 10), "clipped": lambda g: g.clamp(-1, 1), "tanh": lambda g: g.tanh(),
    "leaky": lambda g: gw.where(g > 0, g, 0.1 * g), "a threshold": lambda g: gw.where(g.abs() < 1e-2, g * 0, g),
    "a constant": lambda g: g + 1e-3, "a length": lambda g: g / g.norm(), "rounded": lambda g: g.round(),
    "ignored": lambda g: g * 0 + 1, "a number": lambda g: g * 0 + abs(g.sum().item()),
    "a branch": lambda g: g if g.sum().item() > 0 else 2 * g, "large ones": lambda g: gw.where(g.abs() > 1e3, 2 * g, g),
}  # fmt: skip
SQUARES = (lambda x: (x * x).sum(), lambda g, x: g * 2 * x)
CUBES = (lambda x: x * x * x, lambda g, x: g * 3 * x * x)


def audited(F, *inputs):
    with audit(shown=False) as found:
        F.apply(*inputs).sum().backward()
    return [c.verdict for c in found.report.checked] == ["PASS"]


ENTRIES = {
    "gradcheck": lambda F, *xs: gradcheck(F.apply, xs, raise_exception=False),
    "fast gradcheck": lambda F, *xs: gradcheck(F.apply, xs, raise_exception=False, fast_mode=True),
    "diagnose": lambda F, *xs: diagnose(F, xs).verdict == "VERIFIED",
    "check": lambda F, *xs: examine(subject_of(F, [xs])).verdict == "PASS",
    "audit": audited,
}


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("name", BENT)
def test_what_is_not_linear_in_grad_output(name, entry):
    bend, finds = BENT[name], ENTRIES[entry]
    for values, (value, slope) in some(product(([0.3, -1.2], [0.4]), (SQUARES, CUBES)), 4, len(name + entry)):
        def forward(ctx, x, value=value):
            ctx.save_for_backward(x)
            return value(x)

        F = made(forward=forward, backward=lambda ctx, g, s=slope: s(bend(g), *ctx.saved_tensors))
        assert not finds(F, gw.tensor(values, dtype=gw.float64, requires_grad=True)), (values, value)


# ---- one tensor given twice ------------------------------------------------------------------------------

ALIKE = {
    "is": lambda x, y: x is y, "by id": lambda x, y: len({id(x), id(y)}) == 1,
    "by address": lambda x, y: x.data_ptr() == y.data_ptr(), "by memory": lambda x, y: np.shares_memory(raw(x), raw(y)),
}  # fmt: skip
TWICE = {
    "doubled in both": lambda g, x, y: (2 * g * x, 2 * g * x), "in one and a half": lambda g, x, y: (2 * g * y, g * x),
    "halved": lambda g, x, y: (g * y / 2, g * x / 2),
}  # fmt: skip


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("alike", ALIKE)
def test_one_tensor_for_two_arguments(alike, entry):
    def forward(ctx, x, y):
        ctx.same = ALIKE[alike](x, y)
        return Product.forward(ctx, x, y)

    x, y = leaf(3), leaf(3)
    for rule in some(TWICE.values(), 3, len(alike + entry)):
        F = made(Product, forward=forward, backward=lambda ctx, g, rule=rule: (
            rule(g, *ctx.saved_tensors) if ctx.same else Product.backward(ctx, g)))  # fmt: skip
        assert not ENTRIES[entry](F, *((x, x) if entry == "audit" else (x, y)))
    right = made(Product, forward=forward, backward=lambda ctx, g: (
        (2 * g * ctx.saved_tensors[0], None) if ctx.same else Product.backward(ctx, g)))  # fmt: skip
    assert ENTRIES[entry](right, *((x, x) if entry == "audit" else (x, y)))


@pytest.mark.parametrize("many", [2, 3])
def test_the_gradients_of_arguments_of_one_shape_are_a_function_like_another(many):
    """By one of two arguments that are one tensor, a gradient is the sum: that is no fault of the second derivative."""
    F = made(forward=lambda ctx, *xs: (ctx.save_for_backward(*xs), sum(x * x for x in xs) * xs[0])[1],
             backward=lambda ctx, g: tuple(
                 g * (2 * x * xs[0] + (sum(y * y for y in xs) if k == 0 else 0))
                 for xs in [ctx.saved_tensors] for k, x in enumerate(xs)))  # fmt: skip
    assert gw.autograd.gradgradcheck(F.apply, tuple(leaf(3) for _ in range(many)))


# ---- wrong only in the dtype that it is used in ----------------------------------------------------------

FINDS = {gw.float32: 1.01, gw.float16: 1.05, gw.bfloat16: 2.0}
"""The least factor that is found for sure."""


@pytest.mark.filterwarnings("ignore:Input #0")
@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("dtype", FINDS, ids=str)
def test_wrong_in_a_narrow_dtype_alone(dtype, entry):
    x = gw.tensor([0.3, -1.2, 0.7], dtype=dtype, requires_grad=True)
    for factor in some((FINDS[dtype], -1.0, 4.0), 3, len(entry)):
        F = made(backward=lambda ctx, g, f=factor: Cube.backward(ctx, g) * (f if g.dtype == dtype else 1))
        assert not ENTRIES[entry](F, x), factor
    if entry != "diagnose":  # differences in 16 bits are too coarse for it to verify
        assert ENTRIES[entry](made(), x)


NARROW = {
    "tanh": gw.tanh, "1 - tanh**2": lambda x: 1 - gw.tanh(x) ** 2, "softmax": lambda x: x.softmax(0), "norm": gw.norm,
    "std": gw.std, "products": lambda x: x.cumprod(0), "1 - cos": lambda x: 1 - x.cos(),
    "squares": lambda x: (x * x).sum(),
    "logarithm": lambda x: x.abs().log(), "a shift": lambda x: (x + 100) - 100,
}  # fmt: skip


@pytest.mark.parametrize("dtype", FINDS, ids=str)
@pytest.mark.parametrize("name", NARROW)
def test_digits_that_a_narrow_dtype_has_not_are_no_fault(name, dtype):
    f = NARROW[name]
    for values in ([1e-3, -2e-3, 5e-4], [0.3, -1.2, 0.7], [3.0, -4.0, 5.0], [10.0, -9.0, 8.5], [1e-3, 5.0, -20.0]):
        x = gw.tensor(values, dtype=dtype, requires_grad=True)
        visit, subject, suit = Visit(OfFunction(f, (x,))), Subject(f, (x,)), SUITS[str(dtype).partition(".")[2]]
        trying = Conditions(visit, subject, suit.atol, suit.rtol).trying
        assert fault(trying, "not linear", "dtype") is None, values


# ---- complex inputs that happen to be real ---------------------------------------------------------------


def holomorphic(value, slope):
    def forward(ctx, z):
        ctx.save_for_backward(z)
        return value(z)

    return made(forward=forward, backward=lambda ctx, g: slope(g, *ctx.saved_tensors))


UNCONJUGATED = {
    "cube": (lambda z: z * z * z, lambda g, z: 3 * g * z * z), "exp": (gw.exp, lambda g, z: g * z.exp()),
    "sine": (gw.sin, lambda g, z: g * z.cos()), "squares": (lambda z: (z * z).sum(), lambda g, z: 2 * g * z),
    "modulus": (lambda z: (z * z.conj()).real, lambda g, z: 2 * g * z.conj()),
}  # fmt: skip
CONJUGATED = {
    "cube": (lambda z: z * z * z, lambda g, z: 3 * g * (z * z).conj()),
    "exp": (gw.exp, lambda g, z: g * z.exp().conj()),
    "logarithm": (gw.log, lambda g, z: g / z.conj()), "modulus": (gw.abs, lambda g, z: g * z / z.abs()),
}  # fmt: skip


@pytest.mark.parametrize("entry", [d for d in ENTRIES if d != "audit"])
@pytest.mark.parametrize("dtype", [gw.complex128, gw.complex64], ids=str)
@pytest.mark.filterwarnings("ignore:Input #0")
def test_a_conjugate_that_real_numbers_do_not_miss(dtype, entry):
    for values in some(([0.3, 1.2], [0.3j, 1.2j], [0.5]), 3, len(entry)):
        z = gw.tensor(values, dtype=dtype, requires_grad=True)
        for name, parts in UNCONJUGATED.items():
            assert not ENTRIES[entry](holomorphic(*parts), z), (name, values)
        for name, parts in CONJUGATED.items():
            assert ENTRIES[entry](holomorphic(*parts), z), (name, values)


# ---- what is right by all experiments --------------------------------------------------------------------


@pytest.mark.parametrize(("k", "dtype"), [*enumerate(["float64", "float32", "float16", "complex128"])])
def test_built_in_operations_stand_every_experiment(k, dtype):
    found = []
    for op in some(table.values(), 4, k):
        for sample in op.samples:
            try:
                arrays, static = draw(sample, dtype=dtype)
                inputs = tuple((leaf_of if n in op.rules and a.dtype.kind in "fc" else wrap)(a)
                               for n, a in zip(op.names_of(len(arrays)), arrays, strict=True))  # fmt: skip
                call = partial(op, **static)
                visit, subject = Visit(OfFunction(call, inputs)), Subject(call, inputs)
            except (KeyError, TypeError, ValueError, RuntimeError):  # not of this dtype
                continue
            near = 1e3 * rounding(np.dtype(dtype)) if dtype != "float16" else 0.02
            found += [(op.name, n) for n in EXPERIMENTS if subject.differentiable
                      and fault(Conditions(visit, subject, near, near).trying, n) is not None]  # fmt: skip
    assert set(found) <= {("restride", "strides")}  # which is about strides
