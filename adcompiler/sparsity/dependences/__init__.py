"""Sets of inputs that values depend on."""
