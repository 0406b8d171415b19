"""All iterations of a loop at once."""
