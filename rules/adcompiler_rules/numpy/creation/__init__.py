"""Rules of functions that make arrays: of numbers, of lists, masked, and matrices."""
