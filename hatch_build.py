"""The page that a package index shows: README.md, whose links lead to where the project lives.

``GRADWRIGHT_HOME`` is the address of the repository, which whoever builds a release knows; the links are made of it,
and so are the addresses among the metadata. Where it is not set, links into the repository become plain text.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#|mailto:)([^)\s]+)\)")


def page(text: str, home: str) -> str:
    """The text with every link into the repository led to ``home``, or, if that is "", turned to its words."""

    def lead(link: re.Match[str]) -> str:
        picture, words, target = link.groups()
        if not home:
            return f"*{words}*" if picture else words
        return f"{picture}[{words}]({home}/{'raw' if picture else 'blob'}/HEAD/{target})"

    return _LINK.sub(lead, text)


def urls(home: str) -> dict[str, str]:
    """The addresses of what a release points at."""
    if not home:
        return {}
    return {"Repository": home, "Issues": f"{home}/issues", "Changelog": f"{home}/blob/HEAD/CHANGELOG.md"}


class CustomMetadataHook(MetadataHookInterface):
    """Fills in ``readme`` and ``urls``, which pyproject.toml declares as dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Put them in."""
        home = os.environ.get("GRADWRIGHT_HOME", "").rstrip("/")
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": page(text, home)}
        metadata["urls"] = urls(home)
