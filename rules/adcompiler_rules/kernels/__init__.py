"""What rules compute with: functions that emitted code calls, of NumPy and SciPy alone."""
