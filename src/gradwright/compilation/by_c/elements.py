"""NumPy's dtypes in C, and what its functions do to one entry."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from gradwright.compilation.by_c.symbols import Number, Size
from gradwright.compilation.node import CONSTANT, Node

NAMES = {
    np.dtype(name): text
    for name, text in {
        "bool": "unsigned char", "int8": "signed char", "int16": "short", "int32": "int", "int64": "long long",
        "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned", "uint64": "unsigned long long",
        "float32": "float", "float64": "double",
    }.items()
}  # fmt: skip
"""In memory. What has no name here stays in NumPy: halves, complex numbers, objects, another byte order."""
BOOL = np.dtype(bool)
_FROM_FLOAT = frozenset(map(np.dtype, ("bool", "int32", "int64", "float32", "float64")))


def known(dtype: Any) -> bool:
    """Whether C computes with a dtype."""
    return dtype in NAMES


def variable(dtype: Any) -> str:
    """The type of a variable."""
    return "_Bool" if dtype == BOOL else NAMES[dtype]


def suffix(dtype: Any) -> str:
    """What the functions of math.h that take a dtype end in."""
    return "f" if dtype == np.float32 else ""


def literal(value: Any, dtype: Any) -> str | None:
    """A number as it is in a dtype; None if that cannot hold it."""
    if isinstance(value, (Size, Number)):
        return f"(({NAMES[dtype]}) {value.number})"
    if dtype == BOOL:
        return "1" if value else "0"
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        if int(value) != value or not info.min <= value <= info.max:
            return None
        if int(value) == np.iinfo(np.int64).min:
            return "(-0x7fffffffffffffffLL - 1)"
        end = {"i8": "LL", "u8": "ULL"}.get(f"{dtype.kind}{dtype.itemsize}", "")
        return f"{int(value)}{end}"
    with np.errstate(all="ignore"):
        number = float(dtype.type(value))
    end = suffix(dtype)
    if math.isnan(number):
        return f'__builtin_nan{end}("")'
    if math.isinf(number):
        return f"{'-' * (number < 0)}__builtin_inf{end}()"
    return f"{number.hex()}{end}" if abs(number) > 1e6 or number != round(number) else f"{number!r}{end}"


def castable(old: Any, new: Any) -> bool:
    """Whether C casts every value as NumPy does: not floats beyond the range of a small or unsigned integer."""
    return known(old) and known(new) and (old.kind != "f" or new in _FROM_FLOAT)


def cast(text: str, old: Any, new: Any) -> str:
    """An expression in another dtype."""
    if old == new:
        return text
    if new == BOOL:
        return f"({text} != 0)"
    if old.kind == "f" and new.kind == "i":
        return f"WHOLE({NAMES[new]}, 0x1p{8 * new.itemsize - 1}{suffix(old)}, {text})"
    return f"(({NAMES[new]}) {text})"


class Element(NamedTuple):
    """How an entry of a node comes from entries of its operands.

    Attributes:
        operands: nodes and Python numbers.
        dtypes: what each operand is cast to first.
        text: the C expression, ``{0}`` being the first operand, of the dtype ``result``.
        result: is cast to the node's own.
    """

    operands: tuple[Any, ...]
    dtypes: tuple[Any, ...]
    text: str
    result: Any

    def write(self, given: list[str], dtype: Any) -> str:
        """The expression for these operands, as the node's dtype."""
        return cast(f"({self.text.format(*given)})", self.result, dtype)


Text = str | Callable[[Any], str | None]
"""An expression, or what makes one for the dtype of the operands; None if there is none."""

_FLOATS = {
    "divide": "{0} / {1}", "sqrt": "sqrt{s}({0})", "reciprocal": "1 / {0}", "positive": "{0}",
    "isnan": "{0} != {0}", "isinf": "fabs{s}({0}) == __builtin_inf{s}()",
    "isfinite": "fabs{s}({0}) < __builtin_inf{s}()",
}  # fmt: skip
_LIBRARY = {
    "exp": "exponential", "exp2": "exp2", "expm1": "expm1",
    "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p",
    "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "sinh": "sinh",
    "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "cbrt": "cbrt",
    "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint",
}  # fmt: skip
_LIBRARY_2 = {"arctan2": "atan2", "hypot": "hypot", "copysign": "copysign", "nextafter": "nextafter"}
_COMPARISONS = {
    "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!=",
}  # fmt: skip
_EXACT = frozenset({
    "add", "subtract", "multiply", "divide", "true_divide", "negative", "positive", "absolute", "square", "reciprocal",
    "sqrt", "isnan", "isinf", "isfinite", "logical_and", "logical_or", "logical_not", "logical_xor", "bitwise_and",
    "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift", "signbit", "copysign", *_COMPARISONS,
})  # fmt: skip
"""Those that C and NumPy do alike to the last bit."""


def _of_floats(text: str) -> Text:
    return lambda dtype: text.replace("{s}", suffix(dtype)) if dtype.kind == "f" else None


def _not_of_bools(text: str) -> Text:
    return lambda dtype: text if dtype != BOOL else None


def _either(of_bools: str, of_others: str) -> Text:
    return lambda dtype: of_bools if dtype == BOOL else of_others


def _of_integers(text: str) -> Text:
    return lambda dtype: text if dtype.kind in "iu" else None


def _absolute(dtype: Any) -> str | None:
    if dtype.kind == "f":
        return f"fabs{suffix(dtype)}({{0}})"
    return "{0} < 0 ? -{0} : {0}" if dtype.kind == "i" else "{0}"


def _sign(dtype: Any) -> str | None:
    if dtype == BOOL:
        return None
    text = "({0} > 0) - ({0} < 0)"
    if dtype.kind == "f":
        return f"{{0}} != {{0}} ? {{0}} : ({NAMES[dtype]}) ({text})"
    return text if dtype.kind == "i" else "{0} > 0"


def _extreme(sign: str) -> Text:
    return lambda dtype: f"({{0}} {sign} {{1}}) | ({{0}} != {{0}}) ? {{0}} : {{1}}"


def _shift(beyond: str, sign: str) -> Text:
    def text(dtype: Any) -> str | None:
        if dtype.kind not in "iu":
            return None
        bits = 8 * dtype.itemsize
        far = beyond if dtype.kind == "i" else "0"
        return f"(unsigned long long) {{1}} < {bits} ? {{0}} {sign} ({{1}} & {bits - 1}) : ({far})"

    return text


def _shift_left(dtype: Any) -> str | None:
    return _shift("0", "<<")(dtype)  # type: ignore[operator]


def _logaddexp(dtype: Any) -> str | None:
    if dtype.kind != "f":
        return None
    s = suffix(dtype)
    two = literal(0.6931471805599453, dtype)
    far = f"fmax{s}({{0}}, {{1}}) + log1p{s}(exp{s}(-fabs{s}({{0}} - {{1}})))"
    return f"{{0}} == {{1}} ? {{0}} + {two} : ({{0}} != {{0}} ? {{0}} : {{1}} != {{1}} ? {{1}} : {far})"


TEXTS: dict[str, Text] = {
    "add": _either("{0} | {1}", "{0} + {1}"), "multiply": _either("{0} & {1}", "{0} * {1}"),
    "subtract": _not_of_bools("{0} - {1}"), "negative": _not_of_bools("-{0}"), "square": _either("{0}", "{0} * {0}"),
    "absolute": _absolute, "sign": _sign, "maximum": _extreme(">"), "minimum": _extreme("<"),
    "fmax": lambda dtype: "({0} >= {1}) | ({1} != {1}) ? {0} : {1}",
    "fmin": lambda dtype: "({0} <= {1}) | ({1} != {1}) ? {0} : {1}",
    "logical_and": "({0} != 0) & ({1} != 0)", "logical_or": "({0} != 0) | ({1} != 0)",
    "logical_xor": "({0} != 0) ^ ({1} != 0)", "logical_not": "{0} == 0",
    "bitwise_and": "{0} & {1}", "bitwise_or": "{0} | {1}", "bitwise_xor": "{0} ^ {1}",
    "invert": _either("!{0}", "~{0}"), "left_shift": _shift_left, "right_shift": _shift("{0} < 0 ? -1 : 0", ">>"),
    "signbit": _of_floats("__builtin_signbit({0}) != 0"), "logaddexp": _logaddexp,
    **{name: _of_floats(text) for name, text in _FLOATS.items()},
    **{name: _of_floats(f"{text}{{s}}({{0}})") for name, text in _LIBRARY.items()},
    **{name: _of_floats(f"{text}{{s}}({{0}}, {{1}})") for name, text in _LIBRARY_2.items()},
    **{name: f"{{0}} {text} {{1}}" for name, text in _COMPARISONS.items()},
}  # fmt: skip
"""By the name of NumPy's ufunc."""


def _ufunc(name: str) -> Any:
    """The ufunc of NumPy's that an operation is, in results if not in how."""
    found = getattr(np, name, None)
    return found if isinstance(found, np.ufunc) else None


def element(node: Node, exact: bool = False) -> Element | None:
    """How C computes an entry of a node; None if it does not. ``exact``: only what is NumPy's to the last bit."""
    if node.dtype is None or not known(node.dtype):
        return None
    special = _SPECIAL.get(node.op)
    if special is not None:
        return special(node, exact)
    if node.kwargs:
        return None
    ufunc = _ufunc(node.op)
    if ufunc is None or (exact and ufunc.__name__ not in _EXACT) or len(node.args) != ufunc.nin:
        return None
    return _of_ufunc(ufunc, node.args)


def _of_ufunc(ufunc: Any, args: tuple[Any, ...]) -> Element | None:
    text = TEXTS.get(ufunc.__name__)
    if text is None:
        return None
    given = [_dtype(a) for a in args]
    if any(d is None for d in given):  # None == float64, for NumPy
        return None
    try:
        *dtypes, result = ufunc.resolve_dtypes((*given, None))
    except TypeError:
        return None
    if not all(map(known, (*dtypes, result))) or any(d != dtypes[0] for d in dtypes):
        return None
    made = text if isinstance(text, str) else text(dtypes[0])
    return None if made is None else _element(args, tuple(dtypes), made, result)


def _element(args: tuple[Any, ...], dtypes: tuple[Any, ...], text: str, result: Any) -> Element | None:
    """An element, if C can cast its operands as NumPy does."""
    for a, dtype in zip(args, dtypes, strict=True):
        if isinstance(a, Node):
            if not castable(a.dtype, dtype):
                return None
        elif literal(a, dtype) is None:
            return None
    return Element(args, dtypes, text, result)


def _dtype(arg: Any) -> Any:
    """What an argument is to NumPy's promotion; None if it is nothing that C knows."""
    if isinstance(arg, Node):
        return arg.dtype if arg.dtype is not None and known(arg.dtype) else None
    if isinstance(arg, np.generic):
        return arg.dtype if known(arg.dtype) else None
    if type(arg) is bool:
        return BOOL
    if isinstance(arg, (Size, Number)):
        return int if isinstance(arg, Size) else float
    return type(arg) if type(arg) in (int, float) else None


def _all_known(args: Iterable[Any]) -> bool:
    return all(_dtype(a) is not None for a in args)


def _where(node: Node, exact: bool) -> Element | None:
    if len(node.args) != 3 or node.kwargs:
        return None
    condition, *args = node.args
    if not isinstance(condition, Node) or not known(condition.dtype) or not _all_known(args):
        return None
    return _element(node.args, (BOOL, node.dtype, node.dtype), "{0} ? {1} : {2}", node.dtype)


def _astype(node: Node, exact: bool) -> Element | None:
    x = node.args[0]
    if not isinstance(x, Node) or x.dtype is None or not castable(x.dtype, node.dtype):
        return None
    return Element((x,), (x.dtype,), "{0}", x.dtype)


def _copy(node: Node, exact: bool) -> Element | None:
    x = node.args[0]
    same = isinstance(x, Node) and x.dtype == node.dtype and x.shape == node.shape
    return Element((x,), (x.dtype,), "{0}", x.dtype) if same else None


def _clip(node: Node, exact: bool) -> Element | None:
    x, *bounds = node.args
    kwargs = dict(node.kwargs)
    low, high = [*bounds, *(kwargs.pop(k, None) for k in ("min", "max")[len(bounds) :])]
    if kwargs or exact or not isinstance(x, Node):
        return None
    given = [b for b in (low, high) if b is not None]
    if not _all_known((x, *given)) or any(type(b) is float and node.dtype.kind != "f" for b in given):
        return None
    if len(given) == 2:  # then NumPy keeps the sign of a zero at a bound of zero; of one bound, a maximum, it does not
        above = "({0} >= {1}) | ({0} != {0}) ? {0} : {1}"
        text = f"({above}) <= {{2}} || ({{0}} != {{0}}) ? ({above}) : {{2}}"
    else:
        text = "{0}" if not given else f"({{0}} {'<' if low is None else '>'} {{1}}) | ({{0}} != {{0}}) ? {{0}} : {{1}}"
    if any(isinstance(b, Node) and b.dtype.kind == "f" for b in given):
        return None  # a bound may be NaN
    if any(b != b for b in given if not isinstance(b, Node)):
        return None
    return _element((x, *given), (node.dtype,) * (1 + len(given)), text, node.dtype)


def _power(node: Node, exact: bool) -> Element | None:
    if exact or node.kwargs or len(node.args) != 2:
        return None
    x, p = node.args
    dtype = node.dtype
    if isinstance(p, Node) and p.op == CONSTANT and p.args[0].size == 1 and p.shape == () and p.dtype.kind == "f":
        number: Any = p.args[0].item()
    else:
        number = p if type(p) in (int, float) else None
    simple = number in _POWERS if dtype.kind == "f" else dtype.kind in "iu" and number in (2, 3, 4)
    if simple and isinstance(x, Node) and castable(x.dtype, dtype):
        return Element((x,), (dtype,), _POWERS[number], dtype)
    if dtype.kind != "f" or not _all_known((x, p)):
        return None
    return _element((x, p), (dtype, dtype), f"pow{suffix(dtype)}({{0}}, {{1}})", dtype)


_POWERS: dict[Any, str] = {
    1: "{0}", 2: "{0} * {0}", 3: "{0} * {0} * {0}", 4: "({0} * {0}) * ({0} * {0})", -1: "1 / {0}",
    -2: "(1 / {0}) * (1 / {0})",
}  # fmt: skip


def _fill(value: int) -> Callable[[Node, bool], Element | None]:
    return lambda node, exact: Element((value,), (node.dtype,), "{0}", node.dtype)


def _round(node: Node, exact: bool) -> Element | None:
    if len(node.args) != 1 or node.kwargs or node.dtype.kind != "f":
        return None
    return _of_ufunc(np.rint, node.args)


def _erf(name: str) -> Callable[[Node, bool], Element | None]:
    def made(node: Node, exact: bool) -> Element | None:
        x = node.args[0]
        if exact or len(node.args) != 1 or node.kwargs or not isinstance(x, Node) or x.dtype != node.dtype:
            return None
        if node.dtype.kind != "f":
            return None
        return _element(node.args, (node.dtype,), f"{name}{suffix(node.dtype)}({{0}})", node.dtype)

    return made


def _quotient(of_floats: str, of_integers: str, alike: bool = True) -> Callable[[Node, bool], Element | None]:
    """A remainder, or a quotient rounded down; of integers only by what is known not to be 0, which raises."""

    def made(node: Node, exact: bool) -> Element | None:
        if len(node.args) != 2 or node.kwargs or not _all_known(node.args):
            return None
        text = f"{of_floats}{suffix(node.dtype)}({{0}}, {{1}})"
        if node.dtype.kind != "f":
            y = node.args[1]
            known = not isinstance(y, Node) or y.op == CONSTANT
            if node.dtype == BOOL or not known or not np.all(y.args[0] if isinstance(y, Node) else y):
                return None
            text = of_integers
        elif exact and not alike:
            return None
        return _element(node.args, (node.dtype, node.dtype), text, node.dtype)

    return made


_LEFT, _OTHER = "({1} == -1 ? 0 : {0} % {1})", "({1} != -1 && {0} % {1} != 0 && ({0} ^ {1}) < 0)"
"""What is left of an integer, the smallest by -1, too, which is no number in C; whether its sign is the other one."""

_SPECIAL: dict[str, Callable[[Node, bool], Element | None]] = {
    "where": _where, "astype": _astype, "clip": _clip, "power": _power, "pow": _power,
    "zeros_like": _fill(0), "ones_like": _fill(1), "zero": _fill(0), "copy": _copy, "ascontiguousarray": _copy,
    "fmod": _quotient("left", _LEFT), "remainder": _quotient("rest", f"{_LEFT} + ({_OTHER} ? {{1}} : 0)"),
    "floor_divide": _quotient("whole", f"({{1}} == -1 ? -{{0}} : {{0}} / {{1}}) - {_OTHER}", alike=False),
    "special.ndtr": _erf("below"),
    "round": _round, "special.erf": _erf("erf"), "special.erfc": _erf("erfc"), "asarray": _copy,
}  # fmt: skip
