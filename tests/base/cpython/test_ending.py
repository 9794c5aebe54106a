"""Waiting for threads when a program has ended."""

import subprocess
import sys

import pytest

POOLS = {
    "threads": "pool = ThreadPoolExecutor(2); print(pool.submit(abs, -1).result())",
    "processes": "pool = ProcessPoolExecutor(1); print(pool.submit(abs, -1).result())",
    "a thread": "threading.Thread(target=lambda: (time.sleep(0.1), print(1))).start()",
}  # fmt: skip
HEAD = "import threading, time\nfrom concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor\n"
TAIL = """
from gradwright.base.cpython.ending import wait_for_threads
wait_for_threads()
print(threading.active_count())
"""


@pytest.mark.parametrize("pool", POOLS)
def test_a_pool_left_open_ends(pool):
    command = [sys.executable, "-c", HEAD + POOLS[pool] + TAIL]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout.split(), done.stderr) == (["1", "1"], "")
