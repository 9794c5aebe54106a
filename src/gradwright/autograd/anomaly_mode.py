"""Anomaly mode, under the name of PyTorch's module."""

from gradwright.debug.anomaly import detect_anomaly, set_detect_anomaly

__all__ = ["detect_anomaly", "set_detect_anomaly"]
