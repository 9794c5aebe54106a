"""`gw::parallel`: threads that are started once, for loops from any thread, loops in loops, and after a fork."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, threading
from gradwright.utils.cpp_extension import load_inline

ext = load_inline("parallel_loops", '''
#include <atomic>
#include <set>
#include <stdexcept>
#include <unistd.h>
#include <mutex>
#include <thread>

// How many threads have had a part of a loop.
int threads(int64_t n) {
    std::mutex mutex;
    std::set<std::thread::id> seen;
    gw::parallel(n, [&](int64_t, int64_t) {
        usleep(20000);
        std::lock_guard<std::mutex> lock(mutex);
        seen.insert(std::this_thread::get_id());
    }, 1);
    return (int) seen.size();
}

int64_t nested(int64_t n) {
    std::atomic<int64_t> visits{0};
    gw::parallel(n, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
            gw::parallel(n, [&](int64_t from, int64_t to) { visits += to - from; }, 1);
    }, 1);
    return visits;
}

int64_t stops(int64_t n) {
    std::atomic<int64_t> visits{0};
    try {
        gw::parallel(n, [&](int64_t begin, int64_t end) {
            if (begin == 0) throw std::runtime_error("enough");
            visits += end - begin;
            usleep(1000);
        }, 1);
    } catch (const std::runtime_error &) {
        return visits;
    }
    return -1;
}
''', functions=["threads", "nested", "stops"])

assert ext.threads(100) == int(os.environ["EXPECTED"]), ext.threads(100)
assert ext.threads(0) == 0
assert ext.nested(1000) == 1000 * 1000
assert 0 <= ext.stops(1000) < 1000

results = []
loops = [threading.Thread(target=lambda: results.append(ext.nested(300))) for _ in range(8)]
for loop in loops:
    loop.start()
for loop in loops:
    loop.join()
assert results == [300 * 300] * 8

child = os.fork()
if child == 0:
    os._exit(0 if ext.nested(300) == 300 * 300 and ext.threads(100) == int(os.environ["EXPECTED"]) else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print("done")
"""


@pytest.mark.parametrize("threads", [1, 3])
def test_loops_share_the_threads_that_there_are(compiler: None, threads: int) -> None:
    settings = {**os.environ, "OMP_NUM_THREADS": str(threads), "EXPECTED": str(threads)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=settings, timeout=120)
    assert done.stdout == "done\n", done.stderr


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="CPUs cannot be chosen here")
def test_no_more_threads_than_cpus_that_may_be_used(compiler: None) -> None:
    settings = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"} | {"EXPECTED": "1"}
    program = f"import os; os.sched_setaffinity(0, {{min(os.sched_getaffinity(0))}})\n{PROGRAM}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=settings, timeout=120)
    assert done.stdout == "done\n", done.stderr
