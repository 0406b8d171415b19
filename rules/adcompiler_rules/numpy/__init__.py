"""Rules for NumPy, by what its functions do; ``numpy_rules`` loads all of them."""
