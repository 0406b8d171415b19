"""The source text of functions: found, and proved to be the text that runs."""
