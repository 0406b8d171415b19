"""Functions of packages that are not installed for the tests, as they are shipped."""
