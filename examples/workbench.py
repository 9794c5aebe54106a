"""What the training programs share: their options, the check that comes before training, a progress bar, a picture.

Run by itself it draws a picture of made-up losses.
"""

import argparse
import inspect
import math
from contextlib import contextmanager
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from gradwright.check import check

INK, GRID, COLOURS = "#30343b", "#e3e5e8", ["#2a6fbb", "#d1741f", "#8a8f98"]


def options(about, picture, epochs, quick):
    """The command line: ``epochs`` passes through the data unless told otherwise, ``quick`` with --quick."""
    parser = argparse.ArgumentParser(description=about.partition("\n")[0])
    parser.add_argument("--epochs", type=int, help=f"passes through the data (default: {epochs}, with --quick {quick})")
    parser.add_argument("--seed", type=int, default=0, help="what the random numbers start from (default: 0)")
    parser.add_argument("--out", type=Path, default=Path(picture), metavar="FILE",
                        help=f"the loss curve, .png, .svg or .pdf (default: {picture}); the state goes beside it")
    parser.add_argument("--quick", action="store_true", help="a few seconds, and a poorer result")
    arguments = parser.parse_args()
    if arguments.epochs is None:
        arguments.epochs = quick if arguments.quick else epochs
    if arguments.epochs < 1:
        parser.error(f"argument --epochs: must be at least 1, got {arguments.epochs}")
    arguments.state = arguments.out.with_suffix(".safetensors")
    return arguments


def verify(function):
    """Have a Function checked as `gradwright check` does, print the verdict, and go no further unless all is right."""
    target = f"{Path(inspect.getfile(function)).name}:{function.__name__}"
    report = check([str(Path(inspect.getfile(function)).with_name(target))])
    if report.exit_code:
        reasons = [reason for _, reason in report.problems]
        reasons += [f"{f.check}: {f.sentence}" for subject in report.checked for f in subject.failures]
        raise SystemExit("\n".join([f"gradwright check {target}: not verified, so nothing is trained", *reasons]))
    passed = [f for f in report.checked[0].findings if f.outcome in ("PASS", "ADVICE")]
    print(f"gradwright check {target}: verified, {len(passed)} checks passed")


@contextmanager
def progress(total, unit):
    """A progress bar; gives a function that moves it on by one, with a note on how things stand."""
    columns = [BarColumn(30), MofNCompleteColumn(), unit, TimeRemainingColumn(), "{task.fields[note]}"]
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=total, note="")
        yield lambda note: bar.update(task, advance=1, note=note)


def draw(path, title, xlabel, ylabel, curves, log=True):
    """Save a picture of curves, ``{label: (x, y)}``."""
    figure = Figure(figsize=(6.4, 3.6), dpi=120, layout="constrained")
    axes = figure.add_subplot(xlabel=xlabel, ylabel=ylabel)
    axes.set_title(title, loc="left", color=INK, fontsize=11)
    for (label, (x, y)), colour in zip(curves.items(), COLOURS, strict=False):
        axes.plot(x, y, color=colour, label=label, linewidth=1.8)
    if log:
        axes.set_yscale("log")
    axes.margins(x=0.01)
    axes.grid(color=GRID, linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GRID)
    axes.tick_params(which="both", color=GRID, labelcolor=INK)
    axes.xaxis.label.set_color(INK)
    axes.yaxis.label.set_color(INK)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(framealpha=1, edgecolor="none", labelcolor=INK)
    figure.savefig(path)


def main():
    arguments = options(__doc__, "workbench.png", epochs=50, quick=10)
    x = range(1, arguments.epochs + 1)
    curves = {"training": (x, [2.3 / k for k in x]), "held out": (x, [2.3 / k + 0.02 * math.sqrt(k) for k in x])}
    draw(arguments.out, "Made up", "epoch", "cross-entropy (nats per image)", curves)
    print(f"drawn: {arguments.out}")


if __name__ == "__main__":
    main()
