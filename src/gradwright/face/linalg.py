"""Products of vectors and matrices under PyTorch's names."""

from __future__ import annotations

from typing import Any

from gradwright import backends
from gradwright.autograd.apply import apply
from gradwright.autograd.base import wrap
from gradwright.errors import kind
from gradwright.errors import size as _text
from gradwright.face.arguments import tensor_arg, tensor_list
from gradwright.face.elementwise import mul
from gradwright.ops import linalg as _linalg

__all__ = [
    "bmm", "dot", "einsum", "matmul", "mm", "mv", "outer",
]  # fmt: skip

_mv, _bmm = _linalg.matmul.variant("MvBackward0"), _linalg.matmul.variant("BmmBackward0")
_dot, _mm = _linalg.matmul.variant("DotBackward0"), _linalg.matmul


def _product(name: str, op: Any, a: Any, b: Any, ndims: tuple[int, int] | None, second: str) -> Any:
    a, b = tensor_arg(name, a), tensor_arg(name, b, second, 2)
    x, y = a.array, b.array
    if x.dtype != y.dtype:
        raise RuntimeError(
            f"{name}(): expected both tensors to have the same dtype, but got {a.dtype} and {b.dtype}: convert one "
            "with .to(dtype)"
        )
    if ndims is not None and (x.ndim, y.ndim) != ndims:
        wanted = f"{ndims[0]} and {ndims[1]}"
        raise RuntimeError(f"{name}(): expected tensors of {wanted} dims, but got {x.ndim} and {y.ndim}")
    if not x.ndim or not y.ndim:
        raise RuntimeError(f"{name}(): both arguments need to be at least 1D, but they are {x.ndim}D and {y.ndim}D")
    if x.shape[-1] != y.shape[-2 if y.ndim > 1 else 0]:
        raise RuntimeError(
            f"{name}(): mat1 and mat2 shapes cannot be multiplied ({_text(x.shape)} and {_text(y.shape)}: "
            f"{x.shape[-1]} columns against {y.shape[-2 if y.ndim > 1 else 0]} rows)"
        )
    return apply(op, (a, b), {})


def matmul(input: Any, other: Any) -> Any:
    """Matrix product over the last two dims; the others broadcast. A vector is a row at left, a column at right."""
    ndims = (getattr(getattr(input, "array", None), "ndim", 2), getattr(getattr(other, "array", None), "ndim", 2))
    op = {(1, 1): _dot, (2, 1): _mv, (2, 2): _mm}.get(ndims, _bmm if max(ndims) > 2 else _mm)
    return _product("matmul", op, input, other, None, "other")


def mm(input: Any, mat2: Any) -> Any:
    """Product of two matrices."""
    return _product("mm", _mm, input, mat2, (2, 2), "mat2")


def mv(input: Any, vec: Any) -> Any:
    """Product of a matrix and a vector."""
    return _product("mv", _mv, input, vec, (2, 1), "vec")


def bmm(input: Any, mat2: Any) -> Any:
    """Products of two stacks of matrices of the same length."""
    a, b = tensor_arg("bmm", input), tensor_arg("bmm", mat2, "mat2", 2)
    if a.array.ndim == b.array.ndim == 3 and a.array.shape[0] != b.array.shape[0]:
        raise RuntimeError(f"bmm(): batches differ: {_text(a.array.shape)} and {_text(b.array.shape)}")
    return _product("bmm", _bmm, a, b, (3, 3), "mat2")


def dot(input: Any, tensor: Any) -> Any:
    """Inner product of two vectors."""
    return _product("dot", _dot, input, tensor, (1, 1), "tensor")


def outer(input: Any, vec2: Any) -> Any:
    """Outer product of two vectors."""
    a, b = tensor_arg("outer", input), tensor_arg("outer", vec2, "vec2", 2)
    if a.array.ndim != 1 or b.array.ndim != 1:
        raise RuntimeError(f"outer(): expected two 1D tensors, but got {a.array.ndim}D and {b.array.ndim}D")
    return mul(a.unsqueeze(1), b)


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """y = input weight^T + bias: input (..., in), weight (out, in), bias (out,) or None."""
    x, weight = tensor_arg("linear", input), tensor_arg("linear", weight, "weight", 2)
    shapes = x.array.shape, weight.array.shape
    if weight.array.ndim != 2 or not x.array.ndim or shapes[0][-1] != shapes[1][1]:
        raise RuntimeError(
            f"linear(): mat1 and mat2 shapes cannot be multiplied (input {_text(shapes[0])}, "
            f"weight {_text(shapes[1])}: the last dim of input must be the second of weight)"
        )
    if bias is None:
        return matmul(x, weight.t())
    bias = tensor_arg("linear", bias, "bias", 3)
    if not x.array.dtype == weight.array.dtype == bias.array.dtype:
        raise RuntimeError(
            f"linear(): expected input, weight and bias of one dtype, got {x.dtype}, {weight.dtype} and {bias.dtype}"
        )
    if x.array.ndim != 2 or bias.array.shape != shapes[1][:1]:
        return matmul(x, weight.t()) + bias
    return apply(_linalg.linear, (x, weight, bias), {})


def einsum(equation: str, *operands: Any) -> Any:
    """Sum of products over named axes: ``einsum("ij,jk->ik", a, b)``; ``...`` stands for any leading axes.

    Raises RuntimeError if the equation does not fit the operands.
    """
    if not isinstance(equation, str):
        raise TypeError(f"einsum(): argument 'equation' (position 1) must be str, not {kind(equation)}")
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    xs = tensor_list("einsum", operands, "operands")
    terms, result = _parsed(equation, xs)
    distinct, extra = [], []
    letters = iter(c for c in map(chr, range(945, 1024)))
    for k, (term, x) in enumerate(zip(terms, xs, strict=True)):
        seen = ""
        for c, n in zip(term, x.array.shape, strict=True):
            if c in seen:  # a diagonal: a fresh letter, tied to the old one by an identity matrix
                fresh = next(letters)
                extra.append((c + fresh, wrap(_eye(xs[k], n))))
                c = fresh
            seen += c
        distinct.append(seen)
    text = ",".join([*distinct, *(t for t, _ in extra)]) + "->" + result
    return apply(_linalg.einsum, [*xs, *(x for _, x in extra)], {"equation": _latin(text)})


def _eye(x: Any, n: int) -> Any:
    return backends.namespace(x.array).eye(n, dtype=x.array.dtype)


def _latin(text: str) -> str:
    """The equation with every letter one that NumPy takes."""
    used = [c for c in dict.fromkeys(text) if c not in ",->"]
    spare = iter(c for c in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in used)
    names = {c: c if c.isascii() else next(spare) for c in used}
    return "".join(names.get(c, c) for c in text)


def _parsed(equation: str, xs: list[Any]) -> tuple[list[str], str]:
    """The letters of each operand and of the result, ellipses spelt out."""
    left, arrow, result = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(xs):
        raise RuntimeError(f"einsum(): equation {equation!r} has {len(terms)} operands, but got {len(xs)} tensors")
    extra = 0
    for term, x in zip(terms, xs, strict=True):
        if "..." in term:
            extra = max(extra, x.array.ndim - len(term) + 3)
    dots = "".join(map(chr, range(1040, 1040 + extra)))
    for k, (term, x) in enumerate(zip(terms, xs, strict=True)):
        own = x.array.ndim - len(term) + 3
        terms[k] = term.replace("...", dots[extra - own :] if own else "") if "..." in term else term
        if len(terms[k]) != x.array.ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(terms[k])}) does not match the number of "
                f"dimensions ({x.array.ndim}) for operand {k}"
            )
    joined = "".join(terms)
    if arrow:
        result = result.replace("...", dots)
    else:
        result = dots + "".join(sorted(c for c in set(joined) if joined.count(c) == 1 and c not in dots))
    for c in result:
        if c not in joined or result.count(c) > 1:
            wrong = "appears more than once" if c in joined else "does not appear in the equation for any input operand"
            raise RuntimeError(f"einsum(): output subscript {c} {wrong}")
    sizes: dict[str, int] = {}
    for k, (term, x) in enumerate(zip(terms, xs, strict=True)):
        for c, n in zip(term, x.array.shape, strict=True):
            if sizes.setdefault(c, n) != n and 1 not in (n, sizes[c]):
                raise RuntimeError(
                    f"einsum(): subscript {c} has size {n} for operand {k} which does not broadcast with previously "
                    f"seen size {sizes[c]}"
                )
            sizes[c] = max(sizes[c], n)
    for k, (term, x) in enumerate(zip(terms, xs, strict=True)):
        full = tuple(sizes[c] for c in term)
        if x.array.shape != full:
            xs[k] = x.expand(full)
    return terms, result
