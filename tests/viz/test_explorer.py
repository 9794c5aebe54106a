"""The explorer's page, as a parser and as a browser see it."""

import functools
import json
import re
import runpy
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import gradwright as gw
from gradwright import nn, viz
from gradwright.viz import explorer, sizes
from gradwright.viz.explorer import explore, page
from gradwright.viz.records import Edge, Graph, GraphNode, Place, Saved
from tests.base.pages.seen import Seen, contrast

pytest.importorskip("igraph", reason="igraph is not installed: no layouts")

ROOT = Path(__file__).resolve().parents[2]
NASTY = "</script><img src=x onerror=alert(1)>\"'`<b>${title} $title &lt;\\u003c"


@pytest.fixture(scope="module")
def programs() -> Callable[[str], tuple[Any, Any]]:
    """A program of examples/graph_pages.py: its result and the names of its leaves."""
    return functools.cache(runpy.run_path(str(ROOT / "examples" / "graph_pages.py"))["traced"])


@pytest.fixture
def show(chromium: Any, tmp_path: Path, programs: Any) -> Callable[..., Any]:
    """Write the page of a program, or of tensors, and open it."""

    def open_(what: Any, width: int = 1600, height: int = 1000, dark: bool = False, **more: Any) -> Any:
        tensors, params = programs(what) if isinstance(what, str) else (what, None)
        path = explore(tensors, tmp_path / "page.html", **{"params": params, "title": "A page", **more})
        chromium.open(path, width, height, dark=dark)
        chromium.path = path
        return chromium

    return open_


def script(text: str) -> dict[str, Any]:
    """What the scripts of a page read."""
    return json.loads(next(s for s in Seen(text).scripts if s.startswith("{")))


# ---- the text of the page ---------------------------------------------------------------------------------


def nasty(word: str) -> Graph:
    """A graph in which everything that is a string is this one."""
    place = Place(word, 3, word, word)
    saved = (Saved(word, (2,), word, 8, word, 0),)
    return Graph(
        (
            GraphNode(0, word, "output", (2,), word, label=word, place=place),
            GraphNode(1, word, "surrogate", (2,), word, saved, word, f"Net.{word}", place, 1, word, word),
            GraphNode(2, word, "custom", None, None, saved, None, f"Net.{word}", place, 2, word, word),
            GraphNode(3, word, "stop", reason=word, place=place),
        ),
        (Edge(0, 1), Edge(1, 2), Edge(2, 3)),
        (0,),
    )


@given(st.text(min_size=1))
@example(NASTY)
@example("<!--")
@example("]]>")
@settings(max_examples=30)
def test_what_the_user_wrote_is_text(word: str) -> None:
    seen = Seen(page(nasty(word), title=word, notes=[word]))
    plain = Seen(page(nasty("w"), title="w", notes=["w"]))
    assert {tag for tag, _ in seen.elements} <= {tag for tag, _ in plain.elements} | {"code"}
    assert [tag for tag, _ in seen.elements].count("script") == 2
    assert not any(key.startswith("on") for _, a in seen.elements for key in a)
    given_ = json.loads(next(s for s in seen.scripts if s.startswith("{")))
    assert word in given_["texts"]


def test_the_page_stands_alone(programs: Any) -> None:
    text = page(viz.graph(programs("sinh")[0]))
    seen = Seen(text)
    links = [a for _, a in seen.elements if {"src", "href", "srcset", "action"} & a.keys()]
    assert all(str(a.get("href")).startswith("#icon-") for a in links)
    policy = next(a["content"] for _, a in seen.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert str(policy).startswith("default-src 'none';")
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)


def test_the_graph_is_there_as_text_for_those_without_scripts(programs: Any) -> None:
    graph = viz.graph(*programs("detach"))
    assert graph.text() in Seen(page(graph)).text


def test_every_text_stands_out_from_every_ground() -> None:
    colours = Seen(page(nasty("w"))).colours
    for theme in (0, 1):
        for text in ("ink", "soft", "custom", "surrogate", "stop", "second", "third", "plus", "minus", "flow"):
            for ground in ("paper", "card", "well", "blush"):
                least = 4.5 if text not in ("minus", "plus") else 3  # those are marks, not words
                assert contrast(colours[text][theme], colours[ground][theme]) >= least, f"{text} on {ground}"


def test_the_bounds_are_those_of_sizes(programs: Any) -> None:
    assert script(page(viz.graph(programs("sinh")[0])))["limits"] == [sizes.VANISHING, sizes.EXPLODING]


def test_a_graph_knows_its_page(programs: Any) -> None:
    graph = viz.graph(programs("sinh")[0])
    assert graph.html() == page(graph)
    assert script(graph.html())["play"] is None


def test_pages_stay_small() -> None:
    x = gw.randn(100, 100).requires_grad_()
    y = x
    for _ in range(200):
        y = y.sin() + x
    text = page(viz.graph(y.sum()), viz.play(y.sum()))
    assert len(text) < 2e6


# ---- what cannot be shown or written ----------------------------------------------------------------------


def test_a_page_that_cannot_be_written_is_an_error_that_names_it(tmp_path: Path) -> None:
    x = gw.ones(2, requires_grad=True)
    with pytest.raises(OSError, match="missing") as found:
        explore(x * 2, tmp_path / "missing" / "page.html")
    assert found.value.filename == str(tmp_path / "missing" / "page.html")


def test_what_is_no_tensor_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="expected a Tensor"):
        explore(3, tmp_path / "page.html")


def test_a_freed_graph_is_shown_and_the_page_says_why_it_cannot_be_played(tmp_path: Path) -> None:
    x = gw.ones(2, requires_grad=True)
    y = (x * x).exp().sum()
    y.backward()
    text = explore(y, tmp_path / "page.html", params={"x": x}).read_text("utf-8")
    assert "a backward pass has freed" in Seen(text).text
    assert script(text)["play"] is None
    assert 1 in script(text)["nodes"]["freed"]
    assert any(script(text)["nodes"]["gradient"]), "the gradient that the pass left in x.grad"


def test_a_graph_that_was_written_in_place_is_shown_as_far_as_it_goes(tmp_path: Path) -> None:
    x = gw.ones(2, requires_grad=True)
    z = x.exp()
    loss = z.sin().sum()
    z.add_(1)
    text = explore(loss, tmp_path / "page.html").read_text("utf-8")
    assert "stopped on the way" in Seen(text).text
    assert "modified by an inplace operation" in Seen(text).text
    assert len(script(text)["play"]["steps"]) == 3


def test_a_tensor_without_a_graph_is_shown(tmp_path: Path) -> None:
    for t, why in ((gw.ones(2), "its requires_grad is False"), (gw.ones(2, requires_grad=True), "a leaf was given")):
        for play in (False, True):
            text = explore(t, tmp_path / "page.html", play=play).read_text("utf-8")
            assert "There is no graph: " in Seen(text).text
            assert "1 nodes" not in Seen(text).text.replace("\N{NO-BREAK SPACE}", " ")
            assert why in Seen(text).text


def test_exploring_changes_nothing(tmp_path: Path) -> None:
    x = gw.ones(2, requires_grad=True)
    loss = (x * x).sum()
    explore(loss, tmp_path / "page.html")
    assert x.grad is None
    loss.backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_a_graph_that_is_too_large_is_folded(monkeypatch: Any) -> None:
    monkeypatch.setattr(explorer, "SHOWN", 50)
    x = gw.ones(2, requires_grad=True)
    y = x
    for _ in range(200):
        y = y * 1.0
    text = page(viz.graph(y.sum()))
    assert "folded" in Seen(text).text
    nodes = script(text)["nodes"]
    assert len(nodes["name"]) < 60
    assert sum(nodes["count"]) == 203


# ---- in a browser -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [400, 1600])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_opens_without_complaint_and_without_network(show: Any, width: int, dark: bool) -> None:
    page = show("network", width, dark=dark)
    assert page.run("document.querySelectorAll('#canvas .card').length") >= 7
    page.run("goTo(steps.length - 1); document.getElementById('unfold').click(); showPanel()")
    assert page.complaints == []
    assert page.asked == [page.path.as_uri()]
    assert page.run("document.documentElement.scrollWidth") == width
    paper = page.run("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, paper[4:-1].split(","))) < 200) == dark


def card(page: Any, title: str) -> tuple[float, float]:
    """The middle of a card in the window."""
    found = page.run(
        f"(() => {{ const c = [...document.querySelectorAll('#canvas .card')].find((c) => c.querySelector('.name')"
        f".textContent === {json.dumps(title)}); if (!c) return null; const b = c.querySelector('.box')"
        f".getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; }})()"
    )
    assert found is not None, f"there is no card {title}"
    return found[0], found[1]


def cards(page: Any) -> list[str]:
    return page.run("[...document.querySelectorAll('#canvas .card .name')].map((n) => n.textContent)")


def panel(page: Any) -> str:
    return page.run("document.getElementById('panel').textContent")


def still(page: Any) -> None:
    """Wait until the picture has stopped moving."""
    page.run("new Promise((done) => setTimeout(done, 350))")


def test_groups_unfold_and_fold(show: Any) -> None:
    page = show("network")
    page.run("document.getElementById('fold').click()")
    assert "Network" in cards(page)
    assert not any("Swish" in name for name in cards(page))
    page.click(*card(page, "Network"))
    page.click(*card(page, "Network.body"))
    page.click(*card(page, "Network.body.1"))
    assert sum("Swish" in name for name in cards(page)) == 1
    assert "linear.weight" in cards(page)
    corner = page.run("(({ x, y }) => [x + 20, y + 14])(document.querySelector('.head').getBoundingClientRect())")
    page.click(*corner)
    assert not any("Swish" in name for name in cards(page))
    page.run("document.getElementById('unfold').click()")
    assert sum("Swish" in name for name in cards(page)) == 2


def test_a_click_shows_what_a_node_is(show: Any) -> None:
    page = show("network")
    page.run("document.getElementById('unfold').click()")
    still(page)
    page.run("[...document.querySelectorAll('.row .title')].find((t) => t.textContent === 'SwishBackward').click()")
    still(page)
    page.click(*card(page, "SwishBackward"))
    said = panel(page)
    for part in ("SwishBackward", "custom Function", "x * sigmoid(x); dy/dx = s + x s (1 - s)", "[16, 8] float32",
                 "Network.body.", "saved_tensors[0]", "512\xa0B", "graph_pages.py:", "in Layer.forward",
                 "return Swish.apply(self.linear(x))"):  # fmt: skip
        assert part in said, part


def test_memory_that_is_shared_counts_once(show: Any) -> None:
    x = gw.ones(100, requires_grad=True)
    with viz.trace():
        y = (x * x * x).sum()
    page = show(y)
    assert page.run("nodes.filter((n) => n.name === 'MulBackward0').map((n) => n.bytes)") == [800, 400]
    assert page.run("groups[0].bytes") == 800, "as at the top of the page"


def test_a_sum_is_of_the_edges_to_that_output(show: Any) -> None:
    x = gw.ones(4, requires_grad=True)
    a, b = x.chunk(2)
    page = show((a * b + a).sum())
    page.run("select(nodes.find((n) => n.name === 'SplitBackward0').id, {})")
    said = page.run("[...document.querySelectorAll('#panel .gradient.in h4')].map((t) => t.textContent)")
    assert said == ["Gradient that reached output 0, the sum over 2 edges", "Gradient that reached output 1"]


def test_marks_say_what_is_custom_untrue_or_cut_off(show: Any) -> None:
    page = show("network")
    page.run("document.getElementById('unfold').click()")
    assert page.run("document.querySelectorAll('#canvas .card.custom .badge').length") == 2
    page.run("select(nodes.find((n) => n.kind === 'surrogate').id, { reveal: true })")
    assert "straight-through: rounding has no slope" in panel(page)
    page.run("select(nodes.find((n) => n.kind === 'stop').id, { reveal: true })")
    assert "No gradient goes on from here: " + page.run("nodes[state.selected].reason") in panel(page)
    assert page.run("document.querySelectorAll('#canvas .line.cut').length") == 1


def test_every_way_to_stop_is_shown_at_its_spot(show: Any) -> None:
    page = show("detach")
    assert {"detach()", "no_grad()"} <= set(cards(page))
    stops = page.run("nodes.filter((n) => n.kind === 'stop').map((n) => [n.title, n.reason, n.code])")
    assert len(stops) == 3
    assert all(reason and code for _, reason, code in stops)
    assert any("whole numbers" in reason for _, reason, _ in stops)


def test_the_search_finds_and_shows(show: Any) -> None:
    page = show("network")
    page.run("document.getElementById('fold').click()")
    page.press("/")
    page.write("body.1 weight")
    assert page.run("document.getElementById('found').textContent") == "1 found"
    page.press("Enter")
    assert "linear.weight" in cards(page)
    assert "body.1.linear.weight" in panel(page)
    page.run("searchBox.value = 'custom function'; search()")
    assert page.run("document.getElementById('found').textContent") == "2 found"
    assert page.run("document.querySelectorAll('#list [role=treeitem]').length") == 2
    page.run("searchBox.value = '<img src=x>'; search()")
    assert page.run("document.getElementById('found').textContent") == "nothing found"
    page.run("searchBox.focus()")
    page.press("Escape")
    assert page.run("document.querySelectorAll('#list [role=treeitem]').length") > 5


def test_it_plays_to_the_end_and_shows_the_gradients_that_grad_computes(show: Any) -> None:
    w = gw.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], dtype=gw.float64, requires_grad=True)
    b = gw.tensor([0.1, -0.2, 0.3], dtype=gw.float64, requires_grad=True)
    x = gw.tensor([1.0, -2.0], dtype=gw.float64)
    loss = ((x @ w + b).tanh() ** 2).sum()
    page = show(loss, params={"w": w, "b": b})
    page.run("pace.most = 60; document.querySelector('#run').focus()")
    page.press(" ")
    page.until("state.step === steps.length - 1")
    assert page.run("document.querySelector('#run span').textContent") == "Play", "it stops there"
    assert page.complaints == []
    expected = dict(zip("wb", gw.autograd.grad(loss, [w, b]), strict=True))
    for name, g in expected.items():
        page.run(f"select(nodes.find((n) => n.title === '{name}').id, {{}})")
        shown = page.run("[...document.querySelectorAll('#panel .gradient.in .heat text')].map((t) => t.textContent)")
        assert [float(t.replace("−", "-")) for t in shown] == pytest.approx(g.ravel().tolist(), rel=6e-3)
        exact = page.run("[...document.querySelectorAll('#panel .gradient.in .heat title')].map((t) => t.textContent)")
        assert [float(t.replace("−", "-")) for t in exact] == pytest.approx(g.ravel().tolist(), rel=1e-5)
        norm = page.run("document.querySelector('#panel .gradient.in .facts dd').textContent")
        assert float(norm) == pytest.approx(g.norm().item(), rel=1e-3)


def test_the_flows_of_a_step_are_on_the_picture_and_in_words(show: Any) -> None:
    x = gw.tensor(3.0, requires_grad=True)
    y = gw.tensor(-2.0, requires_grad=True)
    page = show(x * y, params={"x": x, "y": y})
    page.run("goTo(1)")
    assert sorted(page.run("[...document.querySelectorAll('.chip text')].map((t) => t.textContent)")) == ["3", "−2"]
    assert page.run("document.querySelectorAll('.line.flows').length") == 2
    assert page.run("document.getElementById('said').textContent") == "MulBackward0 got 1 and sends −2 to x; 3 to y."
    sent = page.run("[...document.querySelectorAll('#panel .gradient.out .number')].map((t) => t.textContent)")
    assert sent == ["−2", "3"]
    assert page.run("document.querySelectorAll('.card.runs').length") == 1


def test_the_keyboard_plays_forwards_and_back(show: Any) -> None:
    page = show("sinh")
    last = page.run("steps.length") - 1
    for key, step in (("ArrowRight", 0), ("ArrowRight", 1), ("ArrowLeft", 0), ("End", last), ("ArrowRight", last),
                      ("Home", -1), ("ArrowLeft", -1)):  # fmt: skip
        page.press(key)
        assert page.run("state.step") == step, key
    page.run("document.getElementById('slider').focus()")
    page.press("ArrowRight")
    assert page.run("state.step") == 0
    assert page.run("slider.getAttribute('aria-valuetext')") == f"step 1 of {last + 1}"
    page.run("slider.value = 3; slider.dispatchEvent(new Event('input'))")
    assert page.run("state.step") == 2


def test_the_mouse_and_the_keyboard_move_the_picture(show: Any) -> None:
    page = show("sinh")
    x, y = page.run("(() => { const b = canvas.getBoundingClientRect(); return [b.x + 30, b.y + b.height / 2]; })()")
    before = page.run("({ ...view })")
    page.drag(x, y, 50, 20)
    after = page.run("({ ...view })")
    assert (after["x"] - before["x"], after["y"] - before["y"]) == pytest.approx((50, 20))
    page.wheel(x, y, -300)
    page.until(f"view.k > {after['k']} * 1.2")
    page.run("canvas.focus()")
    page.press("0")
    still(page)
    assert page.run("view.k") == pytest.approx(before["k"])
    page.press("+")
    assert page.run("view.k") > before["k"]
    assert page.run("state.selected") is None, "a drag is no click"


def test_orders_of_a_second_derivative_are_told_apart(show: Any) -> None:
    page = show("sinh")
    names = page.run("[...document.querySelectorAll('#orders span')].map((s) => s.textContent)")
    assert names == ["all", "forward", "backward"]
    assert page.run("document.querySelectorAll('#canvas .card.order2 .prime').length") == 7
    page.run("document.querySelectorAll('#orders input')[2].click()")
    faint = page.run("[...document.querySelectorAll('.card.faint .name')].map((n) => n.textContent)")
    assert sorted(faint) == ["SinhBackward", "x"]
    page.run("select(nodes.find((n) => n.order === 2).id, {})")
    assert "recorded by the backward pass" in panel(page)


def test_vanishing_gradients_stand_out(show: Any) -> None:
    page = show("vanishing")
    assert page.run("colour.value") == "gradient"
    assert "vanishing: below 1e−6" in page.run("document.getElementById('legend').textContent")
    page.run("document.getElementById('unfold').click()")
    marked = page.run("[...document.querySelectorAll('.card.vanishing:not(.folded) .icon.verdict')].length")
    rms = page.run("nodes.filter((n) => n.gradient).map((n) => n.gradient.rms)")
    assert marked == sum(r < sizes.VANISHING for r in rms) > 10
    page.run("colour.value = 'kind'; colour.dispatchEvent(new Event('change'))")
    assert page.run("document.querySelectorAll('.card.vanishing').length") == 0


def test_the_list_says_what_the_picture_shows(show: Any) -> None:
    page = show("network")
    page.run("document.getElementById('unfold').click()")
    members = page.run("[...document.querySelectorAll('#list [role=treeitem]')].map((r) => Number(r.dataset.member))")
    assert sorted(m for m in members if m >= 0) == page.run("nodes.map((n) => n.id)")
    page.run("list.querySelector('[tabindex=\"0\"]').focus()")
    page.press("Home")
    page.press("ArrowLeft")
    assert page.run("document.activeElement.getAttribute('aria-expanded')") == "false"
    assert "Network" in cards(page)
    page.press("ArrowRight")
    page.press("ArrowRight")
    page.press("ArrowDown")
    page.press("Enter")
    assert page.run("document.querySelectorAll('#list [aria-selected=true]').length") == 1
    assert page.complaints == []


def test_a_screen_reader_finds_names_for_what_can_be_used(show: Any) -> None:
    page = show("network")
    page.run("goTo(4)")
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    named = {(n["role"]["value"], n.get("name", {}).get("value", "")) for n in nodes if not n.get("ignored")}
    usable = {"radio", "button", "combobox", "slider", "searchbox", "tree", "treeitem", "region", "image", "heading",
              "navigation"}  # fmt: skip
    assert [role for role, name in named if role in usable and not name] == []
    names = {name for _, name in named}
    assert {"Search the nodes", "Play", "A step on", "A step back", "Step of the backward pass", "Zoom in",
            "Nodes, inputs first"} <= names  # fmt: skip
    assert any(role == "treeitem" and name.startswith("detach(), gradient stops here") for role, name in named)
    assert any(role == "status" for role, _ in named)


def test_the_keyboard_reaches_everything(show: Any) -> None:
    page = show("network")
    passed = []
    for _ in range(30):
        page.press("Tab")
        passed.append(page.run("(e => e.id || e.getAttribute('role') || e.tagName)(document.activeElement)"))
    wanted = ["search", "theme-auto", "treeitem", "fold", "colour", "canvas", "closer", "fit", "run", "slider"]
    assert [w for w in wanted if w not in passed] == []
    places = [passed.index(w) for w in wanted]
    assert places == sorted(places)


def test_a_page_of_nasty_names_is_only_text(chromium: Any, tmp_path: Path) -> None:
    path = tmp_path / "nasty.html"
    path.write_text(page(nasty(NASTY), title=NASTY, notes=[NASTY]), "utf-8")
    chromium.open(path, 1600, 1000)
    for k in range(4):
        chromium.run(f"select({k}, {{ reveal: true }})")
        assert NASTY in panel(chromium)
    chromium.run("document.getElementById('unfold').click(); searchBox.value = '<img'; search()")
    assert chromium.run("document.querySelectorAll('img, b:not(.verdict)').length") == 0
    assert chromium.run("document.querySelectorAll('script').length") == 2
    assert chromium.complaints == []


def test_movement_is_left_out_for_those_who_ask(show: Any, chromium: Any) -> None:
    page = show("sinh")
    chromium.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    page.run("goTo(1)")
    assert page.run("getComputedStyle(document.querySelector('.line.flows')).animationName") == "none"
    page.run("moveTo(7, 9)")
    assert page.run("[view.x, view.y]") == [7, 9], "at once"


def test_a_large_graph_opens_folded(chromium: Any, tmp_path: Path) -> None:
    x = gw.ones(2, requires_grad=True)
    y = x
    for _ in range(4000):
        y = (y * 0.999).sin() + x
    path = explore(y.sum(), tmp_path / "large.html", play=False)
    chromium.open(path, 1600, 1000)
    assert chromium.run("nodes.length") > 12_000
    assert chromium.run("document.querySelectorAll('#canvas .card').length") < 70
    chromium.run("select(6000, { reveal: true })")
    assert chromium.run("scene.items.has(6000)")
    assert chromium.complaints == []


def test_modules_that_are_called_twice_can_be_played(show: Any) -> None:
    cell = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    with viz.trace():
        y = cell(cell(gw.ones(1, 2))).sum()
    page = show(y, params=cell)
    page.run("document.getElementById('unfold').click()")
    flows = page.run("steps.map((s, k) => { goTo(k); return document.querySelectorAll('.line.flows').length; })")
    assert all(n >= 1 for n in flows[:-2]), "each edge is seen as lines"
    assert page.complaints == []


# ---- the package ------------------------------------------------------------------------------------------


def test_a_wheel_holds_what_the_page_is_made_of(our_wheel: Path) -> None:
    held = set(zipfile.ZipFile(our_wheel).namelist())
    wanted = {"explorer.html", "explorer.css", "panels.css", *explorer.SCRIPTS}
    assert {f"gradwright/viz/assets/{name}" for name in wanted} <= held
    assert {"gradwright/base/pages/assets/theme.css", "gradwright/base/pages/assets/common.js"} <= held


def test_variables_name_what_has_no_other_name(tmp_path: Path) -> None:
    net, x = nn.Linear(2, 1), gw.ones(2, requires_grad=True)
    _hidden = gw.ones(1, requires_grad=True)
    loss = net(x) * _hidden
    shown = Seen(explore(loss, tmp_path / "page.html").read_text("utf-8")).text
    assert {"loss", "net.weight", "net.bias", "x"} <= set(shown.split())
    assert "_hidden" not in shown
    assert "other" in Seen(explore(loss, tmp_path / "page.html", params={"other": x}).read_text("utf-8")).text
