"""How a recording follows functions of libraries written in C."""
