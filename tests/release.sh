#!/usr/bin/env bash
# A wheel in an environment of its own, with NumPy alone, away from the checkout: the README's programs run.
# usage: tests/release.sh dist/gradwright-*.whl
set -euo pipefail
wheel=$(realpath "$1")
readme=$(realpath "$(dirname "$0")/../README.md")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
"${PYTHON:-python3}" -m venv bare
bare/bin/python -m pip --disable-pip-version-check install -q "$wheel"
cat >programs.py <<'PY'
"""Run the programs of a README, one after the other as they stand, and compare what they print."""
import contextlib, io, re, sys

text = open(sys.argv[1], encoding="utf-8").read()
scope, ran, left = {"__name__": "__main__"}, 0, []
for program, said in re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", text, re.DOTALL):
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(program, scope)
    except ModuleNotFoundError as error:  # SciPy's optimiser is not asked of a bare environment
        left.append(error.name)
        continue
    assert out.getvalue() == said, f"{program}\nprinted\n{out.getvalue()}\nand not\n{said}"
    ran += 1
import gradwright
assert "bare" in gradwright.__file__, gradwright.__file__
print(f"gradwright {gradwright.__version__}: {ran} programs of the README run; not run for want of: {', '.join(left) or 'nothing'}")
assert ran >= 5
PY
bare/bin/python programs.py "$readme"
bare/bin/gradwright run --names >/dev/null
bare/bin/python -m gradwright --version
