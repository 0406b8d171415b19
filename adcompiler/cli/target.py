"""What ``MODULE_OR_FILE[:FUNCTION]`` names."""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import importlib.util
import itertools
import re
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adcompiler.api.derivative import Derivative
from adcompiler.compile.modes import MODES
from adcompiler.errors import ADError

_FUNCTION = re.compile(r"(?P<module>.+):(?P<function>[^\W\d]\w*(?:\.[^\W\d]\w*)*)")


_ITS_FILE = "__adcompiler_loaded_from__"
"""What a module has that is loaded from a file because its name is that of another module."""


class UsageError(Exception):
    """The command line names something that does not exist, or makes no sense."""


def load_target(text: str) -> tuple[str, dict[str, Any]]:
    """Return a module's name and the callables meant, by name.

    They are the function named, or every derivative that the module defines at its top level.
    """
    where, name = named_in(text)
    module = load_module(where)
    if name is not None:
        return module.__name__, {name: function_in(module, name)}
    found = {
        name: value for name, value in derivatives_in(module)
        if value.options.mode in MODES and "." not in name
    }
    if not found:
        raise UsageError(
            f"{module.__name__} has no @grad or @value_and_grad function at its top level; "
            f"name the function to differentiate: {where}:FUNCTION"
        )
    return module.__name__, found


def derivatives_in(module: types.ModuleType) -> Iterator[tuple[str, Derivative[..., Any]]]:
    """Yield the derivatives that a module defines at its top level, and in its classes."""
    for name, value in list(vars(module).items()):
        if isinstance(value, Derivative) and not is_from_elsewhere(module, value):
            yield name, value
        elif isinstance(value, type) and value.__module__ == module.__name__:
            yield from ((f"{name}.{inner}", one) for inner, one in vars(value).items()
                        if isinstance(one, Derivative))


def named_in(text: str) -> tuple[str, str | None]:
    """Return the module or file, and the function, that ``MODULE_OR_FILE[:FUNCTION]`` names."""
    match = _FUNCTION.fullmatch(text)
    return (match["module"], match["function"]) if match else (text, None)


def is_from_elsewhere(module: types.ModuleType, derivative: Derivative[..., Any]) -> bool:
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
    """Import a module by its name, or by its file, under the name by which others import it.

    The file that is named is the one that is loaded, whatever other module has its name.
    """
    if not where:
        raise UsageError("name a module or a file, e.g. model.py")
    path = Path(where)
    file = path.resolve() if path.suffix == ".py" or path.is_file() else None
    if file is not None and not file.is_file():
        raise UsageError(f"there is no file {where}")
    if file is not None and file.suffix != ".py":
        raise UsageError(f"{where} is no Python file: the names of these end with .py")
    directory, name = (Path.cwd(), where) if file is None else import_name(file)
    if str(directory) not in sys.path:
        sys.path.insert(0, str(directory))
    try:
        with contextlib.redirect_stdout(sys.stderr):  # what the module prints is not the dump
            if file is None or is_found_as(file, name):
                return importlib.import_module(name)
            return loaded_from(file, name)
    except ModuleNotFoundError as error:
        if file is None and error.name is not None and (
            name == error.name or name.startswith(error.name + ".")
        ):
            raise UsageError(f"there is no module {name}") from None
        raise ADError(f"{name} cannot be imported: {error}") from error
    except (Exception, SystemExit) as error:
        raise ADError(f"{name} cannot be imported: {described(error)}") from error


@contextlib.contextmanager
def running(name: str) -> Iterator[None]:
    """Report what a user's function raises as its own, and not as a defect of the command."""
    try:
        yield
    except (ADError, UsageError, OSError):
        raise
    except (Exception, SystemExit) as error:
        if str(error).startswith("argnums:"):
            raise UsageError(str(error)) from error
        raise ADError(f"{name}: {described(error)}") from error


@contextlib.contextmanager
def writing(path: str) -> Iterator[None]:
    """Report a file that cannot be written."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot write {path or 'to a file without a name'}: {reason}") from None


def seed(text: str) -> int:
    """Return the seed that an option gives."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("a seed is 0, 1, 2, ...")
    return number


def described(error: BaseException) -> str:
    """Return the class and the text of an exception."""
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def add_loads(parser: argparse.ArgumentParser) -> None:
    """Add the option that imports modules which register rules."""
    parser.add_argument(
        "--load", action="append", default=[], metavar="MODULE_OR_FILE",
        help="import this first, for the rules that it registers; may be given several times",
    )


def is_found_as(file: Path, name: str) -> bool:
    """Say whether importing a name gives the module of a file, and no other one."""
    module = sys.modules.get(name)
    if module is not None:
        found = getattr(module, "__file__", None)
    else:
        spec = importlib.util.find_spec(name)
        found = None if spec is None or not spec.has_location else spec.origin
    return found is not None and Path(found).resolve() == file


def loaded_from(file: Path, name: str) -> types.ModuleType:
    """Run a file as a module of its own, whose name another module has."""
    if "." in name:
        raise ADError(
            f"{file} cannot be imported as {name}, which is another file: start where the package "
            "is found first"
        )
    number = next(n for n in itertools.count(2) if f"{name}_{n}" not in sys.modules)
    spec = importlib.util.spec_from_file_location(f"{name}_{number}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    vars(module)[_ITS_FILE] = str(file)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def without_name(text: str) -> list[str]:
    """Return the files of the modules that a dumped module imports and that no import reaches."""
    names = {
        alias.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import)
        for alias in node.names
    }
    files = (vars(sys.modules[name]).get(_ITS_FILE) for name in names if name in sys.modules)
    return sorted(file for file in files if file is not None)


def import_name(path: Path) -> tuple[Path, str]:
    """Return the directory and the dotted name from which and by which a file is imported."""
    parts = [] if path.name == "__init__.py" else [path.stem]
    directory = path.parent
    while (directory / "__init__.py").is_file():
        parts.insert(0, directory.name)
        directory = directory.parent
    return directory, ".".join(parts)
