"""Functions of libraries written in Python, which are compiled like the user's in their place."""
