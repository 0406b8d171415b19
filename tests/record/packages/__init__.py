"""Functions of packages that were not tried before, drawn by a seed, as they are shipped."""
