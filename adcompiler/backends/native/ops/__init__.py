"""What each operation and function is in loops: of numbers, arrays and lists."""
