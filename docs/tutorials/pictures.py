"""Makes the pictures of the tutorials anew: `python docs/tutorials/pictures.py`.

The programs in a tutorial draw its pictures themselves, so they are run here, in the folder where the pictures belong.
"""

import contextlib
import io
import os
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
PICTURES = HERE.parent / "images" / "tutorials"
PROGRAM = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def main():
    """Run the programs of every tutorial; what they print is not shown."""
    os.chdir(PICTURES)
    for page in sorted(HERE.glob("*.md")):
        if page.stem == "README" or page.name.endswith(".zh-CN.md"):  # those have the same programs, or none
            continue
        scope = {"__name__": "tutorial"}
        text = page.read_text("utf-8")
        for program in PROGRAM.finditer(text):
            above = "\n" * text.count("\n", 0, program.start(1))  # so that lines have the numbers they have in the page
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(above + program[1], str(page), "exec"), scope)  # noqa: S102 - our own pages


if __name__ == "__main__":
    main()
