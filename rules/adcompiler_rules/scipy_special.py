"""Rules for ``scipy.special``."""
