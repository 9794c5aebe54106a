"""Reading is seen through the functions of the face, which PyTorch has, too."""

from tests.face.conftest import same

__all__ = ["same"]
