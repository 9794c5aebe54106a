"""Anomaly mode."""

from gradwright.base.errors import AnomalyError
from gradwright.debug.anomaly import (
    Anomaly,
    Range,
    detect_anomaly,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_anomaly_enabled,
    set_detect_anomaly,
)

__all__ = [
    "Anomaly", "AnomalyError", "Range", "detect_anomaly", "is_anomaly_check_nan_enabled", "is_anomaly_enabled",
    "set_anomaly_enabled", "set_detect_anomaly",
]  # fmt: skip
