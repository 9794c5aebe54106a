"""``torch.cuda.amp``: see `gradwright.pytorch.amp`."""

from gradwright.pytorch.amp import custom_bwd, custom_fwd, on_device

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]

autocast, GradScaler = on_device("cuda")
