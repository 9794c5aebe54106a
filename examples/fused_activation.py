"""An activation in C++, given as one expression for an entry: x σ(1.702 x), which GELU is close to.

With its first and second derivative it is an operation for tensors of any shape, float32 and float64: one pass through
memory where the same from gradwright's own operations takes three, and three more for the gradient. Prints the
checkers' verdicts, the largest difference to those operations, and how long a million entries take. Needs a C++
compiler and nanobind: pip install nanobind.
"""

import math
import time

import gradwright as gw
from gradwright.utils.cpp_extension import load_inline

CODE = """
template <class R> R first(R x) {
    const R s = sigmoid(1.702 * x);
    return s * (1 + 1.702 * x * (1 - s));
}
template <class R> R second(R x) {
    const R s = sigmoid(1.702 * x);
    return 1.702 * s * (1 - s) * (2 + 1.702 * x * (1 - 2 * s));
}
GRADWRIGHT_ELEMENTWISE(quick_gelu, x * sigmoid(1.702 * x), first(x), second(x))
"""


def compiled():
    """The operation; built the first time."""
    return load_inline("fused_activation", CODE).quick_gelu


def composed(x):
    """The same of three operations."""
    return x * gw.sigmoid(1.702 * x)


def seconds(activation, n=1_000_000, times=20):
    """The shortest of some forward and backward passes over float32 numbers."""
    gw.manual_seed(0)
    x, g = gw.randn(n, requires_grad=True), gw.ones(n)
    best = math.inf
    for _ in range(times):
        x.grad = None
        start = time.perf_counter()
        activation(x).backward(g)
        best = min(best, time.perf_counter() - start)
    return best


def main():
    quick_gelu = compiled()
    x = gw.linspace(-4, 4, 101, dtype=gw.float64, requires_grad=True)
    print("first derivative right: ", gw.autograd.gradcheck(quick_gelu, x))
    print("second derivative right:", gw.autograd.gradgradcheck(quick_gelu, x))
    print(f"largest difference: {(quick_gelu(x) - composed(x)).abs().max().item():.1e}")
    print(f"a million entries, value and gradient: {1e3 * seconds(composed):.2f} ms as three operations, "
          f"{1e3 * seconds(quick_gelu):.2f} ms as one")


if __name__ == "__main__":
    main()
