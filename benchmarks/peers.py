"""Other libraries to compare with, when they are installed."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any


def autograd() -> dict[str, Any] | None:
    """Return autograd's derivatives, its ``numpy`` and its ``special``, or ``None``."""
    if importlib.util.find_spec("autograd") is None:
        print("autograd is not installed: left out")
        return None
    autograd = importlib.import_module("autograd")
    return {
        "grad": autograd.grad,
        "hessian": autograd.hessian,
        "jacobian": autograd.jacobian,
        "numpy": importlib.import_module("autograd.numpy"),
        "special": importlib.import_module("autograd.scipy.special"),
    }


def jax() -> dict[str, Any] | None:
    """Return JAX's transformations and its ``numpy``, with 64-bit numbers, or ``None``."""
    if importlib.util.find_spec("jax") is None:
        print("JAX is not installed: left out")
        return None
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    names = ("hessian", "jacobian", "jacfwd", "jit", "vmap")
    return {"numpy": importlib.import_module("jax.numpy")} | {n: getattr(jax, n) for n in names}
