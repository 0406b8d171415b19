"""What an ``import`` statement inside a function binds."""

from __future__ import annotations

import importlib
from types import ModuleType


def imported_module(name: str, top: str) -> ModuleType:
    """Return the module that ``import name`` binds (``top``: the dotted name it is bound to)."""
    importlib.import_module(name)
    return importlib.import_module(top)
