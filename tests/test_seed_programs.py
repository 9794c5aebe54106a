"""The seed documents' programs, as a user would type them in, run on gradwright unmodified.

The numbers are PyTorch 2.13's (CPU). Where PyTorch is installed, the last test also runs each program
on it and compares what the two print, line by line.
"""

import functools
import importlib.util
import math
import re
from pathlib import Path

import pytest

from tests.programs import run

PROGRAMS = Path(__file__).parent / "seed_programs"
RUNS = [("custom_exp",), ("legendre",), ("legendre", "float64"), ("linear_function",),
        ("linear_module_bugs",), ("seed_002",), ("graph_walk",), ("double_backward",)]

NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?(?!\w)")


@functools.cache
def printed(*command: str | Path, imports: str) -> str:
    """What a program prints where ``imports`` are there already."""
    done = run(*command, imports=imports)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def on_gradwright(name: str, *args: str, imports: str = "gradwright.as_torch") -> str:
    return printed("gradwright", "run", PROGRAMS / f"{name}.py", *args, imports=imports)


def numbers(text: str) -> list[float]:
    return [float(token) for token in NUMBER.findall(text)]


def between(text: str, start: str, end: str = "\n") -> str:
    """The part of the text after `start` up to `end`."""
    return text.split(start, 1)[1].split(end, 1)[0]


# ---- seed 000 -------------------------------------------------------------------------------------------


def test_custom_exp():
    output, custom, _, builtin, same = on_gradwright("custom_exp").splitlines()
    assert output.endswith("grad_fn=<MyExpBackward>)")
    assert numbers(custom) == numbers(builtin) == [2.7183, 7.3891, 20.0855]
    assert same == "True"


LEGENDRE = {  # losses at steps 0, 100, 500, 1000 and 1900; b; d; the last loss
    "float32": ([461.90259, 209.16843, 50.81488, 14.85446, 9.00264], -2.2085268, 0.2554861, 8.9436417),
    "float64": (
        [461.9024651002728, 209.16845714156787, 50.81493843351443, 14.854387010823597, 9.002647297985733],
        -2.20852641519011, 0.2554861125088658, 8.943643355960496),
}


PRECISIONS = pytest.mark.parametrize(("args", "dtype", "rel", "near_zero"), [
    ((), "float32", 1e-5, 1e-6),
    (("float64",), "float64", 1e-12, 1e-14),
])


@PRECISIONS
def test_legendre(args, dtype, rel, near_zero):
    fits(on_gradwright("legendre", *args), dtype, rel, near_zero)


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed: not run on its devices")
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@PRECISIONS
def test_legendre_on_a_device_of_jax(tmp_path, args, dtype, rel, near_zero, compiled):
    text = (PROGRAMS / "legendre.py").read_text()
    assert text.count("torch.device('cpu')") == 1
    text = text.replace("torch.device('cpu')", "torch.device('jax:0')")
    if compiled:
        before, loop, rest = text.partition("for i in range(2000):\n")
        body, told, after = rest.partition("    if i % 100 == 0:\n")
        assert loop
        assert told
        step = f"@torch.compile(fullgraph=True)\ndef step():\n    global a, b, c, d\n{body}    return loss\n\n\n"
        text = f"{before}{step}{loop}    loss = step()\n\n{told}{after}"
    program = tmp_path / "legendre.py"
    program.write_text(text)
    fits(on_gradwright(str(program.with_suffix("")), *args, imports="gradwright.as_torch jax"), dtype, rel, near_zero)


def fits(text, dtype, rel, near_zero):
    losses, b, d, last = LEGENDRE[dtype]
    printed = {int(step): float(loss) for step, loss in re.findall(r"id: (\d+), loss: (\S+)", text)}
    assert list(printed) == list(range(0, 2000, 100))
    assert [printed[step] for step in (0, 100, 500, 1000, 1900)] == pytest.approx(losses, rel=rel)

    fit = re.search(r"^(\S+) \+ (\S+) \* P3\((\S+) \+ (\S+) \* x \)$", text, re.MULTILINE)
    fitted = [float(value) for value in fit.groups()]
    assert [fitted[1], fitted[3]] == pytest.approx([b, d], rel=rel)
    assert [fitted[0], fitted[2]] == pytest.approx([0, 0], abs=near_zero)
    assert float(between(text, "last loss: ")) == pytest.approx(last, rel=rel)


# ---- seed 001 -------------------------------------------------------------------------------------------


def test_linear_function():
    text = on_gradwright("linear_function")
    lines = text.splitlines()
    assert lines[:4] == ["True"] * 4  # gradcheck without and with a bias, gradgradcheck with and without
    assert "grad_fn=<MulConstantBackward>)" in text
    assert numbers(between(text, "MulConstantBackward>)\n", "True")) == [5] * 6  # a.grad
    assert text.count("True\n") == 6  # those four, MulConstant's gradcheck, and the range of the weights
    assert "Linear(in_features=3, out_features=2, bias=True)" in lines
    assert "Linear(in_features=3, out_features=2, bias=False)" in lines
    assert "['weight', 'bias']" in lines
    assert "['weight', 'bias'] ['weight'] ['weight']" in lines  # a None bias is kept, and not listed
    column_sums = [18, 22, 26]
    weight, bias = 2 * column_sums, [4, 4]
    assert numbers(between(text, "tensor([[18", "Linear(")) == weight[1:] + bias
    assert numbers(text[text.rindex("tensor([["):]) == weight
    assert text.endswith(" None\n")


def test_the_seed_modules_two_bugs_are_plain_python_errors():
    assert on_gradwright("linear_module_bugs").splitlines() == [
        "AttributeError: 'Linear' object has no attribute 'in_features'",
        "AttributeError: 'NoneType' object has no attribute 'data'",
    ]


# ---- seed 002 -------------------------------------------------------------------------------------------


def test_seed_002():
    text = on_gradwright("seed_002")
    assert "grad_fn=<LinearFunctionBackward>)" in text
    assert "RuntimeError: grad can be implicitly created only for scalar outputs, not for one of size [" in text

    grad_input, grad_weight, grad_bias = [-0.8, 0, 0.8] * 2, [3, 5, 7] * 2, [2, 2]
    once = grad_input + grad_weight + grad_bias
    gradients = between(text, "each entry counts\n", "RuntimeError")
    assert numbers(gradients) == pytest.approx(once + once, abs=1e-6)  # grad_fn.apply's, then backward's

    message = between(text, "RuntimeError: Function ")
    assert message.startswith("LinearFunctionBackward returned an invalid gradient at index 2 - "
                              "got [] but expected shape compatible with [1]")
    assert text.splitlines()[-3:] == ["12.0", "12.0", "RuntimeError about a non-static forward: True"]


# ---- seed 003 -------------------------------------------------------------------------------------------


def test_graph_walk():
    text = on_gradwright("graph_walk")
    assert numbers(text)[:50] == [1] * 50  # both gradients of sum(x + y)
    lines = mask(text).splitlines()
    for line in [
        "True True",  # x.grad == 2x and y.grad == 3y**2, exactly
        "['grad', 'grad_fn', 'is_leaf', 'backward']",
        "x.is_leaf=True",
        "z.is_leaf=False",
        "<AddBackward0 object at 0x>",
        "((<PowBackward0 object at 0x>, 0), (<PowBackward0 object at 0x>, 0))",
        "<PowBackward0 object at 0x>",
        "((<AccumulateGrad object at 0x>, 0),)",
        "AccumulateGrad ()",
        "True 2",  # _saved_self is x, _saved_exponent
    ]:
        assert line in lines
    assert between(text, "True True\n") == "False"  # requires_grad inside no_grad
    assert between(text, "AccumulateGrad ()\n") == "True"  # .variable is x


def test_the_wrong_mul_constant_is_found_by_gradcheck():
    text = on_gradwright("graph_walk").split("grad_fn=<MulConstantBackward>)\n")[1]
    gradient, message = text.split("GradcheckError\n")
    assert numbers(gradient) == [1] * 9  # the seed's answer: silently wrong
    assert message.startswith("Jacobian mismatch for output 0 with respect to input 0,\n")
    assert numbers(between(message, "numerical:", "dtype")) == pytest.approx([5, 0, 0, 5], abs=1e-4)
    assert numbers(between(message, "analytical:", "dtype")) == [1, 0, 0, 1]


# ---- seed 004 -------------------------------------------------------------------------------------------


def test_double_backward():
    lines = on_gradwright("double_backward").splitlines()
    for name in ["Square", "Exp", "Sinh", "Cube"]:
        assert f"{name} gradcheck True" in lines
        assert f"{name} gradgradcheck True" in lines
    assert "Square at 1: 1.0 2.0" in lines
    assert "Cube at 2: 8.0 12.0 12.0" in lines
    exp, = [numbers(line)[1:] for line in lines if line.startswith("Exp at 1:")]
    assert exp == pytest.approx([math.e] * 3, rel=1e-15)
    assert "Sinh grad_x.requires_grad True" in lines
    assert "Sinh second derivative is sinh True" in lines


def test_sinh_bad_is_right():
    lines = on_gradwright("double_backward").splitlines()
    assert [line for line in lines if line.startswith("SinhBad")] == [
        "SinhBad gradcheck True",
        "SinhBad gradgradcheck True",
        "SinhBad grad_x.requires_grad True",
    ]


# ---- side by side with PyTorch --------------------------------------------------------------------------


def mask(text: str) -> str:
    """Hide what differs between any two runs: addresses and seconds."""
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    return re.sub(r"costs \S+ seconds", "costs some seconds", text)


def same_number(ours: str, theirs: str, tolerance: float, drawn: bool) -> bool:
    if drawn and all(re.fullmatch(r"\d\.\d{4}", token) for token in (ours, theirs)):
        return True  # a random number: only its form is compared
    return math.isclose(float(ours), float(theirs), rel_tol=tolerance, abs_tol=tolerance)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None,
                    reason="torch is not installed: comparison with PyTorch not made")
@pytest.mark.parametrize("program", RUNS, ids="-".join)
def test_prints_what_pytorch_prints(program):
    ours = [line for line in mask(on_gradwright(*program)).splitlines() if not line.startswith("worst:")]  # ours alone
    theirs = mask(printed(PROGRAMS / f"{program[0]}.py", *program[1:], imports="torch sympy")).splitlines()
    assert len(ours) == len(theirs)
    tolerance = 1e-12 if "float64" in program else 1e-5
    for lines in zip(ours, theirs, strict=True):
        if lines[0].startswith("SinhBad"):  # whose second derivative is wrong there
            continue
        # Words must be the same; spaces only line numbers up.
        our_words, their_words = ["".join(NUMBER.sub("#", line).split()) for line in lines]
        if "Error:" in lines[1] and our_words.startswith(their_words):  # errors may say more
            continue
        assert our_words == their_words, lines
        for pair in zip(*map(NUMBER.findall, lines), strict=True):
            assert same_number(*pair, tolerance, drawn="graph_walk" in program), lines
