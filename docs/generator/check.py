"""Look through the site that was built: every link within it leads somewhere, nothing is fetched, no name is missing.

``python -m docs.generator.check docs/_build``.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.util.inventory import InventoryFile

import gradwright
from docs.generator.names import names

_FETCHING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}


@dataclass
class Page(HTMLParser):
    """What a page has that can be linked to, where it links, and what a browser fetches for it."""

    text: str
    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the element in."""
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in _FETCHING and found.get("rel") not in ("canonical", "search", "index", "next", "prev"):
            self.fetched.append(found.get(_FETCHING[tag], ""))


def broken(site: Path) -> list[str]:
    """Links within a site that lead nowhere, and what its pages would fetch from elsewhere."""
    pages = {file.resolve(): Page(file.read_text(encoding="utf-8")) for file in site.rglob("*.html")}
    found = []
    for file, page in pages.items():
        where = file.relative_to(site.resolve())
        found += [f"{where} fetches {address}" for address in page.fetched if urlsplit(address).netloc]
        for link in [*page.links, *page.fetched]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            missing = parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors
            if not target.is_file() or missing:
                found.append(f"{where} links to {link}")
    return found


def undescribed(site: Path) -> list[str]:
    """Public names, and members of Tensor, that the reference has not."""
    entries = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="").data
    there = {name for kind, found in entries.items() if kind.startswith("py:") for name in found}
    members = [f"gradwright.Tensor.{name}" for name in dir(gradwright.Tensor) if name[0] != "_"]
    return [path for path in (*(name.path for name in names()), *members) if path not in there]


def main(site: Path) -> int:
    """Print what is wrong, and how much there is; 1 if anything is."""
    wrong = [*broken(site), *(f"{path} is not in the reference" for path in undescribed(site))]
    pages = len([*site.rglob("*.html")])
    members = sum(name[0] != "_" for name in dir(gradwright.Tensor))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{pages} pages, {len(names())} public names and {members} members of Tensor; {len(wrong)} faults")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
