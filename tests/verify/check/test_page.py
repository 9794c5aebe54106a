"""The page of `gradwright check --html`, as a parser and as a browser see it."""

import json
import re
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gradwright
from gradwright.autograd import diagnose
from gradwright.verify.check.page import aligned, page, write
from gradwright.verify.check.records import Checked, Finding, Outcome, Report
from tests.base.pages.seen import Seen, contrast

NASTY = "</script><img src=x onerror=alert(1)>\"'`<b>${title} $title &lt;"
SOURCE = f'''class Cube(Function):
    """{NASTY}"""

    @staticmethod
    def backward(ctx, g):
        return g * x**2
'''


def cubed(slope: Any, values: Any = (1.0, 2.0)) -> dict[str, Any]:
    class Cube(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return slope * g * x**2

    x = gradwright.tensor(values, dtype=gradwright.float64, requires_grad=True)
    return {**diagnose(Cube, x).as_dict(), "sample": "Cube.apply(x)", "dtype": "float64"}


@pytest.fixture(scope="module")
def report() -> Report:
    sums = diagnose(lambda x, y: (x.sum(), (x * y).sum(0)),
                    [gradwright.ones(3, 2, dtype=gradwright.float64, requires_grad=True) for _ in "xy"])  # fmt: skip
    right = (Finding("first order", Outcome.PASS), Finding("complex", Outcome.SKIPPED, "not claimed"))
    wrong = Finding("first order", Outcome.FAIL, f"the gradient of `x` is {NASTY}", f"see {NASTY}", "factor", (15,))
    unsure = Finding("first order", Outcome.INCONCLUSIVE, "a kink", "elsewhere", "kink")
    stuck = Finding("forward", Outcome.ERROR, NASTY, "", "exits")
    return Report(
        ("layers.py", NASTY),
        (
            Checked("Right", "function", "layers.py", 1, SOURCE, ("Right.apply(x)",), False, right, (cubed(3),), 0.1),
            Checked("Sums", "custom_op", "layers.py", 1, "", (), False, right, (sums.as_dict(),), 0.1),
            Checked("Wrong", "torch", "layers.py", 10, SOURCE, (NASTY,), True, (wrong, right[1]), (cubed(1),), 0.1),
            Checked(NASTY, "op", NASTY, 0, "", (), False, (stuck,), (), 0.1),
            Checked("Kink", "function", "layers.py", 40, "", (), False, (unsure,), (), 0.1),
        ),
        (("missing.py", NASTY),),
        2.5,
        "1.2.3",
    )


@pytest.fixture
def written(report: Report, tmp_path: Path) -> Path:
    return write(report, tmp_path / "page.html")


def test_the_page_stands_alone(report: Report) -> None:
    seen = Seen(page(report))
    links = [a for _, a in seen.elements if {"src", "href", "srcset", "action"} & a.keys()]
    assert links, "the marks"
    assert all(str(a.get("href")).startswith("#mark-") for a in links)
    policy = next(a["content"] for _, a in seen.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert str(policy).startswith("default-src 'none';")


def test_what_the_user_wrote_is_text(report: Report) -> None:
    seen = Seen(page(report))
    assert not {"img", "b onerror"} & {tag for tag, _ in seen.elements}
    assert [tag for tag, _ in seen.elements].count("script") == 2
    assert not any(key.startswith("on") for _, a in seen.elements for key in a)
    assert f'    """{NASTY}"""' in seen.text
    assert seen.text.count("onerror=alert(1)") >= 8
    assert "${title} $title" in seen.text


def test_names_of_arguments_are_safe_in_the_data() -> None:
    d = {**cubed(1), "sample": NASTY, "dtype": NASTY, "name": NASTY, "summary": NASTY}
    d["blocks"][0].update(input=NASTY, output=NASTY)
    c = Checked("f", "function", "f.py", 1, findings=(Finding("first order", Outcome.FAIL, "no"),), diagnoses=(d,))
    seen = Seen(page(Report(("f.py",), (c,))))
    data = next(s for s in seen.scripts if s.startswith("{"))
    assert json.loads(data)["0-0"]["maps"][0]["input"] == NASTY
    assert not any("src" in a for _, a in seen.elements)


def test_the_worst_comes_first_and_is_unfolded(report: Report) -> None:
    rows = [a for tag, a in Seen(page(report)).elements if "row" in str(a.get("class")).split()]
    assert [a["class"] for a in rows] == ["row fail", "row inconclusive", "row error", "row pass", "row pass"]
    assert ["open" in a for a in rows] == [True, False, False, False, False]
    assert "open" not in next(
        a for t, a in Seen(page(replace(report, checked=report.checked[:1]))).elements if a.get("class") == "row pass")


def test_a_report_of_nothing_is_a_page() -> None:
    assert "0 wrong" in Seen(page(Report((), ()))).text


def test_suspect_lines_are_marked_and_advice_is_no_failure() -> None:
    found = (Finding("first order", Outcome.FAIL, "no", "", "sign", (12,)), Finding("strides", Outcome.PASS),
             Finding("needs_input_grad", Outcome.ADVICE, "work for nothing", "", "idle work", (11, 12)))  # fmt: skip
    c = Checked("f", "function", "f.py", 10, "a\nb\nc\nd\n", findings=found)
    lines = [str(a["class"]) for _, a in Seen(page(Report((), (c,)))).elements if "line" in str(a.get("class")).split()]
    assert lines == ["line", "line advised", "line suspect", "line"]
    assert "sign, idle work" in page(Report((), (c,)))
    text = Seen(page(Report((), (replace(c, findings=found[1:]),)))).text
    assert "2 checks passed" in text
    assert "passed, with advice" in text


def test_every_text_stands_out_from_every_ground() -> None:
    colours = Seen(page(Report((), ()))).colours
    for theme in (0, 1):
        for text in ("ink", "soft", "right", "wrong", "unsure"):
            for ground in ("paper", "card", "well", "blush"):
                assert contrast(colours[text][theme], colours[ground][theme]) >= 4.5, f"{text} on {ground}"  # WCAG AA


def test_numbers_stand_with_their_points_under_each_other() -> None:
    for values in ([4.0, 12.0, -8.0], [0.0, 0.0], [1e-9, 3.0], [1e-12, 2e-10], [3e20, -1.0], [123456.7, 0.5]):
        made = aligned(*values)
        assert len({len(m.partition(".")[2]) for m in made}) == 1
        assert [float(m.replace("−", "-")) for m in made] == pytest.approx(values, rel=1e-6, abs=1e-7 * max(values))
    assert aligned(float("nan"), 1.0) == ["nan", "1.0000000"]


def test_a_difference_too_small_for_its_column_is_written_out() -> None:
    d = cubed(3)
    d["worst"] = {**d["worst"], "analytic": 3.0, "numeric": 3.0 + 2e-12, "bar": 1e-11}
    c = Checked("f", "function", "f.py", 1, findings=(Finding("first order", Outcome.PASS),), diagnoses=(d,))
    cells = re.findall(r"<td>([^<]*)</td>", page(Report((), (c,))))
    assert cells == ["3.0000000", "", "3.0000000", "± 1e−11", "−2.0e−12", ""]


# -- the file --


def test_a_report_is_written_to_a_path(report: Report, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    assert write(report, str(path)) == path
    assert path.read_text("utf-8") == page(report)


# -- in a browser --


@pytest.mark.parametrize("width", [400, 1600])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_opens_without_complaint_and_without_network(chromium: Any, written: Path, width: int, dark: bool) -> None:
    chromium.open(written, width, 20_000, dark=dark)
    chromium.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    chromium.until("document.querySelectorAll('.plot').length === 3")
    assert chromium.complaints == []
    assert chromium.asked == [written.as_uri()]
    assert chromium.run("document.documentElement.scrollWidth") == width
    assert chromium.run("[...document.querySelectorAll('h2')].map(h => h.textContent)") == [
        "Could not be read", "Wrong", "Kink", NASTY, "Right", "Sums"]  # fmt: skip
    assert chromium.run("document.querySelectorAll('.figures').length") == 3
    assert chromium.run("[...document.querySelectorAll('.figures')].every(f => f.querySelectorAll('svg').length > 3)")
    paper = chromium.run("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, paper[4:-1].split(","))) < 200) == dark


def test_the_heat_map_shows_the_jacobians_and_marks_the_worst(chromium: Any, written: Path) -> None:
    chromium.open(written)
    chromium.until("document.querySelector('.plot')")
    panels = "[...document.querySelectorAll('.row.fail .panel')]"
    shown = f"{panels}.map(p => [...p.querySelectorAll('text')].map(t => t.textContent))"
    assert chromium.run(shown) == [["1", "0", "0", "4"], ["3", "0", "0", "12"], ["−2", "·", "·", "−8"]]
    assert chromium.run(f"{panels}.map(p => p.querySelectorAll('.ring').length)") == [1, 1, 1]
    assert chromium.run("document.querySelector('.readout').textContent").startswith(
        "out entry 1 by x entry 1: backward 4, finite differences 12 ± ")


def test_only_what_is_near_is_drawn(chromium: Any, written: Path) -> None:
    chromium.open(written)
    chromium.until("document.querySelector('.plot')")
    drawn = "[...document.querySelectorAll('.figures')].map(f => f.childElementCount > 0)"
    assert chromium.run(drawn) == [True, False, False]
    chromium.run("document.querySelector('.row.pass').open = true; scrollTo(0, 1e6)")
    chromium.until("document.querySelectorAll('.plot').length > 1")
    assert chromium.run(drawn) == [True, True, False]


def test_the_keyboard_reaches_everything(chromium: Any, written: Path) -> None:
    chromium.open(written)
    chromium.until("document.querySelector('.plot')")
    passed = []
    for _ in range(40):
        chromium.press("Tab")
        passed.append(chromium.run("(e => e.id || e.className || e.tagName)(document.activeElement)"))
        if passed[-1] == "panels":
            break
    assert passed[-1] == "panels"
    assert {"theme-auto", "show-fail", "show-pass", "unfold", "SUMMARY"} <= set(passed)
    chromium.press("ArrowLeft")
    assert "out entry 0 by x entry 1: backward 0" in chromium.run("document.querySelector('.readout').textContent")
    chromium.run("document.querySelector('#row-0 > summary').focus()")
    chromium.press("Enter")
    assert not chromium.run("document.querySelector('#row-0').open")


def test_rows_can_be_hidden_by_verdict_and_unfolded_together(chromium: Any, written: Path) -> None:
    chromium.open(written)
    seen = "[...document.querySelectorAll('.row')].filter(r => r.checkVisibility()).length"
    assert chromium.run(seen) == 5
    chromium.run("document.getElementById('show-pass').click()")
    assert chromium.run(seen) == 3
    opened = "document.querySelectorAll('.row[open]').length"
    for count in (5, 0):
        chromium.run("document.getElementById('unfold').click()")
        assert chromium.run(opened) == count


def test_one_of_several_jacobians_can_be_chosen(chromium: Any, written: Path) -> None:
    chromium.open(written, 1200, 20_000)
    chromium.run("document.querySelector('#row-4').open = true")
    chromium.until("document.querySelector('#row-4 select')")
    select = "document.querySelector('#row-4 select')"
    assert chromium.run(f"[...{select}.options].map(o => o.textContent)") == [
        "out[0] by x", "out[1] by x", "out[0] by y", "out[1] by y"]  # fmt: skip
    chromium.run(f"{select}.value = 3; {select}.dispatchEvent(new Event('change'))")
    caption = chromium.run("document.querySelector('#row-4 figcaption').textContent")
    assert caption.startswith("Jacobian of out[1] by y: 6 × 2")


def test_the_switch_sets_the_colours(chromium: Any, written: Path) -> None:
    chromium.open(written)
    paper = "getComputedStyle(document.body).backgroundColor"
    light = chromium.run(paper)
    chromium.run("document.getElementById('theme-dark').click()")
    assert chromium.run(paper) != light
    chromium.open(written)
    assert chromium.run(paper) != light, "the choice is kept"
    chromium.run("localStorage.clear()")


def test_the_text_is_there_with_scripts_off(chromium: Any, written: Path) -> None:
    chromium.open(written, scripts=False)
    text = chromium.call("DOM.getDocument", depth=-1)
    words = json.dumps(text, ensure_ascii=False)
    for part in ("explains 100 % of the error", "4.000000", "12.000000", "scripts are off", "first order"):
        assert part in words
    chromium.open(written)  # with scripts on again, for the next


def test_a_screen_reader_finds_names_for_what_can_be_used(chromium: Any, written: Path) -> None:
    chromium.open(written)
    chromium.until("document.querySelector('.plot')")
    nodes = chromium.call("Accessibility.getFullAXTree")["nodes"]
    named = {(n["role"]["value"], n.get("name", {}).get("value", "")) for n in nodes if not n.get("ignored")}
    usable = {"radio", "checkbox", "button", "combobox", "group", "region", "image", "heading", "DisclosureTriangle"}
    assert [role for role, name in named if role in usable - {"group"} and not name] == []
    names = {name for role, name in named if role in ("radio", "checkbox", "button")}
    assert {"Auto", "Light", "Dark", "1 wrong", "2 right", "Unfold all"} <= names
    assert any(role == "image" and name.startswith("Error by step size, 6 steps") for role, name in named)
    assert any(name.startswith("Jacobian of out by x, 2 × 2, 2 cells wrong") for _, name in named)


# -- the package --


def test_a_wheel_holds_what_the_page_is_made_of(our_wheel: Path) -> None:
    held = set(zipfile.ZipFile(our_wheel).namelist())
    assert {f"gradwright/verify/check/assets/{name}" for name in ("template.html", "style.css", "page.js")} <= held
