"""Find the parameters of a dynamical system by differentiating through SciPy's `solve_ivp`, by the adjoint equation.

System: hares and lynxes, after Lotka and Volterra. Data: 81 counts of both over twenty years, made with known
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

PRECISION = {"method": "DOP853", "rtol": 1e-8, "atol": 1e-9}


def lotka_volterra(u, p):
    """Growth of hares and lynxes, thousands a year. The same for arrays and tensors."""
    hares, lynxes = u
    births, hunting, deaths, feeding = p
    return np.stack([births * hares - hunting * hares * lynxes, feeding * hares * lynxes - deaths * lynxes])


TIMES = np.linspace(0, 20, 81)  # years
NAMES = ["births", "hunting", "deaths", "feeding"]  # a year, a year and thousand, a year, a year and thousand
TRUTH = np.array([0.55, 0.028, 0.84, 0.026])
GUESS = np.array([0.7, 0.02, 0.7, 0.03])
START = np.array([33.0, 6.0])  # thousands


@samples((lotka_volterra, np.linspace(0, 3, 4), gw.tensor([30.0, 5.0], dtype=gw.float64),
          gw.tensor([0.51, 0.031, 0.87, 0.023], dtype=gw.float64)))  # fmt: skip
class Solve(Function):
    """The solution u of du/dt = field(u, p) with u(times[0]) = start: start (n,), p (m,), u (times, n)."""

    @staticmethod
    def forward(ctx, field, times, start, p):
        u0, p0 = (t.detach().numpy().astype("float64") for t in (start, p))  # copies: SciPy holds on to them
        found = solve_ivp(lambda t, u: field(u, p0), times[[0, -1]], u0, t_eval=times, dense_output=True, **PRECISION)
        ctx.field, ctx.times, ctx.path = field, times, found.sol  # path(t) is the solution at any time
        ctx.save_for_backward(p)
        return gw.tensor(found.y.T, dtype=start.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        p = ctx.saved_tensors[0].double().requires_grad_()
        n = g.shape[1]

        def back(t, state):
            u = gw.tensor(ctx.path(t), requires_grad=True)
            with gw.enable_grad():
                slope = ctx.field(u, p)
            return -np.concatenate(gw.autograd.grad(slope, (u, p), gw.tensor(state[:n]), materialize_grads=True))

        jumps = g.double().numpy()
        state = np.concatenate([jumps[-1], np.zeros(len(p))])  # a, and the integral so far
        for later, earlier, jump in zip(ctx.times[:0:-1], ctx.times[-2::-1], jumps[-2::-1], strict=True):
            state = solve_ivp(back, (later, earlier), state, **PRECISION).y[:, -1]
            state[:n] += jump
        return None, None, gw.tensor(state[:n], dtype=g.dtype), gw.tensor(state[n:], dtype=g.dtype)


def observe(seed):
    """What was counted: the true solution, each count off by some 3 %."""
    u = Solve.apply(lotka_volterra, TIMES, gw.tensor(START), gw.tensor(TRUTH))
    noise = np.random.default_rng(seed).normal(scale=0.03, size=u.shape)
    return u * gw.tensor(np.exp(noise))


def fit(counts, steps):
    """The parameters and the start with the least squared error of the logarithms, and the loss at each step."""
    log_p = gw.tensor(np.log(GUESS), requires_grad=True)  # logarithms: they stay positive
    log_start = counts[0].log().requires_grad_()
    optimiser = gw.optim.LBFGS([log_p, log_start], max_iter=1, line_search_fn="strong_wolfe")
    losses = []

    def closure():
        optimiser.zero_grad()
        u = Solve.apply(lotka_volterra, TIMES, log_start.exp(), log_p.exp())
        loss = (u.log() - counts.log()).square().mean()
        loss.backward()
        return loss

    with progress(steps, "steps") as advance:
        for _ in range(steps):
            losses.append(optimiser.step(closure).item())
            advance(f"squared error {losses[-1]:.6f}")
    return log_p.detach().exp(), log_start.detach().exp(), losses


def main():
    arguments = options(__doc__, "ode_fit.png", epochs=40, quick=15)
    verify(Solve)
    p, start, losses = fit(observe(arguments.seed), arguments.epochs)
    gw.save({"p": p, "start": start}, arguments.state)

    errors = np.abs(p.numpy() / TRUTH - 1)
    curves = {"loss": (range(1, len(losses) + 1), losses), "noise": ([1, len(losses)], [0.03**2, 0.03**2])}
    title = f"Hares and lynxes: four parameters found within {errors.max():.1%}"
    draw(arguments.out, title, "step", "mean squared error of log counts", curves)
    print(f"loss curve: {arguments.out}, parameters: {arguments.state}")
    for name, first, found, truth in zip(NAMES, GUESS, p.tolist(), TRUTH, strict=True):
        print(f"{name:8} guess {first:.3f}, found {found:.5f}, truth {truth:.3f}: {found / truth - 1:+.2%}")
    print(f"largest error: {errors.max():.2%}")


if __name__ == "__main__":
    main()
