"""Random programs as functions, compiled: each does what it does eagerly, in four calls on copies."""

import linecache
import warnings
from itertools import count
from typing import Any

import numpy as np

import gradwright
from tests.engine.random_programs.language import CHANGES, ORDINARY, REARRANGES, STEPS
from tests.engine.random_programs.run import FAILURES, FLAGS, Run, Step, agree, facts, lying

SCALES = (1.0, 1.0, 0.999, 1.002)
"""What the numbers that the four calls begin with are multiplied by."""
_number = count()


class Written(Run):
    """A program under way that writes down what it does, as the source of a function of three tensors."""

    def __init__(self) -> None:
        super().__init__(gradwright)
        self.names = [f"p{k}" for k in range(4)]
        self.lines = ["p3 = p0 * 1.0"]

    def name(self, t: Any) -> str:
        """The name of a tensor of the pool."""
        return self.names[next(k for k, one in enumerate(self.pool) if one is t)]

    def step(self, name: str, i: int, j: int, k: int, mode: str) -> str | None:
        """One step; a line for it, unless it is refused or changes nothing."""
        x, y = self.pool[-1 - i % len(self.pool)], self.pool[-1 - j % len(self.pool)]
        a, b, before = self.name(x), self.name(y), len(self.pool)
        if y is x:
            b = f"{b}.detach().clone().contiguous()"
        elif name in CHANGES and np.shares_memory(lying(x), lying(y)):
            b = f"{b}{'.detach()' * (k % 2)}.clone().contiguous()"
        done = len(self.rearranged)
        error = super().step(name, i, j, k, mode)
        if error is not None or (name in REARRANGES and done == len(self.rearranged)):
            return error
        block = {"grad": "enable_grad", "no_grad": "no_grad", "inference": "inference_mode"}[mode]
        call = f"STEPS[{name!r}](T, {a}, {b}, {k})" + ".contiguous() * 1" * (name in ORDINARY)
        if len(self.pool) > before:
            self.names.append(f"p{before}")
            call = f"p{before} = {call}"
        self.lines += [f"with T.{block}():", f"    {call}"]
        return None

    def source(self) -> str:
        """The function, which returns all tensors of the pool and the gradients of what may be differentiated."""
        ends = [f"(p{k} * p{k}).sum() * {k + 1}" for k, t in enumerate(self.pool)
                if not t.is_inference() and facts(t)[0][1] is not None and t.requires_grad]  # fmt: skip
        leaves = [f"p{k}" for k in (0, 1) if self.pool[k].requires_grad and self.pool[k].is_leaf]
        lines = [*self.lines]
        if ends and leaves and not isinstance(self.gradients(), str):
            lines += [f"total = {' + '.join(ends)}",
                      f"leaves = [{', '.join(leaves)}]",
                      "grads = T.autograd.grad(total, leaves, retain_graph=True, allow_unused=True)"]  # fmt: skip
        else:
            lines.append("grads = ()")
        lines.append(f"return [{', '.join(self.names)}], grads")
        return "\n".join(["def program(p0, p1, p2):", *(f"    {line}" for line in lines)])


def function_of(program: list[Step]) -> Any:
    """A random program as a function, of the steps that are not refused."""
    run = Written()
    for step in program:
        run.step(*step)
    text, filename = run.source(), f"<random program {next(_number)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    scope: dict[str, Any] = {"T": gradwright, "STEPS": STEPS}
    exec(compile(text, filename, "exec"), scope)  # noqa: S102 - the text is written here
    return scope["program"], text


def seen(f: Any, scale: float) -> Any:
    """All that is seen of one call: what the tensors are, and their gradients."""
    data = [[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], [0.3, 0.6, -0.9], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    given = [gradwright.tensor(np.multiply(d, scale), dtype=gradwright.float64) for d in data]
    for x in given[:2]:
        x.requires_grad_()
    try:
        pool, grads = f(*given)
    except FAILURES as e:
        return type(e).__name__, [facts(t) for t in given]
    return [list(facts(t)) for t in pool], [None if g is None else facts(g)[2] for g in grads]


def difference(program: list[Step], reasons: dict[str, int] | None = None, **how: Any) -> str | None:
    """How a compiled program differs from what it does eagerly, if it does."""
    f, text = function_of(program)
    compiled = gradwright.compile(f, **how)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, scale in enumerate(SCALES):
            expected, got = seen(f, scale), seen(compiled, scale)
            if not agree(got, expected):
                return f"call {k + 1}: {unlike(got, expected)}\n{text}"
    if reasons is not None:
        why = compiled.programs.reason.partition("\n")[2] or compiled.programs.reason
        reasons[why] = reasons.get(why, 0) + 1
    if "differs from the eager one" in compiled.programs.reason:
        return f"{compiled.programs.reason}\n{text}"
    return None


def unlike(found: Any, expected: Any) -> str:
    """What looks otherwise first."""
    if isinstance(found[0], str) or isinstance(expected[0], str):
        return f"compiled {found!r}, eager {expected!r}"
    for part, names, a, b in zip(("tensor", "gradient"), ("p", "grads "), found, expected, strict=True):
        for k, (x, y) in enumerate(zip(a, b, strict=True)):
            if not agree(x, y):
                return f"{part} {names}{k}: compiled {x!r}, eager {y!r} {FLAGS}"
    return ""
