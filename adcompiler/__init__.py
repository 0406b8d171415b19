"""Source-to-source automatic differentiation for plain Python and NumPy."""
