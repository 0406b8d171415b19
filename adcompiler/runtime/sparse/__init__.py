"""Sparse matrices of SciPy in emitted code."""
