"""What an ``import`` statement inside a function binds."""

from __future__ import annotations

import importlib.util
import sys
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
    there(name, package)
    module = there(top, package)
    if wanted and not hasattr(module, wanted):
        there(f"{module.__name__}.{wanted}")
    return module


def there(name: str, package: str | None = None) -> ModuleType:
    """Return a module by its name; it is imported if nobody has begun to.

    One that is being imported by who waits for this thread is locked until this thread ends.
    """
    full = importlib.util.resolve_name(name, package)
    return sys.modules.get(full) or importlib.import_module(full)
