"""The part of the package that pyproject.toml has no words for: what is compiled."""

from setuptools import setup

from gradwright.utils.cpp_extension import BuildExtension, CppExtension

setup(
    ext_modules=[CppExtension("fused_ops._core", ["src/fused_ops/ops.cpp"])],
    cmdclass={"build_ext": BuildExtension},
)
