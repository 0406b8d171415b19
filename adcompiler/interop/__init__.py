"""Derivatives in the forms that other libraries ask for: ``interop.scipy``, ``torch``, ``jax``.

Each module imports its library; nothing here is imported with adcompiler.
"""
