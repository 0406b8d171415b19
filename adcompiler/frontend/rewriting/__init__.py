"""Rewrites of parsed functions before they are lowered."""
