"""Coefficients of truncated power series beside values."""
