"""Rules for ``scipy.stats``."""
