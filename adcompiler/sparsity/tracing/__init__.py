"""Patterns of functions that are run on tracers."""
