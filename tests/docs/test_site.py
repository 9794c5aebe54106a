"""A small site of a few pages, built as the whole one is; `make docs` builds that, and looks through it as here."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sphinx", reason='Sphinx is not installed: pip install -e ".[docs]"')
pytest.importorskip("furo", reason='furo is not installed: pip install -e ".[docs]"')
pytest.importorskip("myst_parser", reason='MyST is not installed: pip install -e ".[docs]"')

from docs.generator.check import Page, broken, undescribed
from docs.generator.chinese import Search, words

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README", "docs/reference/gradwright.sparse", "docs/reference/gradwright.Tensor-attributes")
GUIDE = """# 稀疏张量

An [engine](src/gradwright/engine/backward.py), a [folder](src/gradwright/ops), a [part](#稀疏张量), and
[PyTorch](https://pytorch.org).

<img src="picture.png" alt="A picture.">
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("source")
    (source / "docs").mkdir()
    contents = "\n".join(f"   /{page}" for page in PAGES)
    (source / "docs/index.rst").write_text(f"Site\n====\n\n.. toctree::\n\n{contents}\n", encoding="utf-8")
    (source / "README.md").write_text(GUIDE, encoding="utf-8")
    (source / "picture.png").write_bytes((ROOT / "docs/images/explorer.png").read_bytes())
    only = ",".join(f"{page}.*" for page in ("docs/index", *PAGES))
    out = source / "out"
    options = ["-q", "-W", "--keep-going", "-c", ROOT / "docs", "-D", f"include_patterns={only}"]
    command = [sys.executable, "-m", "sphinx", *options, source, out]
    found = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stderr
    assert found.stderr == ""
    return out


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def test_every_link_leads_somewhere_and_nothing_is_fetched(site: Path) -> None:
    assert broken(site) == []


def test_links_to_files_and_folders_lead_to_pages_of_code(site: Path) -> None:
    assert Page(text(site / "README.html")).links.count("code/src/gradwright/engine/backward.py.html") == 1
    code = text(site / "code/src/gradwright/engine/backward.py.html")
    assert '<span id="L-1">' in code
    assert "<li>elementary.py</li>" in text(site / "code/src/gradwright/ops/index.html")


def test_the_code_can_be_elsewhere(site: Path) -> None:
    from types import SimpleNamespace

    from docs.generator.code_pages import address

    app = SimpleNamespace(config=SimpleNamespace(code_base="https://host.example/blob/main/"))
    assert address(app, "src/a.py", 3) == "https://host.example/blob/main/src/a.py#L3"
    assert address(app, "src") == "https://host.example/blob/main/src"


def test_names_in_signatures_and_docstrings_are_links(site: Path) -> None:
    page = text(site / "docs/reference/gradwright.sparse.html")
    assert 'id="gradwright.sparse.mm"' in page
    assert 'href="#gradwright.sparse.SparseTensor"' in page


def test_the_top_leads_to_the_first_page(site: Path) -> None:
    assert "url=docs/index.html" in text(site / "index.html")


def test_what_is_missing_is_found(site: Path) -> None:
    missing = undescribed(site)
    assert "gradwright.exp" in missing
    assert "gradwright.sparse.mm" not in missing
    assert "gradwright.Tensor.grad" not in missing
    assert "gradwright.Tensor.exp" in missing


def test_broken_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<p id="x"><a href="b.html#y">b</a><a href="#x">x</a><a href="c.html">c</a>'
                                     '<script src="https://host.example/x.js"></script><img src="d.png">')  # fmt: skip
    (tmp_path / "b.html").write_text("<p id='z'>")
    assert broken(tmp_path) == [
        "a.html fetches https://host.example/x.js", "a.html links to b.html#y", "a.html links to c.html",
        "a.html links to d.png",
    ]  # fmt: skip


def test_chinese_is_searched_by_pairs(site: Path) -> None:
    assert words("稀疏张量 of PyTorch，层") == ["稀疏", "疏张", "张量", "of", "PyTorch", "层"]
    assert '"\\u5f20\\u91cf"' in text(site / "searchindex.js") or "张量" in text(site / "searchindex.js")
    assert "flatMap" in text(site / "_static/language_data.js")
    assert Search.lang == "en"


def test_tables_fill_a_narrow_window(site: Path, chromium: Any) -> None:
    chromium.open(site / "docs/reference/gradwright.sparse.html", 390, 844)
    wide = "document.querySelector('article').clientWidth - document.querySelector('table.summary td').clientWidth"
    chromium.until(f"{wide} < 60")
