"""Rules of functions that shape, join, split, select, sort and repeat elements."""
