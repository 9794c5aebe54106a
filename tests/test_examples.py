"""Each example runs as a program, and its numbers agree with an independent computation.

With GRADWRIGHT_REQUIRE_GFORTRAN=1 a missing gfortran fails the run; without it, the example in Fortran is skipped.
"""

import ast
import atexit
import collections
import functools
import itertools
import math
import os
import pydoc_data.topics
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, signal, special, stats

from tests.programs import run

EXAMPLES = Path(__file__).parents[1] / "examples"
TRAINING = ["char_model", "digits_convnet", "digits_mlp", "ode_fit"]
IN_CPP = ["fused_activation", "lltm"]
FOLDER = tempfile.mkdtemp()  # where the examples run, and leave what they write
atexit.register(shutil.rmtree, FOLDER)


@functools.cache
def output(name: str) -> str:
    """What the example prints; those that train do so for a few seconds only."""
    if name == "fortran_tridiagonal":
        gfortran()
    quick = ["--quick"] if name in TRAINING else []
    done = run(EXAMPLES / f"{name}.py", *quick, cwd=FOLDER, imports="gradwright.verify.check")
    assert done.returncode == 0, f"{name}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def gfortran() -> None:
    """Skips where there is none, unless it is required: then the example fails."""
    if shutil.which("gfortran") is None and os.environ.get("GRADWRIGHT_REQUIRE_GFORTRAN", "") in ("", "0"):
        pytest.skip("gfortran is not installed: the example in Fortran not run")


@functools.cache
def module(name: str) -> dict:
    """The example's names, without its main()."""
    sys.path.insert(0, str(EXAMPLES))  # as Python does: an example may import its neighbours
    try:
        return runpy.run_path(str(EXAMPLES / f"{name}.py"))
    finally:
        sys.path.remove(str(EXAMPLES))


def numbers(text: str) -> list[float]:
    return [float(token) for token in re.findall(r"(?<![\w.])-?\d+(?:\.\d*)?(?:e[-+]?\d+)?", text)]


def row(text: str, start: str) -> str:
    """The rest of the one line that begins with `start`."""
    line, = [line for line in text.splitlines() if line.lstrip().startswith(start)]
    return line.lstrip().removeprefix(start)


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.py")))
def test_every_example_runs_and_says_what_it_shows(name, request):
    if name in IN_CPP:
        request.getfixturevalue("compiler")
    assert output(name)
    assert module(name)["__doc__"]
    assert callable(module(name)["main"])


# ---- custom_exp -----------------------------------------------------------------------------------------


def test_custom_exp():
    text = output("custom_exp")
    truth = pytest.approx(np.exp([1, 2, 3]), abs=5e-5)
    assert numbers(row(text, "custom")) == truth
    assert numbers(row(text, "built in")) == truth
    assert "True" in row(text, "first derivative right:")
    assert "True" in row(text, "second derivative right:")


# ---- legendre_fit ---------------------------------------------------------------------------------------


@functools.cache
def legendre_by_hand(steps: int = 2000) -> tuple[np.ndarray, dict[int, float]]:
    """The coefficients, and the loss at each step: the same descent in NumPy, with its gradient by hand."""
    x = np.linspace(-math.pi, math.pi, 2000)
    coefficients = np.array([0.0, -1.0, 0.0, 0.3])
    losses = {}
    for step in range(steps):
        a, b, c, d = coefficients
        u = c + d * x
        p3, slope = (5 * u**3 - 3 * u) / 2, (15 * u**2 - 3) / 2
        residual = a + b * p3 - np.sin(x)
        losses[step] = residual @ residual
        gradient = [residual.sum(), residual @ p3, residual @ (b * slope), residual @ (b * slope * x)]
        coefficients = coefficients - 5e-6 * 2 * np.array(gradient)
    return coefficients, losses


def test_legendre_fit_prints_the_descent():
    text = output("legendre_fit")
    coefficients, losses = legendre_by_hand()
    printed = {int(step): loss for step, loss in map(numbers, re.findall(r"step.*", text))}
    assert list(printed) == [*range(0, 2000, 100), 1999]
    assert printed == pytest.approx({step: losses[step] for step in printed}, rel=1e-5)
    assert numbers(row(text, "sin(x) =")) == pytest.approx(list(coefficients), abs=6e-5)


def test_compiled_legendre_fits_alike_each_way():
    text = output("compiled_legendre")
    coefficients, _ = legendre_by_hand()
    for name in ("eager", "plan", "auto"):
        assert numbers(row(text, name))[:4] == pytest.approx(list(coefficients), abs=6e-5)
    assert "1 program, traced 1 time" in text


def test_legendre_fit_as_a_function():
    import gradwright as gw

    reported = []
    result = module("legendre_fit")["fit"](
        steps=250, dtype=gw.float64, report=lambda step, loss: reported.append((step, loss)))
    coefficients, losses = legendre_by_hand(250)
    assert list(result) == pytest.approx([*coefficients, losses[249]], rel=1e-12, abs=1e-14)
    assert [step for step, _ in reported] == [0, 100, 200, 249]
    assert dict(reported) == pytest.approx({step: losses[step] for step, _ in reported}, rel=1e-12)


# ---- linear_function ------------------------------------------------------------------------------------


def test_linear_function():
    text = output("linear_function")
    assert row(text, "with bias:") == " first derivative True, second True"
    assert row(text, "without:") == " first derivative True, second True"
    assert "Linear(in_features=3, out_features=1, bias=True)\n" in text

    x, y = module("linear_function")["data"]()
    solution = np.linalg.lstsq(np.c_[x, np.ones(len(x))], y, rcond=None)[0].ravel()
    for name in ["learned:", "least squares:"]:
        assert numbers(row(text, name)) == pytest.approx(solution, abs=2e-4)


# ---- graph_walk -----------------------------------------------------------------------------------------


def test_graph_walk():
    text = output("graph_walk")
    tree = [(len(line) - len(line.lstrip()), line.split()[0])
            for line in text.splitlines() if re.match(r" *\w+(Backward\d|Grad)\b", line)]
    assert tree == [
        (0, "SumBackward0"),
        (4, "AddBackward0"),
        (8, "PowBackward0"), (12, "AccumulateGrad"),
        (8, "MulBackward0"),
        (12, "PowBackward0"), (16, "AccumulateGrad"),
        (12, "AccumulateGrad"),
    ]
    assert text.count("(as above)") == 1
    assert text.count("saved _saved_exponent, _saved_self\n") == 2
    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    assert numbers(row(text, "x.grad:").split("=")[0]) == list(2 * x + y**3)
    assert numbers(row(text, "y.grad:").split("=")[0]) == list(3 * y**2 * x)
    assert row(text, "inside no_grad, a result has no node:") == " None"


def test_a_deep_graph_is_walked_without_recursion():
    import gradwright as gw

    x = y = gw.ones((), requires_grad=True)
    for _ in range(20_000):
        y = y + 1
    nodes = list(module("graph_walk")["walk"](y.grad_fn))
    assert len(nodes) == 20_001
    assert nodes[-1][0] == 20_000
    assert nodes[-1][1].variable is x


# ---- double_backward ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "verdicts", "second"), [
    ("Square", ["right", "right"], 2),
    ("Exp", ["right", "right"], math.exp(0.5)),
    ("Sinh", ["right", "right"], math.sinh(0.5)),
    ("SinhBad", ["right", "right"], math.sinh(0.5)),
    ("Cube", ["right", "right"], 3),
])
def test_double_backward(name, verdicts, second):
    first, twice, derivative, truth = row(output("double_backward"), f"{name} ").split()
    assert [first, twice] == verdicts
    assert float(derivative) == float(truth) == pytest.approx(second, abs=5e-7)


# ---- wrong_derivative -----------------------------------------------------------------------------------


def test_wrong_derivative():
    right, wrong = output("wrong_derivative").split("\n\n")
    assert right.splitlines() == ["MulConstant: gradient [5.0, 5.0]", "gradcheck: right"]
    gradient, verdict, worst, *jacobians = wrong.splitlines()
    assert gradient == "MulConstantBad: gradient [1.0, 1.0]"
    assert verdict == "gradcheck: Jacobian mismatch for output 0 with respect to input 0,"
    assert re.match(r"worst: d out\[(\d)\] / d x\[\1\]: analytical 1, numerical 5 ±", worst)
    numerical, analytical = "\n".join(jacobians).replace("torch.float64", "").split("analytical:")
    assert numbers(numerical.removeprefix("numerical:tensor(")) == pytest.approx([5, 0, 0, 5], abs=1e-4)
    assert numbers(analytical.removeprefix("tensor(")) == [1, 0, 0, 1]


# ---- gamma_fit ------------------------------------------------------------------------------------------


def test_gamma_fit():
    special, stats = pytest.importorskip("scipy.special"), pytest.importorskip("scipy.stats")
    linear_model = pytest.importorskip("sklearn.linear_model")
    text = output("gamma_fit")
    assert "first derivative True, second True" in row(text, "log gamma:")

    # The mean's coefficients from scikit-learn. Given those, y / mean is gamma distributed with mean 1,
    # and SciPy fits the shape.
    bmi, y = module("gamma_fit")["data"]()
    z = (bmi - bmi.mean()) / bmi.std()
    regression = linear_model.GammaRegressor(alpha=0, solver="newton-cholesky", tol=1e-10).fit(z[:, None], y)
    ratio = y / regression.predict(z[:, None])
    k, _, scale = stats.gamma.fit(ratio, floc=0)
    assert k * scale == pytest.approx(1)

    # The Hessian by hand; its mixed terms in k vanish at the optimum.
    design = np.stack([np.ones_like(z), z])
    a_error, b_error = np.sqrt(np.diag(np.linalg.inv(k * (design * ratio) @ design.T)))
    k_error = 1 / math.sqrt(len(y) * (k**2 * special.polygamma(1, k) - k))

    near = functools.partial(pytest.approx, abs=2e-6)
    a, b = regression.intercept_, regression.coef_[0]
    assert numbers(row(text, "a ")) == near([a, a_error, a])
    assert numbers(row(text, "b ")) == near([b, b_error, b])
    assert numbers(row(text, "log k")) == near([math.log(k), k_error])
    shape, factor = numbers(row(text, "k ="))
    assert shape == pytest.approx(k, abs=1e-4)
    assert factor == pytest.approx(math.exp(b / bmi.std()), abs=1e-4)


def test_poly_gamma_is_right_to_third_order():
    special = pytest.importorskip("scipy.special")
    pytest.importorskip("sklearn")
    import gradwright as gw

    x = gw.tensor([0.3, 1.0, 5.0], dtype=gw.float64, requires_grad=True)
    derivative = module("gamma_fit")["log_gamma"](x)
    for order in range(3):
        derivative, = gw.autograd.grad(derivative.sum(), x, create_graph=True)
        truth = special.polygamma(order, x.tolist())
        np.testing.assert_allclose(derivative.detach().numpy(), truth, rtol=1e-14)


# ---- scipy_on_tensors -----------------------------------------------------------------------------------


def test_scipy_on_tensors():
    text = output("scipy_on_tensors")
    example = module("scipy_on_tensors")
    assert numbers(row(text, "rotation found:"))[:3] == pytest.approx(example["TURN"].tolist(), abs=1e-3)
    before, after, exponent = numbers(row(text, "skewness of incomes:"))
    assert before == pytest.approx(stats.skew(example["INCOMES"]), abs=0.01)
    assert after < 0.01
    assert exponent == pytest.approx(0, abs=0.1)  # the incomes are log-normal
    now, then = numbers(row(text, "deblurred signal:"))
    assert now < 0.05 < then
    assert row(text, "gradient through SciPy's Rotation right:").strip() == "True"


# ---- heat_rod -------------------------------------------------------------------------------------------


def test_heat_rod():
    text = output("heat_rod")
    assert "True" in row(text, "first derivative right:")
    assert "True" in row(text, "second derivative right:")

    def middle(*changes: tuple[int, float]) -> float:
        k = np.ones(21)
        for link, change in changes:
            k[link] += change
        a = np.diag(k[:-1] + k[1:]) - np.diag(k[1:-1], 1) - np.diag(k[1:-1], -1)
        return np.linalg.solve(a, np.full(20, 0.01))[10]

    assert numbers(row(text, "temperature in the middle:")) == [pytest.approx(middle(), abs=5e-5)]
    h = 1e-4
    slopes = [(middle((k, h)) - middle((k, -h))) / (2 * h) for k in (0, 5, 10)]
    assert numbers(row(text, "by better links at the end, halfway, in the middle:")) == pytest.approx(slopes, abs=1e-5)
    twice = (middle((0, h)) - 2 * middle() + middle((0, -h))) / h**2
    mixed = sum(s * t * middle((0, s * h), (5, t * h)) for s in (1, -1) for t in (1, -1)) / (4 * h * h)
    assert numbers(row(text, "by the end link twice, and by it and the halfway one:")) == pytest.approx(
        [twice, mixed], abs=1e-5
    )


# ---- C++ ------------------------------------------------------------------------------------------------


def test_fused_activation(compiler):
    from scipy import special

    import gradwright as gw

    text = output("fused_activation")
    assert row(text, "first derivative right:").strip() == row(text, "second derivative right:").strip() == "True"
    assert numbers(row(text, "largest difference:"))[0] < 1e-15
    example = module("fused_activation")
    x = gw.tensor([-700.0, -2.0, 0.0, 3.0, 700.0], dtype=gw.float64)
    truth = x.numpy() * special.expit(1.702 * x.numpy())
    np.testing.assert_allclose(example["compiled"]()(x), truth, rtol=1e-15)


def test_lltm(compiler):
    text = output("lltm")
    for language in ["Python", "C++   "]:
        assert row(text, f"{language} derivatives right:") == " first True, second True"
    for what in ["values", "gradients", "second derivatives"]:
        assert numbers(row(text, f"{what}: largest difference"))[0] < 1e-12


@pytest.mark.parametrize("language", ["Python", "C++"])
def test_lltm_is_what_pytorch_computes(torch, compiler, language):
    import gradwright as gw

    example = module("lltm")
    inputs = example["arguments"](4, 5, 6)
    step = example["LLTM"] if language == "Python" else example["compiled"]()

    def composed(x, weights, bias, h, cell):
        a, b, c = torch.addmm(bias, torch.cat([h, x], 1), weights.t()).chunk(3, 1)
        new = cell + a.sigmoid() * torch.nn.functional.elu(c)
        return b.sigmoid() * new.tanh(), new

    theirs = [torch.tensor(t.detach().numpy(), requires_grad=True) for t in inputs]
    for lib, values, leaves in [(gw, step.apply(*inputs)[:2], inputs), (torch, composed(*theirs), theirs)]:
        first = lib.autograd.grad(sum(v.sin().sum() for v in values), leaves, create_graph=True)
        second = lib.autograd.grad(sum((g * g).sum() for g in first), leaves)
        found = [t.detach().numpy() for t in (*values, *first, *second)]
        if lib is gw:
            ours = found
    for a, b in zip(ours, found, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * np.abs(b).max())


def test_lltm_refuses_what_does_not_fit(compiler):
    import gradwright as gw

    step = module("lltm")["compiled"]()
    x, weights, bias, h, cell = module("lltm")["arguments"](4, 5, 6)
    with pytest.raises(ValueError, match="3 rows for each column of the cell"):
        step.apply(x, weights, bias, h, cell[:, :5])
    with pytest.raises(RuntimeError, match=r"LLTM\.forward: expected argument 'cell' to have 2 dims, but it has 1"):
        step.apply(x, weights, bias, h, cell[0])
    expected = r"LLTM\.forward: expected scalar type Double but found Float for argument 'cell'"
    with pytest.raises(RuntimeError, match=expected):
        step.apply(x, weights, bias, h, cell.to(gw.float32))
    from gradwright.utils.cpp_extension import load

    gradient = load("lltm", EXAMPLES / "lltm.cpp").LLTMGradient
    gates = gw.ones(4, 18, dtype=gw.float64)
    for wrong in ({"grad_h": h[:, :5]}, {"grad_cell": cell[:3]}, {"grad_gates": gates[:, :17]}):
        given = {"grad_h": h, "grad_cell": cell, "grad_gates": gates, "gates": gates, "cell": cell, **wrong}
        with pytest.raises(RuntimeError, match=f"expected argument '{next(iter(wrong))}' to have shape"):
            gradient.apply(*given.values())


# ---- numba_garch ----------------------------------------------------------------------------------------


def test_numba_garch():
    text = output("numba_garch")
    assert row(text, "first derivative right:").strip() == row(text, "second derivative right:").strip() == "True"
    example = module("numba_garch")
    r = example["simulate"]().numpy()

    def loss(theta):
        omega, alpha, beta = theta
        h = signal.lfilter([1], [1, -beta], np.append(np.mean(r**2), omega + alpha * r[:-1] ** 2))
        return 0.5 * np.sum(np.log(h) + r**2 / h)

    names = ["omega", "alpha", "beta"]
    best, errors, truth = np.array([numbers(row(text, name)) for name in names]).T
    found = optimize.minimize(loss, truth, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-9})
    assert best == pytest.approx(found.x, abs=2e-4)
    steps = 1e-4 * np.eye(3)
    hessian = [[sum(s * t * loss(found.x + s * a + t * b) for s in (1, -1) for t in (1, -1)) / 4e-8 for b in steps]
               for a in steps]  # fmt: skip
    assert errors == pytest.approx(np.sqrt(np.diag(np.linalg.inv(hessian))), rel=5e-3)
    assert (abs(best - truth) < 2 * errors).all()
    assert len(numbers(row(text, "loss and gradient").partition("days:")[2])) == 2


def test_a_recurrence_takes_any_two_vectors_that_go_together():
    import gradwright as gw

    example = module("numba_garch")
    run, whole = example["Recurrence"].apply, gw.arange(1, 17, dtype=gw.float32).div(10).requires_grad_()
    a, x = whole[::2], whole[1::2]
    fast, slow = run(a, x), example["loop"](a, x)
    assert fast.dtype == gw.float32
    assert fast.tolist() == pytest.approx(slow.tolist())
    by_hand, by_tensors = (gw.autograd.grad(y.sum(), whole)[0].tolist() for y in (fast, slow))
    assert by_hand == pytest.approx(by_tensors, rel=1e-5)
    empty = gw.zeros(0, requires_grad=True)
    assert gw.autograd.grad(run(empty, empty).sum(), empty)[0].shape == (0,)


@pytest.mark.parametrize(("a", "x"), [
    ("float64 ()", "float64 ()"), ("float64 (2, 2)", "float64 (2, 2)"), ("float64 (3,)", "float64 (4,)"),
    ("float32 (3,)", "float64 (3,)"), ("int64 (3,)", "int64 (3,)"), ("complex64 (3,)", "complex64 (3,)"),
])  # fmt: skip
def test_a_recurrence_refuses_the_rest(a, x):
    import gradwright as gw

    def ones(text):
        dtype, shape = text.split(maxsplit=1)
        return gw.ones(ast.literal_eval(shape), dtype=getattr(gw, dtype))

    with pytest.raises(ValueError, match=re.escape(f"or both float64, not torch.{a} and torch.{x}")):
        module("numba_garch")["Recurrence"].apply(ones(a), ones(x))


# ---- ctypes_bessel --------------------------------------------------------------------------------------


def test_ctypes_bessel():
    text = output("ctypes_bessel")
    assert re.findall(r"J(\d): first derivative right: True, second: True", text) == ["0", "2"]
    lowest = special.jn_zeros(0, 1)
    for n in range(4):
        assert numbers(row(text, f"{n} ")) == pytest.approx(special.jn_zeros(n, 4) / lowest, abs=6e-4)
        assert module("ctypes_bessel")["zeros"](n, 4) == pytest.approx(special.jn_zeros(n, 4), rel=1e-14)


def test_bessel_functions_are_right_to_third_order():
    import gradwright as gw

    bessel = module("ctypes_bessel")["Bessel"].apply
    x = gw.tensor([[-3.0, 0.0, 0.5], [2.0, 7.0, 30.0]], dtype=gw.float64).T.requires_grad_()
    for n in (0, 1, 5):
        derivative = bessel(n, x)
        for order in range(4):
            truth = special.jvp(n, x.detach().numpy(), order)
            np.testing.assert_allclose(derivative.detach().numpy(), truth, atol=1e-15)
            derivative, = gw.autograd.grad(derivative.sum(), x, create_graph=True)


def test_bessel_takes_real_numbers_of_any_shape_and_precision():
    import gradwright as gw

    bessel = module("ctypes_bessel")["Bessel"].apply
    single = bessel(0, gw.tensor(1.0, requires_grad=True))
    assert (single.dtype, single.shape) == (gw.float32, ())
    assert single.item() == pytest.approx(special.j0(1), rel=1e-7)
    assert bessel(0, gw.zeros(0, 3)).shape == (0, 3)
    for dtype in (gw.int64, gw.complex64):
        with pytest.raises(TypeError, match=f"a floating-point dtype, not {dtype}"):
            bessel(0, gw.ones(2, dtype=dtype))


# ---- fortran_tridiagonal --------------------------------------------------------------------------------


def test_fortran_tridiagonal():
    text = output("fortran_tridiagonal")
    assert row(text, "first derivative right:").strip() == row(text, "second derivative right:").strip() == "True"
    y = np.array(module("fortran_tridiagonal")["NILE"].split(), dtype=float)
    D = np.diff(np.eye(100), axis=0)
    noise, step = numbers(row(text, "variance of the noise:"))

    def loss(log_variances):  # of the differences, in which the first level plays no part
        noise, step = np.exp(log_variances)
        return -stats.multivariate_normal(cov=noise * D @ D.T + step * np.eye(99)).logpdf(np.diff(y))

    found = optimize.minimize(loss, [9, 8], method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-9})
    assert [noise, step] == pytest.approx(np.exp(found.x), abs=1)
    x = np.linalg.solve(np.eye(100) + noise / step * D.T @ D, y)
    years, levels = np.array(numbers(row(text, "level:"))).reshape(-1, 2).T
    assert levels == pytest.approx(x[years.astype(int) - 1871], abs=1)


def test_a_tridiagonal_solver_refuses_what_f2py_would_bend():
    import gradwright as gw

    gfortran()
    solve, ones = module("fortran_tridiagonal")["Solve"].apply, gw.ones
    single = solve(ones(4)[::2], 4 * ones(3), ones(()).expand(2), ones(6)[::2])
    assert single.dtype == gw.float32
    assert single.tolist() == pytest.approx([3 / 14, 1 / 7, 3 / 14])
    with pytest.raises(gw.linalg.LinAlgError, match="zero pivot in row 1"):
        solve(ones(2), ones(3), ones(2), ones(3))
    for n, dtype in ((0, gw.float64), (1, gw.float64), (3, gw.int64), (3, gw.complex128)):
        off, on = ones(max(n - 1, 0), dtype=dtype), ones(n, dtype=dtype)
        with pytest.raises(ValueError, match=rf"n at least 2, not {dtype} \({max(n - 1, 0)},\), {dtype} \({n},\)"):
            solve(off, on, off, on)
    with pytest.raises(ValueError, match=r"torch.float32 \(3, 1\), torch.float32 \(2,\), torch.float64 \(3,\)"):
        solve(ones(2), ones(3, 1), ones(2), ones(3, dtype=gw.float64))


def test_without_gfortran_it_says_what_to_install(tmp_path):
    program, bare = EXAMPLES / "fortran_tridiagonal.py", {"PATH": "", "GRADWRIGHT_EXTENSIONS_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=60, env=bare)
    assert done.returncode == 1
    assert "RuntimeError: tridiagonal.f90 cannot be built without gfortran" in done.stderr
    assert "sudo apt install gfortran" in done.stderr
    assert not list(tmp_path.iterdir())


# ---- programs that train --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TRAINING)
def test_training_is_checked_first_drawn_and_saved(name):
    import gradwright as gw

    assert re.match(r"gradwright check \w+\.py:\w+: verified, 1\d checks passed\n", output(name))
    assert Path(FOLDER, f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert all(isinstance(value, gw.Tensor) for value in gw.load(Path(FOLDER, f"{name}.safetensors")).values())


def test_nothing_is_trained_with_a_wrong_derivative(monkeypatch, capsys):
    monkeypatch.syspath_prepend(EXAMPLES)
    from workbench import verify
    from wrong_derivative import MulConstantBad

    with pytest.raises(SystemExit, match=r"wrong_derivative\.py:MulConstantBad: not verified, so nothing is trained"):
        verify(MulConstantBad)
    assert capsys.readouterr().out == ""


def test_the_options_of_training():
    program = [sys.executable, str(EXAMPLES / "workbench.py")]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([*program, "--out", f"{folder}/curve.svg"], capture_output=True, text=True, timeout=60)
        assert done.stdout == f"drawn: {folder}/curve.svg\n"
        assert "</svg>" in Path(folder, "curve.svg").read_text()
    wrong = subprocess.run([*program, "--epochs", "0"], capture_output=True, text=True, timeout=60)
    assert wrong.returncode == 2
    assert "argument --epochs: must be at least 1, got 0" in wrong.stderr


def test_digits_mlp():
    import gradwright as gw

    right, = re.findall(r"right: ([\d.]+)% of 450", output("digits_mlp"))
    assert float(right) > 93
    saved = {name: t.numpy() for name, t in gw.load(Path(FOLDER, "digits_mlp.safetensors")).items()}
    x, y = (t.numpy() for t in module("digits_mlp")["data"]()[1].tensors)
    hidden = np.maximum(x @ saved["hidden.weight"].T + saved["hidden.bias"], 0)
    scores = hidden @ saved["scores.weight"].T + saved["scores.bias"]
    assert float(right) == pytest.approx(100 * np.mean(scores.argmax(1) == y), abs=0.3)


def test_digits_convnet():
    import gradwright as gw

    right, = re.findall(r"right: ([\d.]+)% of 450", output("digits_convnet"))
    assert float(right) > 95
    example = module("digits_convnet")
    model = example["ConvNet"]()
    model.load_state_dict(gw.load(Path(FOLDER, "digits_convnet.safetensors")))
    _, again = module("digits_mlp")["evaluate"](model, example["data"]()[1])
    assert float(right) == pytest.approx(100 * again, abs=0.3)


def test_the_held_out_quarter_is_always_the_same_and_not_trained_on():
    (x, y), (x_held_out, _) = (dataset.tensors for dataset in module("digits_mlp")["data"]())
    assert (len(x), len(x_held_out)) == (1347, 450)
    again = module("digits_mlp")["data"]()[1].tensors[0]
    assert (again == x_held_out).all()
    assert not {a.tobytes() for a in x.numpy()} & {a.tobytes() for a in x_held_out.numpy()}


def test_ode_fit():
    largest, = numbers(row(output("ode_fit"), "largest error:"))
    assert largest < 20
    guesses = np.abs(module("ode_fit")["GUESS"] / module("ode_fit")["TRUTH"] - 1)
    assert largest < 70 * guesses.max()


def test_the_gradient_by_the_adjoint_equation():
    import gradwright as gw

    solve_ivp = pytest.importorskip("scipy.integrate").solve_ivp
    example = module("ode_fit")
    field, times, start, p = example["lotka_volterra"], np.linspace(0, 8, 9), example["START"], example["GUESS"]
    weights = np.random.default_rng(0).normal(size=(9, 2))

    def loss(values):
        exact = {"t_eval": times, "rtol": 1e-11, "atol": 1e-11}
        return (solve_ivp(lambda t, u: field(u, values[2:]), (0, 8), values[:2], **exact).y.T * weights).sum()

    values = np.concatenate([start, p])
    steps = 1e-5 * np.diag(np.abs(values))
    finite = [(loss(values + step) - loss(values - step)) / (2 * step.sum()) for step in steps]
    leaves = gw.tensor(start, requires_grad=True), gw.tensor(p, requires_grad=True)
    (example["Solve"].apply(field, times, *leaves) * gw.tensor(weights)).sum().backward()
    assert [*leaves[0].grad.tolist(), *leaves[1].grad.tolist()] == pytest.approx(finite, rel=1e-5)


def test_char_model():
    model, bigram = numbers(row(output("char_model"), "bits per held-out character:"))
    topics = pydoc_data.topics.topics
    text = "\n".join(topics[name] for name in sorted(topics))
    n, kinds = len(text) * 9 // 10, len(set(text))
    pairs, firsts = collections.Counter(itertools.pairwise(text[:n])), collections.Counter(text[: n - 1])
    likely = [(pairs[a, b] + 0.1) / (firsts[a] + 0.1 * kinds) for a, b in itertools.pairwise(text[n:])]
    assert bigram == pytest.approx(-np.log2(likely).mean(), abs=1e-3)
    assert model < bigram + 0.3  # after a hundred steps; with all of them it is below 2
    assert "A class " in output("char_model")
