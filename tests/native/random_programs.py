"""What random programs do, a line each, to compare what they do with the core and by Python alone.

``python -m tests.native.random_programs FIRST COUNT``. Functions, hooks, exceptions half-way, interrupts and threads
are among the steps, besides those of tests/engine/random_programs.
"""

from __future__ import annotations

import hashlib
import random
import re
import sys
import threading
import warnings
from contextlib import suppress
from typing import Any

import gradwright as gw
from tests.engine.random_programs import run
from tests.engine.random_programs.language import CHANGES, ORDINARY, OVERWRITES, REARRANGES, STEPS, VIEWS, WRITES
from tests.functions import function


def _saves(ctx: Any, x: Any) -> Any:
    y = x * 0.5
    ctx.save_for_backward(x, y)
    return y


def _keeps(ctx: Any, x: Any) -> Any:
    ctx.x, ctx.k = x, 2.0
    return x * ctx.k


def _two(ctx: Any, x: Any, y: Any) -> Any:
    ctx.save_for_backward(y)
    return x + y.sum()


def _fails(ctx: Any, g: Any) -> Any:
    raise ValueError("half-way")


def _writes(ctx: Any, g: Any) -> Any:
    g.mul_(0.5)
    return g


F = {
    "saves": function("Saves", _saves, lambda ctx, g: g * ctx.saved_tensors[0] * ctx.saved_tensors[1]),
    "exp": function("Exp", lambda ctx, x: [y := (x * 0.1).exp(), ctx.save_for_backward(y)][0],
                    lambda ctx, g: g * ctx.saved_tensors[0] * 0.1),
    "keeps": function("Keeps", _keeps, lambda ctx, g: g * ctx.k + ctx.x * 0),
    "hands on": function("HandsOn", lambda ctx, x: x * 1, lambda ctx, g: g),
    "two": function("Two", _two, lambda ctx, g: (g, ctx.needs_input_grad[1] and g.sum() * ctx.saved_tensors[0].cos())),
    "fails": function("Fails", lambda ctx, x: x * 1, _fails),
    "writes": function("Writes", lambda ctx, x: x * 1, _writes),
    "wrong": function("Wrong", lambda ctx, x: x * 1, lambda ctx, g: g.sum()),
    "view": function("Whole", lambda ctx, x: x[:], lambda ctx, g: g * 1),
    "dirty": function("Dirty", lambda ctx, x: [ctx.mark_dirty(x), x.mul_(2)][1], lambda ctx, g: g * 2),
}  # fmt: skip


def _interrupted(x: Any) -> None:
    def stop(g: Any) -> None:
        raise KeyboardInterrupt

    y = x * 1.0
    y.register_hook(stop)
    with suppress(KeyboardInterrupt):
        (y * y + x).sum().backward(retain_graph=True)


def _threads(x: Any) -> None:
    errors: list[Exception] = []

    def work() -> None:
        try:
            (x * 2.0).sum().backward(retain_graph=True)
        except Exception as e:  # noqa: BLE001 - it is raised below
            errors.append(e)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if errors:
        raise errors[0]


APPLIES = {f"Function {name}": lambda T, x, y, k, f=f: f.apply(*[x, y][: 1 + (f.__name__ == "Two")])
           for name, f in F.items()}  # fmt: skip
PASSES = {
    "interrupted": lambda T, x, y, k: _interrupted(x),
    "threads": lambda T, x, y, k: _threads(x),
    "failing hook": lambda T, x, y, k: x.register_hook(lambda g: 1 / (k % 3)) and None,
    "node hook": lambda T, x, y, k: x.grad_fn.register_hook(lambda gi, go: None) and None,
    "post hook": lambda T, x, y, k: x.register_post_accumulate_grad_hook(lambda t: t.grad.mul_(0.5)) and None,
    "function pass": lambda T, x, y, k: F["saves"].apply(x).sum().backward(retain_graph=bool(k % 2)),
    "inputs": lambda T, x, y, k: (x * y.sum()).sum().backward(inputs=[y], retain_graph=True),
    "long": lambda T, x, y, k: sum((x * float(n) for n in range(5)), x.exp() - x / 3.0).sum().backward(retain_graph=1),
}  # fmt: skip
KINDS = [ORDINARY] * 4 + [VIEWS] * 3 + [WRITES] * 2 + [OVERWRITES] + [REARRANGES] * 2 + [APPLIES] * 4 + [PASSES] * 2


def steps(rng: random.Random) -> list[run.Step]:
    """A program."""
    kinds = [rng.choice(KINDS) for _ in range(rng.randint(2, 16))]
    return [(rng.choice(sorted(kind)), rng.choice([0, 0, 0, 1, 1, 2, 3, 5]), rng.randrange(8), rng.randrange(8),
             rng.choice(["grad"] * 17 + ["no_grad"] * 2 + ["inference"])) for kind in kinds]  # fmt: skip


def history(t: Any) -> list[str]:
    """The graph of a tensor."""
    names, todo = [], [t.grad_fn] if not t.is_inference() and t.requires_grad and t.grad_fn is not None else []
    while todo and len(names) < 100:
        node = todo.pop()
        saved = getattr(node, "_saved", ())
        names.append(f"{node.name()} {len(saved) if saved else saved}")
        todo += [n for n, _ in node.next_functions if n is not None]
    return names


def exact(t: Any) -> Any:
    """A tensor to the bit."""
    return None if t is None else (run.raw(t).tobytes(), t.dtype, t.shape, t.stride())


def line(number: int) -> str:
    """What the program of this number does: how many steps were refused, and a digest of everything."""
    program, refused, seen = steps(random.Random(number)), 0, []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        one = run.Run(gw)
        for step in program:
            try:
                error = one.step(*step)
            except (ArithmeticError, AttributeError) as e:
                error = repr(e)
            refused += error is not None
            seen.append(error)
        for t in one.pool:
            try:
                seen.append([run.facts(t)[0], exact(t), history(t), None if t.is_inference() else exact(t.grad)])
            except run.FAILURES as e:
                seen.append(str(e))
        try:
            found = one.gradients()
            seen.append(found if isinstance(found, str) else [g.tobytes() for g in found])
        except (ArithmeticError, AttributeError) as e:
            seen.append(repr(e))
    seen.append([(w.category.__name__, str(w.message), w.lineno) for w in caught])
    text = re.sub(r"0x[0-9a-f]+", "0x", repr(seen))
    return f"{number} {refused} {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def main() -> None:
    """Print the lines."""
    STEPS.update(APPLIES | PASSES)
    CHANGES.update(PASSES)
    gw.kernels("numpy")  # those that are made of formulas have other bits
    first, count = map(int, sys.argv[1:3])
    for number in range(first, first + count):
        print(line(number))  # noqa: T201


if __name__ == "__main__":
    main()
