"""What was called, as a subject of `gradwright check`: where it is, what its inputs are called, what runs it."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from gradwright.verify.audit.recorded import Met, Recorded
from gradwright.verify.check.calls import Arg, args_in
from gradwright.verify.check.discover import Subject, subject_of

_PARTS = ("forward", "backward", "vjp", "jvp", "setup_context")


def subject_of_met(met: Met) -> Subject:
    """The thing called, as a subject."""
    if met.kind == "torch op":
        return _operation(met)
    found = subject_of(met.target._made_of if met.kind == "custom_op" else met.target)
    return replace(found, name=met.name)


def _operation(met: Met) -> Subject:
    """An operation of torch.library: what is shown of it is the derivative that was registered."""
    written = next(iter(_registered(met.target)), None)
    file, line, text = "", 0, ""
    if written is not None:
        try:
            lines, line = inspect.getsourcelines(written)
            file, text = inspect.getsourcefile(written) or "", "".join(lines)
        except (OSError, TypeError):
            file = getattr(getattr(written, "__code__", None), "co_filename", "")
    return Subject(met.name, met.kind, met.target, met.T, file, line, text)


def _registered(op: Any) -> Iterator[Any]:
    """The Python functions behind an operation of torch.library: its derivative first."""
    known: Any = sys.modules.get("torch._library.custom_ops")
    made = known.OPDEFS.get(op._name.removesuffix(".default")) if known is not None else None
    for name in ("_backward_fn", "_setup_context_fn", "_init_fn"):
        if (part := getattr(made, name, None)) is not None:
            yield part


def written(met: Met) -> Iterator[Any]:
    """The functions that its author wrote."""
    if met.kind == "torch op":
        yield from _registered(met.target)
    elif met.kind == "op":
        yield met.target.forward
        yield from (rule.fn for rule in met.target.rules.values())
    elif met.kind == "custom_op":
        op = met.target._made_of
        yield op.__wrapped__
        yield from (rule.fn for rule in (*op.rules.values(), op._joint) if rule is not None)
    else:
        yield from (f for name in _PARTS if (f := getattr(met.target, name, None)) is not None)


def runs(met: Met) -> Callable[..., Any]:
    """The function that makes a call of it."""
    return met.target if met.kind in ("op", "torch op") else partial(_applied, met.target)


def _applied(cls: Any, *arguments: Any, **static: Any) -> Any:
    return cls.apply(*arguments, **static)


def argument_names(subject: Subject, n: int) -> list[str]:
    """The names of the first ``n`` arguments."""
    if subject.kind != "torch op":
        return subject.names(n)
    found = [a.name for a in subject.target._schema.arguments]
    return [*found[:n], *(f"input {k}" for k in range(len(found), n))]


def leaf_names(names: Sequence[str], recorded: Recorded) -> list[str]:
    """The names of the tensors that require grad, each once: ``x``, or ``pair[1]`` in a container."""
    found: dict[int, str] = {}
    given = [*zip(names, recorded.arguments, strict=True), *recorded.static.items()]
    for name, value in given:
        for k, a in enumerate(args_in(value)):
            if a.grad:
                found.setdefault(id(a), name if isinstance(value, Arg) else f"{name}[{k}]")
    return [*found.values()]
