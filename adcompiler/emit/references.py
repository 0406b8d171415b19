"""How compile-time values are written in emitted code, and the imports that this takes."""

from __future__ import annotations

import ast
import builtins
import operator
import sys
import types
from typing import Any

import numpy as np

import adcompiler.runtime as runtime
from adcompiler.ir.nodes import Undefined
from adcompiler.transforms.unit import Path, Unit

MODULE_ALIASES = {"numpy": "np"}


class References:
    """Collects the imports of a module while its expressions are written.

    ``bound`` lists values that no import reaches; the loader binds them by their paths.
    """

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.modules: dict[str, None] = {}
        self.runtime: dict[str, None] = {}
        self.bound: dict[str, tuple[Any, Path | None]] = {}

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
        found = self.reach(value)
        return found if found is not None else self.bind(value)

    def module(self, name: str) -> ast.expr:
        """Return the expression for a module, and import it."""
        self.modules[name] = None
        return dotted(MODULE_ALIASES.get(name, name))

    def reach(self, value: Any) -> ast.expr | None:
        """Return an expression by which ``value`` is reached from an importable module."""
        name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
        if not isinstance(name, str) or "<" in name:
            return None
        if getattr(builtins, name, None) is value:
            return ast.Name(name, ast.Load())
        if getattr(runtime, name, None) is value:
            self.runtime[name] = None
            return ast.Name(name, ast.Load())
        if getattr(np, name, None) is value:
            return ast.Attribute(self.module("numpy"), name, ast.Load())
        if getattr(operator, name, None) is value:
            return ast.Attribute(self.module("operator"), name, ast.Load())
        module = getattr(value, "__module__", None)
        if module is None:
            owner = getattr(value, "__objclass__", None)
            module = getattr(owner, "__module__", None)
        if not isinstance(module, str) or module not in sys.modules:
            return None
        found: Any = sys.modules[module]
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is not value:
            return None
        result = self.module(module)
        for part in name.split("."):
            result = ast.Attribute(result, part, ast.Load())
        return result

    def bind(self, value: Any) -> ast.expr:
        """Return a name that the loader binds to ``value``."""
        for name, (other, _) in self.bound.items():
            if other is value:
                return ast.Name(name, ast.Load())
        base = getattr(value, "__name__", None) or type(value).__name__
        base = "".join(c if c.isalnum() else "_" for c in str(base)).strip("_") or "value"
        name, number = f"{base}_", 1
        while name in self.bound:
            number += 1
            name = f"{base}_{number}"
        self.bound[name] = (value, self.unit.paths.get(id(value)))
        return ast.Name(name, ast.Load())

    def imports(self) -> list[ast.stmt]:
        """Return the import statements."""
        rows: list[ast.stmt] = []
        for name in sorted(self.modules):
            alias = MODULE_ALIASES.get(name)
            rows.append(ast.Import([ast.alias(name, alias)]))
        if self.runtime:
            names = [ast.alias(name) for name in sorted(self.runtime)]
            rows.append(ast.ImportFrom("adcompiler.runtime", names, 0))
        return rows


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
        parts = [literal(part) for part in (value.start, value.stop, value.step)]
        if all(part is not None for part in parts):
            return ast.Call(ast.Name("slice", ast.Load()), parts, [])  # type: ignore[arg-type]
    return None


def dotted(name: str) -> ast.expr:
    """Return the expression for a dotted name."""
    first, *rest = name.split(".")
    result: ast.expr = ast.Name(first, ast.Load())
    for part in rest:
        result = ast.Attribute(result, part, ast.Load())
    return result
