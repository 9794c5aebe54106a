"""gradcheck and gradgradcheck: hand-written derivatives against finite differences.

The numerical Jacobian comes from central differences, (f(x + eps) - f(x - eps)) / (2 eps), one input entry at a time;
the analytical one from the backward pass, one output entry at a time. Verdicts and messages are PyTorch's.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gradwright.autograd.base import TensorBase, wrap
from gradwright.autograd.node import AccumulateGrad
from gradwright.autograd.public import grad
from gradwright.autograd.view import alias_of
from gradwright.errors import GradcheckError


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Whether the derivatives of ``func`` at ``inputs`` are those that finite differences find.

    Args:
        func: takes the inputs and returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of arguments; tensors among them that require grad (use float64) are checked.
        eps: the step of the finite differences.
        atol, rtol: entries agree when they differ by at most ``atol + rtol * |numerical|``.
        raise_exception: raise on a wrong derivative; otherwise return False.
        nondet_tol: how far two backward passes over the same graph may differ.
        check_undefined_grad: with several outputs, also run backward with gradients for only some of them.
        check_grad_dtypes: also require gradients to be of their input's dtype.
        fast_mode: compare random projections of the Jacobians instead of all entries: faster, and weaker.

    Returns:
        True if every entry agrees.

    Raises:
        GradcheckError: a derivative is wrong; the message shows both Jacobians.
        ValueError: no input requires grad.
        RuntimeError: an input has a dimension of stride 0, whose entries cannot be moved one at a time.
        NotImplementedError: complex tensors, forward mode and batched gradients, which are not there yet.
    """
    for name, value in (("check_batched_grad", check_batched_grad), ("check_forward_ad", check_forward_ad),
                        ("check_batched_forward_grad", check_batched_forward_grad)):  # fmt: skip
        if value:
            raise NotImplementedError(f"gradcheck: {name}=True is not yet supported: gradwright has no transforms yet")
    inputs = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    _check_inputs(inputs)
    if not check_backward_ad:
        raise ValueError("gradcheck: nothing to check with check_backward_ad=False and check_forward_ad=False")
    try:
        _check(func, tuple(inputs), eps, atol, rtol, nondet_tol, check_undefined_grad, check_grad_dtypes, fast_mode)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Whether the second derivatives of ``func`` are right: `gradcheck` of its gradient.

    Args:
        grad_outputs: cotangents at which the gradient is taken; random ones by default. They are checked as inputs too.
        gen_non_contig_grad_outputs: make the random cotangents non-contiguous.

    The others, what is returned and what is raised: see `gradcheck`.
    """
    if check_fwd_over_rev:
        raise NotImplementedError("gradgradcheck: check_fwd_over_rev=True is not yet supported")
    if not check_rev_over_rev:
        raise ValueError("gradgradcheck: nothing to check with check_rev_over_rev=False and check_fwd_over_rev=False")
    inputs = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    _check_inputs(inputs)
    if grad_outputs is None:
        outputs = _differentiable(func(*inputs))
        cotangents = tuple(_random_like(o, gen_non_contig_grad_outputs) for o in outputs)
    else:
        cotangents = tuple(grad_outputs) if isinstance(grad_outputs, (tuple, list)) else (grad_outputs,)
    n = len(cotangents)

    def gradient(*arguments: Any) -> tuple[Any, ...]:
        first, given = arguments[: len(arguments) - n], arguments[len(arguments) - n :]
        outs = _differentiable(func(*first))
        wanted = [t for t in _tensors(first) if t.requires_grad]
        return tuple(g for g in grad(outs, wanted, given, create_graph=True, allow_unused=True) if g is not None)

    try:
        return gradcheck(
            gradient, inputs + cotangents, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
            nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes,
            check_batched_grad=check_batched_grad, fast_mode=fast_mode, masked=masked,
        )  # fmt: skip
    except GradcheckError as e:
        e.add_note(
            "This is about the second derivative: output i is the gradient of input i, and after the inputs come the "
            f"{n} cotangents. Where the analytical one is 0, backward has cut its graph: by an intermediate of forward "
            "kept on ctx, or by .detach(), .data or .numpy()."
        )
        raise


def _check(
    func: Callable[..., Any], inputs: tuple[Any, ...], eps: float, atol: float, rtol: float, nondet_tol: float,
    undefined: bool, dtypes: bool, fast: bool,
) -> None:  # fmt: skip
    varied = [t for t in _tensors(inputs) if t.requires_grad]
    outputs = _differentiable(func(*inputs))
    for t in (*varied, *outputs):
        if t.array.dtype.kind == "c":
            raise NotImplementedError("gradcheck: complex tensors are not yet supported")
    if not outputs:
        for x in varied:
            if any(j.any() for j in numerical_jacobian(func, inputs, x, eps, only_differentiable=False)):
                raise GradcheckError("Numerical gradient for function expected to be zero")
        return
    if not (fast and _projections_agree(func, inputs, varied, outputs, eps, atol, rtol, nondet_tol)):
        numerical = [numerical_jacobian(func, inputs, x, eps) for x in varied]
        for i, out in enumerate(outputs):
            for j, analytical in enumerate(_analytical(out, varied, nondet_tol, dtypes)):
                if not np.allclose(analytical, numerical[j][i], rtol, atol):
                    raise GradcheckError(
                        f"Jacobian mismatch for output {i} with respect to input {j},\n"
                        f"numerical:{wrap(numerical[j][i])}\n"
                        f"analytical:{wrap(analytical)}\n"
                    )
    zeros = grad(outputs, varied, [wrap(np.zeros_like(o.array)) for o in outputs], retain_graph=True, allow_unused=True)
    if any(g is not None and g.array.any() for g in zeros):
        raise GradcheckError("backward not multiplied by grad_output")
    if undefined and len(outputs) > 1:
        _check_undefined(outputs, varied)


def numerical_jacobian(
    func: Callable[..., Any], inputs: Sequence[Any], x: Any, eps: float, *, only_differentiable: bool = True
) -> list[np.ndarray[Any, Any]]:
    """By central differences: for each output of ``func`` the matrix d out / d x, a row per entry of ``x``."""
    entries = alias_of(x).array.reshape(-1) if x.is_contiguous() else alias_of(x).array.flat
    rows: list[list[Any]] = []
    for k in range(x.array.size):
        before = entries[k]
        try:
            entries[k] = before + eps
            up = _values(func(*inputs), only_differentiable)
            entries[k] = before - eps
            down = _values(func(*inputs), only_differentiable)
        finally:
            entries[k] = before
        rows.append([(u - d) / (2 * eps) for u, d in zip(up, down, strict=True)])
    outs = _values(func(*inputs), only_differentiable)
    return [
        np.array([row[i] for row in rows]).reshape(x.array.size, out.size) for i, out in enumerate(outs)
    ]


def analytical_jacobian(out: Any, varied: Sequence[Any]) -> list[tuple[np.ndarray[Any, Any], set[Any]]]:
    """By the backward pass: for each input the matrix d out / d x, a row per entry of x; and the dtypes it came in."""
    jacobians: list[tuple[np.ndarray[Any, Any], set[Any]]] = [
        (np.zeros((x.array.size, out.array.size), x.array.dtype), set()) for x in varied
    ]
    one_hot = np.zeros(out.array.shape, out.array.dtype)
    flat = one_hot.reshape(-1)
    for k in range(out.array.size):
        flat[k] = 1
        grads = grad(out, varied, wrap(one_hot), retain_graph=True, allow_unused=True)
        flat[k] = 0
        for (jacobian, seen), x, g in zip(jacobians, varied, grads, strict=True):
            if g is None:
                continue
            if g.array.shape != x.array.shape:
                raise GradcheckError("Analytical gradient has incorrect size")
            jacobian[:, k] = g.array.reshape(-1)
            seen.add(g.array.dtype)
    return jacobians


def _analytical(out: Any, varied: Sequence[Any], nondet_tol: float, dtypes: bool) -> Iterator[np.ndarray[Any, Any]]:
    once, again = analytical_jacobian(out, varied), analytical_jacobian(out, varied)
    for (first, seen), (second, _), x in zip(once, again, varied, strict=True):
        if dtypes and seen - {x.array.dtype}:
            raise GradcheckError("Gradient has dtype mismatch")
        _check_reentrant(first, second, nondet_tol)
        yield first


def _check_reentrant(first: Any, second: Any, nondet_tol: float) -> None:
    if not np.allclose(first, second, rtol=0, atol=nondet_tol, equal_nan=True):
        raise GradcheckError(
            "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times "
            "gives different values, although analytical gradient matches numerical gradient. The tolerance for "
            f"nondeterminism was {nondet_tol}."
        )


def _projections_agree(
    func: Callable[..., Any], inputs: tuple[Any, ...], varied: Sequence[Any], outputs: Sequence[Any], eps: float,
    atol: float, rtol: float, nondet_tol: float,
) -> bool:  # fmt: skip
    """Whether v J u, with random u and v, comes out alike both ways, for each pair of an input and an output."""
    random = np.random.default_rng(0)
    vs = [random.uniform(0.5, 1.5, o.array.shape) for o in outputs]
    grads, again = (
        [
            grad(o, varied, wrap(v.astype(o.array.dtype)), retain_graph=True, allow_unused=True)
            for o, v in zip(outputs, vs, strict=True)
        ]
        for _ in range(2)
    )
    for first, second in zip(grads, again, strict=True):
        for a, b in zip(first, second, strict=True):
            _check_reentrant(0 if a is None else a.array, 0 if b is None else b.array, nondet_tol)
    for j, x in enumerate(varied):
        u = random.uniform(0.5, 1.5, x.array.shape)
        memory = alias_of(x).array
        before = memory.copy()
        try:
            memory[...] = before + eps * u
            up = _values(func(*inputs))
            memory[...] = before - eps * u
            down = _values(func(*inputs))
        finally:
            memory[...] = before
        for i, v in enumerate(vs):
            numerical = float(np.sum(v * (up[i] - down[i]) / (2 * eps)))
            g = grads[i][j]
            analytical = 0.0 if g is None else float(np.sum(g.array * u))
            if not np.isclose(analytical, numerical, rtol=rtol, atol=atol * v.sum() * u.sum()):
                return False
    return True


def _check_undefined(outputs: Sequence[Any], varied: Sequence[Any]) -> None:
    """Backward from one output alone must give what it gives with zeros for the others."""
    ones = [wrap(np.ones_like(o.array)) for o in outputs]
    for i, out in enumerate(outputs):
        filled = [one if k == i else wrap(np.zeros_like(one.array)) for k, one in enumerate(ones)]
        full = grad(outputs, varied, filled, retain_graph=True, allow_unused=True)
        try:
            alone = grad(out, varied, ones[i], retain_graph=True, allow_unused=True)
        except (RuntimeError, TypeError, AttributeError, ValueError) as e:
            raise GradcheckError(f"Expected backward function to handle undefined output grads; it raised: {e}") from e
        for a, b in zip(alone, full, strict=True):
            x, y = (np.zeros(()) if g is None else g.array for g in (a, b))
            if not np.allclose(x, y, equal_nan=True):
                raise GradcheckError(
                    "Expected all input grads to be the same with an undefined output grad as with a zero one"
                )


def _check_inputs(inputs: Sequence[Any]) -> None:
    any_varied = False
    for i, x in enumerate(_tensors(inputs)):
        if not x.requires_grad:
            continue
        any_varied = True
        if x.array.dtype.name not in ("float64", "complex128"):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check "
                "will likely fail if all the inputs are not of double precision floating point or complex. ",
                stacklevel=3,
            )
        if x.array.size and any(s == 0 and n > 1 for s, n in zip(x.stride(), x.array.shape, strict=True)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call .contiguous "
                "on the input before passing it to gradcheck."
            )
    if not any_varied:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have "
            "requires_grad=True."
        )


def _tensors(values: Any) -> Iterator[Any]:
    """The tensors among nested tuples and lists, in order."""
    for v in values:
        if isinstance(v, TensorBase):
            yield v
        elif isinstance(v, (tuple, list)):
            yield from _tensors(v)


def _differentiable(result: Any) -> list[Any]:
    return [t for t in _tensors((result,)) if t.requires_grad]


def _values(result: Any, only_differentiable: bool = True) -> list[np.ndarray[Any, Any]]:
    return [np.array(t.array) for t in _tensors((result,)) if t.requires_grad or not only_differentiable]


def _random_like(out: Any, non_contiguous: bool) -> Any:
    random = np.random.default_rng(out.array.size)
    array = random.standard_normal((*out.array.shape, 2)).astype(out.array.dtype)
    t = wrap(array[..., 0] if non_contiguous else array[..., 0].copy())
    t._node = AccumulateGrad(t)
    return t
