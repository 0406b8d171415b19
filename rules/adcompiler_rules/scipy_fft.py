"""Rules for ``scipy.fft``."""
