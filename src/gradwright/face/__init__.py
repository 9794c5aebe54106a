"""PyTorch's and the array API's names and arguments, translated to operations; nothing is computed here."""
