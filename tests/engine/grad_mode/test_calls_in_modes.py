"""The same call in each mode, alone and within a backward, beside PyTorch: what comes out, and what is recorded."""

import warnings
from contextlib import ExitStack, contextmanager, nullcontext

import pytest

import gradwright as gw

torch = pytest.importorskip("torch")

MODES = {
    "plain": lambda T: nullcontext(),
    "no_grad": lambda T: T.no_grad(),
    "inference_mode": lambda T: T.inference_mode(),
    "enable_grad": lambda T: T.enable_grad(),
    "enable_grad in no_grad": lambda T: together(T.no_grad(), T.enable_grad()),
    "no_grad in enable_grad": lambda T: together(T.enable_grad(), T.no_grad()),
    "set_grad_enabled(False)": lambda T: T.set_grad_enabled(False),
    "inference_mode(False)": lambda T: T.inference_mode(False),
}


@contextmanager
def together(*contexts):
    with ExitStack() as stack:
        for one in contexts:
            stack.enter_context(one)
        yield


def square(T):
    class Square(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return 2 * g * ctx.saved_tensors[0]

    return Square.apply


OPERATIONS = {
    "mul": lambda T, x: x * x, "exp": lambda T, x: x.exp(), "sum": lambda T, x: x.sum(),
    "view": lambda T, x: x.view(2, 1),
    "cat": lambda T, x: T.cat([x, x]), "dot": lambda T, x: x @ x, "softmax": lambda T, x: x.softmax(0),
    "Function": lambda T, x: square(T)(x), "tanh twice": lambda T, x: x.tanh().tanh(),
}  # fmt: skip


def ones(T, y, needs=False):
    return T.ones(tuple(y.shape), requires_grad=needs)


CALLS = {
    "grad_fn": lambda T, x, y: y.grad_fn(ones(T, y)),
    "grad_fn of what needs it": lambda T, x, y: y.grad_fn(ones(T, y, True)),
    "grad": lambda T, x, y: T.autograd.grad(y, x, ones(T, y))[0],
    "grad with a graph": lambda T, x, y: T.autograd.grad(y, x, ones(T, y), create_graph=True)[0],
    "backward": lambda T, x, y: (y.backward(ones(T, y)), x.grad)[1],
    "backward with a graph": lambda T, x, y: (y.backward(ones(T, y), create_graph=True), x.grad)[1],
    "an operation": lambda T, x, y: y * 2,
    "detach": lambda T, x, y: y.detach(), "clone": lambda T, x, y: y.clone(), "add_": lambda T, x, y: y.add_(1),
    "func.grad": lambda T, x, y: T.func.grad(lambda x: (x * x).sum())(x),
    "jvp": lambda T, x, y: T.func.jvp(lambda x: x * x, (x,), (T.ones(2),))[1],
    "vmap": lambda T, x, y: T.func.vmap(lambda x: x * x)(x),
    "hook": lambda T, x, y: (y.register_hook(lambda g: g * 2), y.sum().backward(), x.grad)[2],
    "requires_grad_": lambda T, x, y: T.ones(2).requires_grad_() * 2,
}  # fmt: skip
UNLIKE = {("Function", "grad_fn"), ("Function", "grad_fn of what needs it")}
"""PyTorch cannot call the node of a Function that is written in Python."""


def shown(found):
    if isinstance(found, tuple):
        return [shown(t) for t in found if t is not None]
    values = [round(v, 5) for v in found.detach().flatten().tolist()]
    return values, found.requires_grad, found.grad_fn is not None


def outcome(T, mode, operation, call, within):
    x = T.tensor([0.5, 2.0], requires_grad=True)
    said = []

    def run():
        with MODES[mode](T):
            said.append(shown(CALLS[call](T, x, y)))

    class Within(T.autograd.Function):
        @staticmethod
        def forward(ctx, z):
            return z * 1

        @staticmethod
        def backward(ctx, g):
            run()
            return g

    try:
        y = OPERATIONS[operation](T, x)
        if within:
            Within.apply(T.ones(1, requires_grad=True)).sum().backward()
        else:
            run()
    except RuntimeError:
        return "refused"
    return said


@pytest.mark.parametrize("within", [False, True], ids=["alone", "within a backward"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_call_in_a_mode(operation, mode, within):
    for call in CALLS:
        if (operation, call) in UNLIKE:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mine, theirs = (outcome(T, mode, operation, call, within) for T in (gw, torch))
        if mode == "inference_mode" and "graph" in call and mine == "refused":
            continue  # a graph cannot be asked for there: we say so
        assert mine == theirs, call
