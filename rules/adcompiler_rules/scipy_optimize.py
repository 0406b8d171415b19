"""Rules for ``scipy.optimize``."""
