"""Nodes of the graph."""

from gradwright.engine.node import AccumulateGrad, Node

__all__ = ["AccumulateGrad", "Node"]
