"""An operation around SciPy: a tridiagonal solver, with its derivative, made with custom_op.

A heated rod of twenty cells is held at 0 at both ends. Its temperatures solve a tridiagonal system, which LAPACK does
through SciPy. Prints the checkers' verdicts, then where better conduction would cool the middle most, and how two of
these improvements act together, which takes the second derivative.
"""

import numpy as np
from scipy.linalg import solve_banded

import gradwright as gw
from gradwright import Tensor, custom_op


@custom_op
def solve(lower: Tensor, diagonal: Tensor, upper: Tensor, b: Tensor) -> Tensor:
    """x with A x = b, where A has these three diagonals: (n - 1,), (n,), (n - 1,)."""
    bands = np.zeros((3, len(diagonal)))
    bands[0, 1:], bands[1], bands[2, :-1] = upper.numpy(), diagonal.numpy(), lower.numpy()
    return gw.from_numpy(solve_banded((1, 1), bands, b.numpy()))


@solve.vjp
def _(xp, g, lower, diagonal, upper, out):
    # From dA x + A dx = db: the gradient of b solves the transposed system. Solving is our own operation,
    # so this one formula also serves the second derivative.
    w = solve(upper, diagonal, lower, g)
    return {"b": w, "lower": -w[1:] * out[:-1], "diagonal": -w * out, "upper": -w[:-1] * out[1:]}


def temperatures(conductivity, load):
    """In each cell, given the conductivity of each link: to the left end, between cells, to the right end."""
    inner = -conductivity[1:-1]
    return solve(inner, conductivity[:-1] + conductivity[1:], inner, load)


def main():
    gw.manual_seed(0)
    bands = [gw.randn(n, dtype=gw.float64, requires_grad=True) for n in (3, 4, 3, 4)]
    bands[1] = (bands[1].detach() + 5).requires_grad_()
    print("first derivative right: ", gw.autograd.gradcheck(solve, bands))
    print("second derivative right:", gw.autograd.gradgradcheck(solve, bands))

    links = gw.ones(21, dtype=gw.float64, requires_grad=True)
    load = gw.full((20,), 0.01, dtype=gw.float64)
    middle = temperatures(links, load)[10]
    (gain,) = gw.autograd.grad(middle, links, create_graph=True)
    (together,) = gw.autograd.grad(gain[0], links)
    print(f"temperature in the middle: {middle.item():.4f}")
    print("by better links at the end, halfway, in the middle:", np.round(gain.detach().numpy()[[0, 5, 10]], 5))
    print("by the end link twice, and by it and the halfway one:", np.round(together.numpy()[[0, 5]], 5))


if __name__ == "__main__":
    main()
