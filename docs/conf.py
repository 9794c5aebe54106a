"""The site: every page of the repository and the reference. ``make docs`` builds it; its source is the repository."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

project = "gradwright"
author = "The gradwright authors"
html_title = "gradwright"

extensions = ["myst_parser", "docs.generator.extension"]
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**"]
exclude_patterns = [".*", "*/.*", "docs/_build", "src", "tests", "benchmarks", "oracle", "wild", "examples"]
myst_heading_anchors = 4
myst_enable_extensions = ["html_image"]
code_base = ""  # an address, with a slash at its end, if links to the code shall lead to where it is hosted

toc_object_entries = False
python_maximum_signature_line_length = 88
python_trailing_comma_in_multi_line_signatures = False
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
