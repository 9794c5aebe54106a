"""What the source of a derivative says of it: that it is none on purpose, or how it is computed."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gradwright.function.contract.surrogate import reason_of
from gradwright.verify.pairs.at_hand import written
from gradwright.verify.pairs.pair import Pair

_SECOND = re.compile(r"gauss.?newton|levenberg|fisher|expected information|outer product|approximat|positive.(semi)?def"
                     r"|\bbfgs\b|quasi.?newton|dominant part|neglect|ignor(e|es|ing)\b", re.IGNORECASE)  # fmt: skip
_ANY = re.compile(r"surrogate|straight.?through|on purpose|deliberate|upper bound|majori[sz]|\bproxy\b|\bnot (the|a) "
                  r"(true |exact )?(derivative|gradient|hessian|jacobian)", re.IGNORECASE)  # fmt: skip
_SCALE = re.compile(r"up to (a |an )?(\w+ )?(scale|constant|factor)|scale ?= ?1|unnormali[sz]ed|proportional to",
                    re.IGNORECASE)  # fmt: skip


@dataclass(frozen=True)
class Source:
    """A function's text.

    Attributes:
        function: the function, if it was found. tree: its definition; None if there is no source.
        said: its comments and docstring.
    """

    function: Any
    tree: Any
    said: str

    def meant(self, second: bool) -> str:
        """The words by which it says that it is no derivative; ``""`` if none."""
        found = _ANY.search(self.said) or (_SECOND.search(self.said) if second else None)
        return found[0] if found else ""

    @property
    def scaled(self) -> str:
        """The words by which it says that it is right up to a factor; ``""`` if none."""
        found = _SCALE.search(self.said)
        return found[0] if found else ""

    @property
    def squares(self) -> str:
        """The product of a matrix with its own transpose in it, ``J.T @ J``; ``""`` if there is none."""
        for node in ast.walk(self.tree) if self.tree is not None else ():
            for left, right in _products(node):
                bare = _untransposed(left)
                if bare is not None and bare == ast.unparse(right):
                    return ast.unparse(node)
        return ""

    @property
    def rebound(self) -> str:
        """A parameter to be filled that is bound anew and never filled; ``""`` if there is none."""
        if not isinstance(self.tree, ast.FunctionDef):
            return ""
        names = [a.arg for a in self.tree.args.args]
        bound, filled = set(), set()
        for node in ast.walk(self.tree):
            for target in node.targets if isinstance(node, ast.Assign) else ():
                bound |= {target.id} if isinstance(target, ast.Name) else set()
                if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                    filled.add(target.value.id)
        return next((n for n in names if n in bound - filled and re.search("grad|jac|out|^g$|result", n)), "")


def source_of(pair: Pair) -> Source:
    """The source of the derivative, as the user wrote it."""
    function = written((pair.derivative,), *pair.where) or pair.derivative
    function = inspect.unwrap(getattr(function, "__func__", function))
    try:
        text = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        return Source(function, None, "")
    try:
        tree = next((n for n in ast.walk(ast.parse(text)) if isinstance(n, (ast.FunctionDef, ast.Lambda))), None)
    except SyntaxError:  # part of a line
        tree = None
    comments = " ".join(m[1] for m in re.finditer(r"#(.*)", text))
    doc = ast.get_docstring(tree) or "" if isinstance(tree, ast.FunctionDef) else ""
    return Source(function, tree, f"{doc} {comments}")


def declared(pair: Pair, source: Source) -> str:
    """Why the derivative is declared to be none; ``""`` if it is not."""
    return pair.declared or reason_of(pair.derivative) or reason_of(source.function) or ""


def _products(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What is multiplied in it: of ``A.T @ w @ A`` the outermost two, and the first with the last."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        yield node.left, node.right
        first = node.left
        while isinstance(first, ast.BinOp):
            first = first.left
        yield first, node.right
    if isinstance(node, ast.Call) and len(node.args) == 2 and ast.unparse(node.func).endswith("dot"):
        yield node.args[0], node.args[1]
    if isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.func, ast.Attribute) \
            and node.func.attr == "dot":  # fmt: skip
        yield node.func.value, node.args[0]


def _untransposed(node: ast.expr) -> str | None:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):  # 2 * J.T
        return _untransposed(node.right) or _untransposed(node.left)
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        return ast.unparse(node.value)
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("transpose"):
        return ast.unparse(node.args[0] if node.args else node.func.value)  # type: ignore[attr-defined]
    return None
