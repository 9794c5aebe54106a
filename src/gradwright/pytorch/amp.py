"""Mixed precision, ``torch.amp``: gradwright keeps the dtypes that the program has, and says so once."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from gradwright.base import dtypes
from gradwright.base.source_line import warn
from gradwright.face.reference import attach

if TYPE_CHECKING:
    from gradwright.face.typing import DType

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

_dtypes: dict[str, Any] = {"cpu": dtypes.bfloat16}

_said: set[str] = set()


def _say(text: str) -> None:
    if text not in _said:
        _said.add(text)
        warn(text)


_UNCHANGED = ("autocast() changes nothing here: gradwright keeps the dtypes that tensors have (float32 stays float32); "
              "convert model and inputs with .to(dtype) to compute in another one")  # fmt: skip


class autocast:
    """A context, or a decorator, in which PyTorch computes some operations in half precision; here none.

    What is computed has the dtypes that the tensors have. That is said once, where it is on; `is_autocast_enabled` is
    False in it, too.
    """

    def __init__(self, device_type: str = "cpu", dtype: DType = None, enabled: bool = True,
                 cache_enabled: bool | None = None) -> None:  # fmt: skip
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device, self.fast_dtype = device_type, dtype or get_autocast_dtype(device_type)
        self._enabled = bool(enabled)

    def __enter__(self) -> autocast:
        if self._enabled:
            _say(_UNCHANGED)
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __call__(self, function: Any) -> Any:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return call


class GradScaler:
    """Scales losses by 1, since float32 needs no scale; a step with gradients that are not finite is left out.

    That is what PyTorch's does where it is enabled; with ``enabled=False``, or for CUDA where there is none, all steps
    are taken, as there.
    """

    def __init__(self, device: str = "cuda", init_scale: float = 2.0**16, growth_factor: float = 2.0,
                 backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True) -> None:  # fmt: skip
        self._enabled = enabled and str(device).partition(":")[0] == "cpu"
        self._scaled, self._found = False, dict[int, bool]()
        self._done: dict[int, str] = {}
        if self._enabled:
            _say("GradScaler() scales by 1 here: gradwright computes in the dtypes that tensors have, and float32 "
                 "gradients need no scale")  # fmt: skip

    def scale(self, outputs: Any) -> Any:
        """``outputs`` as they are."""
        self._scaled = True
        return outputs

    def _check_scaled(self, what: str) -> None:
        if not self._scaled:
            raise AssertionError(f"Attempted {what} but _scale is None.  This may indicate your script did not use "
                                 "scaler.scale(loss or outputs) earlier in the iteration.")  # fmt: skip

    def unscale_(self, optimizer: Any) -> None:
        """Look whether the gradients of the optimiser's parameters are finite; RuntimeError twice between updates."""
        if not self._enabled:
            return
        self._check_scaled("unscale_")
        done = self._done.get(id(optimizer))
        if done:
            raise RuntimeError("unscale_() is being called after step()." if done == "step" else "unscale_() has "
                               "already been called on this optimizer since the last update().")  # fmt: skip
        grads = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        if grads:
            self._found[id(optimizer)] = not all(bool(g.isfinite().all()) for g in grads)
        self._done[id(optimizer)] = "unscale_"

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """``optimizer.step()``, unless a gradient is not finite; then None.

        RuntimeError twice between updates, or with a closure; AssertionError without a gradient, or before `scale`.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scaled("step")
        done = self._done.get(id(optimizer))
        if done == "step":
            raise RuntimeError("step() has already been called since the last update().")
        if not done:
            self.unscale_(optimizer)
        if id(optimizer) not in self._found:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        self._done[id(optimizer)] = "step"
        return None if self._found[id(optimizer)] else optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """Forget what `unscale_` found; the scale stays 1. AssertionError if it has found nothing since the last."""
        if not self._enabled:
            return
        self._check_scaled("update")
        if new_scale is None and not self._found:
            raise AssertionError("No inf checks were recorded prior to update.")
        self._found.clear()
        self._done.clear()

    def get_scale(self) -> float:
        """The scale, 1."""
        return 1.0

    def is_enabled(self) -> bool:
        """Whether steps with gradients that are not finite are left out."""
        return self._enabled

    def get_growth_factor(self) -> float:
        """How the scale grows: it does not."""
        return 1.0

    get_backoff_factor = get_growth_factor

    def get_growth_interval(self) -> int:
        """After how many steps the scale grows: never."""
        return 0

    def state_dict(self) -> dict[str, Any]:
        """Nothing that is not known anyway."""
        return {"scale": 1.0} if self._enabled else {}

    def load_state_dict(self, state_dict: Any) -> None:
        """Nothing: a scale of PyTorch's has no meaning here. RuntimeError for that of one that was not enabled."""
        if self._enabled and not state_dict:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from a disabled instance "
                               "of GradScaler.")  # fmt: skip


def custom_fwd(fwd: Any = None, *, device_type: str = "cpu", cast_inputs: Any = None) -> Any:
    """The forward of a Function as it is: there is no autocast that it would have to be kept from."""
    return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs) if fwd is None else fwd


def custom_bwd(bwd: Any = None, *, device_type: str = "cpu") -> Any:
    """The backward of a Function as it is."""
    return functools.partial(custom_bwd, device_type=device_type) if bwd is None else bwd


def is_autocast_available(device_type: str) -> bool:
    """Whether operations can be run in half precision of their own accord: no."""
    return False


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Whether operations run in half precision of their own accord: never, inside `autocast` neither."""
    return False


is_autocast_cpu_enabled = is_autocast_cache_enabled = is_autocast_enabled


def clear_autocast_cache() -> None:
    """Nothing: there is none."""


def set_autocast_enabled(device_type: str | bool, enabled: bool | None = None) -> None:
    """Nothing but to say so, as `autocast` does."""
    if device_type is True or enabled:
        _say(_UNCHANGED)


set_autocast_cpu_enabled = set_autocast_enabled


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Nothing: there is no cache."""


def autocast_increment_nesting() -> int:
    """How deep `autocast` is nested: it counts for nothing."""
    return 1


def autocast_decrement_nesting() -> int:
    """How deep `autocast` is nested: it counts for nothing."""
    return 0


def get_autocast_dtype(device_type: str) -> dtypes.dtype:
    """In which dtype `autocast` would compute there: bfloat16 on the CPU, else float16, or what has been set."""
    return _dtypes.get(device_type, dtypes.float16)


def set_autocast_dtype(device_type: str, dtype: Any) -> None:
    """What `get_autocast_dtype` says."""
    _dtypes[device_type] = dtypes.of(dtype)


get_autocast_cpu_dtype = functools.partial(get_autocast_dtype, "cpu")
get_autocast_gpu_dtype = functools.partial(get_autocast_dtype, "cuda")
set_autocast_cpu_dtype = functools.partial(set_autocast_dtype, "cpu")
set_autocast_gpu_dtype = functools.partial(set_autocast_dtype, "cuda")


def on_device(kind: str) -> tuple[Any, Any]:
    """``torch.cuda.amp``'s autocast and GradScaler, or ``torch.cpu.amp``'s, which do not ask for the device."""

    class autocast_there(autocast):
        __doc__ = autocast.__doc__

        def __init__(self, enabled: bool = True, dtype: DType = None, cache_enabled: bool = True) -> None:
            super().__init__(kind, dtype, enabled, cache_enabled)

    class GradScalerThere(GradScaler):
        __doc__ = GradScaler.__doc__

        def __init__(self, init_scale: float = 2.0**16, growth_factor: float = 2.0, backoff_factor: float = 0.5,
                     growth_interval: int = 2000, enabled: bool = True) -> None:  # fmt: skip
            super().__init__(kind, init_scale, growth_factor, backoff_factor, growth_interval, enabled)

    return autocast_there, GradScalerThere


attach(globals(), "pytorch")
