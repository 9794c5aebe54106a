"""Random numbers in a checkpointed function, on every road to a derivative: those of the forward pass, once more."""

import pytest

import gradwright as gw
from gradwright import func
from gradwright.autograd import functional, grad
from gradwright.utils.checkpoint import checkpoint

D = gw.float64
X = gw.tensor([0.5, 1.0, 1.5, 2.0], dtype=D)
BATCH = gw.stack([X, X + 0.25, X + 0.5])


def total(f):
    return lambda x: f(x).sum()


def each(f, randomness):
    return func.vmap(f, randomness=randomness)(BATCH)


def batched(f):
    x = X.clone().requires_grad_()
    return grad(f(x), x, gw.eye(4, dtype=D), is_grads_batched=True)[0]


ROADS = {
    "jacrev": lambda f: func.jacrev(f)(X),
    "jacrev in chunks": lambda f: func.jacrev(f, chunk_size=1)(X),
    "grad": lambda f: func.grad(total(f))(X),
    "jacrev(jacrev)": lambda f: func.jacrev(func.jacrev(total(f)))(X),
    "jacrev(grad)": lambda f: func.jacrev(func.grad(total(f)))(X),
    "jvp": lambda f: func.jvp(f, (X,), (X,))[1],
    "jvp(grad)": lambda f: func.jvp(func.grad(total(f)), (X,), (X,))[1],
    "jacfwd": lambda f: func.jacfwd(f, randomness="same")(X),
    "jacfwd(jacrev)": lambda f: func.jacfwd(func.jacrev(total(f)), randomness="same")(X),
    "vmap(grad), same": lambda f: each(func.grad(total(f)), "same"),
    "vmap(grad), different": lambda f: each(func.grad(total(f)), "different"),
    "vmap(jacrev), same": lambda f: each(func.jacrev(f), "same"),
    "vmap(jacrev), different": lambda f: each(func.jacrev(f), "different"),
    "vmap(jacrev(jacrev)), different": lambda f: each(func.jacrev(func.jacrev(total(f))), "different"),
    "vmap(jvp(grad)), different": lambda f: each(lambda x: func.jvp(func.grad(total(f)), (x,), (x,))[1], "different"),
    "grad(vmap), different": lambda f: func.grad(lambda x: func.vmap(f, randomness="different")(x).sum())(BATCH),
    "jacobian": lambda f: functional.jacobian(f, X, vectorize=True),
    "hessian": lambda f: functional.hessian(total(f), X, vectorize=True),
    "is_grads_batched": batched,
}
DRAWS = {
    "dropout": lambda x: gw.nn.functional.dropout(x * x, 0.5),
    "twice": lambda x: gw.nn.functional.dropout(x * x, 0.5) * gw.rand_like(x),
    "bernoulli": lambda x: gw.bernoulli(gw.full_like(x, 0.5)) * x.sin(),
    "randn": lambda x: gw.randn(4, dtype=D) * x**3,
    "randperm": lambda x: x[gw.randperm(4)] * x**2,
    "by a number of its own": lambda x: gw.bernoulli((x.detach() / 4).clamp(0, 1)) * x**3,
}


def once(f):
    return lambda x: checkpoint(f, x, use_reentrant=False)


def after(f):
    return lambda x: gw.rand(4, dtype=D) * f(x)


AROUND = {
    "once": (once, lambda f: f),
    "after another": (lambda f: after(once(f)), after),
    "nested": (lambda f: once(lambda x: once(f)(x * 2) ** 2), lambda f: lambda x: f(x * 2) ** 2),
    "two": (lambda f: lambda x: once(f)(once(f)(x)), lambda f: lambda x: f(f(x))),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:vmap. the random numbers are others")
@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("around", AROUND)
def test_a_second_run_draws_what_the_first_did(around, road):
    with_it, without = AROUND[around]
    for name, draw in DRAWS.items():
        results = []
        for f in (with_it(draw), without(draw)):
            gw.manual_seed(5)
            results.append((ROADS[road](f), gw.get_rng_state()))
        (a, after), (b, as_well) = results
        assert gw.allclose(a, b), name
        assert gw.equal(after, as_well), name
