"""Rules for ``scipy.ndimage``."""
