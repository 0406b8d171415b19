"""Rules for ``scipy.sparse``."""
