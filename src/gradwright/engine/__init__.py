"""Tensor state, the mode, nodes, views, versions and the backward pass. It knows only `Node`: no op, no Function."""
