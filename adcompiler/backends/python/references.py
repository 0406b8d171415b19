"""How compile-time values are written in emitted code, and the imports that this takes."""

from __future__ import annotations

import ast
import builtins
import operator
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import adcompiler.runtime as runtime
from adcompiler.backends.python.free_names import free_name
from adcompiler.frontend.scope import Scope
from adcompiler.ir.nodes import Block, Const, Global, Let, Undefined, Update
from adcompiler.ir.visit import blocks_of, direct_uses, walk
from adcompiler.ops.qualified_names import found_in, is_emitted_home, public_place, qualified_name
from adcompiler.ops.queries import numeric_method
from adcompiler.runtime.reading import unless_it_raises
from adcompiler.typed.tables import Path
from adcompiler.typed.unit import Unit

if TYPE_CHECKING:
    from adcompiler.backends.native.values import Buffer, Fused, Num

MODULE_ALIASES = {"numpy": "np"}


class References:
    """Collects the imports of a module while its expressions are written.

    ``bound`` lists values that no import reaches; the loader binds them by their paths, under names
    that are not among those ``taken``.
    """

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.taken: set[str] = set()
        self.modules: dict[str, None] = {}
        self.runtime: dict[str, str] = {}
        self.bound: dict[str, tuple[Any, Path | None]] = {}
        self.places: dict[int, tuple[Any, tuple[str, str] | None]] = {}

    def expression(self, value: Any) -> ast.expr:
        """Return the expression that evaluates to ``value``."""
        simple = literal(value)
        if simple is not None:
            return simple
        if isinstance(value, np.dtype):
            return ast.Attribute(self.module("numpy"), value.type.__name__, ast.Load())
        if isinstance(value, types.ModuleType):
            return self.module(value.__name__)
        if isinstance(value, (tuple, list)):
            make = ast.Tuple if isinstance(value, tuple) else ast.List
            return make([self.expression(item) for item in value], ast.Load())
        if isinstance(value, frozenset):
            return ast.Set([self.expression(item) for item in sorted(value, key=repr)])
        found = self.reach(value) or self.along(self.unit.relied.paths.get(id(value)))
        return found if found is not None else self.bind(value)

    def importable(self, value: Any) -> ast.expr | None:
        """Return an expression for ``value`` over literals and imports, None if there is none."""
        simple = literal(value)
        if simple is None and type(value) is tuple:
            parts = [self.importable(item) for item in value]
            return ast.Tuple([part for part in parts if part is not None], ast.Load()) if (
                None not in parts) else None
        return simple if simple is not None else self.reach(value)

    def along(self, path: Path | None) -> ast.expr | None:
        """Return the expression for what is found on ``path``, if it starts in a module."""
        value: Any = self.unit.root
        result: ast.expr | None = None
        for kind, name in path or ():
            if kind == "free" and isinstance(value, types.FunctionType):
                scope = Scope(value)
                where, value = scope.lookup(name)
                if where != "global" or not scope.module:
                    return None
                result = ast.Attribute(self.module(scope.module), name, ast.Load())
            elif kind == "attr" and result is not None:
                value = getattr(value, name, None)
                result = ast.Attribute(result, name, ast.Load())
            else:
                return None
        return result

    def module(self, name: str) -> ast.expr:
        """Return the expression for a module, and import it."""
        if name in ("numpy.linalg", "numpy.fft", "numpy.random"):  # np imports these itself
            self.modules["numpy"] = None
            return dotted(name.replace("numpy", MODULE_ALIASES["numpy"]))
        self.modules[name] = None
        if is_hidden(name):
            self.modules["sys"] = None
            return ast.Subscript(dotted("sys.modules"), ast.Constant(name), ast.Load())
        return dotted(MODULE_ALIASES.get(name, name))

    def reach(self, value: Any) -> ast.expr | None:
        """Return an expression by which ``value`` is reached from an importable module."""
        name = qualified_name(value)
        if name is None or "<" in name:
            return None
        if getattr(builtins, name, None) is value:
            return free_name(name)
        home = getattr(value, "__module__", None) or ""
        if is_emitted_home(home):
            source = runtime_module(value)
            is_named = getattr(sys.modules.get(home), name, None) is value
            if is_named and self.runtime.setdefault(name, source) == source:
                return free_name(name)
        if getattr(np, name, None) is value:
            return ast.Attribute(self.module("numpy"), name, ast.Load())
        if getattr(operator, name, None) is value:
            return ast.Attribute(self.module("operator"), name, ast.Load())
        if id(value) not in self.places:
            self.places[id(value)] = value, public_place(value)  # kept, so that its id is its own
        place = self.places[id(value)][1]
        if place is None:
            return None
        result = self.module(place[0])
        for part in place[1].split("."):
            result = ast.Attribute(result, part, ast.Load())
        return result

    def bind(self, value: Any) -> ast.expr:
        """Return a name that the loader binds to ``value``."""
        for name, (other, _) in self.bound.items():
            if other is value:
                return free_name(name)
        base = getattr(value, "__name__", None) or type(value).__name__
        base = "".join(c if c.isalnum() else "_" for c in str(base)).strip("_") or "value"
        name, number = f"{base}_", 1
        while name in self.bound or name in self.taken:
            number += 1
            name = f"{base}_{number}"
        self.bound[name] = (value, self.unit.relied.paths.get(id(value)))
        return free_name(name)

    def imports(self) -> list[ast.stmt]:
        """Return the import statements."""
        rows: list[ast.stmt] = []
        for name in sorted(self.modules):
            alias = MODULE_ALIASES.get(name)
            rows.append(ast.Import([ast.alias(name, alias)]))
        for module in sorted(set(self.runtime.values())):
            names = [ast.alias(n) for n in sorted(self.runtime) if self.runtime[n] == module]
            rows.append(ast.ImportFrom(module, names, 0))
        return rows


def is_hidden(name: str) -> bool:
    """Say whether a package has something else under the name of a module in it, as a function."""
    package, _, rest = name.partition(".")
    return bool(rest) and name in sys.modules and found_in(package, rest) is not sys.modules[name]


def runtime_module(function: Callable[..., Any]) -> str:
    """Return the module of the runtime that a function is imported from."""
    if getattr(runtime, function.__name__, None) is function:
        return "adcompiler.runtime"
    return str(function.__module__)


def names_in(block: Block) -> set[str]:
    """Return the module-level names that code for ``block`` may refer to."""
    found: set[str] = set()
    for statement in walk(block):
        atoms = [*direct_uses(statement)]
        if isinstance(statement, Let) and isinstance(statement.rhs, Global):
            found.add(statement.rhs.module.partition(".")[0])
        if isinstance(statement, Let) and isinstance(statement.rhs, Update):
            found.update(*(names_of(step.function) for step in statement.rhs.steps))
        for inner in blocks_of(statement):
            atoms += inner.yields
        for atom in (*atoms, *block.yields):
            if isinstance(atom, Const):
                found |= names_of(atom.value)
    return found


@unless_it_raises(frozenset())
def names_of(value: Buffer | Fused | Num) -> set[str]:
    """Return the module-level names by which a compile-time value may be written."""
    if numeric_method(value) is not None:
        return {"np"}
    module = str(getattr(value, "__module__", None) or "")
    name = str(getattr(value, "__name__", None) or "")
    role = str(getattr(value, "name", None) or "")
    names = {module.partition(".")[0]} | ({role} if role else set())
    if module == "builtins" or is_emitted_home(module):
        names.add(name)
    elif not module:
        names.add(name.partition(".")[0])
    return {n for n in names if n.isidentifier()}


def literal(value: Any) -> ast.expr | None:
    """Return the literal for a plain value, None if it has none."""
    if isinstance(value, Undefined):
        return ast.Constant(None)
    if value is None or value is Ellipsis or type(value) in (bool, str, bytes):
        return ast.Constant(value)
    if type(value) in (int, float, complex):
        if type(value) is not complex and value < 0:
            return ast.UnaryOp(ast.USub(), ast.Constant(-value))
        return ast.Constant(value)
    if isinstance(value, slice):
        bounds = (value.start, value.stop, value.step)
        parts = [part for part in map(literal, bounds) if part is not None]
        if len(parts) == len(bounds):
            return ast.Call(free_name("slice"), parts, [])
    return None


def dotted(name: str) -> ast.expr:
    """Return the expression for a dotted name."""
    first, *rest = name.split(".")
    result = free_name(first)
    for part in rest:
        result = ast.Attribute(result, part, ast.Load())
    return result
