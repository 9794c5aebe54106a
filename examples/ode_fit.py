"""Find the parameters of a dynamical system by differentiating through SciPy's `solve_ivp`, by the adjoint equation.

System: hares and lynxes, after Lotka and Volterra. Data: 41 counts of both over twenty years, made with known
parameters and 3 % of noise. SciPy solves the equations; gradwright differentiates only their right-hand side. The
gradient of a loss L goes back along the solution: a(t) = dL/du(t) obeys da/dt = -(df/du)ᵀ a, jumps where there are
data, and leaves dL/dp = ∫ (df/dp)ᵀ a dt on its way. `gradwright check` goes over that Function first.

Prints its verdict and the parameters found beside the true ones; draws the loss and saves the parameters.
"""

import numpy as np
from scipy.integrate import solve_ivp

import gradwright as gw
from gradwright.autograd.function import Function, once_differentiable
from gradwright.check import samples
from workbench import draw, options, progress, verify

PRECISION = {"method": "DOP853", "rtol": 1e-10, "atol": 1e-10}


def lotka_volterra(u, p):
    """du/dt in thousands a year, for u = (hares, lynxes); of arrays, and of tensors."""
    return u * (p[:2] + p[2:] * u[[1, 0]])


TIMES = np.linspace(0, 20, 41)  # years
START = np.array([33.0, 6.0])  # thousands
TRUTH = np.array([0.55, -0.84, -0.028, 0.026])  # growth a year: of each by itself, and for each thousand of the other
GUESS = np.array([0.70, -0.70, -0.020, 0.030])
NAMES = ["hares alone", "lynxes alone", "hares per lynxes", "lynxes per hares"]


@samples((lotka_volterra, np.linspace(0, 3, 4), gw.tensor([30.0, 5.0], dtype=gw.float64),
          gw.tensor([0.51, -0.87, -0.031, 0.023], dtype=gw.float64)))  # fmt: skip
class Solve(Function):
    """The solution u of du/dt = field(u, p) with u(times[0]) = start: start (n,), p (m,), u (times, n)."""

    @staticmethod
    def forward(ctx, field, times, start, p):
        u0, p0 = (t.detach().numpy().astype("float64") for t in (start, p))  # copies: SciPy holds on to them
        u = solve_ivp(lambda t, u: field(u, p0), times[[0, -1]], u0, t_eval=times, **PRECISION).y.T
        ctx.field, ctx.times, ctx.u = field, times, u
        ctx.save_for_backward(p)
        return gw.tensor(u, dtype=start.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        field, p = ctx.field, ctx.saved_tensors[0].double().clone().requires_grad_()
        n, jumps = g.shape[1], g.double().numpy()

        def back(t, state):
            u = gw.tensor(state[:n], requires_grad=True)
            with gw.enable_grad():
                slope = field(u, p)
            products = gw.autograd.grad(slope, (u, p), gw.tensor(state[n : 2 * n]), materialize_grads=True)
            return np.concatenate([slope.detach(), -products[0], -products[1]])

        a, integral = jumps[-1], np.zeros(len(p))
        for k in range(len(ctx.times) - 1, 0, -1):
            state = np.concatenate([ctx.u[k], a, integral])
            state = solve_ivp(back, ctx.times[[k, k - 1]], state, **PRECISION).y[:, -1]
            a, integral = state[n : 2 * n] + jumps[k - 1], state[2 * n :]
        return None, None, gw.tensor(a, dtype=g.dtype), gw.tensor(integral, dtype=g.dtype)


def observe(seed):
    """What was counted: the true solution, each count off by some 3 %."""
    u = Solve.apply(lotka_volterra, TIMES, gw.tensor(START), gw.tensor(TRUTH))
    noise = np.random.default_rng(seed).normal(scale=0.03, size=u.shape)
    return u * gw.tensor(np.exp(noise))


def fit(counts, most):
    """The parameters and the start with the least squared error of the logarithms; the loss at each evaluation."""
    guess = gw.cat([gw.tensor(GUESS), counts[0]])
    log_factors = gw.zeros(6, dtype=gw.float64, requires_grad=True)  # of the guess: no sign changes
    optimiser = gw.optim.LBFGS([log_factors], max_iter=most, max_eval=most, line_search_fn="strong_wolfe")
    losses = []
    with progress(most, "evaluations at most") as advance:

        def closure():
            p, start = (guess * log_factors.exp()).split([4, 2])
            optimiser.zero_grad()
            loss = (Solve.apply(lotka_volterra, TIMES, start, p) / counts).log().square().mean()
            loss.backward()
            losses.append(loss.item())
            advance(f"squared error {losses[-1]:.6f}")
            return loss

        optimiser.step(closure)
    return *(guess * log_factors.detach().exp()).split([4, 2]), losses


def main():
    arguments = options(__doc__, "ode_fit.png", epochs=40, quick=6)
    verify(Solve)
    p, start, losses = fit(observe(arguments.seed), arguments.epochs)
    gw.save({"p": p, "start": start}, arguments.state)

    errors = np.abs(p.numpy() / TRUTH - 1)
    curves = {"loss": (range(1, len(losses) + 1), losses), "noise": ([1, len(losses)], [0.03**2, 0.03**2])}
    title = f"Hares and lynxes: four parameters found within {errors.max():.1%}"
    draw(arguments.out, title, "evaluation of the gradient", "mean squared error of log counts", curves)
    print(f"loss curve: {arguments.out}, parameters: {arguments.state}")
    for name, first, found, truth in zip(NAMES, GUESS, p.tolist(), TRUTH, strict=True):
        print(f"{name:16} guess {first:6.3f}, found {found:8.5f}, truth {truth:6.3f}: {found / truth - 1:+.2%}")
    print(f"largest error: {errors.max():.2%}")


if __name__ == "__main__":
    main()
