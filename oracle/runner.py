"""Runs entries, here or in other processes."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from typing import Any

import torch

from oracle import libraries
from oracle.check import Options, check_samples, fault, new_record
from oracle.entries import ENTRIES, name_of
from oracle.forms import check_forms
from oracle.modules import check_module
from oracle.optimizers import check_optimizer
from oracle.records import Record
from oracle.refusals import check_errors
from oracle.special_cases import ROUGH

LIMIT = 300
"""Seconds an entry may take."""

_BY_NAME = {name_of(e): e for e in ENTRIES}


def run_entry(entry: Any, options: Options) -> Record:
    """All the checks that the options ask for, of one entry. Whatever goes wrong is in the record."""
    record, op = new_record(entry)
    if op is None:
        return record
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, _too_long)
        signal.alarm(LIMIT)
    try:
        if options.library and not options.backend:
            libraries.check(record, entry, op, options.library, options.samples, options.dtypes)
        elif options.transforms:
            if record.group not in ("modules", "optimizers"):
                import_module("oracle.transforms").check(record, entry, op, options.samples)
        elif options.backend:
            import_module("oracle.compiled").check(record, entry, op, options)
        elif record.group == "modules":
            check_module(record, entry, op, options)
        elif record.group == "optimizers":
            check_optimizer(record, entry, op, options)
        else:
            _check_operation(record, entry, op, options)
    except Exception as e:  # one entry never stops the run
        record.note("value", f"the check itself failed: {fault(e)}")
    finally:
        if hasattr(signal, "SIGALRM"):
            signal.alarm(0)
    return record


def _check_operation(record: Record, entry: Any, op: Any, options: Options) -> None:
    for dtype, count in _dtypes(entry, options):
        check_samples(record, entry, op, dtype, count)
    if options.forms:
        check_forms(record, entry)
    if options.errors:
        check_errors(record, entry, op)


def _too_long(*_: Any) -> None:
    raise TimeoutError(f"took longer than {LIMIT} seconds")


def _dtypes(entry: Any, options: Options) -> Iterator[tuple[Any, int | None]]:
    """Each dtype to check with the number of samples: all that are asked for in those with gradients, else a few."""
    yield torch.float64, options.samples
    if options.dtypes:
        few = 4 if options.samples is None else min(4, options.samples)
        if torch.complex128 in entry.backward_dtypes:
            yield torch.complex128, options.samples
        for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.complex64, torch.int64, torch.bool):
            rough = dtype in (torch.float16, torch.bfloat16) and entry.name in ROUGH
            if entry.supports_dtype(dtype, "cpu") and not rough:
                yield dtype, few


def run(entries: list[Any], options: Options, jobs: int) -> Iterator[Record]:
    """The records of these entries, as they come."""
    torch.set_num_threads(1)
    if jobs < 2 or len(entries) < 2:
        for entry in entries:
            yield run_entry(entry, options)
        return
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    with ProcessPoolExecutor(jobs, multiprocessing.get_context(method)) as pool:
        waiting = {pool.submit(_by_name, name_of(e), options): e for e in entries}
        for done in as_completed(waiting):
            try:
                yield done.result()
            except BrokenProcessPool:  # some entry took its process down: it and all that waited are reported
                record, _ = new_record(waiting[done])
                record.note("value", "a process died before this entry was done: run it alone")
                yield record


def _by_name(name: str, options: Options) -> Record:
    return run_entry(_BY_NAME[name], options)
