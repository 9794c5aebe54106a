"""`gradwright demo`: the examples' derivatives checked to second order, and the Legendre fit, in a checkout."""

from __future__ import annotations

import argparse
import runpy
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import gradwright as gw
from gradwright.verify.numeric.differences import central
from gradwright.verify.numeric.jacobian import Subject, analytical

try:
    from rich import box
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.table import Table
except ModuleNotFoundError:  # said when it is run
    Console: Any = None  # type: ignore[no-redef]

ABOUT = "check the examples' derivatives and run a fit"
EXAMPLES = Path("examples")
RIGHT, WRONG, UNCHECKED = "right", "WRONG", "–"


class Case(NamedTuple):
    """A Function to check: where it is, sizes of its inputs, the verdicts it should get, how to call it."""

    example: str
    name: str
    sizes: Sequence[tuple[int, ...]]
    expected: tuple[str, str] = (RIGHT, RIGHT)
    call: Callable[[Any], Callable[..., Any]] = lambda function: function.apply


class Finding(NamedTuple):
    """What the checks of a Function said: to first order, to second order, and in figures."""

    first: str
    second: str
    found: str


CASES = [
    Case("custom_exp", "Exp", [(3,)]),
    Case("legendre_fit", "LegendreP3", [(3,)]),
    Case("linear_function", "LinearFunction", [(4, 3), (2, 3), (2,)]),
    Case("double_backward", "Square", [(3,)]),
    Case("double_backward", "Sinh", [(3,)], call=lambda function: lambda x: function.apply(x)[0]),
    Case("double_backward", "Cube", [(3,)]),
    Case("gamma_fit", "PolyGamma", [(3,)], call=lambda function: lambda x: function.apply(x, -1)),
    Case("ctypes_bessel", "Bessel", [(3,)], call=lambda function: lambda x: function.apply(0, x)),
    Case("numba_garch", "Recurrence", [(3,), (3,)]),
    Case("lltm", "LLTM", [(2, 3), (6, 5), (6,), (2, 2), (2, 2)], call=lambda f: lambda *xs: sum(f.apply(*xs)[:2])),
    Case("wrong_derivative", "MulConstant", [(3,)], call=lambda function: lambda x: function.apply(x, 5)),
    Case("wrong_derivative", "MulConstantBad", [(3,)], (WRONG, UNCHECKED), lambda f: lambda x: f.apply(x, 5)),
    Case("double_backward", "SinhBad", [(3,)]),
]


def add(commands: Any) -> None:
    """Add the command to the command line."""
    commands.add_parser("demo", help=ABOUT, description=f"{ABOUT.capitalize()} (from a checkout of the repository).")


def run(arguments: argparse.Namespace) -> int:
    """Check and fit, and print what came out.

    Returns:
        The exit status: 0 if every verdict is the one it should be, 1 if not, 2 without the package rich or examples.
    """
    if Console is None:
        print("gradwright demo needs the package rich: pip install rich", file=sys.stderr)
        return 2
    if not (EXAMPLES / "legendre_fit.py").is_file():
        print("gradwright demo: there is no examples/ folder here: run it in a checkout of the gradwright repository",
              file=sys.stderr)  # fmt: skip
        return 2
    console = Console(highlight=False)
    surprises = _check(console)
    _fit(console)
    return 1 if surprises else 0


def _check(console: Console) -> list[str]:
    """Print the table of verdicts; returns the names of the Functions that got another one than they should."""
    table = Table(box=box.ROUNDED, title="Hand-written derivatives against finite differences", title_style="bold")
    for column in ["Function", "1st order", "2nd order", "What was found"]:
        table.add_column(column, no_wrap=True)
    caught, surprises, missing = [], [], []
    gw.manual_seed(0)
    with console.status("Checking the examples' derivatives ..."):
        for case in CASES:
            try:
                function = load(case.example)[case.name]
            except ModuleNotFoundError as e:
                missing.append(case.name)
                table.add_row(case.name, UNCHECKED, UNCHECKED, f"needs the package {e.name}")
                continue
            inputs = [(0.5 + gw.rand(size, dtype=gw.float64)).requires_grad_() for size in case.sizes]
            finding = examine(case.call(function), inputs)
            table.add_row(case.name, *map(_coloured, finding[:2]), finding.found)
            if finding[:2] != case.expected:
                surprises.append(case.name)
            elif WRONG in finding:
                caught.append(case.name)
    console.print(table)
    if caught:
        console.print(f"Wrong on purpose, and found out: [bold]{' and '.join(caught)}[/].")
    console.print("SinhBad saves what forward computes on the way, which loses its second\n"
                  "derivative in PyTorch; here forward is run again, and it is right.")  # fmt: skip
    if missing:
        console.print(f"[yellow]Not checked: {', '.join(missing)}.[/]")
    if surprises:
        console.print(f"[bold red]Not the verdict it should be: {', '.join(surprises)}.[/]")
    return surprises


def _coloured(verdict: str) -> str:
    style = {RIGHT: "green", WRONG: "bold red"}.get(verdict, "dim")
    return f"[{style}]{verdict}[/]"


def load(example: str) -> dict[str, Any]:
    """The names of an example, without running its main()."""
    return runpy.run_path(str(EXAMPLES / f"{example}.py"), run_name=example)


def examine(function: Callable[..., Any], inputs: Sequence[Any]) -> Finding:
    """The checkers' verdicts on a function at float64 inputs, and how far derivatives are from finite differences."""

    def gradient(*xs: Any) -> Any:
        grads = gw.autograd.grad(function(*xs).sum(), xs, create_graph=True)
        return sum(g.sum() for g in grads)

    backward, finite, off = _furthest(function, inputs)
    if not gw.autograd.gradcheck(function, inputs, raise_exception=False):
        return Finding(WRONG, UNCHECKED, f"is {finite:.4g}, but backward gives {backward:.4g}")
    second_backward, second_finite, second_off = _furthest(gradient, inputs)
    if not gw.autograd.gradgradcheck(function, inputs, raise_exception=False):
        said = f"gives {second_backward:.4g}" if second_backward else "cuts it off"
        return Finding(RIGHT, WRONG, f"is {second_finite:.4g}, but backward {said}")
    return Finding(RIGHT, RIGHT, f"agree within {max(off, second_off):.0e}")


def _furthest(function: Callable[..., Any], inputs: Sequence[Any]) -> tuple[float, float, float]:
    """Of the `slopes` that are furthest apart: by backward, by differences, and how far that is."""
    backward, finite = slopes(function, inputs)
    off = np.abs(backward - finite)
    k = off.argmax()
    return float(backward[k]), float(finite[k]), float(off[k])


def slopes(function: Callable[..., Any], inputs: Sequence[Any], step: float = 1e-6) -> tuple[Any, Any]:
    """The derivative of the sum of a function's values by each entry of its inputs: by backward, by differences.

    Zero by backward where the values have no history.
    """
    subject = Subject(lambda *xs: function(*xs).sum(), inputs)
    finite = np.concatenate([central(subject, x, step).slopes[0] for x in inputs])
    said = np.concatenate(analytical(subject, 0).jacobians) if subject.differentiable else np.zeros_like(finite)
    return said.ravel(), finite.ravel()


def _fit(console: Console) -> None:
    """Run the Legendre fit under a progress bar, and print what it found."""
    steps = 2000
    losses: list[float] = []
    bar = Progress(
        TextColumn("Fitting sin(x)"),
        BarColumn(bar_width=30),
        TaskProgressColumn(),
        TextColumn("squared error {task.fields[loss]:.3f}"),
        console=console,
    )
    fit = load("legendre_fit")["fit"]
    console.print()
    with bar:
        task = bar.add_task("", total=steps, loss=float("nan"))

        def report(step: int, loss: float) -> None:
            losses.append(loss)
            bar.update(task, completed=step + 1, loss=loss)

        start = time.perf_counter()
        result = fit(steps=steps, report=report)
        seconds = time.perf_counter() - start
    console.print(f"[bold]{result}[/]")
    console.print(f"Squared error from {losses[0]:.2f} down to {result.loss:.2f} in {seconds:.2f} s: "
                  f"{steps:,} steps of {seconds / steps * 1e6:.0f} µs.")  # fmt: skip
