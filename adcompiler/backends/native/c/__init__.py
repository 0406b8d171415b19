"""The loop IR as C99, and what calls it from Python."""
