"""Sources of random numbers: generators, the default one and its state."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright.backends import to_host
from gradwright.backends.devices import place
from gradwright.backends.generator import Source, shared
from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.engine.base import TensorBase
from gradwright.engine.watch import drawing
from gradwright.face.creation import finish

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike, Tensor


class Generator:
    """Random numbers of their own, drawn by what is given this as ``generator=``.

    ``device`` is the CPU. A new generator always starts from the same seed. Its stream is the one that is in use when
    it is made (`random.use`): NumPy's PCG64, or PyTorch's numbers.

        >>> import gradwright
        >>> g = gradwright.Generator().manual_seed(0)
        >>> state = g.get_state()
        >>> first = gradwright.rand(2, generator=g)
        >>> bool((gradwright.rand(2, generator=g.set_state(state)) == first).all())
        True
    """

    __slots__ = ("_source", "device")

    def __init__(self, device: DeviceLike = "cpu") -> None:
        self.device = place(device)
        self._source = Source(67280421310721)

    def manual_seed(self, seed: int) -> Generator:
        """Start anew from ``seed``; RuntimeError if that is no whole number of 64 bits."""
        self._source.manual_seed(seed)
        return self

    def seed(self) -> int:
        """Start anew from a seed that nobody chose, and return it."""
        return self._source.seed()

    def initial_seed(self) -> int:
        """The seed that it started from."""
        return self._source.initial_seed()

    def get_state(self) -> Any:
        """Its state, a uint8 tensor for `set_state`; PyTorch's bytes where its numbers are drawn."""
        return finish(np.frombuffer(self._source.get_state(), np.uint8).copy(), None, None, False)

    def set_state(self, new_state: Any) -> Generator:
        """Go on as from where `get_state` returned ``new_state``.

        Raises TypeError if that is no uint8 tensor, RuntimeError if it is of another size.
        """
        if not isinstance(new_state, TensorBase):
            raise TypeError(f"expected a torch.ByteTensor, but got {kind(new_state)}")
        state = to_host(new_state.array)
        if state.dtype != np.uint8:
            raise TypeError(f"RNG state must be a torch.ByteTensor, but it is of {dtypes.of(state.dtype)}")
        self._source.set_state(state.tobytes())
        return self

    def clone_state(self) -> Generator:
        """A generator that will draw the same numbers."""
        return Generator(self.device).set_state(self.get_state())


default_generator = Generator()
"""What is drawn from where no other generator is named."""
default_generator._source = shared


def manual_seed(seed: int) -> Generator:
    """Start the random numbers anew from ``seed``, and return the default generator.

    The stream is NumPy's PCG64, which gives other numbers than PyTorch's; `random.use` exchanges it. Raises
    RuntimeError if ``seed`` does not fit 64 bits, signed or unsigned.

    >>> gw.manual_seed(0) is gw.default_generator
    True
    >>> first = gw.rand(2)
    >>> _ = gw.manual_seed(0)
    >>> bool((gw.rand(2) == first).all())
    True
    """
    return default_generator.manual_seed(seed)


def source_of(generator: Any) -> Any:
    """What draws for one of our generators, or behind None, which is the default one."""
    if generator is None:
        source = shared
    elif isinstance(generator, Generator):
        source = generator._source
    else:
        raise TypeError(f"argument 'generator' must be a torch.Generator or None, not {kind(generator)}")
    return drawing(source)


def get_rng_state() -> Tensor:
    """The state of the default generator, a uint8 tensor for `set_rng_state`: PyTorch's bytes if that is its stream.

    >>> state = gw.get_rng_state()
    >>> first = gw.rand(2)
    >>> gw.set_rng_state(state)
    >>> bool((gw.rand(2) == first).all())
    True
    """
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Draw on as from where `get_rng_state` returned ``new_state``; see there.

    Raises TypeError if that is no uint8 tensor, RuntimeError if it is of another size.

    >>> gw.set_rng_state(gw.get_rng_state())
    """
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, device_type: Any = None) -> Iterator[None]:
    """Go back, after a ``with`` block, to the random numbers as they were before it, unless not ``enabled``.

    ``devices`` and ``device_type`` are accepted and do nothing: all numbers are drawn on the CPU.

        >>> import gradwright
        >>> _ = gradwright.manual_seed(0)
        >>> with gradwright.random.fork_rng():
        ...     first = gradwright.rand(2)
        >>> bool((gradwright.rand(2) == first).all())
        True
    """
    before = shared.get_state() if enabled else b""
    try:
        yield
    finally:
        if enabled:
            shared.set_state(before)


def drawn_array(drawn: Any) -> Any:
    """What was drawn as an array; in a transform or a trace it is one already."""
    return drawn if hasattr(drawn, "_apply") else np.asarray(drawn)
