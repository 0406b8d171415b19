"""Python's ast printed as source, and read back."""
