"""What ``MODULE_OR_FILE[:FUNCTION]`` names."""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
import types
from pathlib import Path
from typing import Any

from adcompiler.api import Derivative
from adcompiler.errors import ADError

_FUNCTION = re.compile(r"(?P<module>.+):(?P<function>[^\W\d]\w*(?:\.[^\W\d]\w*)*)")


class UsageError(Exception):
    """The command line names something that does not exist, or makes no sense."""


def load_target(text: str) -> tuple[str, dict[str, Any]]:
    """Return a module's name and the callables meant, by name.

    They are the function named, or every derivative that the module defines at its top level.
    """
    match = _FUNCTION.fullmatch(text)
    where, name = (match["module"], match["function"]) if match else (text, None)
    module = load_module(where)
    if name is not None:
        return module.__name__, {name: function_in(module, name)}
    found = {
        name: value for name, value in vars(module).items()
        if isinstance(value, Derivative) and not is_from_elsewhere(module, value)
    }
    if not found:
        raise UsageError(
            f"{module.__name__} has no @grad or @value_and_grad function at its top level; "
            f"name the function to differentiate: {where}:FUNCTION"
        )
    return module.__name__, found


def is_from_elsewhere(module: types.ModuleType, derivative: Derivative) -> bool:
    """Say whether a module only imports a derivative."""
    home = sys.modules.get(getattr(derivative, "__module__", ""))
    if home is None or home is module:
        return False
    return any(value is derivative for value in vars(home).values())


def function_in(module: types.ModuleType, name: str) -> Any:
    """Return the callable ``name`` (dotted for methods) of a module."""
    value: Any = module
    for part in name.split("."):
        value = getattr(value, part, None)
    if not callable(value):
        problem = "has no function" if value is None else "is not a function:"
        raise UsageError(f"{module.__name__} {problem} {name}")
    return value


def load_module(where: str) -> types.ModuleType:
    """Import a module by its name, or by its file, under the name by which others import it."""
    path = Path(where)
    if path.suffix == ".py" or path.is_file():
        if not path.is_file():
            raise UsageError(f"there is no file {where}")
        directory, name = import_name(path.resolve())
    else:
        directory, name = Path.cwd(), where
    if str(directory) not in sys.path:
        sys.path.insert(0, str(directory))
    try:
        with contextlib.redirect_stdout(sys.stderr):  # what the module prints is not the dump
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            raise UsageError(f"there is no module {name}") from None
        raise ADError(f"{name} cannot be imported: {error}") from error
    except Exception as error:
        described = f"{type(error).__name__}: {error}"
        raise ADError(f"{name} cannot be imported: {described}") from error


def import_name(path: Path) -> tuple[Path, str]:
    """Return the directory and the dotted name from which and by which a file is imported."""
    parts = [] if path.name == "__init__.py" else [path.stem]
    directory = path.parent
    while (directory / "__init__.py").is_file():
        parts.insert(0, directory.name)
        directory = directory.parent
    return directory, ".".join(parts)
