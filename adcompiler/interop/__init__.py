"""Derivatives in the forms that other libraries ask for: ``interop.scipy``, ``interop.torch`` ...

Each module imports its library; nothing here is imported with adcompiler.
"""
