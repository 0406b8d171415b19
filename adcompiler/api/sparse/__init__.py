"""Sparse Jacobians and Hessians, and their patterns."""

MODES = ("global", "local")
"""Whether a pattern holds at all values of the arguments, or at the given ones."""
