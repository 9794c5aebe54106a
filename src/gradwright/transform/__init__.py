"""Functions made of functions: what a program computes, and its derivatives."""
