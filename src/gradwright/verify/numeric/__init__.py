"""Finite differences, and what they cost: the one place that takes them."""
