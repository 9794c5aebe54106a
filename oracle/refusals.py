"""Inputs that PyTorch refuses: gradwright must refuse them too, best with the same kind of exception."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from oracle.check import Case, case_of, fault, quietly
from oracle.convert import UnconvertibleError
from oracle.entries import seed
from oracle.records import Record

KINDS = (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError)


def check_errors(record: Record, entry: Any, op: Callable[..., Any]) -> None:
    """Run the entry's error inputs: accepting one is a fault, refusing it with another kind of exception a note."""
    if entry.error_inputs_func is None:
        return
    seed()
    for bad in quietly(lambda: list(entry.error_inputs("cpu"))):
        sample, kind = bad.sample_input, bad.error_type
        try:
            case = case_of(entry, sample, None)
        except UnconvertibleError:
            continue
        except Exception:  # it cannot even be made: refused
            record.note("errors", None)
            continue
        if _accepted(case, entry):
            continue
        check_refusal(record, lambda case=case: case.gradwright(op), kind, bad.error_regex, case.where)


def check_refusal(record: Record, call: Callable[[], Any], kind: type[Exception], message: str, where: str = ""
                  ) -> None:  # fmt: skip
    """Call what must be refused with this kind of exception; a kind of warning is an exception meanwhile."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error" if issubclass(kind, Warning) else "ignore")
            call()
    except UnconvertibleError:
        record.skipped += 1
    except Exception as e:  # what is raised is what is being looked at
        known = isinstance(e, (*KINDS, kind))
        record.note("errors", None if known else f"raised {fault(e)} instead of {kind.__name__}", where)
        if known and not isinstance(e, kind):
            record.other_kind.append(f"{where or message}: {type(e).__name__} instead of {kind.__name__}"[:160])
    else:
        record.note("errors", f"accepted silently, expected {kind.__name__}: {message}"[:160], where)


def _accepted(case: Case, entry: Any) -> bool:
    """Whether PyTorch's own function takes it: some inputs are to be refused only with ``out=`` or by another form."""
    try:
        quietly(lambda: case.torch(entry.op))
    except Exception:
        return False
    return True
