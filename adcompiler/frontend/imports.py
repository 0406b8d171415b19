"""What an ``import`` statement inside a function binds."""

from __future__ import annotations

import importlib
from types import ModuleType


def imported_module(
    name: str, top: str, wanted: str = "", package: str | None = None
) -> ModuleType:
    """Return the module that ``import name`` binds (``top``: the dotted name it is bound to).

    What is ``wanted`` from it may be a module inside of it; ``package`` is where relative names
    start.
    """
    if name.startswith(".") and not package:
        raise ImportError("attempted relative import with no known parent package")
    importlib.import_module(name, package)
    module = importlib.import_module(top, package)
    if wanted and not hasattr(module, wanted):
        importlib.import_module(f"{module.__name__}.{wanted}")
    return module
