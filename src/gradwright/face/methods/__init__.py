"""The methods of Tensor, one line a method; the functions are in `face`, under the same names."""
