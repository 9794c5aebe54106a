"""`gradwright launch`, of programs that need no JAX; the rest is in tests/distributed/test_session.py."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any


def launch(tmp_path: Path, program: str, *arguments: str) -> Any:
    file = tmp_path / "program.py"
    file.write_text(program)
    return subprocess.run([sys.executable, "-m", "gradwright", "launch", *arguments[:2], str(file), *arguments[2:]],
                          capture_output=True, text=True, timeout=60)  # fmt: skip


def test_each_process_knows_which_one_it_is(tmp_path: Path) -> None:
    program = """if True:
        import os, sys
        names = "RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR"
        print(*(os.environ[n] for n in names), os.environ["MASTER_PORT"].isdecimal(), *sys.argv[1:])
        """
    done = launch(tmp_path, program, "-n", "3", "--lr", "1")
    assert done.returncode == 0
    assert sorted(done.stdout.splitlines()) == [f"[{k}] {k} 3 {k} 127.0.0.1 True --lr 1" for k in range(3)]


def test_when_one_fails_the_others_are_ended(tmp_path: Path) -> None:
    program = "import os, sys, time\nif os.environ['RANK'] == '1': sys.exit(3)\ntime.sleep(50)"
    start = time.monotonic()
    done = launch(tmp_path, program, "-n", "2")
    assert time.monotonic() - start < 40
    assert done.returncode == 3
    assert "process 1 of 2" in done.stderr
    assert "has ended with status 3; ending the other 1" in done.stderr


def test_what_cannot_be_started(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gradwright", "launch"]
    done = subprocess.run([*command, str(tmp_path / "none.py")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "no such file" in done.stderr
    done = subprocess.run([*command, "-n", "0", "x.py"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "expected a whole number from 1 on, but got '0'" in done.stderr
