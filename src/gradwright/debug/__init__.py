"""What looks on while programs run: anomaly mode, profiles, the path of values, why there is no gradient."""
