"""`gradwright run` on ordinary training scripts: they print what they print on PyTorch."""

import functools
import re
import tempfile
from pathlib import Path

import pytest

from tests.programs import run

SCRIPTS = sorted((Path(__file__).parent / "training_scripts").glob("*.py"))
NUMBER = re.compile(r"-?\d+\.\d+")


@functools.cache
def printed(*command: str | Path, imports: str = "gradwright.as_torch") -> str:
    """What a program prints where ``imports`` are there already."""
    with tempfile.TemporaryDirectory() as folder:
        done = run(*command, cwd=folder, imports=imports)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_prints_the_same_as_on_pytorch(script, torch):
    ours, theirs = printed("gradwright", "run", script), printed(script, imports="torch sympy")
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
    text = printed("gradwright", "run", Path(__file__).parent / "training_scripts" / f"{name}.py")
    assert re.search(said, text), text


def test_every_script_has_its_sentence():
    mark, = test_learns_what_it_is_to_learn.pytestmark
    assert {name for name, _ in mark.args[1]} == {script.stem for script in SCRIPTS}
