"""`gradwright run SCRIPT [ARGS]...`: a program that says `import torch`, on gradwright, unmodified."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from gradwright.cli import program, torch_names


def run(script: str, args: Sequence[str] = ()) -> int:
    """Run a file as ``python SCRIPT ARGS...`` would, with gradwright for ``torch``.

    What the program raises passes through, `SystemExit` included; a traceback starts with the program's own line.

    Returns:
        The exit status: 0 when the program has ended, 2 if it could not be read or PyTorch is already imported.
    """
    try:
        made = program.script(script, args)
        torch_names.install()
    except (OSError, RuntimeError) as e:
        reason = f"cannot read {script}: {e.strerror}" if isinstance(e, OSError) else str(e)
        print(f"gradwright run: {reason}", file=sys.stderr)
        return 2
    made.enter()
    made.run()
    return 0
