"""Operations made of typed functions."""

from gradwright.function.custom_op import CustomOp, custom_op

__all__ = ["CustomOp", "custom_op"]
