"""A Numba function as a Function: how nervous a market is, from a recurrence that NumPy cannot vectorise.

Data: 3,000 daily returns in per cent, simulated, so that the truth is known. Model: GARCH(1, 1), in which the variance
of a day follows from the day before, h[t] = ω + α r[t-1]² + β h[t-1]. Numba compiles the loop. Its gradient is the same
loop run backwards in time, so that the Function, applied again, is its own derivative to any order.

Prints the checkers' verdicts, the maximum-likelihood estimates with their standard errors, which take the second
derivative, and the time of the loss and its gradient beside that of the same loop over tensors.
"""

import time

import numpy as np
from numba import njit
from scipy.optimize import minimize

import gradwright as gw

TRUTH = np.array([0.1, 0.1, 0.8])  # ω, α, β


@njit(nogil=True)  # other threads run meanwhile
def recurrence(a, x):
    y, last = np.empty_like(x), 0.0
    for t in range(len(x)):
        last = a[t] * last + x[t]
        y[t] = last
    return y


class Recurrence(gw.autograd.Function):
    """y[t] = a[t] y[t-1] + x[t], starting from y[-1] = 0, for vectors of one length and of one dtype."""

    @staticmethod
    def forward(ctx, a, x):
        if x.dim() != 1 or a.shape != x.shape or a.dtype != x.dtype or x.dtype not in (gw.float32, gw.float64):
            raise ValueError("Recurrence takes two vectors of one length, both float32 or both float64, not "
                             f"{a.dtype} {tuple(a.shape)} and {x.dtype} {tuple(x.shape)}")  # fmt: skip
        # Numba compiles anew for each dtype and memory layout that it meets: let there be one layout.
        y = gw.from_numpy(recurrence(*(np.ascontiguousarray(t.numpy()) for t in (a, x))))
        ctx.save_for_backward(a, y)
        return y

    @staticmethod
    def backward(ctx, g):
        a, y = ctx.saved_tensors
        w = Recurrence.apply(a.roll(-1).flip(0), g.flip(0)).flip(0)  # w[t] = g[t] + a[t+1] w[t+1]
        return w * gw.nn.functional.pad(y, (1, -1)), w  # y[t-1]


def simulate(days=3000):
    """Returns of the model, in per cent."""
    shocks, (omega, alpha, beta) = np.random.default_rng(0).standard_normal(days), TRUTH
    r, h = np.empty(days), omega / (1 - alpha - beta)
    for t in range(days):
        r[t] = h**0.5 * shocks[t]
        h = omega + alpha * r[t] ** 2 + beta * h
    return gw.from_numpy(r)


def loss(theta, r, run=Recurrence.apply):
    """-log p(r) but for a constant, for theta = (ω, α, β)."""
    x = gw.cat([r.square().mean()[None], theta[0] + theta[1] * r[:-1].square()])
    h = run(theta[2].expand(len(r)), x)
    return 0.5 * (h.log() + r.square() / h).sum()


def standard_errors(theta, r):
    """From the inverse of the matrix of second derivatives."""
    gradient, = gw.autograd.grad(loss(theta, r), theta, create_graph=True)
    hessian = gw.stack([gw.autograd.grad(slope, theta, retain_graph=True)[0] for slope in gradient])
    return np.sqrt(np.diag(np.linalg.inv(hessian.numpy())))


def loop(a, x):
    """What `Recurrence` computes, with tensors."""
    y = [x[0]]
    for t in range(1, len(x)):
        y.append(a[t] * y[-1] + x[t])
    return gw.stack(y)


def seconds(run, theta, r):
    start = time.perf_counter()
    gw.autograd.grad(loss(theta, r, run), theta)
    return time.perf_counter() - start


def main():
    gw.manual_seed(0)
    a, x = (gw.randn(6, dtype=gw.float64, requires_grad=True) for _ in range(2))
    print("first derivative right: ", gw.autograd.gradcheck(Recurrence.apply, (a, x)))
    print("second derivative right:", gw.autograd.gradgradcheck(Recurrence.apply, (a, x)))

    r = simulate()
    best = minimize(gw.value_and_grad(lambda theta: loss(theta, r)), [0.5, 0.2, 0.5], jac=True,
                    bounds=[(1e-4, 10), (0, 1), (0, 1)]).x  # fmt: skip
    theta = gw.tensor(best, requires_grad=True)
    errors = standard_errors(theta, r)
    print("       estimate  standard error  truth")
    for name, value, error, truth in zip(["omega", "alpha", "beta"], best, errors, TRUTH, strict=True):
        print(f"{name:5} {value:10.4f}  {error:14.4f}  {truth:5.2f}")
    fast, slow = (min(seconds(run, theta, r) for _ in range(3)) for run in (Recurrence.apply, loop))
    print(f"loss and gradient over {len(r):,} days: {1e3 * fast:.1f} ms, with a loop over tensors {1e3 * slow:.0f} ms")


if __name__ == "__main__":
    main()
