"""A page made of its parts."""

import base64
import hashlib
import re

from gradwright.base.pages.document import document
from gradwright.base.pages.markup import data, join


def page() -> str:
    return document("gradwright.check", "template.html", ["style.css"], ["page.js"], title=join("<$title>"), about="",
                    command="check", totals="$about", problems="", rows="", data=data({}))  # fmt: skip


def test_parts_are_put_in_once_and_as_they_are() -> None:
    text = page()
    assert "<title>&lt;$title&gt;</title>" in text
    assert "$about\n</fieldset>" in text
    assert text.count('name="theme"') == 3


def test_the_policy_lets_only_this_script_run() -> None:
    text = page()
    script = text[text.rindex("<script>") + 8 : text.rindex("</script>")]
    digest = re.search(r"script-src 'sha256-([^']+)'", text)
    assert digest is not None
    assert base64.b64decode(digest[1]) == hashlib.sha256(script.encode()).digest()
    assert "default-src 'none'" in text


def test_common_styles_and_scripts_come_before_a_pages_own() -> None:
    text = page()
    assert 0 < text.index("--paper:") < text.index(".findings")
    assert 0 < text.index("const make") < text.index("heatMap")
