"""Other libraries to compare with, when they are installed."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any


def autograd() -> dict[str, Any] | None:
    """Return autograd's ``grad``, its ``numpy`` and its ``special``, or ``None``."""
    if importlib.util.find_spec("autograd") is None:
        print("autograd is not installed: left out")
        return None
    return {
        "grad": importlib.import_module("autograd").grad,
        "numpy": importlib.import_module("autograd.numpy"),
        "special": importlib.import_module("autograd.scipy.special"),
    }
