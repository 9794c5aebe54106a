"""A Fortran routine through f2py as a Function: a tridiagonal solver, and the level of the Nile.

The routine is in tridiagonal.f90. The gradient solves the transposed system, so that the Function, applied again, is
its own derivative to any order. The routine is built on first use, which takes a few seconds and needs gfortran, meson
and ninja, and kept where gradwright keeps its C++ extensions.

Data: the flow of the Nile at Aswan in 10⁸ m³, 1871 to 1970 (Cobb, 1978). Model: each year the level takes a random
step, and what is measured is the level and noise. The likeliest level solves a tridiagonal system; Newton's method
finds the ratio of the two variances at which the data are the likeliest. Prints the checkers' verdicts, the variances
(15,099 and 1,469 in Durbin and Koopman's Time Series Analysis by State Space Methods) and the level, which drops in the
years about 1898.
"""

import hashlib
import importlib.util
import math
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

import gradwright as gw
from gradwright.utils.cpp_extension import get_default_build_root

SOURCE = Path(__file__).with_name("tridiagonal.f90")
NILE = """
1120 1160 963 1210 1160 1160 813 1230 1370 1140 995 935 1110 994 1020 960 1180 799 958 1140 1100 1210 1150 1250 1260
1220 1030 1100 774 840 874 694 940 833 701 916 692 1020 1050 969 831 726 456 824 702 1120 1100 832 764 821 768 845 864
862 698 845 744 796 1040 759 781 865 845 944 984 897 822 1010 771 676 649 846 812 742 801 1040 860 874 848 890 744 749
838 1050 918 986 797 923 975 815 1020 906 901 1170 912 746 919 718 714 740"""


def build(library):
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])  # pip's meson is in the first
    if missing := [tool for tool in ("gfortran", "meson", "ninja") if not shutil.which(tool, path=path)]:
        raise RuntimeError(f"{SOURCE.name} cannot be built without {' and '.join(missing)}. Install what is missing: "
                           "sudo apt install gfortran, pip install meson ninja")  # fmt: skip
    library.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        command = [sys.executable, "-m", "numpy.f2py", "-c", SOURCE, "-m", "tridiagonal", "--backend", "meson"]
        done = subprocess.run(command, check=False, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True,
                              text=True)  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"f2py could not build {SOURCE}:\n{done.stdout}{done.stderr}")
        next(Path(folder).glob("tridiagonal*")).replace(library)  # at once: another process may look for it


@cache
def fortran():
    """The module made of tridiagonal.f90."""
    key = hashlib.sha256(f"{sys.version} {np.__version__} {SOURCE.read_text()}".encode()).hexdigest()[:16]
    library = Path(get_default_build_root(), f"tridiagonal-{key}{sysconfig.get_config_var('EXT_SUFFIX')}")
    if not library.exists():
        build(library)
    spec = importlib.util.spec_from_file_location("tridiagonal", library)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Solve(gw.autograd.Function):
    """x with A x = b, where A has these three diagonals: (n - 1,), (n,), (n - 1,). Computed in double precision."""

    @staticmethod
    def forward(ctx, lower, diagonal, upper, b):
        given = lower, diagonal, upper, b
        n, dtypes = diagonal.numel(), {t.dtype for t in given}
        wanted = [(n - 1,), (n,), (n - 1,), (n,)]  # f2py is lenient: it repeats, flattens, drops imaginary parts
        if n < 2 or [t.shape for t in given] != wanted or dtypes not in ({gw.float32}, {gw.float64}):
            raise ValueError("Solve takes n - 1, n, n - 1, n values, all float32 or all float64, n at least 2, not "
                             + ", ".join(f"{t.dtype} {tuple(t.shape)}" for t in given))  # fmt: skip
        x, row = fortran().solve(*(t.numpy() for t in given))
        if row:
            raise gw.linalg.LinAlgError(f"Solve does not exchange rows, and found a zero pivot in row {row - 1}")
        x = gw.as_tensor(x, dtype=b.dtype)
        ctx.save_for_backward(lower, diagonal, upper, x)
        return x

    @staticmethod
    def backward(ctx, g):
        lower, diagonal, upper, x = ctx.saved_tensors
        w = Solve.apply(upper, diagonal, lower, g)  # A' w = g, since dA x + A dx = db
        return -w[1:] * x[:-1], -w * x, -w[:-1] * x[1:], w

    @staticmethod
    def samples():
        """What `gradwright check` may call it with."""
        shapes = (3, 0), (4, 5), (3, 0), (4, 0)
        return [tuple((gw.randn(n, dtype=gw.float64) + mean).requires_grad_() for n, mean in shapes)]


def level(y, ratio):
    """The x with the least Σ (y[t] - x[t])² + ratio · Σ (x[t] - x[t-1])², and the likeliest variance of the noise."""
    link = ratio.expand(len(y) - 1)
    sides = gw.nn.functional.pad(link, (1, 0)) + gw.nn.functional.pad(link, (0, 1))
    x = Solve.apply(-link, 1 + sides, -link, y)
    return x, y @ (y - x) / (len(y) - 1)


def loss(log_ratio, y):
    """-log p(y) but for a constant; the determinant in it is the product of eigenvalues that are known."""
    n, ratio = len(y), log_ratio.exp()
    waves = 2 - 2 * gw.cos(math.pi / n * gw.arange(n, dtype=y.dtype))
    return 0.5 * ((n - 1) * (level(y, ratio)[1].log() - log_ratio) + (1 + ratio * waves).log().sum())


def main():
    gw.manual_seed(0)
    sample, = Solve.samples()
    print("first derivative right: ", gw.autograd.gradcheck(Solve.apply, sample))
    print("second derivative right:", gw.autograd.gradgradcheck(Solve.apply, sample))

    y, log_ratio = gw.tensor([float(flow) for flow in NILE.split()], dtype=gw.float64), gw.zeros((), dtype=gw.float64)
    for _ in range(8):
        log_ratio.requires_grad_()
        slope, = gw.autograd.grad(loss(log_ratio, y), log_ratio, create_graph=True)
        bend, = gw.autograd.grad(slope, log_ratio)
        log_ratio = (log_ratio - slope / bend).detach()
    ratio = log_ratio.exp()
    x, noise = level(y, ratio)
    print(f"variance of the noise: {noise.item():.0f}, of the steps: {(noise / ratio).item():.0f}")
    print("level:", ", ".join(f"{year} {x[year - 1871].item():.0f}" for year in (1880, 1895, 1905, 1970)))


if __name__ == "__main__":
    main()
