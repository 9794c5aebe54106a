"""Other libraries of the ecosystem that meet Tensors: NumPy's functions, DLPack, einops."""
