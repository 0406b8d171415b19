"""``adcompiler dump --standalone``: emitted code with all that it needs beside NumPy and SciPy.

What emitted code imports from adcompiler's runtime and from the user's module is written into the
file: definitions as they stand in their modules, with what these need; numbers, texts and arrays of
the user's as the values that they have.
"""

from __future__ import annotations

import ast
import inspect
import sys
import types
from dataclasses import field
from typing import Any

import numpy as np

from adcompiler.backends.python.printer.merge import renamed, wrapped_import
from adcompiler.errors import ADError
from adcompiler.support.structs import dataclass

OURS = ("adcompiler.runtime", "adcompiler.errors", "adcompiler.smooth", "adcompiler_rules")
"""What is written into the file; what needs more of adcompiler cannot stand alone."""

LIBRARIES = sys.stdlib_module_names | {"numpy", "scipy"}
"""What the file may import."""

MAX_NUMBERS = 10_000
"""Arrays of the user's of more elements are data: they are not written into a file."""


@dataclass(frozen=True)
class Definition:
    """What binds a name at the top level of a module: its text, and what it is evaluated from."""

    node: ast.stmt
    text: str


@dataclass
class Source:
    """The text of a module: what its top level defines, and what it imports."""

    module: types.ModuleType
    definitions: dict[str, Definition] = field(default_factory=dict)
    imports: dict[str, tuple[str, str | None]] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str) -> Source:
        """Return that of a module that has been imported."""
        found = cls(sys.modules[name])
        text = inspect.getsource(found.module)
        lines = text.splitlines()
        for node in ast.parse(text).body:
            for bound in names_bound(node):
                first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
                found.definitions[bound] = Definition(
                    node, "\n".join(lines[first - 1 : node.end_lineno]))
            for statement in ast.walk(node) if isinstance(node, ast.If) else (node,):
                if isinstance(statement, ast.Import):
                    for alias in statement.names:
                        module = alias.name if alias.asname else alias.name.partition(".")[0]
                        found.imports[alias.asname or module] = module, None
                elif isinstance(statement, ast.ImportFrom):
                    package = absolute(statement, found.module)
                    for alias in statement.names:
                        found.imports[alias.asname or alias.name] = package, alias.name
        return found


def absolute(node: ast.ImportFrom, module: types.ModuleType) -> str:
    """Return the module that a ``from`` names."""
    if not node.level:
        return node.module or ""
    parts = module.__name__.split(".")
    is_package = hasattr(module, "__path__")
    kept = parts[: len(parts) - node.level + is_package]
    return ".".join([*kept, *([node.module] if node.module else [])])


def names_bound(node: ast.stmt) -> list[str]:
    """Return the names that a statement at the top level binds, but for imports."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            return [n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)) if node.value is not None:
            return [name]
        case ast.If(body=body, orelse=orelse):
            return [name for inner in (*body, *orelse) for name in names_bound(inner)]
    return []


class Standalone:
    """The parts of a file: imports by module, and definitions under the names they have there.

    ``package`` is the user's, of which definitions are written into the file too.
    """

    def __init__(self, text: str, package: str) -> None:
        self.text = text
        self.package = package
        self.sources: dict[str, Source] = {}
        self.names: dict[tuple[str, str], str] = {}
        self.plain: dict[str, None] = {}
        self.members: dict[str, set[str]] = {}
        self.written: list[str] = []
        self.taken = names_of_functions(ast.parse(text))
        self.mine: dict[str, str] = {}

    def complete(self) -> str:
        """Return the text of the file."""
        body = [self.resolved(node) for node in self.kept()]
        imports = sorted(self.plain)
        imports += [wrapped_import(m, sorted(names)) for m, names in sorted(self.members.items())]
        lazy = ["from __future__ import annotations", ""] if self.written else []
        head = "\n".join([*lazy, *imports])
        return "\n\n\n".join(filter(None, [head, *self.written, *body])) + "\n"

    def kept(self) -> list[ast.FunctionDef]:
        """Read the imports of the emitted module; return its functions."""
        functions: list[ast.FunctionDef] = []
        for node in ast.parse(self.text).body:
            match node:
                case ast.Import(names=names):
                    for alias in names:
                        if not self.is_inside(alias.name):
                            self.library(alias.name)
                            self.plain[ast.unparse(node)] = None
                case ast.ImportFrom(module=str(module), names=names):
                    for alias in names:
                        bound = alias.asname or alias.name
                        if self.is_inside(module):
                            self.mine[bound] = self.include(*home_of(module, alias.name))
                        else:
                            self.library(module)
                            self.members.setdefault(module, set()).add(ast.unparse(alias))
                case ast.FunctionDef():
                    functions.append(node)
        return functions

    def is_inside(self, module: str) -> bool:
        """Say whether the definitions of a module are written into the file."""
        if module and module.partition(".")[0] == self.package:
            return True
        if module.partition(".")[0] not in ("adcompiler", "adcompiler_rules"):
            return False
        if not module.startswith(OURS):
            raise ADError(
                f"the file cannot stand alone: it needs {module}, a part of the compiler. What to "
                "do: leave --standalone out")
        return True

    def library(self, module: str) -> None:
        """Refuse what is no part of Python, NumPy or SciPy."""
        if module.partition(".")[0] not in LIBRARIES:
            raise ADError(
                f"the file cannot stand alone: it needs {module}. What to do: leave --standalone "
                "out, and ship that too")

    def source(self, module: str) -> Source:
        """Return the text of a module."""
        if module not in self.sources:
            self.sources[module] = Source.of(module)
        return self.sources[module]

    def include(self, module: str, name: str) -> str:
        """Write what a name of a module means, once; return its name in the file."""
        key = module, name
        if key in self.names:
            return self.names[key]
        fresh = name
        while fresh in self.taken:
            fresh += "_"
        self.taken.add(fresh)
        self.names[key] = fresh
        value = getattr(sys.modules[module], name)
        literal = None if module.startswith(OURS) else literal_of(value)
        if literal is not None:
            if "np." in literal:
                self.plain["import numpy as np"] = None
            self.written.append(f"{fresh} = {literal}")
            return fresh
        definition = self.source(module).definitions.get(name)
        if definition is None or isinstance(definition.node, ast.If):
            raise ADError(
                f"the file cannot stand alone: {module}.{name} is {type(value).__name__}, which "
                "is neither a number nor defined in one place. What to do: pass it as an argument")
        others = self.others(module, definition)
        changed = {old: new for old, new in ({name: fresh} | others).items() if old != new}
        self.written.append(renamed(definition.text, changed))
        return fresh

    def others(self, module: str, definition: Definition) -> dict[str, str]:
        """Write what a definition needs; return the names that it has there."""
        source = self.source(module)
        found: dict[str, str] = {}
        local = {a.arg for a in ast.walk(definition.node) if isinstance(a, ast.arg)}
        for node in ast.walk(definition.node):
            if not isinstance(node, ast.Name) or node.id in found:
                continue
            if node.id in source.definitions:
                if node.id not in local or node.id not in self.bound_inside(definition):
                    found[node.id] = self.include(module, node.id)
            elif node.id in source.imports:
                found[node.id] = self.imported(*source.imports[node.id], node.id)
        return found

    def bound_inside(self, definition: Definition) -> set[str]:
        """Return the names that a definition uses as variables of its own."""
        return {node.id for node in ast.walk(definition.node)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}

    def imported(self, module: str, member: str | None, name: str) -> str:
        """Write an import, or what it imports; return the name of that in the file."""
        if member is not None and self.is_inside(module):
            return self.include(*home_of(module, member))
        if member is None and self.is_inside(module):
            raise ADError(
                f"the file cannot stand alone: {name} is a module of {module}. What to do: leave "
                "--standalone out")
        self.library(module)
        if member is None:
            self.plain[f"import {module}" + ("" if name == module else f" as {name}")] = None
        else:
            row = member if name == member else f"{member} as {name}"
            self.members.setdefault(module, set()).add(row)
        return name

    def resolved(self, node: ast.FunctionDef) -> str:
        """Return the text of an emitted function, in which names are those of the file."""
        lines = self.text.splitlines()[node.lineno - 1 : node.end_lineno]
        text = "\n".join(lines)
        places: list[tuple[ast.Attribute, str]] = []
        for inner in ast.walk(ast.parse(text)):
            if isinstance(inner, ast.Attribute) and (found := self.of_users(inner)) is not None:
                if not isinstance(inner.ctx, ast.Load):
                    raise ADError(
                        f"the file cannot stand alone: it writes {ast.unparse(inner)}. What to do: "
                        "return it instead")
                places.append((inner, self.include(*found)))
        rows = [line.encode() for line in text.splitlines()]
        for inner, name in sorted(places, key=lambda it: (-it[0].lineno, -it[0].col_offset)):
            assert inner.end_lineno == inner.lineno and inner.end_col_offset is not None
            row = rows[inner.lineno - 1]
            rows[inner.lineno - 1] = (
                row[: inner.col_offset] + name.encode() + row[inner.end_col_offset :])
        text = "\n".join(row.decode() for row in rows)
        return renamed(text, {old: new for old, new in self.mine.items() if old != new})

    def of_users(self, node: ast.Attribute) -> tuple[str, str] | None:
        """Return the module and the name that ``package.module.name`` stands for, of the user's."""
        dotted = ast.unparse(node.value)
        if dotted.partition(".")[0] != self.package or dotted not in sys.modules:
            return None
        if isinstance(getattr(sys.modules[dotted], node.attr, None), types.ModuleType):
            return None
        return home_of(dotted, node.attr)


def names_of_functions(tree: ast.Module) -> set[str]:
    """Return the names of functions, and those of their variables, which hide others."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.arg(arg=name) | ast.Name(name, ast.Store()):
                found.add(name)
    return found


def home_of(module: str, name: str) -> tuple[str, str]:
    """Return the module that defines what another one has under a name, and its name there."""
    value = getattr(sys.modules[module], name)
    home = getattr(value, "__module__", None)
    own = getattr(value, "__qualname__", name)
    if isinstance(value, (type, types.FunctionType)) and home in sys.modules and (
        getattr(sys.modules[home], own, None) is value
    ):
        return home, own
    source = Source.of(module)
    if name not in source.definitions and name in source.imports:
        package, member = source.imports[name]
        if member is not None:
            return home_of(package, member)
    return module, name


def literal_of(value: Any) -> str | None:
    """Return the text of a number, a text, an array or a container of these; None of others."""
    if value is None or type(value) in (bool, int, str, bytes):
        return repr(value)
    if type(value) is float:
        return repr(value) if np.isfinite(value) else f'float("{value}")'
    if type(value) is complex:
        return repr(value) if np.isfinite(value) else None
    if isinstance(value, np.generic):
        inner = literal_of(value.item())
        return None if inner is None else f"np.{value.dtype.name}({inner})"
    if type(value) is np.ndarray and value.dtype.kind in "fiucb" and value.size <= MAX_NUMBERS:
        inner = literal_of(value.tolist())
        return None if inner is None else f'np.array({inner}, "{value.dtype}")'
    if type(value) in (list, tuple):
        items = [literal_of(item) for item in value]
        if None in items:
            return None
        text = ", ".join(map(str, items))
        end = "," if type(value) is tuple and len(items) == 1 else ""
        return f"[{text}]" if type(value) is list else f"({text}{end})"
    if type(value) is dict:
        pairs = [(literal_of(key), literal_of(item)) for key, item in value.items()]
        if any(None in pair for pair in pairs):
            return None
        return "{" + ", ".join(f"{key}: {item}" for key, item in pairs) + "}"
    return None


def standalone(text: str, module: str) -> str:
    """Return an emitted module with all it needs. Raises ADError where that is no file's.

    ``module`` is the user's.
    """
    package = module.partition(".")[0]
    return Standalone(text, "" if package in LIBRARIES else package).complete()


__all__ = ["standalone"]
