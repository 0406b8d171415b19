"""The programs, a module for each class."""
