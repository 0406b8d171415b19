"""Passes over loops: `table.py` has them in order."""
