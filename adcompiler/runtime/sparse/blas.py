"""The functions of the BLAS that SciPy has, by address."""

from __future__ import annotations

import ctypes

NAMES = ("dgemm", "dgemv", "ddot")


def blas() -> dict[str, int]:
    """Return the addresses of the functions that loops call."""
    from scipy.linalg import cython_blas

    name_of, pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.argtypes, name_of.restype = (ctypes.py_object,), ctypes.c_char_p
    pointer.argtypes, pointer.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_void_p
    found = {}
    for name in NAMES:
        capsule = cython_blas.__pyx_capi__[name]
        found[name] = int(pointer(capsule, name_of(capsule)) or 0)
    return found
