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
        for program in PROGRAM.findall(page.read_text("utf-8")):
            named = re.match(r"# (\w+\.py)\n", program)
            code = compile(program, named[1] if named else page.name, "exec")
            with contextlib.redirect_stdout(io.StringIO()):
                exec(code, scope)  # noqa: S102 - our own pages


if __name__ == "__main__":
    main()
