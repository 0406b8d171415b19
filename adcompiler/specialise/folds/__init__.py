"""Calls that types decide."""
