"""The pages: their programs print what is shown, links lead somewhere, and both languages say the same."""

import ast
import contextlib
import io
import linecache
import re
import runpy
import sys
from collections import Counter
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
README, CHINESE = ROOT / "README.md", ROOT / "README.zh-CN.md"
TRANSLATED = [page for page in PAGES if page.with_suffix(".zh-CN.md").exists()]
TUTORIALS = sorted(page.relative_to(ROOT).as_posix() for page in TRANSLATED
                   if page.parent.name == "tutorials" and page.stem != "README")  # fmt: skip
PROGRAMS = ["README.md", "CONTRIBUTING.md", "docs/agreements.md", "docs/array-libraries.md", "docs/auditing.md",
            "docs/checking.md", "docs/compiling.md", "docs/cpp.md", "docs/debugging.md", "docs/devices.md",
            "docs/distributions.md", "docs/exploring.md", "docs/functions.md", "docs/how-it-works.md",
            "docs/other-languages.md", "docs/sparse.md", "docs/training.md", "docs/transforms.md",
            *TUTORIALS]  # fmt: skip
PICTURES = ROOT / "docs/images/tutorials"

FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]\[]*\]\(([^)\s]+)\)")
IN_CODE = re.compile(r"`([\w./-]+(?:\.py|\.md|\.toml|/))`")


class Block(NamedTuple):
    """A fenced block: its language, its text, the line it starts on, and the output shown right after it."""

    language: str
    text: str
    line: int
    output: str | None


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page; a ``text`` block right after a ``python`` block is what that prints."""
    text = read(page)
    fences = list(FENCE.finditer(text))
    found = []
    for i, fence in enumerate(fences):
        after = fences[i + 1] if i + 1 < len(fences) else None
        shown = after is not None and after[2] == "text" and not text[fence.end() : after.start()].strip()
        line = text.count("\n", 0, fence.start(3)) + 1
        found.append(Block(fence[2], dedent(fence[3]), line, after[3] if after and shown else None))
    return found


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return FENCE.sub("", read(page))


def headings(page: Path) -> list[tuple[int, str]]:
    return [(len(marks), title) for marks, title in re.findall(r"^(#+) (.+)$", prose(page), re.MULTILINE)]


def anchor(title: str) -> str:
    """The name under which a heading can be linked to."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


# -- programs --


def run(block: Block, page: Path, scope: dict[str, Any]) -> str:
    """What a program prints; an error in it is reported at its line of the page, or of the file that it says it is."""
    text, filename = "\n" * (block.line - 1) + block.text, str(page)
    if file := re.match(r"# (\w+\.py)\n", block.text):
        text, filename = block.text, file[1]
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(text, filename, "exec", dont_inherit=True), scope)  # noqa: S102 - our own pages
    return printed.getvalue()


@pytest.mark.parametrize("page", PROGRAMS)
def test_programs_run_in_order_and_print_what_is_shown(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if page == "docs/cpp.md":
        request.getfixturevalue("compiler")
    if page == "docs/devices.md":
        pytest.importorskip("jax", reason="jax is not installed: the page's programs not run")
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {"__name__": "page"}
    programs = [b for b in blocks(ROOT / page) if b.language == "python"]
    assert programs
    for block in programs:
        printed = run(block, ROOT / page, scope)
        assert printed.rstrip() == (block.output or "").rstrip(), f"{page}:{block.line} does not print what is shown"
    if page not in TUTORIALS:
        return
    shown = {Path(link).name for link in LINK.findall(prose(ROOT / page)) if "images" in Path(link).parts}
    assert {file.name for file in tmp_path.iterdir()} == shown, "it shows other pictures than it draws"
    for picture in sorted(tmp_path.glob("*.svg")):
        stale = f"{picture.name} has changed: run docs/tutorials/pictures.py"
        assert words(picture) == words(PICTURES / picture.name), stale


def words(picture: Path) -> list[str]:
    """The texts to be seen in a picture, wherever they stand there."""
    return sorted("".join(text.itertext()) for text in ElementTree.parse(picture).iter("{http://www.w3.org/2000/svg}text"))


def test_the_script_for_pictures_finds_every_program() -> None:
    program = runpy.run_path(str(ROOT / "docs/tutorials/pictures.py"))["PROGRAM"]
    for page in TUTORIALS:
        assert program.findall(read(ROOT / page)) == [b.text for b in blocks(ROOT / page) if b.language == "python"]


def test_every_picture_of_a_tutorial_is_shown() -> None:
    shown = {Path(link).name for page in TUTORIALS for link in LINK.findall(prose(ROOT / page))}
    assert {file.name for file in PICTURES.iterdir()} <= shown


def test_the_readme_example_stands_alone() -> None:
    first, *_ = (b for b in blocks(README) if b.language == "python")
    lines = [line for line in first.text.splitlines() if line.strip()]
    assert len(lines) <= 30
    assert run(first, README, {"__name__": "page"}) == first.output


def test_no_other_page_has_programs() -> None:
    pages = [name(page) for page in PAGES if any(b.language == "python" for b in blocks(page))]
    both = [page.removesuffix(".zh-CN.md") + ".md" if page.endswith(".zh-CN.md") else page for page in pages]
    assert sorted(set(both)) == sorted(PROGRAMS), "add the page to PROGRAMS"


@pytest.mark.parametrize(("language", "file"), [("fortran", "tridiagonal.f90"), ("py", "fortran_tridiagonal.py")])
def test_code_that_needs_a_fortran_compiler_is_that_of_the_example(language: str, file: str) -> None:
    (quoted,) = (b for b in blocks(ROOT / "docs/other-languages.md") if b.language == language)
    lines = iter(read(ROOT / "examples" / file).splitlines())
    assert [line for line in quoted.text.splitlines() if line not in lines] == []


def test_the_miniature_is_small() -> None:
    text = read(ROOT / "docs/how-it-works.md")
    end = text[: text.index("### Does it work?")].count("\n")
    miniature = [b for b in blocks(ROOT / "docs/how-it-works.md") if b.language == "python" and b.line < end]
    assert 60 <= sum(bool(line.strip()) for b in miniature for line in b.text.splitlines()) <= 110


# -- links --


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, part = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{name(page)} links to {target}, which does not exist"
        assert file.is_relative_to(ROOT), f"{name(page)} links to {target}, outside the repository"
        if part:
            assert part in [anchor(title) for _, title in headings(file)], f"{name(page)} links to {target}: no heading"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_files_named_exist(page: Path) -> None:
    for path in IN_CODE.findall(prose(page)):
        places = [ROOT / path, ROOT / "src" / "gradwright" / path, page.parent / path]
        assert any(place.exists() for place in places), f"{name(page)} names {path}, which does not exist"


# -- the two languages --


def test_every_tutorial_is_there_in_both_languages() -> None:
    pages = {page.name.replace(".zh-CN", "") for page in PAGES if page.parent.name == "tutorials"}
    assert pages == {page.name for page in TRANSLATED if page.parent.name == "tutorials"}


@pytest.mark.parametrize("page", TRANSLATED, ids=name)
def test_both_languages_show_the_same_code(page: Path) -> None:
    chinese = page.with_suffix(".zh-CN.md")
    assert [b[:2] for b in blocks(page)] == [b[:2] for b in blocks(chinese)]


@pytest.mark.parametrize("page", TRANSLATED, ids=name)
def test_both_languages_have_the_same_sections(page: Path) -> None:
    chinese = page.with_suffix(".zh-CN.md")
    assert [level for level, _ in headings(page)] == [level for level, _ in headings(chinese)]


@pytest.mark.parametrize("page", TRANSLATED, ids=name)
def test_both_languages_link_to_each_other_and_to_the_same_pages(page: Path) -> None:
    chinese = page.with_suffix(".zh-CN.md")
    links = [list(LINK.findall(prose(p))) for p in (page, chinese)]
    assert links[0].pop(0) == chinese.name
    assert links[1].pop(0) == page.name
    assert sorted(links[0]) == sorted(link.replace(".zh-CN", "") for link in links[1])
    targets = [(page.parent / link).resolve() for link in links[1]]
    assert not set(targets) & set(TRANSLATED), "the Chinese page links to an English one that is there in Chinese"


def test_every_page_counts_the_operations_alike() -> None:
    have, all_ = re.findall(r"has (\d+) of the (\d+)", read(ROOT / "docs/operators.md"))[0]
    for page in (README, CHINESE, ROOT / "CHANGELOG.md", ROOT / "docs/decisions/0002-breadth.md"):
        assert {have, all_} <= set(re.findall(r"\d+", read(page))), f"{name(page)} has not the counts {have} and {all_}"


def measured(page: Path) -> list[list[str]]:
    """The cells of the rows of the table between the markers."""
    part = read(page).partition("<!-- bench:start -->")[2].partition("<!-- bench:end -->")[0]
    rows = [line.strip("|").split("|") for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def test_both_readmes_give_the_same_figures() -> None:
    assert measured(README)
    assert [row[1:] for row in measured(README)] == [row[1:] for row in measured(CHINESE)]


def test_the_figures_are_those_that_make_bench_prints() -> None:
    trees = [ast.parse(read(path)) for path in (ROOT / "benchmarks").glob("*.py")]
    names = {n.value for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Constant)}
    for row in measured(README):
        assert row[0] in names, f"make bench has no figure {row[0]!r}"


def test_the_compiled_step_of_the_readme_is_as_quick_as_it_says(compiler, monkeypatch):
    monkeypatch.setenv("GRADWRIGHT_COMPILE", "c")
    (program,) = [block.text for block in blocks(README) if "@gw.compile" in block.text]
    scope: dict[str, Any] = {}
    exec(f"import gradwright as gw\n{program}", scope)  # noqa: S102
    assert {row.where for row in scope["step"].explain().programs[0].rows} == {"C"}
    executed = Counter()

    def watch(frame, event, _arg):
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        executed[event] += 1
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        scope["step"]()
    finally:
        sys.settrace(before)
    assert executed["opcode"] < 800  # of Python around the program in C: 8 µs where one takes 10 ns
