"""User-written operations: Function, its ctx, what becomes of its outputs; operations made of typed functions."""
