"""Children for tests, that must come to an end."""

import os
import signal
import time
import traceback
from collections.abc import Callable
from typing import Any

from tests.thorough import PROGRAMS

COUNT = PROGRAMS // 50
"""How many forks: 10, or all 40; 1,000 in `make soak`."""
LONGEST = 60.0


def exit_code(program: Callable[[], Any]) -> int:
    """How a forked child that runs a program ends: 0 if well, 1 if it raises, minus a signal; -SIGKILL if it hangs."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            program()
            code = 0
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            os._exit(code)
    end = time.monotonic() + LONGEST
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
        time.sleep(1e-4)
