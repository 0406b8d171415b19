"""Rules of interpolators whose values, or places, are differentiated."""
