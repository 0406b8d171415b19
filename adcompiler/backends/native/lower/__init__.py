"""Lowers typed IR to loops: blocks, values, calls, arguments."""
