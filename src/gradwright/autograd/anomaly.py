"""Anomaly mode."""

from gradwright.errors import AnomalyError
from gradwright.watchers.anomaly import (
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
