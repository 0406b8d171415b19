"""Sparse Jacobians and Hessians, and their patterns."""
