"""PyTorch's names: what gradwright serves under them (`hook`, `served`), and which there are (`known`, `count`)."""
