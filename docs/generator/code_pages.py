"""Links to files of the repository, and the pages that show those files with a number on each line.

Links lead to such pages, which are part of the site, or with ``code_base`` (an address) to where the code is hosted.
"""

from __future__ import annotations

import posixpath
import re
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxRole

from docs.generator.places import ROOT

_FOLDER = "code"
_LINK = re.compile(rf'href="(?:\.\./)*{_FOLDER}/([^"#]+)\.html')
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="{up}_static/code.css">
<header><a href="{up}docs/index.html">gradwright</a> / {title}</header>
{body}
</html>
"""


def address(app: Sphinx, path: str, line: int = 0) -> str:
    """Where a link from the page that is being read leads for a file or folder of the repository, and a line of it."""
    base = app.config.code_base
    if base:
        return f"{base}{path}" + (f"#L{line}" if line else "")
    file = posixpath.join(path, "index") if (ROOT / path).is_dir() else path
    here = posixpath.dirname(app.env.docname)
    return posixpath.relpath(f"{_FOLDER}/{file}.html", here) + (f"#L-{line}" if line else "")


class SourceRole(SphinxRole):
    """``:source:`words <path:line>```."""

    def run(self) -> tuple[list[nodes.Node], list[Any]]:
        """The link."""
        words, path, line = re.fullmatch(r"(.*) <(.*):(\d+)>", self.text).groups()
        uri = address(self.env.app, path, int(line))
        shown = words if int(line) else words.removesuffix(":0")
        return [nodes.reference("", shown, refuri=uri, internal=True)], []


class FileLinks(SphinxTransform):
    """Links of the pages to files and folders of the repository that are no pages."""

    default_priority = 5

    def apply(self, **_: Any) -> None:
        """Make them links to the pages of code."""
        folder = posixpath.dirname(self.env.docname)
        found = [*self.document.findall(addnodes.download_reference), *self.document.findall(addnodes.pending_xref)]
        for node in found:
            path = posixpath.normpath(posixpath.join(folder, node["reftarget"].partition("#")[0]))
            file = isinstance(node, addnodes.download_reference)
            if node.get("reftype") == "myst" and (file or node.get("refdomain") is None) and (ROOT / path).exists():
                uri = address(self.app, path)
                node.replace_self(nodes.reference("", "", *node.children, refuri=uri, internal=True))


def write(app: Sphinx, failed: Exception | None) -> None:
    """Write the pages of code that others link to, and the page at the top of the site, which leads to its first."""
    if failed or app.builder.format != "html":
        return
    out = Path(app.outdir)
    light, dark = (HtmlFormatter(style=style).get_style_defs("pre") for style in ("default", "github-dark"))
    own = (Path(app.confdir) / "static" / "code.css").read_text(encoding="utf-8")
    styles = f"{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}\n{own}"
    (out / "_static" / "code.css").write_text(styles, encoding="utf-8")
    first = f"{app.config.root_doc}.html"
    (out / "index.html").write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={first}">\n'
                                    f'<a href="{first}">gradwright</a>\n', encoding="utf-8")  # fmt: skip
    wanted = {path for page in out.rglob("*.html") if _FOLDER not in page.relative_to(out).parts
              for path in _LINK.findall(page.read_text(encoding="utf-8"))}  # fmt: skip
    for path in wanted:
        file = out / _FOLDER / f"{path}.html"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_page(path, wanted), encoding="utf-8")


def _page(path: str, wanted: set[str]) -> str:
    """The page of a file, or of a folder: what is in it."""
    up = "../" * (path.count("/") + 1)
    if path.endswith("/index") and not (ROOT / path).exists():
        title = path.removesuffix("/index")
        return _PAGE.format(title=escape(f"{title}/"), up=up, body=_listing(title, wanted))
    text = (ROOT / path).read_text(encoding="utf-8")
    try:
        lexer = get_lexer_for_filename(path)
    except ClassNotFound:
        lexer = TextLexer()
    return _PAGE.format(title=escape(path), up=up, body=highlight(text, lexer, HtmlFormatter(linespans="L")))


def _listing(folder: str, wanted: set[str]) -> str:
    """What is in a folder; links to those files that have pages."""
    lines = []
    for entry in sorted((ROOT / folder).iterdir(), key=lambda entry: (entry.is_file(), entry.name)):
        page = f"{entry.name}/index" if entry.is_dir() else entry.name
        if f"{folder}/{page}" in wanted:
            lines.append(f'<li><a href="{page}.html">{entry.name}</a></li>')
        elif entry.suffix == ".py" or (entry.is_dir() and entry.name[0] not in "._"):
            lines.append(f"<li>{entry.name}</li>")
    return "\n".join(["<ul>", *lines, "</ul>"])
