"""Every in-place form of a tensor in every state that a tensor can be in, beside PyTorch: rearrangements, too."""

import warnings

import numpy as np
import pytest

import gradwright as gw

torch = pytest.importorskip("torch")

X = [[0.5, 0.9], [0.3, 0.25]]
UNARY = [
    "abs_", "absolute_", "acos_", "arccos_", "arcsin_", "arcsinh_", "arctan_", "arctanh_", "asin_", "asinh_",
    "atan_", "atanh_", "ceil_", "conj_physical_", "cos_", "cosh_", "deg2rad_", "digamma_", "erf_", "erfc_",
    "erfinv_", "exp2_", "exp_", "expm1_", "fix_", "floor_", "frac_", "i0_", "lgamma_", "log10_", "log1p_", "log2_",
    "log_", "logical_not_", "logit_", "nan_to_num_", "neg_", "negative_", "rad2deg_", "reciprocal_", "relu_",
    "round_", "rsqrt_", "sgn_", "sigmoid_", "sign_", "sin_", "sinc_", "sinh_", "sqrt_", "square_", "tan_", "tanh_",
    "tril_", "triu_", "trunc_", "zero_", "detach_", "requires_grad_", "t_", "squeeze_", "set_",
]  # fmt: skip
BINARY = [
    "add_", "arctan2_", "atan2_", "clamp_max_", "clamp_min_", "copy_", "copysign_", "div_", "divide_", "eq_",
    "float_power_", "floor_divide_", "fmod_", "ge_", "greater_", "greater_equal_", "gt_", "heaviside_", "hypot_",
    "igamma_", "igammac_", "ldexp_", "le_", "less_", "less_equal_", "logical_and_", "logical_or_", "logical_xor_",
    "lt_", "mul_", "multiply_", "ne_", "nextafter_", "not_equal_", "pow_", "remainder_", "sub_", "subtract_",
    "true_divide_", "xlogy_", "resize_as_",
]  # fmt: skip
MASK, ROWS, PLACES = [[True, False], [False, True]], [0, 1], [[0, 1], [1, 0]]
Y = [[0.25, 0.5], [0.75, 1.0]]
FORMS = {
    **dict.fromkeys(UNARY, ()), **dict.fromkeys(BINARY, (Y,)),
    "acosh_": (), "arccosh_": (), "mvlgamma_": (1,), "polygamma_": (1,), "clamp_": (0.0, 0.5), "clip_": (0.0, 0.5),
    "fill_": (3.0,), "fill_diagonal_": (2.0,), "renorm_": (2.0, 0, 1.0), "cumsum_": (0,), "cumprod_": (0,),
    "transpose_": (0, 1), "swapaxes_": (0, 1), "swapdims_": (-1, 0), "unsqueeze_": (0,), "as_strided_": ((2,), (1,)),
    "resize_": ((2, 2),), "addmm_": (Y, Y), "addmv_": (Y, [1.0, 2.0]), "addr_": ([1.0, 2.0], [3.0, 4.0]),
    "addbmm_": ([Y], [Y]), "addcmul_": (Y, Y), "addcdiv_": (Y, Y), "lerp_": (Y, 0.5),
    "index_add_": (0, ROWS, Y), "index_copy_": (0, ROWS, Y), "index_fill_": (0, [0], 2.0),
    "index_reduce_": (0, ROWS, Y, "prod"),
    "index_put_": (([0],), [5.0, 6.0]), "put_": (ROWS, [5.0, 6.0]), "masked_fill_": (MASK, 2.0),
    "masked_scatter_": (MASK, [5.0, 6.0]), "scatter_": (0, PLACES, Y), "scatter_add_": (0, PLACES, Y),
    "scatter_reduce_": (0, PLACES, Y, "sum"),
}  # fmt: skip
OTHERS = [
    "apply_", "map_", "map2_", "baddbmm_", "share_memory_", "bernoulli_", "cauchy_", "exponential_", "geometric_",
    "log_normal_", "normal_", "random_", "uniform_", "bitwise_and_", "bitwise_left_shift_", "bitwise_not_",
    "bitwise_or_", "bitwise_right_shift_", "bitwise_xor_", "gcd_", "lcm_",
]  # fmt: skip
"""What takes Python functions, three dimensions, draws, or is of whole numbers."""


def test_every_form_is_here():
    known = {*FORMS, *OTHERS}
    assert {n for n in dir(gw.Tensor) if n.endswith("_") and not n.startswith("_")} == known


def made(T, value):
    if isinstance(value, list):
        floats = isinstance(np.asarray(value).flat[0], np.floating)
        return T.tensor(value, dtype=T.float64) if floats else T.tensor(value)
    return tuple(made(T, v) for v in value) if isinstance(value, tuple) and isinstance(value[0], list) else value


def shown(x):
    values = np.round(x.detach().numpy().astype(float), 6).tolist()
    return tuple(x.shape), values, x.is_inference(), x.requires_grad, x.is_leaf


def grad(x):
    return None if x.grad is None else np.round(x.grad.numpy(), 6).tolist()


def at(T, needs=False):
    return T.tensor(X, dtype=T.float64, requires_grad=needs)


def plain(T, write):
    x = at(T)
    before = x._version
    return write(x) is x, shown(x), x._version - before


def inference(T, write):
    with T.inference_mode():
        x = at(T)
        return write(x) is x, shown(x)


def inference_outside(T, write):
    with T.inference_mode():
        x = at(T)
    return write(x) is x, shown(x)


def inference_in_no_grad(T, write):
    with T.inference_mode():
        x = at(T)
    with T.no_grad():
        return write(x) is x, shown(x)


def plain_in_inference(T, write):
    x = at(T)
    with T.inference_mode():
        write(x)
    return shown(x), x._version


def leaf(T, write):
    x = at(T, True)
    write(x)
    return shown(x)


def leaf_in_no_grad(T, write):
    x = at(T, True)
    with T.no_grad():
        write(x)
    return shown(x), x._version


def view_of_leaf(T, write):
    x = at(T, True)
    write(x.view(2, 2))
    return shown(x)


def recorded(T, write):
    x = at(T, True)
    y = x * 2
    write(y)
    if y.requires_grad:
        y.sum().backward()
    return shown(y), grad(x)


def view(T, write):
    x = at(T, True)
    y = x * 2
    z = y.view(2, 2)
    write(z)
    y.sum().backward()
    return shown(y), shown(z), y._version, grad(x)


def base(T, write):
    x = at(T, True)
    y = x * 2
    z = y[0]
    write(y)
    if z.requires_grad:
        z.sum().backward()
    return shown(z), z._version, grad(x)


def view_of_no_grad(T, write):
    x = at(T)
    with T.no_grad():
        z = x.view(2, 2)
    write(z)
    return shown(x), shown(z), x._version


def saved(T, write):
    x = at(T, True)
    y = x * 2
    z = y * y
    write(y)
    z.sum().backward()
    return grad(x)


def saved_buffer(T, write):
    x, c = at(T, True), at(T)
    z = x * c
    write(c)
    z.sum().backward()
    return grad(x)


def detached(T, write):
    x = at(T, True)
    y = x * 2
    z = y * y
    write(y.detach())
    z.sum().backward()
    return shown(y), grad(x)


STATES = [
    plain, inference, inference_outside, inference_in_no_grad, plain_in_inference, leaf, leaf_in_no_grad, view_of_leaf,
    recorded, view, base, view_of_no_grad, saved, saved_buffer, detached,
]  # fmt: skip
UNDERIVED = ["acosh_", "arccosh_", "asinh_", "arcsinh_", "atanh_", "arctanh_", "floor_divide_"]
OURS = {
    ("detach_", saved): "the value is as it was saved, and right",
    ("set_", view): "the base keeps its values and its history",
    **{(n, state): "PyTorch has no derivative of it in place" for n in UNDERIVED for state in (recorded, view, base)},
    ("sgn_", recorded): "PyTorch saves what it writes", ("sgn_", base): "PyTorch saves what it writes",
    **{("logical_" + n, state): "it is constant: of slope 0" for n in ("not_", "and_", "or_", "xor_")
       for state in (leaf, view_of_leaf, recorded, view, base)},
}  # fmt: skip
"""Where we mean another thing than PyTorch does, and why."""


def outcome(T, name, state):
    arguments = [made(T, value) for value in FORMS[name]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return repr(state(T, lambda x: getattr(x, name)(*arguments)))
        except (RuntimeError, IndexError):
            return "refused"


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
@pytest.mark.parametrize("name", FORMS)
def test_a_form_does_what_pytorchs_does(name, state):
    mine, theirs = outcome(gw, name, state), outcome(torch, name, state)
    assert (mine != theirs) == ((name, state) in OURS), (mine, theirs, OURS.get((name, state)))
