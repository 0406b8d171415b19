"""Classes defined inside of the functions that are compiled: made once, when compiling.

Python makes such a class anew at each call. No call can tell, as long as the class reads nothing of
the call; so one is made of the same code, and is used like a class of the module.
"""

from __future__ import annotations

import builtins
import types as python_types
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from adcompiler.frontend.scope import Scope
from adcompiler.ir.nodes import Atom, Const, Origin, Star, constants
from adcompiler.infer.writer import Writer

DECORATORS = ("dataclasses.dataclass",)
"""What may be written above such a class."""

_made: weakref.WeakKeyDictionary[Any, dict[Any, type]] = weakref.WeakKeyDictionary()


class UnsupportedClassError(Exception):
    """A class reads what only a call of the function around it knows."""


def local_class(
    s: Writer, args: Sequence[Atom | Star], captured: dict[str, Atom], scope: Scope | None,
    origin: Origin,
) -> Atom:
    """Return the class that a ``class`` statement makes; report one that cannot be made now.

    ``args`` are its name, its line, the number of bases, the options of its decorators, then its
    bases and decorators; ``captured`` are variables of the function that its text names.
    """
    known, values = constants(args[:4]), constants(args[4:])
    assert known is not None
    name, line, count, options = known
    if values is None:
        return refuse(s, f"`{name}` has a base or a decorator that is not known", origin)
    bases, decorators = values[:count], values[count:]
    if scope is None or not all(full_name(decorator) in DECORATORS for decorator in decorators):
        return refuse(s, f"`{name}` has a decorator other than dataclass", origin)
    code = code_of_class(scope.function.__code__, name, line)
    if code is None:
        return refuse(s, f"the code of `{name}` is not found", origin)
    try:
        cells = cells_for(code, name, captured, scope.function)
    except UnsupportedClassError as error:
        return refuse(s, str(error), origin)
    try:
        cls = made_class(code, name, bases, decorators, options, cells, scope.function)
    except Exception as error:  # the text of the class runs, and may raise anything
        return refuse(s, f"making `{name}` raises {type(error).__name__}: {error}", origin)
    return s.unit.relied.static(cls, (("live", cls),))


def full_name(function: Callable[..., Any]) -> str:
    """Return the name of a function with that of its module."""
    return f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', '')}"


def refuse(s: Writer, why: str, origin: Origin) -> Atom:
    """Report a class."""
    return s.reject(
        origin, f"this class cannot be made when compiling: {why}",
        "define the class in the module, and pass what it needs to its constructor", "classes",
    )


def code_of_class(code: python_types.CodeType, name: str, line: int) -> Any:
    """Return the code of the body of a class that a function, or one inside of it, defines."""
    found = [one for one in codes_inside(code) if one.co_name == name]
    near = [one for one in found if one.co_firstlineno == line]
    return near[0] if len(near) == 1 else None


def codes_inside(code: python_types.CodeType) -> Iterator[python_types.CodeType]:
    """Yield the code objects in the constants of another one, all the way down."""
    for constant in code.co_consts:
        if isinstance(constant, python_types.CodeType):
            yield constant
            yield from codes_inside(constant)


def cells_for(
    code: python_types.CodeType, name: str, captured: dict[str, Atom], function: Callable[..., Any]
) -> dict[str, Any]:
    """Return cells for the variables of functions around that a class reads."""
    around = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells: dict[str, Any] = {}
    for free in code.co_freevars:
        atom = captured.get(free)
        if free == name:
            cells[free] = python_types.CellType()
        elif isinstance(atom, Const) and isinstance(
            atom.value, (type, python_types.FunctionType, python_types.ModuleType,
                         python_types.BuiltinFunctionType)
        ):
            cells[free] = python_types.CellType(atom.value)
        elif atom is None and free in around:
            cells[free] = around[free]
        else:
            raise UnsupportedClassError(f"`{name}` reads `{free}`, a variable of the function")
    return cells


def made_class(
    code: python_types.CodeType, name: str, bases: list[type],
    decorators: list[Callable[..., Any]], options: tuple[dict[str, Any] | None, ...],
    cells: dict[str, python_types.CellType], function: Callable[..., Any],
) -> type:
    """Return the class made by some code; the same one for the same surroundings."""
    known = _made.setdefault(function, {})
    contents = [
        (free, id(cell.cell_contents)) for free, cell in cells.items() if free != name
        and not is_empty(cell)
    ]
    key = (code, tuple(map(id, bases)), tuple(contents))
    if key in known:
        return known[key]
    closure = tuple(cells[free] for free in code.co_freevars)
    body = python_types.FunctionType(code, function.__globals__, name, None, closure)
    made: Any = builtins.__build_class__(body, name, *bases)
    for decorator, given in zip(reversed(decorators), reversed(options), strict=True):
        made = decorator(made) if given is None else decorator(**given)(made)
    if name in cells:
        cells[name].cell_contents = made
    known[key] = made
    return made  # type: ignore[no-any-return]


def is_empty(cell: python_types.CellType) -> bool:
    """Say whether a cell holds nothing yet."""
    try:
        cell.cell_contents  # noqa: B018 (it raises where it holds nothing)
    except ValueError:
        return True
    return False
