"""What it costs to part a step among devices of one process, and among processes: ``python -m benchmarks.devices``.

The step is that of an MLP 256-512-10 with SGD, float32, batch 4,096 in all, eager and compiled. Each one is waited for,
and told are the best of 40, and the CPU time of one: the first process's, times how many there are.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

_WARM, _STEPS = 6, 40
_BATCH, _SIZES = 4096, (256, 512, 10)
_DEVICES, _PROCESSES = (1, 2, 4, 8), (1, 2, 4)
_LAUNCH = "import sys; from gradwright.cli import main; sys.exit(main())"


def _step(compiled: bool) -> Callable[[], float]:
    import gradwright as gw
    from gradwright import distributed as gd

    mesh = gd.mesh()
    gw.manual_seed(0)
    before, inside, after = _SIZES
    net = gw.nn.Sequential(gw.nn.Linear(before, inside), gw.nn.ReLU(), gw.nn.Linear(inside, after))
    net = gd.replicate(net, mesh)
    optimizer = gw.optim.SGD(net.parameters(), lr=0.01)
    x, y = gd.shard((gw.randn(_BATCH, before), gw.randint(after, (_BATCH,))), "batch", mesh=mesh)

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = gw.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    run = gw.compile(step, fullgraph=True) if compiled else step
    return lambda: run(x, y).item()


def _measured() -> dict[str, tuple[float, float]]:
    """Milliseconds a step, eager and compiled: by the clock, and of CPU time, this process's times their number."""
    from gradwright import distributed as gd

    gd.init()
    found = {}
    for name in ("eager", "compiled"):
        step = _step(name == "compiled")
        for _ in range(_WARM):
            step()
        times, used = [], time.process_time()
        for _ in range(_STEPS):
            begun = time.perf_counter()
            step()
            times.append(time.perf_counter() - begun)
        used = (time.process_time() - used) * int(os.environ.get("WORLD_SIZE", "1"))
        found[name] = 1000 * min(times), 1000 * used / _STEPS
    return found


def _in(devices: int, processes: int) -> dict[str, tuple[float, float]]:
    """What `_measured` finds in processes of their own."""
    flags = f"--xla_force_host_platform_device_count={devices}"
    launch = [sys.executable, "-c", _LAUNCH, "launch", "-n", str(processes)] if processes > 1 else [sys.executable]
    done = subprocess.run([*launch, __file__, "--measure"], env={**os.environ, "XLA_FLAGS": flags}, timeout=300,
                          check=True, capture_output=True, text=True)  # fmt: skip
    line = next(line for line in done.stdout.splitlines() if "{" in line)
    return dict(json.loads(line[line.index("{") :]))


def main() -> None:
    """Print the tables."""
    print("ms a step\n\n| | eager | CPU time | compiled | CPU time |\n|---|---|---|---|---|")
    for devices, processes in (*((n, 1) for n in _DEVICES), *((1, n) for n in _PROCESSES[1:])):
        found = _in(devices, processes)
        what = f"{devices} devices of one process" if processes == 1 else f"{processes} processes of one device"
        times = " | ".join(f"{time:.1f}" for name in ("eager", "compiled") for time in found[name])
        print(f"| {what} | {times} |", flush=True)


if __name__ == "__main__":
    if "--measure" in sys.argv:
        told = _measured()
        if os.environ.get("RANK", "0") == "0":
            print(json.dumps(told))
    else:
        main()
