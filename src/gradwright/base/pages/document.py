"""A page that is one file and needs nothing else: its styles, scripts and data are put into its template."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from string import Template

from gradwright.base.pages.markup import Markup, tag

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{}'"
"""What the browser holds the page to: the one script, by its digest, and nothing from anywhere."""


def document(package: str, template: str, styles: list[str], scripts: list[str], **parts: str) -> str:
    """A page, from the files in ``package``'s folder ``assets``.

    Args:
        package: ``gradwright.verify.check``. template: a name in its assets: HTML with ``$names``.
        styles, scripts: names in its assets; the common ones (theme.css and common.js of this package) come before.
        parts: what else the template names; text must be escaped already (`gradwright.base.pages.markup`). ``$style``,
            ``$script``, ``$policy`` and ``$theme`` (the switch between light and dark) are provided.
    """
    own, common = files(package) / "assets", files(__package__) / "assets"
    script = "\n".join(f.read_text("utf-8") for f in (common / "common.js", *(own / name for name in scripts)))
    style = "\n".join(f.read_text("utf-8") for f in (common / "theme.css", *(own / name for name in styles)))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    made = {"style": style, "script": script, "policy": _POLICY.format(digest), "theme": _theme()}
    return Template((own / template).read_text("utf-8")).substitute(made, **parts)


def _theme() -> Markup:
    choices = [
        tag("label", tag("input", type="radio", name="theme", id=f"theme-{name.lower()}", checked=not k),
            tag("span", name))
        for k, name in enumerate(("Auto", "Light", "Dark"))
    ]  # fmt: skip
    return tag("fieldset", tag("legend", "Colours", class_="unseen"), choices, class_="theme")
