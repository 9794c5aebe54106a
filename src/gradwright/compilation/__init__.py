"""Programs: functions of tensors traced, made ready and run again; `compile` is what users call."""
