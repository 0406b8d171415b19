"""Rules for ``scipy.special``, by families of functions."""
