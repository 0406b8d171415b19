"""Rules of minima, fits and programs."""
