"""How a program is laid out to be run by NumPy: its order, its memory, and its text."""
