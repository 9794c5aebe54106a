"""A C library through ctypes as a Function: Bessel's Jₙ from the system's own maths library, and how a drum sounds.

The C function is ``double jn(int n, double x)``. Its derivative is made of its neighbours, dJₙ/dx = (Jₙ₋₁ - Jₙ₊₁) / 2,
so that the Function, applied again, is its own derivative to any order.

A round drum vibrates with n nodal diameters and k nodal circles (the rim is one) at a frequency in proportion to the
k-th zero of Jₙ. Halley's method finds the zeros from the first and the second derivative. Prints the checkers'
verdicts, then the frequencies beside that of the lowest mode: no whole multiples, which is why a drum has no clear
pitch.
"""

import ctypes
import ctypes.util

import numpy as np

import gradwright as gw

libm = ctypes.CDLL(ctypes.util.find_library("m"))  # a CDLL releases the GIL while it computes
libm.jn.argtypes, libm.jn.restype = [ctypes.c_int, ctypes.c_double], ctypes.c_double
jn = np.vectorize(libm.jn, otypes=[float])  # number by number, for arrays of any shape, empty ones included


class Bessel(gw.autograd.Function):
    """Jₙ(x) for a whole n and real x of any shape, computed in double precision and rounded to the dtype of x."""

    @staticmethod
    def forward(ctx, n, x):
        if not x.is_floating_point():
            raise TypeError(f"Bessel takes x of a floating-point dtype, not {x.dtype}")
        ctx.n = n
        ctx.save_for_backward(x)
        return gw.as_tensor(jn(n, x.numpy()), dtype=x.dtype)

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return None, g * (Bessel.apply(ctx.n - 1, x) - Bessel.apply(ctx.n + 1, x)) / 2


def zeros(n, count, steps=4):
    """The first positive zeros of Jₙ."""
    b = np.pi * (np.arange(1, count + 1) + n / 2 - 0.25)
    x = gw.tensor(b - (4 * n**2 - 1) / (8 * b))  # McMahon's formula, to begin with
    for _ in range(steps):
        x.requires_grad_()
        y = Bessel.apply(n, x)
        slope, = gw.autograd.grad(y.sum(), x, create_graph=True)
        bend, = gw.autograd.grad(slope.sum(), x)
        x = (x - 2 * y * slope / (2 * slope**2 - y * bend)).detach()
    return x.numpy()


def main():
    x = gw.linspace(-3, 8, 6, dtype=gw.float64, requires_grad=True)
    for order in (0, 2):
        print(f"J{order}: first derivative right: {gw.autograd.gradcheck(Bessel.apply, (order, x))},",
              f"second: {gw.autograd.gradgradcheck(Bessel.apply, (order, x))}")

    lowest = zeros(0, 1).item()
    print("frequency beside the lowest, by nodal diameters (down) and circles (across)")
    for n in range(4):
        print(n, *(f"{zero / lowest:7.3f}" for zero in zeros(n, 4)))


if __name__ == "__main__":
    main()
