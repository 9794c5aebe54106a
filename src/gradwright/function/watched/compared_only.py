"""Whether a number or array that the user's code takes out of a tensor is only compared: then nothing flows that way.

``if float(x.max()) > limit`` decides something, and what has been decided has no derivative. Python does not tell what
becomes of a value, but the source does: it is read where a value is taken, once for each such place.
"""

from __future__ import annotations

import ast
import linecache
from functools import lru_cache
from itertools import islice
from typing import Any

_SAYS = frozenset(["all", "allclose", "any", "bool", "format", "int", "isclose", "isfinite", "isinf", "isnan", "print",
                   "repr", "str"])  # fmt: skip
"""Functions whose results do not depend on their arguments, or only by steps."""
_PASSES = frozenset(["abs", "amax", "amin", "array", "asarray", "ceil", "diff", "exp", "fabs", "float", "floor",
                     "hypot", "len", "log", "log10", "log2", "max", "maximum", "mean", "median", "min", "minimum",
                     "norm", "prod", "round", "sqrt", "square", "std", "sum", "var"])  # fmt: skip
"""Functions that do nothing but compute their results."""
_DEPTH = 3
"""Variables made of variables deeper than this are not followed."""
_MANY = 1000
_known: dict[tuple[Any, int], bool] = {}


def decides(frame: Any) -> bool:
    """Whether what the call that ``frame`` is at returns is known to be only compared, tested or shown."""
    if frame is None:
        return False
    key = frame.f_code, frame.f_lasti
    if key not in _known:
        if len(_known) > _MANY:
            _known.clear()
        _known[key] = _read(*key)
    return _known[key]


def _read(code: Any, offset: int) -> bool:
    position = next(islice(code.co_positions(), offset // 2, None), None)
    parents = _parents("".join(linecache.getlines(code.co_filename)))
    calls = [node for node in parents if isinstance(node, ast.Call) and _position(node) == position]
    return any(_is_harmless(node, parents, _DEPTH) for node in calls)


@lru_cache(maxsize=8)
def _parents(text: str) -> dict[ast.AST, ast.AST]:
    """For each node of a program the one it is in."""
    try:
        tree = ast.parse(text)
    except SyntaxError:  # it is not what runs
        return {}
    return {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}


def _position(node: Any) -> tuple[int, int, int, int]:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def _is_harmless(node: Any, parents: dict[Any, Any], depth: int) -> bool:
    """Whether the value of an expression goes nowhere but into decisions and texts."""
    while True:
        child, node = node, parents[node]
        if isinstance(node, (ast.Compare, ast.FormattedValue)):
            return True
        if isinstance(node, (ast.Assert, ast.If, ast.IfExp, ast.While)):
            return node.test is child
        if isinstance(node, ast.Assign):
            return _is_read_harmlessly(node.targets, node, parents, depth)
        if isinstance(node, ast.Tuple) and isinstance(parents[node], ast.Assign):
            target = parents[node].targets[-1]
            several = isinstance(target, ast.Tuple) and len(target.elts) == len(node.elts)
            targets = [target.elts[node.elts.index(child)]] if several else [target]
            return _is_read_harmlessly([*targets, *parents[node].targets[:-1]], node, parents, depth)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return True
        if isinstance(node, ast.NamedExpr):
            if not _is_read_harmlessly([node.target], node, parents, depth):
                return False
        elif isinstance(node, ast.Call):
            name = _called(node, child)
            if name in _SAYS:
                return True
            if name not in _PASSES:
                return False
        elif isinstance(node, ast.Subscript):
            if node.slice is child:
                return True
        elif not isinstance(node, (ast.Attribute, ast.BinOp, ast.UnaryOp)):
            return False


def _called(call: Any, child: Any) -> str:
    """The name of the function or method that is called: ``sum``, also of ``np.sum(value)`` and ``value.sum()``."""
    function = call.func
    if any(k.arg == "out" for k in call.keywords):
        return ""
    if isinstance(function, ast.Attribute) and (function is child or isinstance(function.value, ast.Name)):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _is_read_harmlessly(targets: list[Any], assigned: Any, parents: dict[Any, Any], depth: int) -> bool:
    """Whether the variables that a value is assigned to are local ones, and nothing is made of them but decisions."""
    names = [t.id for t in targets if isinstance(t, ast.Name)]
    scope = assigned
    while not isinstance(scope, (ast.AsyncFunctionDef, ast.FunctionDef, ast.Module)):
        scope = parents[scope]
    if not depth or len(names) < len(targets) or isinstance(scope, ast.Module):
        return False
    for node in ast.walk(scope):
        if isinstance(node, (ast.Global, ast.Nonlocal)) and not {*names}.isdisjoint(node.names):
            return False
        is_read = isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load)
        if is_read and not _is_harmless(node, parents, depth - 1):
            return False
    return True
