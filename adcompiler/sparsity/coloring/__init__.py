"""Columns and rows that share a seed, and what is read off the products."""
