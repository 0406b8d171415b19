"""Rules for ``scipy.integrate``."""
