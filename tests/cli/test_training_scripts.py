"""`gradwright run` on ordinary training scripts: they print what they print on PyTorch."""

import functools
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parent / "training_scripts").glob("*.py"))
NUMBER = re.compile(r"-?\d+\.\d+")

# Runs all scripts one after the other: to start a process for each would take longer than they do.
DRIVER = """
import runpy, sys
import torch
for script in sys.argv[1:]:
    print("#", script, flush=True)
    sys.argv = [script]
    runpy.run_path(script, run_name="__main__")
"""


@functools.cache
def printed(*command: str) -> dict[str, str]:
    """What each script prints, run by this command."""
    with tempfile.TemporaryDirectory() as folder:
        driver = Path(folder, "driver.py")
        driver.write_text(DRIVER)
        call = [sys.executable, *command, str(driver), *map(str, SCRIPTS)]
        done = subprocess.run(call, capture_output=True, text=True, timeout=300, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    parts = re.split(r"^# (.*)\n", done.stdout, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_prints_the_same_as_on_pytorch(script, torch):
    ours, theirs = printed("-m", "gradwright", "run")[str(script)], printed()[str(script)]
    assert NUMBER.sub("number", ours) == NUMBER.sub("number", theirs)
    numbers = [[float(n) for n in NUMBER.findall(text)] for text in (ours, theirs)]
    assert numbers[0] == pytest.approx(numbers[1], rel=1e-2, abs=2e-3)


@pytest.mark.parametrize(("name", "said"), [
    ("autoencoder", r"epoch \[20/20\], loss:0\.02"),
    ("gan_steps", r"radius 0\.[5-7]"),
    ("image_classifier", "accuracy above 90 %: True"),
    ("padded_batches", r"epoch 7 .* right 9\d/96"),
    ("resume", "the same as without a break: True"),
    ("schedules", r"one cycle +step 30  loss 0\.2"),
    ("sequence_tagging", r"epoch 50 loss 2\."),
    ("transformer_classifier", r"accuracy 0\.8"),
])
def test_learns_what_it_is_to_learn(name, said):
    text, = (text for script, text in printed("-m", "gradwright", "run").items() if Path(script).stem == name)
    assert re.search(said, text), text


def test_every_script_has_its_sentence():
    mark, = test_learns_what_it_is_to_learn.pytestmark
    assert {name for name, _ in mark.args[1]} == {script.stem for script in SCRIPTS}
