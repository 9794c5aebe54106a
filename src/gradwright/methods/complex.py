"""Methods of complex numbers."""

from __future__ import annotations

from typing import Any

from gradwright.face import complex as z
from gradwright.face.forms import inplace


class Complex:
    """Methods of complex numbers."""

    __slots__ = ()

    angle, conj, conj_physical, isreal, is_complex = z.angle, z.conj, z.conj_physical, z.isreal, z.is_complex
    resolve_conj, resolve_neg = z.resolve_conj, z.resolve_neg
    conj_physical_ = inplace(z.conj_physical)

    @property
    def real(self) -> Any:
        """Its real part, as a view."""
        return z.real(self)

    @property
    def imag(self) -> Any:
        """Its imaginary part, as a view."""
        return z.imag(self)
