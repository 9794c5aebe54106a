"""SciPy's own functions, differentiated: three problems whose losses are written with SciPy and solved by SciPy.

With SCIPY_ARRAY_API=1 many functions of SciPy compute with whatever arrays they are given. Given Tensors, they are
recorded, and their gradients go to `scipy.optimize.minimize` through `gradwright.value_and_grad`.
"""

import os

os.environ["SCIPY_ARRAY_API"] = "1"  # SciPy reads this once, when it is imported

import numpy as np
from scipy import optimize, signal, stats
from scipy.spatial.transform import Rotation

import gradwright as gw

RANDOM = np.random.default_rng(0)
POINTS = RANDOM.standard_normal((20, 3))
TURN = np.array([0.3, -0.5, 1.1])  # the rotation to be found: axis times angle in radians
TURNED = Rotation.from_rotvec(TURN).apply(POINTS)
INCOMES = RANDOM.lognormal(size=400)
KERNEL = np.array([0.25, 0.5, 0.25])
SPIKES = np.zeros(30)
SPIKES[[8, 15, 16, 22]] = [1.0, 2.0, 1.0, 0.5]
BLURRED = signal.fftconvolve(SPIKES, KERNEL, mode="same")


def misfit(turn):
    """How far the points, turned, are from where they should be."""
    return ((Rotation.from_rotvec(turn).apply(gw.tensor(POINTS)) - gw.tensor(TURNED)) ** 2).sum()


def asymmetry(power):
    """The squared skewness of the incomes after a Box-Cox transform."""
    return stats.skew((gw.tensor(INCOMES) ** power - 1) / power) ** 2


def mismatch(sharp):
    """How far ``sharp``, blurred, is from the blurred signal."""
    return ((signal.fftconvolve(sharp, gw.tensor(KERNEL), mode="same") - gw.tensor(BLURRED)) ** 2).sum()


def main():
    turn = optimize.minimize(gw.value_and_grad(misfit), np.full(3, 0.1), jac=True)
    print("rotation found:    ", turn.x.round(4), f"in {turn.nfev} evaluations")

    power = optimize.minimize(gw.value_and_grad(asymmetry), np.array(1.0), jac=True)
    after = abs(asymmetry(gw.tensor(power.x)).item()) ** 0.5
    before, exponent = stats.skew(INCOMES), power.x.item()
    print(f"skewness of incomes: {before:.2f} before, {after:.2f} after; the exponent is {exponent:.3f}")

    sharp = optimize.minimize(gw.value_and_grad(mismatch), BLURRED, jac=True, bounds=[(0, None)] * 30)
    off, was_off = abs(sharp.x - SPIKES).max(), abs(BLURRED - SPIKES).max()
    print(f"deblurred signal:    off by {off:.3f} at most, {was_off:.3f} before")

    x = gw.tensor([0.1, 0.2, 0.3], dtype=gw.float64, requires_grad=True)
    print("gradient through SciPy's Rotation right:", gw.autograd.gradcheck(misfit, x))


if __name__ == "__main__":
    main()
