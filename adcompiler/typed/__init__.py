"""Typed IR while it is written: its tables, shapes and values."""
