"""Rules for ``scipy.interpolate``."""
