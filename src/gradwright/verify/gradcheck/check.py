"""gradcheck and gradgradcheck: hand-written derivatives against finite differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from gradwright.base.errors import CutError, GradcheckError, GradientWarning, StrictError
from gradwright.engine.calls import grad
from gradwright.engine.grad_mode import enable_grad
from gradwright.engine.strict import strict
from gradwright.face.tensor import Tensor
from gradwright.transform.arguments import settled
from gradwright.verify.diagnosis import diagnose
from gradwright.verify.experiments import Conditions, Visit
from gradwright.verify.gradcheck.compare import Comparison, check_constant
from gradwright.verify.gradcheck.forward import check_batched_backward, check_batched_forward
from gradwright.verify.gradcheck.passes import check_linear, check_surrogate, check_undefined, check_zero, surrogates
from gradwright.verify.gradcheck.projections import ACCEPTED, project
from gradwright.verify.gradcheck.settings import Settings, check_inputs, precision_of
from gradwright.verify.numeric.again import OfFunction
from gradwright.verify.numeric.budget import Picked, estimate, pick
from gradwright.verify.numeric.differences import restored
from gradwright.verify.numeric.jacobian import Subject, leaf, parameters, tensors
from gradwright.verify.numeric.on_host import on_host

QUICK = 0.1
"""How many seconds a check may take whose failure is diagnosed at once; a diagnosis takes some ten times as long."""


def gradcheck(func: Callable[..., Any], inputs: Tensor | Sequence[Any], *, eps: float | None = None,
              atol: float | None = None, rtol: float | None = None, raise_exception: bool = True,
              nondet_tol: float = 0.0, check_undefined_grad: bool = True, check_grad_dtypes: bool = False,
              check_batched_grad: bool = False, check_batched_forward_grad: bool = False,
              check_forward_ad: bool = False, check_backward_ad: bool = True, fast_mode: bool = False,
              masked: bool | None = None, budget: float | None = None) -> bool:
    """Whether the derivatives of ``func`` at ``inputs`` are those that finite differences find.

    The numerical Jacobian is made of central differences, ``(f(x + eps) - f(x - eps)) / (2 eps)``, one input entry at a
    time; the analytical one by the backward pass, one output entry at a time. By a complex input a derivative is
    ``df/dx + i df/dy``; of a complex output the real and the imaginary part are checked apart. An entry that disagrees
    is looked at more closely, with Richardson's extrapolation and an error bar, before it is called wrong.

    Args:
        func: takes the inputs and returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of arguments; tensors among them that require grad are checked. They may have any
            strides, but not overlap themselves; they are moved in place, and put back.
        eps: the step of the finite differences. By default one that suits the coarsest dtype involved: 1e-6 in float64,
            as in PyTorch; in float32, float16 and bfloat16 1/64, 1/8 and 1/4 of the size of the entry. A step that is
            given is kept to: what is wrong with it is wrong.
        atol, rtol: entries agree when they differ by at most ``atol + rtol * |numerical|``, and what rounding does to
            the finite difference. By default 1e-5 and 1e-3 in float64, as in PyTorch; 1e-3 and 5e-3 in float32; both
            0.02 in float16, 0.1 in bfloat16.
        raise_exception: raise on a wrong derivative; otherwise return False.
        nondet_tol: how far two backward passes over the same graph may differ, and two calls of ``func``.
        check_undefined_grad: with several outputs, also run backward with gradients for only some of them.
        check_grad_dtypes: also require gradients to be of their input's dtype.
        check_backward_ad, check_forward_ad: which modes to check. Forward mode goes by a declared jvp, or by what
            follows from backward (see `gradwright.autograd.forward_ad`).
        check_batched_grad, check_batched_forward_grad: also run backward, and forward mode, under `gradwright.vmap`,
            and compare with one cotangent, and one tangent, after another.
        fast_mode: compare random projections of all Jacobians instead of all entries. An error of 1 % in three entries
            of typical size goes unnoticed with a chance of less than one in a thousand (in float64, of less than one in
            a million); where that cannot be had, and where anything is noticed, all entries are compared.
        masked: allow gradients of up to 1e-8 where ``grad_output`` is zero. (There are no sparse tensors.)
        budget: how many seconds the comparison may take (gradwright's own). If it would take longer, entries drawn at
            random are compared, and projections of all; a GradientWarning says how many, and what that can find.

    Returns:
        True if every entry agrees. Where a gradient is declared to be no derivative (`gradwright.autograd.surrogate`),
        entries are not compared, and a GradientWarning says so: only shapes, dtypes and determinism are checked.

    Raises:
        GradcheckError: a derivative is wrong: the message names the worst entry and shows both Jacobians. Or it is
            right but for other strides, after another call, in a recorded pass, or where not all inputs require grad;
            or an output is marked as non-differentiable that is not. Or it cannot be judged: at a kink or a jump, where
            ``func`` is not deterministic, or rounding hides it; never a pass. Or there would be a GradientWarning: the
            check runs under `gradwright.autograd.strict`.
        ValueError: no input requires grad.
        RuntimeError: an input overlaps itself, so that its entries cannot be moved one at a time.
        AssertionError: the options contradict each other, or outputs change shape or dtype as inputs are moved.

    >>> gradcheck(lambda x: x.sin() * x, gw.tensor([1.0, 2.0], dtype=gw.float64, requires_grad=True))
    True
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    func, inputs = on_host(func, tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,))
    check_inputs(inputs)
    with restored(tensors(inputs)):
        asked = Settings(eps, atol, rtol, nondet_tol, check_undefined_grad, check_grad_dtypes, fast_mode, bool(masked),
                         budget, "", check_backward_ad, check_forward_ad, check_batched_grad,
                         check_batched_forward_grad)  # fmt: skip
        return _check(func, inputs, None, partial(diagnose, func, inputs), asked, raise_exception)


def gradgradcheck(func: Callable[..., Any], inputs: Tensor | Sequence[Any],
                  grad_outputs: Tensor | Sequence[Tensor] | None = None, *, eps: float | None = None,
                  atol: float | None = None, rtol: float | None = None, gen_non_contig_grad_outputs: bool = False,
                  raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True,
                  check_grad_dtypes: bool = False, check_batched_grad: bool = False, check_fwd_over_rev: bool = False,
                  check_rev_over_rev: bool = True, fast_mode: bool = False, masked: bool = False,
                  budget: float | None = None) -> bool:
    """Whether the second derivatives of ``func`` are right: `gradcheck` of its gradient.

    Args:
        grad_outputs: cotangents at which the gradient is taken, one for each output that requires grad; random ones by
            default. Those that require grad are checked as inputs too.
        gen_non_contig_grad_outputs: make the random cotangents non-contiguous.
        check_fwd_over_rev, check_rev_over_rev: which modes to check the gradient in.

    The others, what is returned and what is raised: see `gradcheck`.

    >>> gradgradcheck(lambda x: x.sin() * x, gw.tensor([1.0, 2.0], dtype=gw.float64, requires_grad=True))
    True
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    if check_undefined_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_undefined_grad=True requires check_rev_over_rev to be True")
    if check_batched_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_batched_grad=True requires check_rev_over_rev to be True")
    func, inputs = on_host(func, tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,))
    if grad_outputs is None:
        check_inputs(inputs)
        with restored(tensors(inputs)):
            outputs = _differentiable(func(*inputs))
        if not outputs:
            raise ValueError("gradgradcheck: func returned no tensor that requires grad, so nothing to check")
        cotangents = tuple(_random_like(o, gen_non_contig_grad_outputs) for o in outputs)
    else:
        cotangents = tuple(grad_outputs) if isinstance(grad_outputs, (tuple, list)) else (grad_outputs,)
        _, cotangents = on_host(func, cotangents)
        check_inputs(inputs + cotangents)
    gradient = _Gradient(func, len(inputs))
    names = [*parameters(func, len(inputs)), *(f"grad_outputs[{i}]" for i in range(len(cotangents)))]
    try:
        with enable_grad(), restored(tensors(inputs + cotangents)):
            asked = Settings(eps, atol, rtol, nondet_tol, check_undefined_grad, check_grad_dtypes, fast_mode,
                             bool(masked), budget, "", check_rev_over_rev, check_fwd_over_rev,
                             check_batched_grad)  # fmt: skip
            diagnosed = partial(diagnose, func, inputs, order=2)
            return _check(gradient, inputs + cotangents, names, diagnosed, asked, raise_exception)
    except CutError as e:
        if not raise_exception:
            return False
        raise GradcheckError(str(e)) from e
    except GradcheckError as e:
        e.add_note("This is about the second derivative: output i is the gradient of input i, and after the inputs "
                   f"come the {len(cotangents)} cotangents. Where the analytical one is 0, backward has cut its "
                   "graph: by an intermediate of forward kept on ctx, or by .detach(), .data or .numpy().")
        raise


class _Gradient:
    """The function that takes inputs and cotangents, and returns the gradients of those inputs that require grad."""

    def __init__(self, func: Callable[..., Any], n: int) -> None:
        self.func, self.n = func, n

    def __call__(self, *arguments: Any) -> tuple[Any, ...]:
        return self._gradients(arguments, recorded=True)

    def first(self, *arguments: Any) -> Any:
        """The result of the function itself."""
        return self.func(*arguments[: self.n])

    def for_values(self, *arguments: Any) -> tuple[Any, ...]:
        """The same gradients without history."""
        return self._gradients(arguments, recorded=False)

    def _gradients(self, arguments: tuple[Any, ...], recorded: bool) -> tuple[Any, ...]:
        inputs, cotangents = arguments[: self.n], arguments[self.n :]
        cotangents = tuple(c.clone() for c in cotangents)  # a backward that writes to a leaf is told of the leaf alone
        outs, wanted = _differentiable(self.func(*inputs)), _differentiable(inputs)
        found = grad(outs, wanted, cotangents, create_graph=recorded, allow_unused=True) if outs else ()
        return tuple([g for g in found if g is not None])


def _check(func: Callable[..., Any], inputs: tuple[Any, ...], names: Sequence[str] | None,
           diagnosed: Callable[[], Any], asked: Settings, raise_exception: bool) -> bool:  # fmt: skip
    subject: Subject | None = None
    try:
        with strict():
            visit = Visit(OfFunction(func, inputs))
            subject = Subject(func, inputs, names)
            settings = asked.suited(precision_of(subject))
            if declared := surrogates(subject):
                check_surrogate(subject, settings, declared)
            elif subject.differentiable:
                _compare(subject, settings, visit)
            else:
                check_constant(subject, settings)
    except (GradcheckError, StrictError) as e:
        if not raise_exception:
            return False
        error = e if isinstance(e, GradcheckError) else GradcheckError(str(e))
        with strict(False), warnings.catch_warnings():
            warnings.simplefilter("ignore", GradientWarning)  # it has been told
            _diagnosed(error, subject, diagnosed)
        raise error from error.__cause__
    return True


def _diagnosed(error: GradcheckError, subject: Subject | None, diagnosed: Callable[[], Any]) -> None:
    """Let an error carry a diagnosis, unless that would take long or finds nothing."""
    if subject is None or not subject.differentiable or estimate(subject).seconds >= QUICK:
        return
    with suppress(ArithmeticError, LookupError, RuntimeError, TypeError, ValueError):  # of so broken a backward
        error.diagnosis = diagnosed()
        if error.diagnosis.hypotheses or error.diagnosis.unexplained:  # else it has nothing to add
            error.add_note(str(error.diagnosis))


def _compare(subject: Subject, settings: Settings, visit: Visit) -> None:
    picked = None if settings.budget is None else pick(subject, settings.budget)
    if settings.backward:
        _compare_backward(subject, settings, visit, picked)
    if settings.batched_backward:
        check_batched_backward(subject, settings)
    if settings.forward:
        Comparison(subject, settings, picked, forward=True).run()
    if settings.batched_forward:
        check_batched_forward(subject, settings)


def _compare_backward(subject: Subject, settings: Settings, visit: Visit, picked: Picked | None) -> None:
    projected = project(subject, settings) if settings.fast or picked is not None else None
    sure = projected is not None and projected.missing <= ACCEPTED
    if not (settings.fast and sure):
        full = Comparison(subject, settings, picked if projected is None or projected.agree else None)
        full.run()
        backward = full.backward if full.picked is None else None
    else:
        backward = None
    check_zero(subject, settings)
    if settings.undefined and len(subject.outputs) > 1:
        check_undefined(subject)
    conditions = Conditions(visit, subject, settings.atol + settings.nondet_tol, settings.rtol)
    if backward is not None:
        check_linear(subject, backward, conditions, settings)
    if (fault := conditions.fault()) is not None:
        raise GradcheckError(f"{fault.sentence[0].upper()}{fault.sentence[1:]}. Mend: {fault.mend}.")


def _differentiable(result: Any) -> list[Any]:
    return [t for t in settled(tensors(result)) if t.requires_grad]


def _random_like(out: Any, non_contiguous: bool) -> Any:
    random = np.random.default_rng(out.array.size)
    pairs = random.uniform(-1, 1, (*out.array.shape, 2))
    if out.array.dtype.kind == "c":
        pairs = pairs + 1j * random.uniform(-1, 1, pairs.shape)
    pairs = pairs.astype(out.array.dtype)
    return leaf(pairs[..., 0] if non_contiguous else pairs[..., 0].copy())
