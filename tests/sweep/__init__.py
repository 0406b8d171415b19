"""A sweep over the public functions of NumPy and SciPy, with their options, in every product."""
