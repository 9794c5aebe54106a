"""``import gradwright.as_torch``: from then on ``import torch`` imports gradwright, in this process.

It is what `gradwright run` does before it runs a program, for programs that are started in another way:

    import gradwright.as_torch  # first
    import torchdiffeq          # finds gradwright as its torch

RuntimeError if PyTorch itself has been imported already.
"""

from gradwright.pytorch.hook import install, uninstall

__all__ = ["install", "uninstall"]

install()
