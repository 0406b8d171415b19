"""The stages in order, and what is compiled inside of compiled code."""
