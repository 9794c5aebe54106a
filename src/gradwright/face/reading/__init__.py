"""Arguments, read once for both faces: tensors, axes, dtypes, shapes."""
