"""Rules of ufuncs, of their methods, and of other functions of single elements."""
