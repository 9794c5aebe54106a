"""Checks of rules beside backward: forward mode and vmap, if they are declared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

import gradwright
from gradwright.function.pushforward import pushforward
from gradwright.verify.check.attempt import Attempt
from gradwright.verify.check.battery.findings import failed, listed, passed, skipped
from gradwright.verify.check.battery.orders import examined
from gradwright.verify.check.calls import Arg, Call, args_in, flat, mapped
from gradwright.verify.check.records import Finding
from gradwright.verify.check.trial import Trial, close, relative_error
from gradwright.verify.diagnosis import Verdict
from gradwright.verify.numeric.differences import differences
from gradwright.verify.numeric.draws import drawn
from gradwright.verify.numeric.jacobian import rounding

_STEP = 1e-6
_ROUNDINGS = 1e5
"""So many units in the last place are taken for rounding."""


def _own(trial: Trial, name: str) -> Any:
    """What the Function itself defines under a name; None if it does not."""
    function = trial.subject.function
    found = getattr(function, name, None)
    return None if found is getattr(trial.T.autograd.Function, name, None) else found


def forward_mode(trial: Trial) -> Finding:
    """``jvp`` gives what finite differences give, and is the adjoint of backward."""
    subject = trial.subject
    if not (getattr(subject.target, "tangents", None) if subject.kind == "custom_op" else _own(trial, "jvp")):
        return skipped("no jvp declared")
    generator = np.random.default_rng(5)
    call = trial.call
    moves = [drawn(generator, a.array) if a.grad else None for a in call.args]
    with Attempt() as attempt:
        trial.seed()
        said = _pushed(trial, moves) if trial.T is gradwright else _dual(trial, moves)
    lines = trial.lines("jvp", r"return")
    if attempt.error is not None:
        return failed("jvp", f"jvp fails: {attempt.said()}",
                      "jvp(ctx, *tangents) gets a tangent for each argument, None for those that have none",
                      attempt.line(trial.subject.file))  # fmt: skip

    def sampler(h: Any) -> tuple[Any, list[Any]]:
        moved = call.with_arrays(lambda k, a: a if moves[k] is None else a + h * moves[k])
        return h, [a.reshape(1, -1) for a in trial.other(moved).run().arrays]

    run = trial.run()
    due = [s.reshape(a.shape) for s, a in zip(differences(sampler, _STEP).slopes, run.arrays, strict=True)]
    if len(said) != len(due):
        return failed("jvp", f"jvp returns {len(said)} tangents, but forward {len(due)} outputs",
                      "return a tangent for each output", lines)  # fmt: skip
    if relative_error(said, due) > 1e-5:
        for factor in (-1.0, 2.0, 0.5):
            if relative_error([factor * s for s in said], due) < 1e-6:
                return failed("jvp", f"jvp is {1 / factor:g} times what it should be", f"multiply by {factor:g}", lines)
        return failed("jvp", f"jvp is off from finite differences by {relative_error(said, due):.2g} of the largest",
                      "jvp returns the derivative of the outputs along the tangents", lines)  # fmt: skip
    cotangents, outputs = trial.cotangents(run), [v.requires_grad for v in run.values]
    along = [s for s, o in zip(said, outputs, strict=True) if o]
    asked, grads = [m for m in moves if m is not None], trial.backward(run, cotangents)
    across, back = _inner(cotangents, along), _inner(grads, asked)
    unit = max((rounding(a.dtype) for a in (*along, *run.arrays)), default=0.0)
    sizes = lambda arrays: [None if a is None else np.abs(a) for a in arrays]
    size = max(_inner(*map(sizes, pair)) for pair in ((cotangents, along), (grads, asked)))
    off = abs(across - back) / size if size else 0.0
    if not off > _ROUNDINGS * unit:
        return passed(f"to {off:.1g} the adjoint of backward")
    if examined(trial)[1].verdict is not Verdict.VERIFIED:
        return skipped("jvp is right, and so not the adjoint of backward, which is wrong: see the first order")
    return failed("small error", f"jvp and backward are not adjoint: <J v, w> is {across:.12g} and <v, J' w> is "
                  f"{back:.12g}, which is {off:.1g} of their size apart, and more than rounding; differences find "
                  "neither of them off", "look for a constant or a term that is nearly right, in jvp or in backward",
                  lines)  # fmt: skip


def _pushed(trial: Trial, moves: list[Any]) -> list[Any]:
    """The tangents of the outputs, in gradwright."""
    arguments, _ = trial.call.tensors(gradwright, [False] * len(moves))
    left = iter(moves)

    def tangent(a: Arg) -> Any:
        move = next(left)
        return None if move is None else gradwright.from_numpy(move)

    tangents = tuple(v if v.__class__ is not w.__class__ or isinstance(w, (tuple, list, dict)) else None
                     for v, w in ((mapped(a, tangent), a) for a in trial.call.arguments))  # fmt: skip
    _, said = pushforward(trial.subject.function, arguments, tangents)
    return [t.numpy() for t in flat(said, gradwright)]


def _dual(trial: Trial, moves: list[Any]) -> list[Any]:
    """The same in PyTorch, by its own forward mode."""
    forward_ad = trial.T.autograd.forward_ad
    arguments, found = trial.call.tensors(trial.T, [False] * len(moves))
    with forward_ad.dual_level():
        duals = {
            id(t): forward_ad.make_dual(t, trial.T.from_numpy(m))
            for t, m in zip(found, moves, strict=True)
            if m is not None
        }
        out = trial.subject.function.apply(*[duals.get(id(a), a) for a in arguments])
        return [forward_ad.unpack_dual(o).tangent.detach().numpy() for o in flat(out, trial.T)]


def _inner(a: list[Any], b: list[Any]) -> float:
    return sum(float(np.real(np.vdot(x, y))) for x, y in zip(a, b, strict=True) if x is not None and y is not None)


def vmap(trial: Trial) -> Finding:
    """``vmap`` on two samples at once gives what each gives by itself, wherever the samples are."""
    rule, generated = _own(trial, "vmap"), bool(getattr(trial.subject.function, "generate_vmap_rule", False))
    if rule is not None and generated:
        return failed("vmap", "both vmap and generate_vmap_rule are declared", "declare only one of them")
    if generated:
        return passed("generate_vmap_rule is declared")
    if rule is None:
        return skipped("no vmap rule declared")
    mend = "vmap(info, in_dims, *args) returns the results of all samples, and the dimension they are along"
    for dims in _dims(trial.call):
        found, due, attempt = _batched(trial, rule, dims)
        if attempt.error is not None and dims == [0] * len(dims):
            return failed("vmap", f"vmap fails: {attempt.said()}", mend, attempt.line(trial.subject.file))
        if attempt.error is None and not all(close(s, a) for s, a in zip(found, due, strict=True)):
            where = "" if dims == [0] * len(dims) else f" where {listed(_told(trial.call.labels(), dims))}"
            return failed("vmap", f"vmap gives other results than forward on one sample at a time{where}", mend,
                          trial.lines("vmap", "return"))  # fmt: skip
    return passed()


def _dims(call: Call) -> Iterator[list[int | None]]:
    """Where the samples may be: all tensors have them first, or each alone, or all but one, or last."""
    last = [a.array.ndim for a in call.args]
    first = [0] * len(last)
    mixed = [pair[k % 2] for k, pair in enumerate(zip(first, last, strict=True))]
    for place in (first, last, mixed) if any(last) else (first,):
        yield [*place]
        for k in range(len(last) if len(last) > 1 else 0):
            yield [d if j == k else None for j, d in enumerate(place)]
            yield [None if j == k else d for j, d in enumerate(place)]


def _told(names: Sequence[str], dims: Sequence[int | None]) -> list[str]:
    return [f"`{n}` has no samples" if d is None else f"those of `{n}` are along dimension {d}"
            for n, d in zip(names, dims, strict=True)]  # fmt: skip


def _batched(trial: Trial, rule: Any, dims: Sequence[int | None]) -> tuple[list[Any], list[Any], Attempt]:
    """What the rule gives for two samples, what forward gives for each, and what the rule raised."""
    call, other = trial.call, trial.call.elsewhere()
    pairs = [(a.array, a.array if d is None else b.array) for a, b, d in zip(call.args, other.args, dims, strict=True)]
    one, two = (call.with_arrays(partial(_kth, arrays)) for arrays in zip(*pairs, strict=True))
    due = [trial.other(c).run().arrays for c in (one, two)]
    stacked = iter([p[0] if d is None else np.stack(p, d) for p, d in zip(pairs, dims, strict=True)])
    arguments = mapped(call.arguments, lambda a: trial.T.from_numpy(np.array(next(stacked))))
    left = iter(dims)
    places = tuple(mapped(v, lambda a: next(left)) if args_in(v) else None for v in call.arguments)
    attempt, said = Attempt(), []
    with attempt:
        out, out_dims = rule(SimpleNamespace(batch_size=2, randomness="error"), places, *arguments)
        many = out if isinstance(out, tuple) else (out,)
        along = out_dims if isinstance(out_dims, tuple) else (out_dims,) * len(many)
        values = [o.detach().numpy() for o in many]
        said = [[v if d is None else np.take(v, k, d) for v, d in zip(values, along, strict=True)] for k in (0, 1)]
    return said, due, attempt


def _kth(arrays: Sequence[Any], k: int, array: Any) -> Any:
    return arrays[k]
