"""Functions of a file that is read and not run: ``adcompiler dump --static``.

Importing a module runs it. Here its text is compiled, which runs nothing, and its functions are
made of the code objects. What they find at the module's top level is what the text alone settles:
modules and functions of the libraries that the compiler has rules for, of Python and of adcompiler;
other functions of the file; numbers and texts. What is defined in any other way, or more than once,
is not there, and a function that needs it is refused.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib
import importlib.util
import sys
import sysconfig
import types
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from adcompiler.api.derivative import Derivative
from adcompiler.api.grad import grad, value_and_grad
from adcompiler.cache.rules_fingerprint import libraries
from adcompiler.cli.target import UsageError, import_name
from adcompiler.errors import ADError

PACKAGE = Path(__file__).resolve().parents[2]

PLAIN = {"float": float, "int": int, "complex": complex, "bool": bool, "str": str}
"""Annotations that are taken from the text."""
LITERALS = (bool, int, float, complex, str, type(None))
OPERATORS = (grad, value_and_grad)


@contextlib.contextmanager
def reading(where: str, name: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give a file's module name and the functions meant, by name, without running the file.

    They are the function named, or all that are decorated by ``@grad`` or ``@value_and_grad``.
    Meanwhile nothing is imported but what is installed, and the module is what the text settles.
    """
    path = Path(where).resolve()
    if not path.is_file():
        raise UsageError(f"there is no file {where}: --static reads a file")
    module_name = import_name(path)[1]
    if module_name.partition(".")[0] in libraries() | {"adcompiler"}:
        raise UsageError(f"{where} has the name of a library's module: --static needs another")
    paths = sys.path[:]
    sys.path[:] = [one for one in paths if is_installed(Path(one or "."))]
    importlib.invalidate_caches()
    before = sys.modules.get(module_name)
    try:
        module = StaticModule(path, module_name)
        sys.modules[module_name] = module.module
        yield module_name, functions_of(module, where, name)
    finally:
        sys.path[:] = paths
        importlib.invalidate_caches()
        sys.modules.pop(module_name, None)
        if before is not None:
            sys.modules[module_name] = before


def is_installed(path: Path) -> bool:
    """Say whether a path is Python's own, of the packages installed, or of this one."""
    places = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    found = path.resolve()
    own = found in (PACKAGE, PACKAGE / "rules") and found != Path.cwd()
    return own or any(found.is_relative_to(Path(place).resolve()) for place in places)


def functions_of(module: StaticModule, where: str, name: str | None) -> dict[str, Any]:
    """Return the function of that name, without one all derivatives."""
    if name is None:
        found = {
            one: value for one, value in module.names.items() if isinstance(value, Derivative)
        }
        if not found:
            raise UsageError(f"{where} has no plain @grad function; name one: {where}:FUNCTION")
        return found
    if not isinstance(module.names.get(name), (types.FunctionType, Derivative)):
        raise UsageError(
            f"{where} has no function {name} that its text alone settles: one that is defined "
            "once, at the top level, with numbers or texts for defaults and no foreign decorators"
        )
    return {name: module.names[name]}


class StaticModule:
    """What the text of a file says of the names at its top level."""

    def __init__(self, path: Path, name: str) -> None:
        text = path.read_text(encoding="utf-8")
        try:
            tree = ast.parse(text, str(path))
            code = compile(text, str(path), "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            raise ADError(f"{path} cannot be read: {error}") from None
        self.module = types.ModuleType(name)
        self.names: dict[str, Any] = vars(self.module)
        self.names |= {"__file__": str(path), "__builtins__": builtins}
        self.codes = {
            (one.co_name, one.co_firstlineno): one for one in code.co_consts
            if isinstance(one, types.CodeType)
        }
        times = Counter(bound_in(tree))
        for statement in tree.body:
            for name, value in self.values(statement):
                if times[name] == 1:
                    self.names[name] = value
        unsettled = sorted({*times} - {*self.names})
        for name in unsettled:
            if name == "*" or hasattr(builtins, name):
                raise ADError(
                    f"{path} binds {name}, in a way that only running it tells, so that its text "
                    "does not say what names mean. What to do: leave --static out, which runs it"
                )

    def values(self, statement: ast.stmt) -> Iterator[tuple[str, Any]]:
        """Yield what a statement of the top level defines, as far as its text says that."""
        match statement:
            case ast.Import(names) | ast.ImportFrom(names=names):
                for alias in names:
                    yield from imported(statement, alias)
            case ast.FunctionDef(name):
                function = self.function(statement)
                if function is not None:
                    yield name, function
            case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, value):
                if value is not None and is_literal(value):
                    yield name, ast.literal_eval(value)

    def function(self, node: ast.FunctionDef) -> types.FunctionType | None:
        """Return the function that a definition makes, None if that is not settled."""
        args = node.args
        named = {
            arg.arg: default
            for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True) if default
        }
        if not all(map(is_literal, (*args.defaults, *named.values()))):
            return None
        first = min((node.lineno, *(one.lineno for one in node.decorator_list)))
        code = self.codes.get((node.name, first))
        if code is None or code.co_freevars:
            return None
        defaults = tuple(map(ast.literal_eval, args.defaults))
        made = types.FunctionType(code, self.names, node.name, defaults or None)
        made.__kwdefaults__ = {n: ast.literal_eval(value) for n, value in named.items()} or None
        made.__annotations__ = {
            arg.arg: PLAIN[arg.annotation.id]
            for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)
            if isinstance(arg.annotation, ast.Name) and arg.annotation.id in PLAIN
        }
        made.__doc__ = ast.get_docstring(node)
        for decorator in reversed(node.decorator_list):
            made = self.decorated(made, decorator)
        return made

    def decorated(self, function: Callable[..., Any], node: ast.expr) -> Any:
        """Return what a decorator makes of a function, None if it is not one of adcompiler's."""
        call = node if isinstance(node, ast.Call) else ast.Call(node, [], [])
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        operator = self.names.get(name)
        given = {one.arg: one.value for one in call.keywords if one.arg}
        settled = len(given) == len(call.keywords) and all(map(is_literal, given.values()))
        if function is None or operator not in OPERATORS or call.args or not settled:
            return None
        return operator(function, **{key: ast.literal_eval(one) for key, one in given.items()})


def is_literal(node: ast.expr) -> bool:
    """Say whether an expression is a number, a text, None, or a tuple of such."""
    if isinstance(node, ast.Tuple):
        return all(map(is_literal, node.elts))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.UAdd, ast.USub)):
        return isinstance(node.operand, ast.Constant)
    return isinstance(node, ast.Constant) and type(node.value) in LITERALS


def imported(statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> Iterator[tuple[str, Any]]:
    """Yield the name and the value that an import gives, if it is one of a library."""
    of = alias.name if isinstance(statement, ast.Import) else statement.module or ""
    relative = isinstance(statement, ast.ImportFrom) and statement.level > 0
    if relative or of.partition(".")[0] not in libraries() | {"adcompiler"}:
        return
    try:
        value: Any = importlib.import_module(of)
        if isinstance(statement, ast.ImportFrom):
            value = getattr(value, alias.name)
        elif alias.asname is None:
            value = sys.modules[of.partition(".")[0]]
    except (ImportError, AttributeError):
        return
    yield alias.asname or alias.name.partition(".")[0], value


def bound_in(node: ast.AST, inside: bool = False) -> Iterator[str]:
    """Yield each name that is bound at the top level, as often as the text binds it.

    What is written into, an attribute of a module say, counts as bound. ``inside`` of a function
    only what it declares as global is; twice, as it runs any number of times.
    """
    match node:
        case ast.Global(names):
            yield from (*names, *names)
        case ast.Name(name, ast.Store() | ast.Del()) if not inside:
            yield name
        case ast.Attribute() | ast.Subscript() if not isinstance(node.ctx, ast.Load):
            found: ast.AST = node
            while isinstance(found, (ast.Attribute, ast.Subscript)):
                found = found.value
            if isinstance(found, ast.Name):
                yield from (found.id, found.id)
        case ast.alias() if not inside:
            yield node.asname or node.name.partition(".")[0]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(
                name=str(name)) | ast.MatchMapping(rest=str(name)) if not inside:
            yield name
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() if not inside:
            yield node.name
    deeper = inside or isinstance(
        node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda))
    for child in ast.iter_child_nodes(node):
        yield from bound_in(child, deeper)
