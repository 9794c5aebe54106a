"""Random programs beside threads that run some, forks and interrupts: each does what it does alone."""

import random
import sys
import threading
import warnings
from time import perf_counter

import pytest

import gradwright
from gradwright.engine.mode import PLAIN, switch
from tests.engine.random_programs.language import ORDINARY, OVERWRITES, REARRANGES, VIEWS, WRITES
from tests.engine.random_programs.run import Run, agree
from tests.forks import exit_code
from tests.interrupts import SIGNALS, alarmed, left
from tests.thorough import PROGRAMS

ROUNDS = PROGRAMS // 100
"""How many forks and interrupts: 5, or all 20; 500 in `make soak`."""

pytestmark = [
    pytest.mark.skipif(not SIGNALS, reason="this system does not fork, or sends no signals"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]


def drawn(count):
    """Random programs, as long as those of `test_random_programs`."""
    draw = random.Random(0)
    kinds = [*[ORDINARY] * 3, *[VIEWS] * 5, *[WRITES] * 5, OVERWRITES, *[REARRANGES] * 2]
    modes = ["grad"] * 17 + ["no_grad"] * 2 + ["inference"]

    def step():
        return draw.choice(sorted(draw.choice(kinds))), *draw.choices(range(8), k=3), draw.choice(modes)

    return [[step() for _ in range(draw.randint(4, 24))] for _ in range(count)]


def seen(program):
    """What is seen of a program: the errors, the tensors after each step, and the gradients."""
    run = Run(gradwright)
    found = [[str(run.step(*step)), run.state()] for step in program]
    return [*found, run.gradients()]


def test_programs_do_what_they_do_alone():
    programs = drawn(40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = perf_counter()
        alone = [seen(program) for program in programs]
        time = (perf_counter() - began) / len(programs)
        going, wrong = True, []

        def check(k):
            if not agree(seen(programs[k]), alone[k]):
                wrong.append(k)
                raise AssertionError(f"another result of {programs[k]}")

        def work(first):
            k = first
            while going:
                check(k % len(programs))
                k += 1

        threads = [threading.Thread(target=work, args=(k,)) for k in range(0, 40, 10)]
        for t in threads:
            t.start()
        draw = random.Random(1)
        before = sys.getswitchinterval()
        try:
            sys.setswitchinterval(5e-4)
            for _ in range(ROUNDS):
                k = draw.randrange(len(programs))
                alarmed(lambda k=k: seen(programs[k]), draw.uniform(1e-6, 4 * time))
                switch(PLAIN)  # the blocks in these programs are a user's: see `test_interrupts`
                assert left() == {}
                check(k)
                assert exit_code(lambda k=k: check(k)) == 0
                assert wrong == []
        finally:
            sys.setswitchinterval(before)
            going = False
            for t in threads:
                t.join()
    assert wrong == []
