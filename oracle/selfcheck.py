"""PyTorch compared with itself: ``python -m oracle.selfcheck``, with the options of ``python -m oracle``.

Whatever disagrees here is a fault of the comparison, not of gradwright. PyTorch stands in for gradwright, whose names
are the same; only what the database holds of PyTorch's insides (``torch.ops``) is found missing.
"""

from __future__ import annotations

import sys

import torch

if __name__ == "__main__":
    sys.modules["gradwright"] = torch

    from oracle.__main__ import main

    sys.exit(main())
