"""What other engines are given where a program's own text is not for them, by its name."""
