"""Streams of random numbers, which `generator` draws from: NumPy's and PyTorch's."""
