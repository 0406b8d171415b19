"""The derivative of typed IR, from rules."""
