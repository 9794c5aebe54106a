"""Views of what has been written to since they were made, by a tensor of a transform: as what is returned, and as an
argument of operations. What they are is what a fresh copy is."""

import pytest

import gradwright as gw
from gradwright import func as F
from gradwright.autograd import forward_ad, functional

X = gw.tensor([[0.3, 0.9, 0.6, 0.1], [0.5, 0.2, 0.7, 0.4]], dtype=gw.float64)
ONE = gw.tensor([1.0, 2.0], dtype=gw.float64)


def energy(x):
    acc = gw.zeros(2, dtype=gw.float64)
    total = acc[1]
    acc[0] = x.sum()
    acc[1] = (x**2).sum()
    return total


def by_forward_ad(x):
    with forward_ad.dual_level():
        columns = [forward_ad.unpack_dual(energy(forward_ad.make_dual(x, e))).tangent for e in gw.eye(2).double()]
    return gw.stack(columns)


UNIT = gw.ones(2, dtype=gw.float64)
RETURNED = {
    "grad": (lambda x: F.grad(energy)(x), [2.0, 4.0]),
    "grad_and_value": (lambda x: F.grad_and_value(energy)(x)[0], [2.0, 4.0]),
    "value_and_grad": (lambda x: gw.tensor(gw.value_and_grad(energy)(x)[1]), [2.0, 4.0]),
    "vjp": (lambda x: F.vjp(energy, x)[1](UNIT[0])[0], [2.0, 4.0]),
    "aux of vjp": (lambda x: F.vjp(lambda x: (x.sum(), energy(x)), x, has_aux=True)[2], 5.0),
    "jvp": (lambda x: F.jvp(energy, (x,), (UNIT,))[1], 6.0),
    "aux of jvp": (lambda x: F.jvp(lambda x: (x.sum(), energy(x)), (x,), (UNIT,), has_aux=True)[2], 5.0),
    "linearize": (lambda x: F.linearize(energy, x)[1](UNIT), 6.0),
    "forward_ad": (by_forward_ad, [2.0, 4.0]),
    "jacfwd": (lambda x: F.jacfwd(energy)(x), [2.0, 4.0]),
    "jacrev": (lambda x: F.jacrev(energy)(x), [2.0, 4.0]),
    "hessian": (lambda x: F.hessian(energy)(x), [[2.0, 0.0], [0.0, 2.0]]),
    "vmap": (lambda x: F.vmap(energy)(gw.stack([x, x])), [5.0, 5.0]),
    "vmap of grad": (lambda x: F.vmap(F.grad(energy))(gw.stack([x, x])), [[2.0, 4.0], [2.0, 4.0]]),
    "grad of vmap": (lambda x: F.grad(lambda x: F.vmap(energy)(x[None]).sum())(x), [2.0, 4.0]),
    "jvp of jvp": (lambda x: F.jvp(lambda x: F.jvp(energy, (x,), (UNIT,))[1], (x,), (UNIT,))[1], 4.0),
    "jet": (lambda x: gw.stack(F.jet(energy, (x,), ((UNIT, 0 * UNIT),))[1]), [6.0, 4.0]),
    "sparse_hessian": (lambda x: F.sparse_hessian(energy)(x).to_dense(), [[2.0, 0.0], [0.0, 2.0]]),
    "functional.jacobian": (lambda x: functional.jacobian(energy, x), [2.0, 4.0]),
    "functional.jacobian, vectorized": (lambda x: functional.jacobian(energy, x, vectorize=True), [2.0, 4.0]),
    "functional.hessian": (lambda x: functional.hessian(energy, x), [[2.0, 0.0], [0.0, 2.0]]),
    "functional.vjp": (lambda x: functional.vjp(energy, x)[1], [2.0, 4.0]),
    "functional.jvp": (lambda x: functional.jvp(energy, x, UNIT)[1], 6.0),
    "functional.vhp": (lambda x: functional.vhp(energy, x, UNIT)[1], [2.0, 2.0]),
    "functional.hvp": (lambda x: functional.hvp(energy, x, UNIT)[1], [2.0, 2.0]),
    "functional.vjp, strict": (lambda x: functional.vjp(energy, x, strict=True)[1], [2.0, 4.0]),
}


@pytest.mark.parametrize("name", RETURNED)
def test_what_a_function_returns_is_brought_up_to_date(name):
    f, want = RETURNED[name]
    assert f(ONE).tolist() == want


def test_the_checkers_take_such_a_function():
    x = ONE.clone().requires_grad_()
    assert gw.autograd.gradcheck(energy, x, check_forward_ad=True, check_batched_grad=True)
    assert gw.autograd.gradgradcheck(energy, x, check_fwd_over_rev=True)


def stale(x):
    """A view of what ``x`` has been written to since, as much as it was made for."""
    memory = gw.zeros_like(x) if x.dim() else gw.zeros((), dtype=x.dtype)
    view = memory[...]
    memory.copy_(x)
    return view


def written(f):
    """What an operation in place makes of it."""

    def call(v, *others):
        f(v, *others)
        return v

    return call


OTHER = gw.tensor([0.2, 0.8, 0.4, 0.7], dtype=gw.float64)
AT = gw.tensor([2, 0, 1, 3])
LOW = AT > 1
ONE_ARGUMENT = {
    **{name: (lambda v, name=name: getattr(v, name)()) for name in (
        "abs", "acos", "asin", "atan", "ceil", "clone", "contiguous", "cos", "cosh", "deg2rad", "detach", "digamma",
        "double", "erf", "erfinv", "exp", "expm1", "flatten", "float", "floor", "frac", "isfinite", "isnan", "lgamma",
        "log", "log1p", "logit", "long", "max", "mean", "median", "min", "neg", "norm", "prod", "reciprocal", "relu",
        "round", "rsqrt", "sigmoid", "sign", "sin", "sinc", "sqrt", "square", "std", "sum", "tan", "tanh", "trunc",
        "var", "argmax", "argmin", "argsort", "msort", "aminmax", "frexp", "isinf", "signbit", "count_nonzero",
        "nansum", "nanmean", "nanmedian", "diff", "ravel", "squeeze", "any", "all", "bool",
        "logical_not", "mode", "sort", "unbind", "conj", "nan_to_num", "i0", "positive", "exp2", "diag", "diag_embed",
    )},
    "T": lambda v: v[None].T,
    "max of a dim": lambda v: v.max(0),
    "min of a dim": lambda v: v.min(0, keepdim=True),
    "amax": lambda v: v.amax(0),
    "topk": lambda v: v.topk(2),
    "kthvalue": lambda v: v.kthvalue(2),
    "median of a dim": lambda v: v.median(0),
    "nanmedian of a dim": lambda v: v.nanmedian(0),
    "cummax": lambda v: v.cummax(0),
    "cummin": lambda v: v.cummin(0),
    "cumsum": lambda v: v.cumsum(0),
    "cumprod": lambda v: v.cumprod(0),
    "logcumsumexp": lambda v: v.logcumsumexp(0),
    "logsumexp": lambda v: v.logsumexp(0),
    "softmax": lambda v: v.softmax(0),
    "log_softmax": lambda v: v.log_softmax(0),
    "clamp": lambda v: v.clamp(0.2, 0.6),
    "pow": lambda v: v**2.5,
    "histc": lambda v: v.detach().histc(3, 0.0, 1.0),
    "quantile": lambda v: v.quantile(0.3),
    "unfold": lambda v: v.unfold(0, 2, 1),
    "as_strided": lambda v: v.as_strided((2, 2), (2, 1)),
    "index": lambda v: v[1:3],
    "index of a tensor": lambda v: v[AT],
    "index of a mask": lambda v: v.masked_fill(LOW, 0.0),
    "gather": lambda v: v.gather(0, AT),
    "index_select": lambda v: v.index_select(0, AT),
    "take": lambda v: v.take(AT),
    "flip": lambda v: v.flip(0),
    "roll": lambda v: v.roll(1),
    "reshape": lambda v: v.reshape(2, 2),
    "view": lambda v: v.view(2, 2),
    "expand": lambda v: v.expand(2, 4),
    "repeat": lambda v: v.repeat(2),
    "split": lambda v: v.split(3),
    "chunk": lambda v: v.chunk(2),
    "tril": lambda v: v.reshape(2, 2).tril(),
    "trace": lambda v: v.reshape(2, 2).trace(),
    "det": lambda v: gw.linalg.det(v.reshape(2, 2)),
    "inv": lambda v: gw.linalg.inv(v.reshape(2, 2)),
    "qr": lambda v: gw.linalg.qr(v.reshape(2, 2)),
    "svdvals": lambda v: gw.linalg.svdvals(v.reshape(2, 2)),
    "vector_norm": lambda v: gw.linalg.vector_norm(v, 3),
    "fft": lambda v: gw.fft.rfft(v).abs(),
    "searchsorted": lambda v: gw.searchsorted(OTHER.sort()[0], v),
    "bucketize": lambda v: gw.bucketize(v, gw.tensor([0.25, 0.5])),
    "zeros_like": lambda v: gw.zeros_like(v),
    "new_zeros": lambda v: v.new_zeros(2),
    "to": lambda v: v.to(gw.float32),
    "type_as": lambda v: v.type_as(OTHER),
    "dropout of none": lambda v: gw.nn.functional.dropout(v, 0.0),
    "layer_norm": lambda v: gw.nn.functional.layer_norm(v, (4,)),
    "max_pool1d": lambda v: gw.nn.functional.max_pool1d(v[None], 2),
    "pad": lambda v: gw.nn.functional.pad(v, (1, 1)),
    "gelu": lambda v: gw.nn.functional.gelu(v),
    "stack": lambda v: gw.stack([OTHER, v]),
    "cat": lambda v: gw.cat([OTHER, v]),
    "where": lambda v: gw.where(LOW, v, OTHER),
    "einsum": lambda v: gw.einsum("i,j->ij", v, OTHER),
    "meshgrid": lambda v: gw.meshgrid(v, OTHER, indexing="ij"),
    "block_diag": lambda v: gw.block_diag(v, OTHER),
    "cartesian_prod": lambda v: gw.cartesian_prod(v, OTHER),
    "iteration": lambda v: sum(e * k for k, e in enumerate(v)),
    "bernoulli of 1": lambda v: gw.bernoulli(v.detach() * 0 + 1) * v,
    "normal": lambda v: gw.normal(v.detach(), 0.0),
    "poisson of 0": lambda v: gw.poisson(v.detach() * 0.0) + v,
    **{f"{name} from the right": (lambda v, name=name: getattr(OTHER, name)(v)) for name in (
        "add", "sub", "mul", "div", "pow", "maximum", "fmin", "atan2", "hypot", "dot", "outer", "remainder", "fmod",
        "lt", "eq", "copysign", "logaddexp", "xlogy", "dist", "floor_divide",
    )},
    **{f"{name} from the left": (lambda v, name=name: getattr(v, name)(OTHER)) for name in (
        "add", "sub", "mul", "div", "pow", "maximum", "fmin", "atan2", "hypot", "dot", "outer", "remainder", "fmod",
        "lt", "eq", "copysign", "logaddexp", "xlogy", "dist", "floor_divide",
    )},
    "copy_": lambda v: gw.zeros_like(OTHER).copy_(v),
    "setitem": written(lambda v: v.__setitem__(0, 2.0)),
    "setitem of it": lambda v: filled(lambda z: z.__setitem__(slice(4), v)),
    "setitem of it by places": lambda v: filled(lambda z: z.__setitem__(AT, v)),
    "setitem by places": written(lambda v: v.__setitem__(AT[:2], OTHER[:2])),
    "index_add": lambda v: OTHER.index_add(0, AT, v),
    "index_copy": lambda v: OTHER.index_copy(0, AT, v),
    "scatter": lambda v: OTHER.scatter(0, AT, v),
    "scatter_add": lambda v: OTHER.scatter_add(0, AT, v),
    "put_": lambda v: filled(lambda z: z.put_(AT, v)),
    "masked_scatter": lambda v: OTHER.masked_scatter(LOW, v),
    "select_scatter": lambda v: OTHER.reshape(2, 2).select_scatter(v[:2], 0, 1),
    "add_ of it": lambda v: filled(lambda z: z.add_(v)),
    "lerp": lambda v: OTHER.lerp(v, 0.5),
    "addcmul": lambda v: OTHER.addcmul(v, v),
    **{name: written(lambda v, name=name: getattr(v, name)()) for name in (
        "exp_", "zero_", "neg_", "sqrt_", "frac_", "sin_", "relu_", "square_",
    )},
    "add_": written(lambda v: v.add_(1.0)),
    "mul_": written(lambda v: v.mul_(OTHER)),
    "fill_": written(lambda v: v.fill_(2.0)),
    "copy_ into it": written(lambda v: v.copy_(OTHER)),
    "unfold, mul_": written(lambda v: v.unfold(0, 2, 2).mul_(3)),
    "index_fill_": written(lambda v: v.index_fill_(0, AT[:2], 3.0)),
    "masked_fill_": written(lambda v: v.masked_fill_(LOW, 3.0)),
    "clamp_": written(lambda v: v.clamp_(0.2, 0.6)),
    "cumsum_": written(lambda v: v.cumsum_(0)),
    "normal_": written(lambda v: v.normal_(1.0, 0.0)),
}  # fmt: skip


def filled(write):
    z = gw.zeros(4, dtype=gw.float64)
    write(z)
    return z


def leaves(out):
    return [out] if isinstance(out, gw.Tensor) else [t for o in out for t in leaves(o)]


def floating(out):
    return [t for t in leaves(out) if t.is_floating_point()]


def by_vjp(f):
    outs, pull = F.vjp(lambda x: [x.sum(), *floating(f(x))], X[0])
    return [*outs, *pull([gw.ones_like(o) for o in outs])]


def by_jvp(f):
    outs, moves = F.jvp(lambda x: leaves(f(x)), (X[0],), (OTHER,))
    return [*outs, *moves]


def by_vmap(f):
    return F.vmap(lambda x: leaves(f(x)), randomness="different")(X)


def by_vmap_in_columns(f):
    return F.vmap(lambda x: leaves(f(x)), in_dims=1, randomness="different")(X.T.contiguous())


@pytest.mark.filterwarnings("ignore::gradwright.GradientWarning")
@pytest.mark.parametrize("name", ONE_ARGUMENT)
def test_an_operation_takes_such_a_view_for_what_it_shows(name):
    f = ONE_ARGUMENT[name]
    for transform in (by_vjp, by_jvp, by_vmap, by_vmap_in_columns):
        found, want = transform(lambda x: f(stale(x))), transform(lambda x: f(x.clone()))
        for a, b in zip(found, want, strict=True):
            assert a.dtype is b.dtype, transform
            assert gw.equal(a, b), transform
