"""Sample calls made up for who gives none: from what the signature says, and from how the arguments are used.

For each parameter there are alternatives, the likeliest first: a tensor, whole numbers, a list of tensors, or numbers.
An annotation decides; then what backward returns for it; then a default; then its name.
"""

from __future__ import annotations

import ast
import enum
import inspect
import itertools
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradwright.verify.check.calls import Arg, Call


class Kind(enum.Enum):
    """What an argument may be that is not just a value."""

    TENSOR = enum.auto()
    WHOLE = enum.auto()
    """A tensor of whole numbers."""
    TRUTH = enum.auto()
    """A tensor of booleans."""
    LIST = enum.auto()
    """Of two tensors."""
    TUPLE = enum.auto()


Alternative = Kind | tuple[Any, ...]
"""A kind of tensor, or values to try."""


class Use(NamedTuple):
    """How a parameter is used.

    Attributes:
        gradient: whether backward returns one for it; None if that cannot be seen.
        tensor: whether it is saved for backward, or asked for an attribute.
        indexes: whether something is indexed with it.
    """

    gradient: bool | None = None
    tensor: bool = False
    indexes: bool = False


_NUMBERS: dict[str, tuple[Any, ...]] = {
    "dim axis dims axes d": (-1, 0, 1),
    "eps epsilon tol": (1e-5,),
    "p": (2, 3, 0.4),
    "n power exponent order degree k": (2, 3),
    "drop prob dropout rate dropout_p drop_prob p_drop drop_rate": (0.4,),
    "scale alpha beta gamma factor constant c gain slope negative_slope lambd lam tau temperature momentum lr": (0.7,),
    "min low lo lower min_val": (-0.9,),
    "max high hi upper max_val threshold bound": (0.9,),
    "training train inplace keepdim": (False,),
    "reduction": ("mean", "sum"),
    "size shape sizes": ((5,), (3, 4)),
    "groups stride dilation": (1,),
    "padding": (0, 1),
}
_ANY = (0.7, 2)
_PLAIN: dict[str, tuple[type, tuple[Any, ...]]] = {
    "float": (float, (0.7,)), "int": (int, (2, 1)), "bool": (bool, (False, True)),
}  # fmt: skip
_WHOLE = ("idx", "index", "indices", "target", "targets", "label", "labels")
_TRUTH = ("mask",)
_SHAPES: tuple[tuple[tuple[int, ...], ...], ...] = (
    ((5,), (5,), (5,), (5,)),
    ((3, 4), (3, 4), (3, 4), (3, 4)),
    ((3, 4), (4, 2), (2,), (2,)),
    ((3, 4), (2, 4), (2,), (2,)),
    ((3, 4), (4,), (4,), (4,)),
    ((3, 3), (3, 3), (3,), (3,)),
    ((3, 3), (3,), (3,), (3,)),
    ((3, 4), (4,), (3,), ()),
    ((2, 3, 4), (2, 4, 3), (2, 3, 3), (3,)),
    ((1, 2, 5, 5), (3, 2, 3, 3), (3,), (3,)),
    ((1, 2, 6), (3, 2, 3), (3,), (3,)),
    ((5,), (), (), ()),
    ((), (), (), ()),
)


def guessed(parameters: Sequence[inspect.Parameter], uses: Mapping[str, Use], packed: bool = False) -> Iterator[Call]:
    """Calls that may suit a function of these parameters, the likeliest first.

    ``packed``: what ``*args`` takes is one argument, a tuple, and ``**kwargs`` another.
    """
    names: list[str] = []
    wanted: list[tuple[Alternative, ...]] = []
    for p in parameters:
        if p.kind is p.VAR_POSITIONAL and not packed:
            names += [f"{p.name}[0]", f"{p.name}[1]"]
            wanted += [(Kind.TENSOR,)] * 2
        elif p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) or packed:
            names.append(p.name)
            wanted.append(tuple({repr(a): a for a in _alternatives(p, uses.get(p.name, Use()))}.values()))
    for chosen in itertools.product(*wanted):
        shapes = _SHAPES if any(isinstance(a, Kind) for a in chosen) else _SHAPES[:1]
        for low, sizes in itertools.product((None, 0.3), shapes):
            for values in itertools.product(*[(a,) if isinstance(a, Kind) else a for a in chosen]):
                yield Call(tuple(_filled(values, sizes, low)), tuple(names))


def _alternatives(p: inspect.Parameter, use: Use) -> Iterator[Alternative]:
    """What a parameter may be, the likeliest first."""
    if p.kind is p.VAR_POSITIONAL:
        yield Kind.TUPLE
        return
    if p.kind is p.VAR_KEYWORD:
        yield ({},)
        return
    known = next((values for words, values in _NUMBERS.items() if p.name.lower() in words.split()), None)
    default: tuple[Alternative, ...] = () if p.default is p.empty else ((p.default,),)
    if isinstance(p.default, float) and p.default in (0.0, 1.0):  # with which a wrong factor may be none
        default = ((p.default, *_ANY[:1]),)
    if p.annotation is not p.empty and (said := list(_annotated(_tree_of(p.annotation), p.name.lower(), known))):
        yield from (said if Kind.TENSOR in said and (not default or p.default is None) else [*default, *said])
        return
    if use.gradient:
        yield Kind.TENSOR
    if default and p.default is not None:
        yield from default
        return
    if known is not None and (use.gradient is False or (use.gradient is None and not use.tensor)):
        yield known
    elif p.name.lower() in (*_WHOLE, *_TRUTH):
        yield _by_name(p.name.lower())
    elif use.indexes and not use.gradient:
        yield from ((0, 1), Kind.WHOLE)
    elif use.gradient is False:
        yield from (Kind.WHOLE, Kind.TRUTH) if use.tensor else (*default, _ANY)
    yield from (Kind.TENSOR, known or _ANY)


def _by_name(name: str) -> Kind:
    return Kind.WHOLE if name in _WHOLE else Kind.TRUTH if name in _TRUTH else Kind.TENSOR


def _annotated(tree: Any, name: str, known: tuple[Any, ...] | None) -> Iterator[Alternative]:
    """What an annotation allows; nothing if it is not understood."""
    if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        tree = _tree_of(tree.value)
    if isinstance(tree, ast.BinOp):
        yield from _annotated(tree.left, name, known)
        yield from _annotated(tree.right, name, known)
    elif isinstance(tree, ast.Constant) and tree.value is None:
        yield (None,)
    elif isinstance(tree, ast.Subscript):
        of, inside = _last(tree.value).lower(), tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
        parts = [a for part in inside for a in _annotated(part, name, known)]
        if of in ("optional", "union", "annotated", "final"):
            yield from parts
            yield from [(None,)] * (of == "optional")
        elif of in ("tuple", "list", "sequence", "iterable", "collection"):
            held = Kind.TUPLE if of == "tuple" else Kind.LIST
            yield held if Kind.TENSOR in parts else _of_type(tuple, known) or ((5,), (3, 4))
    else:
        of = _last(tree)
        if of.endswith("Tensor") or of == "Parameter":
            yield _by_name(name)
        elif of in _PLAIN:
            cls, values = _PLAIN[of]
            yield _of_type(cls, known) or values
        elif of == "str" and known is not None:
            yield known


def _of_type(cls: type, values: tuple[Any, ...] | None) -> tuple[Any, ...]:
    return tuple(v for v in values or () if type(v) is cls)


def _last(tree: Any) -> str:
    """``Tensor`` of ``gradwright.Tensor``."""
    return tree.attr if isinstance(tree, ast.Attribute) else tree.id if isinstance(tree, ast.Name) else ""


def _tree_of(annotation: Any) -> Any:
    """An annotation as an expression; None if it is none."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    try:
        return ast.parse(text.strip("'"), mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _filled(values: Sequence[Any], shapes: Sequence[tuple[int, ...]], low: float | None) -> Iterator[Any]:
    random = np.random.default_rng(0)
    left = itertools.chain(shapes, itertools.repeat(shapes[-1]))

    def tensor() -> Arg:
        size = random.uniform(0.3, 1.9, shape := next(left))
        return Arg(np.asarray(size * (random.choice([-1.0, 1.0], shape) if low is None else 1.0)), True)

    for value in values:
        if value is Kind.TENSOR:
            yield tensor()
        elif value is Kind.WHOLE:
            yield Arg(random.integers(0, 3, next(left)[:1]), False)
        elif value is Kind.TRUTH:
            yield Arg(np.asarray(random.uniform(0.3, 1.9, next(left)) > 1), False)
        elif isinstance(value, Kind):
            yield (list if value is Kind.LIST else tuple)((tensor(), tensor()))
        else:
            yield value


# ---- how arguments are used -------------------------------------------------------------------------------


def uses(names: Sequence[str], forward: Any, setup: Any, backward: Any) -> dict[str, Use]:
    """How a Function uses its parameters of these names."""
    returned = _returned(backward)
    trees = [t for t in map(_source, (forward, setup)) if t is not None]
    nodes = [n for t in trees for n in ast.walk(t)]
    saved = {a.id for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)
             and n.func.attr == "save_for_backward" for a in n.args if isinstance(a, ast.Name)}  # fmt: skip
    asked = {n.value.id for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)}
    indices = {
        i.id for n in nodes if isinstance(n, ast.Subscript) for i in ast.walk(n.slice) if isinstance(i, ast.Name)
    }
    return {
        name: Use(returned[k] if k < len(returned) else None, name in saved | asked, name in indices)
        for k, name in enumerate(names)
    }


def _returned(backward: Any) -> list[bool | None]:
    """For each gradient whether it is anything but a literal None; empty if the returns cannot be read."""
    tree = _source(backward)
    if tree is None:
        return []
    found = [n.value for n in _own(tree) if isinstance(n, ast.Return) and n.value is not None]
    tuples = [v.elts if isinstance(v, ast.Tuple) else [v] for v in found]
    if any(isinstance(e, ast.Starred) for elts in tuples for e in elts) or len({len(elts) for elts in tuples}) != 1:
        return []
    return [
        not all(isinstance(e, ast.Constant) and e.value is None for e in column) for column in zip(*tuples, strict=True)
    ]


def _own(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, but not of functions inside it."""
    for n in ast.iter_child_nodes(tree):
        yield n
        if not isinstance(n, (ast.FunctionDef, ast.Lambda)):
            yield from _own(n)


def _source(function: Callable[..., Any] | None) -> ast.FunctionDef | None:
    """The definition of a function; None if there is none to be read."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function)))) if function is not None else None
    except (OSError, TypeError, SyntaxError, ValueError):
        return None
    first = tree.body[0] if tree is not None and tree.body else None
    return first if isinstance(first, ast.FunctionDef) else None
