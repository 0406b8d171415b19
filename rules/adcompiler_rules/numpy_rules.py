"""All rules for NumPy: importing this module registers them."""
