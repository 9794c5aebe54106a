"""gradwright measured against PyTorch: ``python -m benchmarks``."""
