"""Programs of other people's packages, run on PyTorch and on gradwright: see docs/packages.md."""
