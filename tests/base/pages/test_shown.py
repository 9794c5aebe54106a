"""What notebooks are given."""

import html
from pathlib import Path
from typing import Any

import gradwright as gw
from gradwright import nn, viz
from gradwright.base.pages.shown import Page, Shown, block


class Report(Shown):
    def __repr__(self) -> str:
        return "a < b\nc"


def test_a_report_is_shown_as_it_prints() -> None:
    class Printer:
        def text(self, text: str) -> None:
            self.said = text

    printer: Any = Printer()
    vars(Report)["_repr_pretty_"](Report(), printer, False)
    assert printer.said == "a < b\nc"
    assert Report()._repr_html_() == block("a < b\nc")
    assert "a &lt; b\nc</pre>" in Report()._repr_html_()


def test_reports_of_ours_are(tmp_path: Path) -> None:
    x = gw.ones(3, requires_grad=True)
    with gw.profiler.profile() as p:
        (x * 2).sum().backward()
    step = gw.compile(lambda: x.detach() * 2)
    step()
    for report in (gw.autograd.why_none(gw.ones(1)), p, p.key_averages(), step.explain()):
        assert html.escape(str(report).splitlines()[0]) in report._repr_html_()
    assert "<table" in viz.summary(nn.Linear(2, 3), gw.ones(1, 2))._repr_html_()


def test_a_page_is_shown_in_a_frame_and_saved(tmp_path: Path) -> None:
    w = gw.ones(2, requires_grad=True)
    page = viz.explore((w * w).sum())
    assert isinstance(page, Page)
    assert "srcdoc=\"&lt;!doctype html&gt;" in page._repr_html_()
    assert 'sandbox="allow-scripts"' in page._repr_html_()
    assert page.save(tmp_path / "graph.html").read_text(encoding="utf-8") == str(page)
    assert repr(page).startswith("<Page of ")
