"""The page of `gradwright check --html`: one file that needs nothing else, and reads with scripts off too."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gradwright.base.pages import files as output
from gradwright.base.pages.document import document
from gradwright.base.pages.markup import Markup, data, join, prose, tag
from gradwright.verify.check.battery.inputs import HOW
from gradwright.verify.check.figures import figures
from gradwright.verify.check.losses import losses, outlook
from gradwright.verify.check.records import Checked, Finding, Outcome, Report

_WORDS = {
    Outcome.FAIL: "wrong",
    Outcome.INCONCLUSIVE: "inconclusive",
    Outcome.ERROR: "not checkable",
    Outcome.PASS: "right",
}
"""The words for the verdicts, in the order of the page."""
_FOUND = _WORDS | {
    Outcome.FAIL: "failed",
    Outcome.PASS: "passed",
    Outcome.ADVICE: "passed, with advice",
    Outcome.SKIPPED: "does not apply",
}
"""The words for the outcomes of checks."""
_VERDICTS = {"VERIFIED": Outcome.PASS, "WRONG": Outcome.FAIL, "INCONCLUSIVE": Outcome.INCONCLUSIVE}
_KINDS = {"function": "Function", "custom_op": "custom_op", "op": "Op", "torch": "torch Function",
          "jax": "JAX function", "torch op": "torch.library operation"}  # fmt: skip
_ORDERS = {1: "Gradient", 2: "Second derivative"}


def write(report: Report, path: str | os.PathLike[str]) -> Path:
    """Write a report as a page, as `gradwright.base.pages.files.write` does."""
    return output.write(page(report), path)


def page(report: Report) -> str:
    """The page as HTML."""
    rows = sorted(report.checked, key=lambda c: list(_WORDS).index(c.verdict))
    drawn = {f"{k}-{n}": figures(d) for k, c in enumerate(rows) for n, d in enumerate(c.diagnoses)}
    return document(
        "gradwright.verify.check", "template.html", ["style.css"], ["page.js"],
        title=join(f"{report.command} {' '.join(report.targets)}"), command=join(report.command), about=_about(report),
        totals=_totals(report), problems=join([_problems(report), _notes(report)]),
        rows=join([_row(k, c, unfolded=k == 0 and c.verdict is not Outcome.PASS) for k, c in enumerate(rows)]),
        data=data(drawn))


def _about(report: Report) -> Markup:
    targets = [join([", " if k else "", tag("code", t)]) for k, t in enumerate(report.targets)]
    version = f"gradwright {report.version}" if report.version else None
    return join(_dotted(targets, f"{report.seconds:.1f}\N{NO-BREAK SPACE}s", version))


def _dotted(*parts: Any) -> list[Any]:
    """The parts that are not empty, with dots between."""
    given = [p for p in parts if p]
    return [join([tag("span", " · ", class_="dot") if k else None, p]) for k, p in enumerate(given)]


def _mark(outcome: Outcome) -> Markup:
    return tag("svg", tag("use", href=f"#mark-{outcome.lower()}"), class_=f"mark {outcome.lower()}", aria_hidden="true")


def _unseen(text: str) -> Markup:
    return tag("span", text, class_="unseen")


# ---- the head ---------------------------------------------------------------------------------------------


def _totals(report: Report) -> Markup:
    """How many there are of each verdict; unticking one hides those rows."""
    totals = report.totals
    return join(
        [
            tag("label",
                tag("input", type="checkbox", id=f"show-{o.lower()}", checked=True, disabled=not totals.get(o)),
                _mark(o), tag("b", totals.get(o, 0)), " ", word, class_=None if totals.get(o) else "none")
            for o, word in _WORDS.items()
        ]
    )


def _problems(report: Report) -> Markup:
    if not report.problems:
        return Markup()
    items = [tag("li", tag("code", target), ": ", prose(reason)) for target, reason in report.problems]
    title = "Could not be read" if report.reads else "Problems"
    return tag("section", tag("h2", title), tag("ul", items), class_="problems")


def _notes(report: Report) -> Markup:
    """What else there is to say."""
    if not report.notes:
        return Markup()
    return tag("section", tag("h2", "Beside this"), tag("ul", [tag("li", prose(n)) for n in report.notes]),
               class_="notes")  # fmt: skip


# ---- a row ------------------------------------------------------------------------------------------------


def _row(k: int, c: Checked, unfolded: bool) -> Markup:
    verdict = c.verdict
    failure = c.failures[0] if c.failures else None
    summary = tag("summary", _mark(verdict), tag("h2", c.name), tag("span", _WORDS[verdict], class_="verdict"),
                  tag("span", _dotted(failure.check, prose(failure.cause)) if failure else _passed(c), class_="cause"),
                  tag("span", _place(c), class_="place"))
    lead = None
    if failure:
        lead = tag("div", tag("p", prose(failure.sentence)), _mend(failure.mend, failure.outcome), class_="lead")
    worst = _telling(c)
    body = tag(
        "div", lead, _called(c),
        _section("diagnoses", "Derivatives", [_diagnosis(k, n, d, n == worst) for n, d in enumerate(c.diagnoses)]),
        _section("stability", "Stability", [_stability(d) for d in c.stability]),
        _section("findings", "Checks", tag("ul", [_finding(f, f is failure) for f in c.findings])), _source(c),
        class_="body")
    return tag("details", summary, body, class_=f"row {verdict.lower()}", id=f"row-{k}", open=unfolded)


def _stability(found: Mapping[str, Any]) -> Markup:
    """The digits that it loses for a sample."""
    return tag("div", tag("p", tag("code", found["sample"])), tag("p", prose(outlook(found))), losses(found))


def _section(kind: str, title: str, content: Any) -> Markup | None:
    return tag("section", tag("h3", title), content, class_=kind) if content else None


def _passed(c: Checked) -> str:
    passed = sum(f.outcome in (Outcome.PASS, Outcome.ADVICE) for f in c.findings)
    return f"{passed} check{'s' if passed != 1 else ''} passed"


def _place(c: Checked) -> str:
    return f"{Path(c.file).name}:{c.line}" if c.line else Path(c.file).name


def _mend(text: str, outcome: Outcome) -> Markup | None:
    label = "To settle it: " if outcome is Outcome.INCONCLUSIVE else "Mend: "
    return tag("p", tag("b", label), prose(text), class_="mend") if text else None


def _called(c: Checked) -> Markup:
    """What it is, where, and what it was called with."""
    samples = [tag("li", tag("code", s)) for s in c.samples]
    made = "Inputs, guessed" if c.guessed else "Inputs"
    how = tag("p", "To choose them yourself: ", prose(HOW)) if c.guessed else None
    where = f"{c.file}:{c.line}" if c.line else c.file
    return tag(
        "div",
        tag("p", *_dotted(_KINDS.get(c.kind, c.kind), tag("code", where), f"{c.seconds:.2f}\N{NO-BREAK SPACE}s")),
        tag("details", tag("summary", f"{made} ({len(samples)})"), tag("ul", samples), how) if samples else None,
        class_="called")


def _finding(f: Finding, told: bool) -> Markup:
    """One check; told: its sentence stands above already."""
    state = _unseen(f" ({_FOUND[f.outcome]})")
    said = [tag("p", prose(f.sentence)) if f.sentence else None, _mend(f.mend, f.outcome)]
    return tag("li", _mark(f.outcome), tag("div", tag("b", f.check), state, None if told else said),
               class_=f.outcome.lower())  # fmt: skip


# ---- a diagnosis ------------------------------------------------------------------------------------------


def _telling(c: Checked) -> int:
    """Which diagnosis to unfold: the first that is wrong, or else inconclusive, or else the first."""
    verdicts = [d["verdict"] for d in c.diagnoses]
    return next((verdicts.index(v) for v in ("WRONG", "INCONCLUSIVE") if v in verdicts), 0)


def _diagnosis(k: int, n: int, d: Mapping[str, Any], unfolded: bool) -> Markup:
    verdict = _VERDICTS[d["verdict"]]
    what = [_ORDERS.get(d["order"], f"Derivative {d['order']}"), d.get("dtype")]
    causes = None
    if d["hypotheses"]:
        causes = tag("ol", [_hypothesis(h, verdict) for h in d["hypotheses"]], class_="causes")
    elif verdict is Outcome.FAIL and d["hypotheses"] is not None:
        causes = tag("p", "No known cause fits the error.")
    return tag(
        "details",
        tag("summary", _mark(verdict), tag("span", *_dotted(*what)), tag("span", _WORDS[verdict], class_="verdict")),
        tag("p", tag("code", d["sample"]), class_="sample") if d.get("sample") else None,
        tag("p", prose(d["summary"]), class_="summary"),
        tag("p", d["sampled"][0].upper() + d["sampled"][1:], class_="sampled") if d.get("sampled") else None, causes,
        _worst(d["worst"], verdict) if d["worst"] else None, tag("div", class_="figures", data_figure=f"{k}-{n}"),
        open=unfolded, class_=verdict.lower())


def _hypothesis(h: Mapping[str, Any], verdict: Outcome) -> Markup:
    share = round(100 * float(h["evidence"]))
    bar = tag("div", tag("i", style=f"width:{share}%"), class_="evidence", aria_hidden="true")
    explains = tag("div", bar, tag("span", f"explains {share} % of the error"), class_="share")
    return tag("li", tag("p", prose(h["sentence"])), explains if verdict is Outcome.FAIL else None,
               _mend(h["mend"], verdict))  # fmt: skip


def _worst(w: Mapping[str, Any], verdict: Outcome) -> Markup:
    said, found, bar = (float(w[x]) for x in ("analytic", "numeric", "bar"))
    *values, off = aligned(said, found, said - found)
    if said != found and not off.strip("\N{MINUS SIGN}0."):
        off = _signed(f"{said - found:.1e}")
    known = _signed(f"± {bar:.1g}")
    rows = (("backward", values[0], ""), ("finite differences", values[1], known), ("difference", off, ""))
    part = f" ({w['part']})" if w["part"] else ""
    name = f"d {_at(w['output'], w['output_index'])} / d {_at(w['input'], w['index'])}{part}"
    which = "Largest difference" if verdict is Outcome.PASS else "Worst entry"
    caption = tag("caption", f"{which}: ", tag("code", name))
    return tag("table", caption, [tag("tr", tag("th", a, scope="row"), tag("td", b), tag("td", c)) for a, b, c in rows])


def _at(name: str, index: Any) -> str:
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def aligned(*values: float) -> list[str]:
    """Numbers written with as many decimals each, so that their points stand under each other.

    >>> aligned(4.0, -12.5, 0.001)
    ['4.000000', '−12.500000', '0.001000']
    """
    largest = max((abs(v) for v in values if math.isfinite(v)), default=0.0)
    if largest and not 1e-3 <= largest < 1e7:
        made = [f"{v:.6e}" for v in values]
    else:
        made = [f"{v:.{7 - max(0, math.floor(math.log10(largest or 1)))}f}" for v in values]
    return [_signed(m) for m in made]


def _signed(number: str) -> str:
    return number.replace("-", "\N{MINUS SIGN}")


# ---- the source -------------------------------------------------------------------------------------------


def _source(c: Checked) -> Markup | None:
    if not c.source:
        return None
    suspects: dict[int, list[Finding]] = {}
    for f in c.findings:
        for line in f.lines:
            suspects.setdefault(line, []).append(f)
    lines = [
        _line(number, text, suspects.get(number, []))
        for number, text in enumerate(c.source.rstrip("\n").split("\n"), max(c.line, 1))
    ]
    code = tag("pre", tag("code", lines), tabindex=0, role="region", aria_label=f"Source of {c.name}")
    return _section("source", "Source", code)


def _line(number: int, text: str, found: list[Finding]) -> Markup:
    """A line of source, marked if a finding suspects it."""
    wrong = any(f.outcome is not Outcome.ADVICE for f in found)
    kind = "suspect" if wrong else "advised" if found else ""
    why = ", ".join(dict.fromkeys(f.cause or f.check for f in found))
    return tag("span", tag("span", number, class_="number", aria_hidden="true"),
               tag("span", f"{text}\n", class_="text"),
               tag("span", _unseen(f" {kind}: "), why, class_="why") if found else None, class_=f"line {kind}".rstrip())
