"""The reference, and what the site needs besides: a Sphinx extension."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from docs.generator import chinese, code_pages
from docs.generator.names import namespaces
from docs.generator.pages import Reference


def write(app: Sphinx) -> None:
    """Write the pages into docs/reference, for Sphinx to read: those that have changed alone; and remove others."""
    folder = Path(app.srcdir) / "docs" / "reference"
    folder.mkdir(exist_ok=True)
    reference = Reference()
    pages = {folder / f"{name}.rst": text for name, text in reference.pages().items()}
    pages |= {folder / f"{name}.svg": text for name, text in reference.figures.items()}
    for file in set(folder.iterdir()) - pages.keys():
        file.unlink()
    for file, text in pages.items():
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


class ExactNames(SphinxTransform):
    """Names in signatures are looked for exactly, and those of Python's own types not at all."""

    default_priority = 5

    def apply(self, **_: Any) -> None:
        """Leave of the latter the words."""
        for node in [*self.document.findall(addnodes.pending_xref)]:
            if node.get("refdomain") == "py":
                node.attributes.pop("refspecific", None)
                if node["reftype"] == "class" and hasattr(builtins, node["reftarget"]):
                    node.replace_self(node.children)


def resolve(app: Sphinx, env: Any, node: nodes.Element, words: nodes.Element) -> nodes.Node | None:
    """A name in a docstring that is written without its module: that of the page, or the first that has it."""
    if node.get("refdomain") != "py":
        return None
    domain, target = env.domains.python_domain, node["reftarget"].removeprefix("gw.").removeprefix("torch.")
    here = node.get("py:module") or "gradwright"
    above = [here.rsplit(".", i)[0] for i in range(here.count(".") + 1)]
    for start in (*above, *namespaces(), "gradwright.Tensor", "gradwright.nn.Module"):
        if f"{start}.{target}" in domain.objects:
            return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", f"{start}.{target}", node, words)
    return None


def setup(app: Sphinx) -> dict[str, Any]:
    """What Sphinx calls."""
    app.add_config_value("code_base", "", "env", str)
    app.add_role("source", code_pages.SourceRole())
    app.add_transform(code_pages.FileLinks)
    app.add_transform(ExactNames)
    app.add_search_language(chinese.Search)
    app.connect("builder-inited", write)
    app.connect("missing-reference", resolve)
    app.connect("build-finished", code_pages.write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


