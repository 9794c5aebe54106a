"""Products, decompositions and equations of matrices, under PyTorch's names."""
