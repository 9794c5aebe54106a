"""array-api-strict as `xp`: it refuses whatever the array API does not promise, so it proves a formula portable.

Importing this module makes its arrays known; it needs the ``dev`` extra.
"""

from __future__ import annotations

import numpy as np

from gradwright.backends import register
from gradwright.backends.generic import Extended

try:
    import array_api_strict
except ImportError as e:
    raise ImportError(
        "gradwright.backends.strict needs array-api-strict: pip install array-api-strict", name="array_api_strict"
    ) from e

namespace = Extended(array_api_strict)
_HOST = array_api_strict.Device("CPU_DEVICE")
register(namespace, type(array_api_strict.empty(0)), name="array-api-strict",
         to_host=lambda array: np.asarray(array.to_device(_HOST)))  # fmt: skip
