"""Modules: parameters, layers and their containers, under PyTorch's names."""
