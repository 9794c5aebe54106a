"""Entries that do not work yet over array-api-strict arrays, and why. The table must shrink."""

from __future__ import annotations

REFUSED: dict[str, str] = {
    "as_strided.partial_views": "value: RuntimeError: setStorage: sizes [2, 2], strides [1, 2], storage offset 10 r",
    "bfloat16": "value: TypeError: array_api_strict has no torch.bfloat16: take another dtype, such as torch.float3",
    "cov": "value: AttributeError: 'Array' object has no attribute 'any' (face/statistics.py, _weights)",
    "grid_sampler_3d": "gradient: MemoryError: Unable to allocate 1.02 TiB for an array with shape (2337720, 480480",
    "half": "value: TypeError: array_api_strict has no torch.float16: take another dtype, such as torch.float32 (ba",
    "index_fill": "value: TypeError: device: expected a string or a device, got array_api_strict.float64 (backends/",
    "lerp": "value: RuntimeError: lerp(): expected dtype float64 for `end` but got dtype float64 (face/arithmetic.p",
    "nn.functional.rms_norm": "value: AttributeError: 'DType' object has no attribute 'itemsize' (nn/functional/nor",
    "normal.number_mean": "value: the result is a numpy.ndarray, not of array_api_strict",
    "put": "value: RuntimeError: last_at(): zero-size array to reduction operation maximum which has no identity (c",
    "tensor_split": "value: AttributeError: 'DType' object has no attribute 'name' (face/join.py, tensor_split)",
}
