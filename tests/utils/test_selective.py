"""Selective checkpoints: what the policy is asked, what is computed again, and that the numbers stay."""

import importlib
from functools import partial

import pytest

import gradwright as gw
from gradwright.engine.watch import Watch
from gradwright.pytorch.library import Namespace, custom_op
from gradwright.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

aten = Namespace("aten")
X, W, B = gw.arange(9.0).reshape(3, 3) / 9, gw.eye(3) + 0.1, gw.arange(18.0).reshape(2, 3, 3) / 18

CASES = {
    "products": (lambda x, w, b: ((x @ w).sigmoid() @ w).relu() @ w[0], "mm mm"),
    "batches": (lambda x, w, b: (b @ (b * 2 - x)).sin(), "bmm"),
    "a layer": (lambda x, w, b: type(x).softmax((b @ w).exp() / 3, -1), "mm"),
    "several results": (lambda x, w, b: sum((x @ w).unbind()).cos(), "mm"),
    "written in place": (lambda x, w, b: (x @ w).sin_().exp(), "mm"),
    "a power": (lambda x, w, b: x**2 + (w**3).tanh(), ""),
}  # fmt: skip


def derived(lib, f, policy, again=None):
    """The gradients through a checkpoint with this policy; ``again`` is on meanwhile."""
    args = [lib.tensor(t.tolist(), requires_grad=True) for t in (X, W, B)]
    make = importlib.import_module(f"{lib.__name__}.utils.checkpoint")
    contexts = partial(make.create_selective_checkpoint_contexts, policy)
    y = make.checkpoint(f, *args, use_reentrant=False, context_fn=contexts).sum()
    if again is None:
        return [g if g is None else g.tolist() for g in lib.autograd.grad(y, args, allow_unused=True)]
    with again:
        return [g if g is None else g.tolist() for g in lib.autograd.grad(y, args, allow_unused=True)]


class Computed(Watch):
    def __init__(self):
        self.names = []

    def compute(self, name, inputs, call):
        self.names.append(name)
        return call()


MOVES = ("view", "expand", "_unsafe_view", "select", "slice", "t", "transpose", "detach", "unbind", "clone")


@pytest.mark.parametrize("name", CASES)
def test_the_policy_is_asked_what_pytorch_asks_it(name):
    torch = pytest.importorskip("torch")
    f, _ = CASES[name]
    asked = {torch: [], gw: []}

    def policy(lib, ctx, op, *args, **kwargs):
        assert args or kwargs
        assert isinstance(ctx.op_output, (lib.Tensor, tuple, list))
        asked[lib].append(str(op).split(".")[1].rstrip("_"))
        return False

    grads = [derived(lib, f, partial(policy, lib)) for lib in asked]
    assert [n for n in asked[gw] if n not in MOVES] == [n for n in asked[torch] if n not in MOVES]
    for ours, theirs in zip(*reversed(grads), strict=True):
        assert (ours is None) is (theirs is None)
        assert ours is None or gw.allclose(gw.tensor(ours), gw.tensor(theirs), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("keeps", ["nothing", "products", "list", "all"])
@pytest.mark.parametrize("name", CASES)
def test_what_is_kept_is_not_computed_again(name, keeps):
    f, products = CASES[name]
    kinds = {aten.mm.default, aten.bmm.default}
    policy = {
        "nothing": lambda ctx, op, *args: CheckpointPolicy.PREFER_RECOMPUTE,
        "products": lambda ctx, op, *args: op in kinds,
        "list": [aten.mm.default, aten.bmm.default],
        "all": lambda ctx, op, *args: CheckpointPolicy.MUST_SAVE,
    }[keeps]
    plain, kept = Computed(), Computed()
    want = derived(gw, f, lambda *_: False, plain)
    assert derived(gw, f, policy, kept) == want
    fewer = plain.names.count("matmul") - kept.names.count("matmul")
    count = len(products.split())
    if keeps == "nothing":
        assert kept.names == plain.names
    elif keeps == "all":
        assert fewer >= count
        assert len(kept.names) < len(plain.names)
    else:
        assert fewer == count


def run(policy, f):
    x = X.double().requires_grad_()
    contexts = partial(create_selective_checkpoint_contexts, policy)
    return x, checkpoint(f, x, use_reentrant=False, context_fn=contexts).sum()


ALL = lambda ctx, op, *args: True


def test_every_pass_and_a_second_derivative_are_those_without_a_checkpoint():
    """PyTorch refuses a second pass."""
    f = lambda x: (x @ x).sin().exp()
    x, y = run(ALL, f)
    want = gw.autograd.grad(f(x).sum(), x, create_graph=True)[0]
    second = gw.autograd.grad((want**2).sum(), x)[0]
    for _ in range(2):
        got = gw.autograd.grad(y, x, create_graph=True)[0]
        assert gw.equal(got, want)
        assert gw.equal(gw.autograd.grad((got**2).sum(), x, retain_graph=True)[0], second)


def test_what_is_written_after_the_checkpoint_does_not_reach_what_is_kept():
    made = []

    def f(x):
        made.append(x @ x)
        return made[-1].sin()

    x, y = run(ALL, f)
    want = gw.autograd.grad(f(x).sum(), x)[0]
    made[0].data.zero_()
    assert gw.equal(gw.autograd.grad(y, x)[0], want)


class Doubled(gw.autograd.Function):
    runs = 0

    @staticmethod
    def forward(ctx, x):
        Doubled.runs += 1
        y = x.exp() * 2
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]


def test_a_users_function_is_run_again_as_its_ctx_is_filled_by_that():
    x, y = run(ALL, lambda x: Doubled.apply(x @ x).sin())
    Doubled.runs = 0
    z = (x @ x).exp() * 2
    assert gw.allclose(gw.autograd.grad(y, x)[0], gw.autograd.grad(z.sin().sum(), x)[0])
    assert Doubled.runs == 1


def test_an_operation_with_a_name_is_kept_as_a_whole():
    runs = []

    @custom_op("selective::thrice", mutates_args=())
    def thrice(x: gw.Tensor) -> gw.Tensor:
        runs.append(x)
        return x * 3

    thrice.register_autograd(lambda ctx, g: g * 3)
    for policy, again in (([thrice.default], 0), (lambda ctx, op, *args: op == thrice, 0), (lambda *_: False, 1)):
        x, y = run(policy, lambda x: thrice(x).sin())
        runs.clear()
        assert gw.allclose(gw.autograd.grad(y, x)[0], 3 * (3 * x).cos())
        assert len(runs) == again


def test_an_operation_of_ones_own_can_be_listed():
    runs = []

    @gw.op()
    def thrice(xp, x):
        runs.append(x)
        return x * 3

    thrice.vjp(x=lambda xp, g: g * 3)
    x, y = run([thrice], lambda x: thrice(x).sin())
    gw.autograd.grad(y, x)
    assert len(runs) == 1


@pytest.mark.parametrize("inner", [ALL, lambda *_: False])
def test_checkpoints_in_checkpoints_and_in_transforms(inner):
    contexts = partial(create_selective_checkpoint_contexts, inner)

    def f(x):
        part = checkpoint(lambda x: (x @ x).sin(), x, use_reentrant=False, context_fn=contexts)
        return (part @ x).exp()

    plain = lambda x: ((x @ x).sin() @ x).exp()
    x, y = run(ALL, f)
    assert gw.allclose(gw.autograd.grad(y, x)[0], gw.autograd.grad(plain(x).sum(), x)[0])
    batch = gw.stack([X, X + 0.5])
    through = lambda f: gw.func.vmap(gw.func.grad(lambda x: f(x).sum()))(batch)
    assert gw.allclose(through(lambda x: run_in(f, x)), through(plain))
    tangents = [gw.func.jvp(partial(run_in, g), (X,), (W,))[1] for g in (f, plain)]
    assert gw.allclose(*tangents)


def run_in(f, x):
    contexts = partial(create_selective_checkpoint_contexts, ALL)
    return checkpoint(f, x, use_reentrant=False, context_fn=contexts)


def test_what_is_no_policy_is_refused():
    with pytest.raises(TypeError, match="must be either a function or a list of ops"):
        create_selective_checkpoint_contexts(3)
    with pytest.raises(ValueError, match=r"change it to `torch.ops.aten.mm.default`"):
        create_selective_checkpoint_contexts([aten.mm])
    with pytest.raises(ValueError, match=r"to be an OpOverload.* but got: mm of type"):
        create_selective_checkpoint_contexts(["mm"])
    with pytest.raises(RuntimeError, match=r"to return a CheckpointPolicy for aten.sin.default, but got NoneType"):
        run(lambda *_: None, gw.sin)
    with pytest.raises(RuntimeError, match=r"the policy failed for aten.sin.default: .*no such") as e:
        run(lambda *_: int("no such"), gw.sin)
    assert isinstance(e.value.__cause__, ValueError)


def test_what_is_run_only_the_second_time_is_no_operation_of_the_first():
    runs = []

    def f(x):
        runs.append(x)
        return x.exp() if len(runs) < 2 else x.cos().exp()

    x, y = run(ALL, f)
    with pytest.raises(RuntimeError, match=r"cos\(\) invocation index 0 encountered during backward but not found"):
        gw.autograd.grad(y, x)


def test_contexts_serve_one_checkpoint():
    pair = create_selective_checkpoint_contexts(ALL)
    x = X.clone().requires_grad_()
    checkpoint(gw.sin, x, use_reentrant=False, context_fn=lambda: pair)
    with pytest.raises(RuntimeError, match="context_fn must make new ones"):
        checkpoint(gw.sin, x, use_reentrant=False, context_fn=lambda: pair)
