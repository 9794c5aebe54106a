"""The methods of Tensor, one class a family, one line a method; the functions are in `face`, under the same names."""
