"""Where the batch goes in products, in what is made of matrices, and in steps of recurrent networks."""

from __future__ import annotations

from string import ascii_letters
from typing import Any

from gradwright.ops import decompose
from gradwright.transform.batching.rules import Call, by_formula, rule


@rule("matmul")
def _matmul(call: Call) -> Any:
    (x, y), (a, b), (m, n) = call.xs, call.which, call.ranks()
    if m == 1 and a and not b and n <= 2:
        return call.of([x, y])  # vectors are the rows of a matrix
    if n == 1 and b and not a and m <= 2:
        return call.of([y, x if m == 1 else x.mT])
    if m == n == 2 and a != b:  # one product instead of one for each example
        if a:
            size, rows, inner = x.array.shape
            rows = x.reshape(size * rows, inner)
            return call.of([rows, y]).reshape(*x.array.shape[:-1], y.array.shape[-1])
        if y.array.shape[-1] == 1:
            return call.of([y.squeeze(-1), x.mT]).unsqueeze(-1)
    if m == 1:
        x = x.unsqueeze(-2)
    if n == 1:
        y = y.unsqueeze(-1)
    lead = max(m, n, 2)
    out = call.of([_leading(x, a, lead), _leading(y, b, lead)])
    if n == 1:
        out = out.squeeze(-1)
    return out.squeeze(-1 if n == 1 else -2) if m == 1 else out


def _leading(x: Any, batch: bool, most: int) -> Any:
    """``x`` of so many dims after the batch, if it has one."""
    n = most - (x.array.ndim - batch)
    return x.reshape(x.array.shape[0], *(1,) * n, *x.array.shape[1:]) if batch and n else x


@rule("linear")
def _linear(call: Call) -> Any:
    (bias, x, weight), (c, a, b) = call.xs, call.which
    if not b and not c:
        return call.of([bias, x, weight])
    product = call.named("matmul", [x, weight.mT], [a, b]) if a or b else x.matmul(weight.mT)
    return call.named("add", [product, bias], [a or b, c])


@rule("advance")
def _advance(call: Call) -> Any:
    (x, h, weight), (a, b, c) = call.xs, call.which
    if not c:
        return _folded(call, 2)
    return call.named("add", [x, call.named("matmul", [h, weight.mT], [b, c])], [a, True])


def _folded(call: Call, count: int) -> Any:
    """The batch goes into the first dim of the first ``count`` inputs; the others have none."""
    xs = call.all_first()[:count]
    rows = [x.reshape(x.array.shape[0] * x.array.shape[1], *x.array.shape[2:]) for x in xs]
    out = call.of([*rows, *call.xs[count:]])
    return out.reshape(call.size, xs[0].array.shape[1], *out.array.shape[1:])


@rule("einsum")
def _einsum(call: Call) -> Any:
    operands, result = call.static["equation"].split("->")
    letter = next(c for c in ascii_letters if c not in operands)
    terms = [letter * b + t for t, b in zip(operands.split(","), call.which, strict=True)]
    return call.of(call.xs, equation=f"{','.join(terms)}->{letter}{result}")


@rule("inv", "det", "cofactor", "slogdet", "pinv", "matrix_exp", "qr", "svdvals",
      "solve", "solve_triangular", "euclidean_distances",
      *(getattr(decompose, name) for name in (
          "cholesky", "distinct", "eig", "eigh", "eigvals", "eigvalsh", "full_rank", "independent", "ldl_factor",
          "ldl_solve", "level", "lu_factor", "svd", "turnable", "unphased")))  # fmt: skip
def _matrices(call: Call) -> Any:
    """They take matrices, of any number of leading dims."""
    return call.of(call.lined_up())


@rule("gru_advance", "gru_state", "lstm")
def _recurrent(call: Call) -> Any:
    """The batch goes beside the sequences, where the weights are the same for all; else each has its own."""
    weights = call.which[2 if call.op.name == "gru_advance" else 3 :]
    if call.op.name != "lstm" and not any(weights):
        return _folded(call, 2)
    if any(weights):
        return by_formula(call)
    x, h, c, weight = *call.all_first()[:3], call.xs[3]
    t, n = x.array.shape[1:3]
    rows = [y.reshape(call.size * n, y.array.shape[-1]) for y in (h, c)]
    out = call.of([x.transpose(0, 1).reshape(t, call.size * n, x.array.shape[-1]), *rows, weight])
    return [o.reshape(t, call.size, n, o.array.shape[-1]).transpose(0, 1) for o in out]
