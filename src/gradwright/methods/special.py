"""Methods that are special functions."""

from __future__ import annotations

from typing import Any

from gradwright.face import special as s
from gradwright.face.algebra import spectral
from gradwright.face.forms import inplace


class Special:
    """Methods that are special functions."""

    __slots__ = ()

    stft, istft = spectral.stft, spectral.istft
    erf, erfc, erfinv, lgamma, digamma, mvlgamma = s.erf, s.erfc, s.erfinv, s.lgamma, s.digamma, s.mvlgamma
    erf_, erfc_, erfinv_, lgamma_, digamma_, mvlgamma_ = map(inplace, (erf, erfc, erfinv, lgamma, digamma, mvlgamma))
    igamma, igammac, i0, sinc, logit, xlogy = s.igamma, s.igammac, s.i0, s.sinc, s.logit, s.xlogy
    igamma_, igammac_, i0_, sinc_, logit_, xlogy_ = map(inplace, (igamma, igammac, i0, sinc, logit, xlogy))

    def polygamma(self, n: int) -> Any:
        """The n-th derivative of the digamma function."""
        return s.polygamma(n, self)

    polygamma_ = inplace(polygamma)
