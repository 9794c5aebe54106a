from typing import Any

import numpy as np
import pytest

import gradwright

X, Y = np.array([0.5, -2.5, 3.0, 0.0]), np.array([2.0, -0.5, 3.0, 0.0])
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5])
BINARY = ["fmax", "fmin", "copysign", "hypot", "logaddexp", "logaddexp2", "nextafter"]


@pytest.mark.parametrize("name", BINARY)
def test_binary_at_special_values_and_ties(same: Any, name: str) -> None:
    same(lambda t, x, y: getattr(t, name)(x, y), X, Y, order=1, names=False)
    same(lambda t, x, y: getattr(t, name)(x, y), SPECIAL[:, None], SPECIAL, order=0)


@pytest.mark.parametrize("dtype", ["int64", "uint8", "float32"])
def test_rounded_quotients(same: Any, dtype: str) -> None:
    x, y = np.array([7, 8, 0, 5]).astype(dtype), np.array([2, 3, 5, 5]).astype(dtype)
    sign = -1 if dtype != "uint8" else 1
    for mode in (None, "trunc", "floor", "nearest", 3):
        same(lambda t, x, y, mode=mode: t.div(x, y, rounding_mode=mode), x, y, names=False)
        same(lambda t, x, mode=mode: x.div(2 * sign, rounding_mode=mode), x, names=False)
    same(lambda t, x, y: t.fmod(x * sign, y), x, y, names=False)


NUMBERS = {"bool": ([True, True, False], [True, True, True]), "uint8": ([7, 250, 0], [2, 3, 200]),
           "int": ([7, -7, 0], [2, -3, -2]), "float": ([7.5, -7.5, -3.0], [2.0, -3.0, 0.0]),
           "complex": ([7 + 1j, -7.5, 1j], [2, 1j, 3])}  # fmt: skip
DTYPES = ["bool", "uint8", "int8", "int32", "int64", "float32", "float64", "complex64"]
QUOTIENTS = {
    **{f"div {mode}": lambda t, x, y, mode=mode: t.div(x, y, rounding_mode=mode) for mode in (None, "trunc", "floor")},
    **{name: lambda t, x, y, name=name: getattr(t, name)(x, y) for name in ("floor_divide", "remainder", "fmod")},
}  # fmt: skip


def quotient(t: Any, call: Any, x: Any, y: Any) -> tuple[str, Any]:
    """What a quotient gives: its dtype and values, or the class of its error."""

    def made(which: int, v: Any) -> Any:
        if not isinstance(v, str):
            return v
        return t.tensor(NUMBERS[v.rstrip("123468") if v != "uint8" else v][which], dtype=getattr(t, v))

    try:
        out = call(t, made(0, x), made(1, y))
    except (RuntimeError, TypeError) as e:
        return type(e).__name__, None
    return str(out.dtype), out.tolist()


@pytest.mark.parametrize("x", [*DTYPES, True, 2, -3, 2.5, 2j], ids=str)
def test_quotients_of_each_two_dtypes(torch: Any, x: Any) -> None:
    for y in [*DTYPES, True, 2, -3, 2.5, 2j] if isinstance(x, str) else DTYPES:
        for name, call in QUOTIENTS.items():
            ours, theirs = (quotient(t, call, x, y) for t in (gradwright, torch))
            assert ours[0] == theirs[0], (name, y)
            np.testing.assert_allclose(np.array(ours[1] or 0), np.array(theirs[1] or 0), rtol=1e-6)


def test_whole_numbers_divided_by_zero(same: Any) -> None:
    for name in ("fmod", "remainder", "floor_divide"):
        same(lambda t, x, name=name: getattr(t, name)(x, 0), np.array([1, 2]))


def test_booleans(same: Any) -> None:
    b = np.array([True, False])
    for call in (
        lambda t, b: b - 1, lambda t, b: 1 - b, lambda t, b: b - b, lambda t, b: t.ones(2) - b, lambda t, b: -b,
        lambda t, b: b % 2, lambda t, b: b**2, lambda t, b: 2**b, lambda t, b: t.sign(b), lambda t, b: t.positive(b),
        lambda t, b: t.add(b, b, alpha=True), lambda t, b: t.addcmul(b, b, b), lambda t, b: b << 1,
        lambda t, b: t.nan_to_num(b), lambda t, b: t.clamp(b, 0, 1), lambda t, b: t.gcd(b, b), lambda t, b: t.frac(b),
    ):  # fmt: skip
        same(call, b)


def test_numbers_that_do_not_fit(same: Any) -> None:
    whole, real = np.array([1, 200], np.uint8), np.array([1.0, 2.0], np.float32)
    mask = np.array([True, False])
    for value in (300, -1, 1.5, float("nan"), 1j):
        same(lambda t, x, m, v=value: t.masked_fill(x, m, v), whole, mask)
        same(lambda t, x, v=value: t.addcmul(x, x, x, value=v), whole)
    for value in (1e300, 1j, float("inf"), "a"):
        same(lambda t, x, m, v=value: t.masked_fill(x, m, v), real, mask, names=False)
    same(lambda t, x: t.clamp(x, max=300), whole)
    same(lambda t, x: t.add(x, x, alpha=1j), real)
    same(lambda t, x: t.add(x, x, alpha=1.5), whole)
    same(lambda t, x: t.lerp(x, x, 1j), real)
    same(lambda t, x: t.lerp(x, x.double(), 0.5), real)


def test_numpy_scalars_keep_float32() -> None:
    x = gradwright.tensor([1.0, 2.0])
    for y in (x.clamp(np.float64(1.5)), x.lerp(x, np.float64(0.5)), x.masked_fill(x > 1, np.float64(3)),
              x.addcmul(x, x, value=np.float64(2)), x.nan_to_num(np.float64(0))):  # fmt: skip
        assert y.dtype is gradwright.float32


def test_lerp_reaches_its_end() -> None:
    x, y = gradwright.tensor([1e20]), gradwright.tensor([1.0])
    assert gradwright.lerp(x, y, 1).item() == 1.0


def test_slopes_at_the_origin(same: Any) -> None:
    zero = np.zeros(2)
    same(lambda t, x, y: t.atan2(x, y), zero, zero, order=1)
    for exponent in (0, 0.0, 1, 2, 0.5):
        same(lambda t, x, n=exponent: x**n, zero, order=1)
        same(lambda t, x, n=exponent: x ** t.full_like(x, n), zero, order=1)
    same(lambda t, y: 0**y, np.array([0.0, 1.0]), order=1)


def test_frexp_at_the_ends_of_the_range(torch: Any) -> None:
    x = np.array([5e-324, 2.0**-1022, 1.7e308, -1.7e308, 0.0, np.inf])
    mantissa, exponent = gradwright.frexp(gradwright.tensor(x))
    wanted = torch.frexp(torch.tensor(x))
    assert mantissa.tolist() == wanted.mantissa.tolist()
    assert exponent.tolist()[:5] == wanted.exponent.tolist()[:5]
    assert exponent.dtype is gradwright.int32


def test_whole_powers(same: Any) -> None:
    same(lambda t, x, n: x**n, np.array([-1, 1, 2, -3, 0]), np.array([-3, -2, -3, 3, 0]))
    same(lambda t, x, n: x**n, np.array([3, 2]), np.array([True, False]))
    same(lambda t, x, n: x**n, np.array([True, False]), np.array([3, 0]))
    same(lambda t, n: 2**n, np.array([-1, 3]))
    same(lambda t, x: x**-1, np.array([1, 2]))


def test_heaviside_refuses_to_be_differentiated() -> None:
    x = gradwright.tensor([0.5], requires_grad=True)
    y = gradwright.heaviside(x, gradwright.tensor([1.0]))
    with pytest.raises(NotImplementedError, match="heaviside"):
        y.backward()


def test_in_place_forms_of_composites_keep_the_history(same: Any) -> None:
    for call in (lambda x, y: x.frac_(), lambda x, y: x.ldexp_(y), lambda x, y: x.nan_to_num_(),
                 lambda x, y: x.float_power_(2), lambda x, y: x.div_(y, rounding_mode="trunc")):  # fmt: skip
        same(lambda t, x, y, call=call: call(x * 1, y), X[:3], Y[:3], names=False)


def test_shifts(same: Any) -> None:
    x = np.array([1, -5, 7])
    for call in (lambda t, x: x << 2, lambda t, x: x >> 1, lambda t, x: 2 << x.abs(), lambda t, x: x << 64,
                 lambda t, x: x >> 70, lambda t, x: x << -1):  # fmt: skip
        same(call, x)


@pytest.mark.filterwarnings("ignore:This overload of")
def test_the_older_forms_with_a_number_first(torch):
    """As optimisers of before 2020 write them: x.add_(1 - beta, grad)."""
    found = []
    for t in (gradwright, torch):
        x, y = t.tensor([1.0, 2.0], dtype=t.float64), t.tensor([3.0, 5.0], dtype=t.float64)
        z = t.tensor([1.0, 2.0], dtype=t.float64)
        z.add_(0.5, y).sub_(0.25, x).addcmul_(0.5, x, y).addcdiv_(-0.5, x, y)
        found.append([v.tolist() for v in (t.add(x, 2, y), x.add(2, y), t.sub(x, 2, y), z, t.addcmul(x, 3, x, y),
                                           t.addcdiv(x, 3, x, y))])  # fmt: skip
    assert found[0] == found[1]


def test_the_older_forms_with_the_keyword_too(torch: Any) -> None:
    for t in (gradwright, torch):
        x = t.ones(2)
        for name, argument in (("addcmul", "value"), ("addcdiv", "value"), ("add", "alpha"), ("sub", "alpha")):
            others = (x, x) if argument == "value" else (x,)
            for call in (getattr(t, name), getattr(t.Tensor, f"{name}_")):
                with pytest.raises(TypeError, match=rf"^{name}_?\(\)"):
                    call(x, 2, *others, **{argument: 5})
