"""The comparison with `torch.distributions`: value, gradient and moments of draws, one distribution at a time.

    python -m oracle.distributions          what disagrees; writes the table of docs/distributions.md anew

"value" compares shapes, moments, mode, entropy, `log_prob`, `cdf`, `icdf` and what they are after `expand`; "gradient"
the derivatives of all of these by the parameters and the argument; "moments" the mean and the variance of draws with
the exact ones, and of draws moved into (-1, 1) with PyTorch's (the streams of random numbers differ). What may differ,
and why, is in `KNOWN`.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

import gradwright
from oracle.distribution_cases import CASES, DRAWS, ERRORS, FUNCTIONS, Made, ours, strays

PROPERTIES = ("mean", "variance", "stddev", "mode", "entropy", "perplexity", "enumerate_support")
DOCS = [Path(__file__).parent.parent / "docs" / f"distributions{end}" for end in (".md", ".zh-CN.md")]

SERIES = "PyTorch takes polynomials for Bessel functions, good to 7 digits; ours are SciPy's"
TRIANGLE = "the triangle of scale_tril that is not read has gradient 0; PyTorch gives it one"

KNOWN: dict[tuple[str, str, str], str] = {
    ("Kumaraswamy", "value", "mode"): "PyTorch's is NaN everywhere",
    ("Kumaraswamy", "gradient", "mode"): "PyTorch's is NaN everywhere",
    ("VonMises", "value", "has_rsample"): "its draws have derivatives; PyTorch's have none",
    **{("VonMises", what, name): SERIES for what, name in (
        ("value", "variance"), ("value", "stddev"), ("value", "log_prob"), ("value", "expand"),
        ("gradient", "variance"), ("gradient", "stddev"), ("gradient", "log_prob"),
    )},
    **{(f"Multinomial{form}", "value", name): "PyTorch's is rounded to float32"
       for form in ("", ", logits") for name in ("entropy", "perplexity")},
    ("Wishart, scale_tril", "gradient", "log_prob"): TRIANGLE,
}  # fmt: skip
"""Of a case, "value", "gradient" or "moments", and a name: why it may differ."""


def theirs(name: str) -> Made:
    """A case, made by PyTorch."""
    return Made(CASES[name], torch, torch.distributions)


def differences(name: str) -> Iterator[tuple[str, str]]:
    """("value" or "gradient", what) of each disagreement with PyTorch."""
    a, b = theirs(name), ours(name)
    for what in ("batch_shape", "event_shape", "has_rsample", "has_enumerate_support"):
        if getattr(a.it, what) != getattr(b.it, what):
            yield "value", what
    for what in (*PROPERTIES, *FUNCTIONS):
        try:
            expected = a.ask(what)
        except NotImplementedError:
            continue
        found = b.ask(what)
        if not _same(expected.detach().numpy(), found.detach().numpy(), 1e-9):
            yield "value", what
        slopes = _slopes(a, expected) if expected.requires_grad else {}
        if slopes and not _agree(slopes, b.slopes(found)):
            yield "gradient", what
    if not _same(*(_expanded(m) for m in (a, b)), 1e-9):
        yield "value", "expand"


def _slopes(made: Made, out: Any) -> dict[str, Any]:
    """The derivatives of ``out``; none where PyTorch has not implemented one."""
    try:
        return made.slopes(out)
    except NotImplementedError:
        return {}


def _agree(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return a.keys() == b.keys() and all(_same(a[k], b[k], 1e-7) for k in a)


def _expanded(made: Made) -> np.ndarray:
    wide = made.it.expand((4, 2, *made.it.batch_shape))
    return np.asarray(wide.log_prob(made.value.expand(wide.batch_shape + wide.event_shape)).detach().numpy())


def _same(a: Any, b: Any, rtol: float) -> bool:
    if np.float32 in (a.dtype, b.dtype):
        rtol = 2e-5
    alike = a.dtype == b.dtype and (a.shape == b.shape or 0 in (a.ndim, b.ndim))
    return alike and np.allclose(a, b, rtol=rtol, atol=1e-11, equal_nan=True)


def strangers(name: str) -> Iterator[str]:
    """Moments of draws, moved into (-1, 1), that differ from those of PyTorch's draws by five standard errors."""
    gradwright.manual_seed(0)
    torch.manual_seed(0)
    samples = [made.it.sample((DRAWS,)).double().numpy() for made in (ours(name), theirs(name))]
    x, y = (s / (1 + np.abs(s)) for s in samples)
    for what, power in (("mean", 1), ("variance", 2)):
        a, b = x**power, y**power
        error = np.hypot(a.std(0), b.std(0)) / np.sqrt(DRAWS)
        if not (np.abs(a.mean(0) - b.mean(0)) <= ERRORS * error + 1e-12).all():
            yield what


@cache
def disagreements(name: str) -> dict[tuple[str, str], str | None]:
    """Of each thing in which a case differs from PyTorch the reason, None if it has none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [*differences(name), *(("moments", what) for what in (*strays(name), *strangers(name)))]
    return {(kind, what): KNOWN.get((name, kind, what)) for kind, what in found}


def table() -> str:
    """How many of PyTorch's distributions agree, as Markdown, and those that do not with what differs."""
    kinds = ("value", "gradient", "moments")
    found = {name: disagreements(name) for name in CASES}
    classes: dict[str, dict[str, set[str]]] = {}
    for name, differing in found.items():
        of = classes.setdefault(name.partition(",")[0], {kind: set() for kind in kinds})
        for kind, what in differing:
            of[kind].add(what)
    lines = ["| | value | gradient | moments of draws |", "|---|---|---|---|",
             f"| agree, of {len(classes)} | "
             + " | ".join(str(sum(not of[kind] for of in classes.values())) for kind in kinds) + " |"]  # fmt: skip
    for name, of in classes.items():
        if any(of.values()):
            cells = [", ".join(f"`{what}`" for what in sorted(of[kind])) or "agrees" for kind in kinds]
            lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def written(page: str, rows: str) -> str:
    """A page with the table in its place."""
    place = re.compile(r"(<!-- agreement -->\n\n).*?(<!-- end -->)", re.DOTALL)
    return place.sub(lambda m: f"{m[1]}{rows}\n\n{m[2]}", page)


if __name__ == "__main__":
    for case in CASES:
        for (kind, what), why in disagreements(case).items():
            sys.stdout.write(f"{case}: {kind} of {what}: {why or 'UNEXPLAINED'}\n")
    for path in DOCS:
        path.write_text(written(path.read_text(encoding="utf-8"), table()), encoding="utf-8")
