"""Tangents beside values."""
