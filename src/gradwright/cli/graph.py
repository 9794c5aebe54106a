"""`gradwright graph FILE.py:FUNCTION`: the graph of what a function returns, in the terminal or as a picture."""

from __future__ import annotations

import argparse
import inspect
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from types import FrameType, ModuleType
from typing import Any

from gradwright import viz
from gradwright.base.errors import LayoutError, kind
from gradwright.base.pages import files
from gradwright.function.contract.containers import flatten, paths
from gradwright.nn import Module
from gradwright.pytorch import hook
from gradwright.verify.check.discover import load
from gradwright.viz.explorer import explore
from gradwright.viz.text import lines

try:
    from rich.console import Console
    from rich.text import Text
except ModuleNotFoundError:  # plain text then
    Console: Any = None  # type: ignore[no-redef]

ABOUT = "show the graph of what a function returns"
LONG = f"""{ABOUT.capitalize()}: as a tree in the terminal, unless something else is asked for.
The function takes no arguments, or has defaults for all, and returns a tensor or several; the keys of a dictionary
name them. Variables and modules give parameters their names. `import torch` in the file imports gradwright.

exit status: 0 if all went well, 1 if the function raised, 2 if there is no such function, no graph, or no such file."""
_FORMS = {"text": "the tree (as by default)", "json": "records for programs", "dot": "Graphviz's language",
          "mermaid": "Mermaid's language"}  # fmt: skip


class _RefusalError(Exception):
    """There is nothing to show, for this reason."""


def add(commands: Any) -> None:
    """Add the command to the command line."""
    command = commands.add_parser(
        "graph", help=ABOUT, description=LONG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    command.add_argument("target", metavar="FILE.py:FUNCTION", help="a file, or module, and a function in it")
    form = command.add_mutually_exclusive_group()
    for name, what in _FORMS.items():
        form.add_argument(f"--{name}", dest="form", action="store_const", const=name, help=f"print {what}")
    form.add_argument("--svg", metavar="FILE", help="write a picture")
    form.add_argument("--html", metavar="FILE", help="write a page to explore in a browser, with a backward pass")


def run(arguments: argparse.Namespace) -> int:
    """Run the function, show its graph, and return the exit status."""
    ours = "torch" not in sys.modules
    if ours:
        hook.serve()
    try:
        with redirect_stdout(sys.stderr):  # what the program prints is no part of what was asked for
            result, names = _called(_function(arguments.target))
        _show(result, names, arguments)
    except _RefusalError as e:
        print(f"gradwright graph: {e}", file=sys.stderr)
        return 2
    finally:
        if ours:
            hook.uninstall()
    return 0


def _function(target: str) -> Callable[[], Any]:
    if not target.rpartition(":")[2].isidentifier() or ":" not in target:
        raise _RefusalError(f"expected FILE.py:FUNCTION, but got {target}: which function is it?")
    try:
        module, name = load(target)
    except (FileNotFoundError, ModuleNotFoundError) as e:
        raise _RefusalError(f"cannot read {target.rpartition(':')[0]}: {e}") from e
    function = getattr(module, name, None)
    if function is None:
        raise _RefusalError(f"there is no {name} in {target.rpartition(':')[0]}")
    if not callable(function):
        raise _RefusalError(f"{name} is no function, but {kind(function)}")
    try:
        inspect.signature(function).bind()
    except TypeError as e:
        raise _RefusalError(f"{name} must be a function that needs no arguments, which builds the graph: {e}") from e
    return function


def _called(function: Callable[[], Any]) -> tuple[Any, dict[str, Any]]:
    """What a function returns, traced, and the tensors that its variables named, and those of its module."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    found: dict[str, Any] = {}

    def look(frame: FrameType, event: str, argument: Any) -> None:
        if event == "return" and frame.f_code is code:
            found.update(frame.f_locals)

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        with viz.trace():
            result = function()
    finally:
        sys.setprofile(before)
    return result, dict(_named({**getattr(inspect.unwrap(function), "__globals__", {}), **found}))


def _named(variables: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The tensors among variables, in modules and in containers, by the names that one would write."""
    for name, value in variables.items():
        if name.startswith("__") or isinstance(value, ModuleType):
            continue
        if isinstance(value, Module):
            yield from ((f"{name}.{path}", p) for path, p in value.named_parameters())
        else:
            leaves: list[Any] = []
            rest = flatten(value, leaves)
            yield from zip(paths(rest, name), leaves, strict=True)


_WHOLE = 1000
"""A width in which no line is cut."""


def _show(result: Any, names: dict[str, Any], arguments: argparse.Namespace) -> None:
    try:
        if arguments.html is not None:
            explore(result, arguments.html, params=names, title=os.path.basename(arguments.target))
            return
        graph = viz.graph(result, params=names)
        if arguments.svg is not None:
            files.write(graph.svg(), arguments.svg)
        elif arguments.form in (None, "text"):
            _print(graph)
        else:
            print(getattr(graph, arguments.form)())
    except (TypeError, LayoutError) as e:
        raise _RefusalError(str(e).removeprefix("graph: ")) from e
    except OSError as e:
        raise _RefusalError(f"cannot write {e.filename}: {e.strerror}") from e


def _print(graph: Any) -> None:
    """Print the tree: in colours to a terminal, where the package rich is installed; whole to anything else."""
    if not sys.stdout.isatty():
        print(graph.text(_WHOLE))
        return
    width = shutil.get_terminal_size().columns
    if Console is None:
        print(graph.text(width))
        return
    console = Console(highlight=False, width=width)
    for line in lines(graph, width):
        console.print(Text.assemble(*line), soft_wrap=True)
