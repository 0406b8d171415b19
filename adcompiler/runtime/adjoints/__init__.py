"""Adjoints of NumPy functions that no single expression gives."""
