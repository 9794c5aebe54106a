"""The process that the subjects of one target are checked in: ``python -m gradwright.verify.check.worker TARGET``.

It says in a line of JSON what there is to check; then for each name that it reads it says what it found. What the
user's code prints goes to standard error. Where PyTorch is not installed, ``import torch`` is gradwright.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from typing import Any

from gradwright.function.contract.signature import tolerant
from gradwright.pytorch import hook
from gradwright.verify.check import discover, pairs
from gradwright.verify.check.attempt import Attempt
from gradwright.verify.check.battery import examine
from gradwright.verify.check.discover import PAIR, Subject, load, subjects
from gradwright.verify.diagnosis.records import plain

_AS_TORCH = "PyTorch is not installed: `import torch` was gradwright, and its Functions were checked as gradwright's"


def main(target: str) -> None:
    """Answer until nothing more is asked."""
    asked, answers = os.fdopen(os.dup(0), "r"), os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)

    def say(answer: Any) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    say("ready")
    found: dict[str, Subject] = {}
    attempt = Attempt()
    tolerant.set(True)  # a class that cannot work is one of the subjects
    absent = importlib.util.find_spec("torch") is None
    if absent:
        hook.serve()
    with attempt:
        found = {s.name: s for s in subjects(*load(target))}
    if attempt.error is not None:
        say({"problem": reason(attempt, target)})
        return
    notes = [_AS_TORCH] if absent and "torch" in sys.modules else []
    say({"subjects": [{"name": s.name, "kind": s.kind, "file": s.file, "line": s.line} for s in found.values()],
         "notes": notes})  # fmt: skip
    for line in asked:
        request = json.loads(line)
        subject = found[request["name"]]
        if subject.kind == PAIR:
            say(plain(pairs.examine(subject.name, subject.target)))
        else:
            say(plain(examine(subject, request["fast"], say, request.get("compiled", False))))


def reason(attempt: Attempt, target: str) -> str:
    """Why a target cannot be checked."""
    if attempt.was_raised_in(discover.__file__):
        return str(attempt.error)
    if isinstance(attempt.error, SyntaxError):
        where = f" at line {attempt.error.lineno}" if attempt.error.lineno else ""
        return f"it does not import: {type(attempt.error).__name__}: {attempt.error.msg}{where}"
    return f"it does not import: {attempt.said(os.path.abspath(target.partition(':')[0]))}"


if __name__ == "__main__":
    main(sys.argv[1])
