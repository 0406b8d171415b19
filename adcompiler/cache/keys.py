"""What emitted code depends on, as text that another process can check without parsing anything.

The primary key covers the text of the function, the argument types, the product wanted and the
versions. What is found only while compiling goes into a manifest, which is checked when an entry
is found: the functions and values that the code was specialised on, the rules that were opened,
and the names that those rules read.
"""

from __future__ import annotations

import builtins
import functools
import hashlib
import operator
import sys
import types
import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from adcompiler.cache.files import source_states
from adcompiler.errors import cell_of
from adcompiler.frontend.scope import MISSING, Scope
from adcompiler.frontend.sources.source import read_source
from adcompiler.ir import types as t
from adcompiler.ops.facts import UNKNOWN, Facts
from adcompiler.ops.qualified_names import home_module, instance_name, is_same, qualified_name
from adcompiler.ops.registry import REGISTRY
from adcompiler.ops.rules import Rule
from adcompiler.runtime.reading import unless_it_raises
from adcompiler.typed.derivatives import is_derivative
from adcompiler.typed.values import type_of

PACKAGE = Path(__file__).parent.parent
MAX_DEPTH = 6
MAX_CODES = 4096
PLAIN = (bool, int, float, complex, str, type(None), type(np._NoValue))
UNTOLD = "<unknown>"
"""Stands for what is not told apart from other values: what relies on it is not kept on disk."""


def digest(*parts: object) -> str:
    """Return a hash of the text forms of ``parts``."""
    return hashlib.sha256("\x00".join(map(str, parts)).encode()).hexdigest()


@functools.cache
def compiler_digest() -> str:
    """Return a hash of the compiler's own files: of their sizes, and when they came to be there.

    It is computed by each process that finds code in the cache, which must not read all of them.
    """
    return digest(*source_states(PACKAGE))


def primary_key(function: types.FunctionType, request: Iterable[object]) -> str:
    """Return the key under which emitted code for ``function`` is kept."""
    source = read_source(function)
    return digest(
        compiler_digest(), sys.version, sys.flags.optimize, np.__version__, function.__module__,
        function.__qualname__, source.file, cell_of(source.file), source.first_line,
        source.snippet, *request,
    )


# -- code ------------------------------------------------------------------------------------------


_code_digests: dict[tuple[int, bool], tuple[weakref.ref[types.CodeType], str]] = {}
"""By the identity of a code object, as long as that lives."""


def code_digest(code: types.CodeType, lines: bool = False) -> str:
    """Return a hash of what a code object does; with ``lines``, of where it stands too."""
    key = (id(code), lines)
    known = _code_digests.get(key)
    if known is None or known[0]() is not code:
        gone = functools.partial(_forget, _code_digests, key)
        known = weakref.ref(code, gone), digest_of_code(code, lines)
        _code_digests[key] = known
    return known[1]


def _forget(table: dict[Any, tuple[Any, str]], key: Any, reference: Any) -> None:
    """Take what is known of an object that is gone out of a table, unless it is of another one."""
    if table.get(key, (None,))[0] is reference:
        table.pop(key, None)


def digest_of_code(code: types.CodeType, lines: bool) -> str:
    """As ``code_digest``, computed now."""
    place = (code.co_firstlineno, code.co_linetable.hex()) if lines else ()
    return digest(
        code.co_code.hex(), code.co_names, code.co_varnames, code.co_freevars, code.co_argcount,
        code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags,
        code.co_exceptiontable.hex(), *(constant(c, lines) for c in code.co_consts), *place,
    )


def constant(value: Any, lines: bool = False) -> str:
    """Return text that tells constants of code apart, the same in every process."""
    if isinstance(value, types.CodeType):
        return code_digest(value, lines)
    if isinstance(value, tuple):
        return f"({', '.join(constant(item, lines) for item in value)})"
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(constant, value)))}}}"
    return f"{type(value).__name__} {value!r}"


def function_digest(function: types.FunctionType, lines: bool = False, depth: int = 0) -> str:
    """Return a hash of a function's code and default values, and of functions in its closure."""
    defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).items())
    # Data in cells of user functions is read when the code runs, that of rules is written into it.
    cells = [
        default_text(value, lines, depth + 1) for value in cell_values(function)
        if not lines or isinstance(type_of(value), t.Static)
    ]
    return digest(
        code_digest(function.__code__, lines),
        *(default_text(value, lines, depth + 1) for value in defaults), *cells,
    )


def cell_values(function: types.FunctionType) -> Iterator[Any]:
    """Yield what the cells of a function's closure hold."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue


def default_text(value: Any, lines: bool, depth: int) -> str:
    """Return the text of a default value, which may have been written into emitted code."""
    if isinstance(value, (tuple, slice)) or type(value) in (bool, int, float, complex, str):
        return f"{type(value).__name__} {value!r}"
    return fingerprint(value, lines, depth)


# -- values ----------------------------------------------------------------------------------------


@unless_it_raises(UNTOLD)
def fingerprint(value: Any, lines: bool = True, depth: int = 0) -> str:
    """Return text that is equal for two values that emitted code may not tell apart.

    Data counts by its type only. Functions count by what they do and by the rules that cover them;
    with ``lines``, also by where they stand, which comments in emitted code mention.
    """
    if depth > MAX_DEPTH:
        return UNTOLD
    if isinstance(value, types.ModuleType):
        return f"module {value.__name__}"
    if not stays_alike(value):
        return fingerprint_now(value, lines, depth)
    table = _of_functions if isinstance(value, types.FunctionType) else _of_others
    if len(_of_others) >= MAX_CODES:
        _of_others.clear()
    rows = table.setdefault(value, {})
    known = rows.get(lines)
    made_of = made_of_code(value)
    if known is None or known[1] != REGISTRY.generation or not all(
        map(operator.is_, known[0], made_of)
    ):
        text = fingerprint_now(value, lines, depth)
        known = made_of, REGISTRY.generation, text
        if not is_unknown(text):
            rows[lines] = known
    return known[2]


_Known = dict[bool, tuple[tuple[Any, ...], int, str]]
_of_functions: weakref.WeakKeyDictionary[Any, _Known] = weakref.WeakKeyDictionary()
_of_others: dict[Any, _Known] = {}
"""What is known of values, with and without lines: of functions as long as they live."""
REGISTRY.loading.after += (_of_functions.clear, _of_others.clear)  # rules for any may have come


def made_of_code(value: Any) -> tuple[Any, ...]:
    """Return the objects that a function is made of, which may be replaced by others."""
    if isinstance(value, types.FunctionType):
        return value.__code__, value.__defaults__
    function = getattr(value, "__wrapped__", value)
    return function, getattr(function, "__code__", None), getattr(function, "__defaults__", None)


def stays_alike(value: Any) -> bool:
    """Say whether a function is made of nothing but code and the rules that cover it."""
    if isinstance(value, type(np.sum)):  # NumPy's functions are functions of Python in a wrapper
        value = getattr(value, "__wrapped__", None)
    if isinstance(value, types.FunctionType):
        return not (value.__closure__ or value.__kwdefaults__) and all(
            type(default) in PLAIN for default in value.__defaults__ or ()
        )
    return isinstance(value, np.ufunc) or (
        isinstance(value, types.BuiltinFunctionType)
        and isinstance(value.__self__, types.ModuleType)
    )


def fingerprint_now(value: Any, lines: bool, depth: int) -> str:
    """As ``fingerprint``, found anew."""
    if isinstance(value, types.FunctionType):
        done = function_digest(value, lines, depth)
        return f"def {value.__module__}.{value.__qualname__} {done}{coverage(value, depth)}"
    if is_derivative(value):
        return f"derivative {value.options} {fingerprint(value.primal, lines, depth + 1)}"
    if isinstance(value, functools.partial):
        parts = (value.func, *value.args, *value.keywords.items())
        return f"partial {[default_text(part, lines, depth + 1) for part in parts]}"
    if isinstance(value, types.MethodType):
        parts = (value.__func__, value.__self__)
        return f"method {[fingerprint(part, lines, depth + 1) for part in parts]}"
    if isinstance(value, type):
        return f"class {class_name(value)}{coverage(value, depth)}"
    if value is None or isinstance(value, np.dtype):
        return f"{type(value).__name__} {value}"
    type_ = type_of(value)
    if not isinstance(type_, t.Static):
        return f"type {type_text(type_, lines, depth)}"
    return f"{class_name(type(value))} {identity(value, lines, depth)}{coverage(value, depth)}"


def identity(value: Any, lines: bool, depth: int) -> str:
    """Return text that tells a constant object from others of its class, ``UNTOLD`` if none does.

    That is the name by which it is imported, or what it holds: the compiler may have read it.
    """
    wrapped = getattr(value, "__wrapped__", None)
    if isinstance(wrapped, types.FunctionType):
        return fingerprint(wrapped, lines, depth + 1)
    name = spelled(value)
    if name is None and instance_name(value) is not None:
        name = f"{type(value).__module__}:{instance_name(value)}"
    if name is not None:
        return name
    try:
        reduced = value.__reduce_ex__(2)
    except Exception:
        return UNTOLD
    if isinstance(reduced, str):
        return reduced if getattr(builtins, reduced, None) is value else UNTOLD
    return content(tuple(reduced), lines, depth + 1)


def content(value: Any, lines: bool, depth: int) -> str:
    """Return text that tells values apart by all that they hold."""
    if depth > MAX_DEPTH:
        return UNTOLD
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return f"array {value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if type(value) in (bool, int, float, complex, str, bytes) or value is None:
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, slice):
        return f"slice {value!r}"
    parts = tuple(value.items()) if isinstance(value, dict) else value
    if isinstance(parts, (tuple, list)):
        inner = ", ".join(content(part, lines, depth + 1) for part in parts)
        return f"{class_name(type(value))}({inner})"
    found = fingerprint(value, lines, depth)
    return UNTOLD if found.startswith("type ") else found


def is_unknown(text: str) -> bool:
    """Say whether the text of a value may be that of another one."""
    return UNTOLD in text


def type_text(type_: t.Type, lines: bool = True, depth: int = 0) -> str:
    """Return the text of a type, with classes and compile-time values spelled out."""

    def inner(types_: Iterable[t.Type]) -> str:
        return ", ".join(type_text(one, lines, depth + 1) for one in types_)

    match type_:
        case t.Static(value) if type(value) in t.OPTIONS:
            return f"={type(value).__name__} {value!r}"
        case t.Static(value):
            return fingerprint(value, lines, depth + 1)
        case t.Tuple(items, cls):
            return f"{class_name(cls)}({inner(items)})"
        case t.List(item, contents):
            return f"list[{inner((item, *contents))}]"
        case t.Dict(keys, items):
            return f"dict {keys!r} [{inner(items)}]"
        case t.Object(cls, fields):
            names = ", ".join(name for name, _ in fields)
            return f"{class_name(cls)} {names} ({inner(one for _, one in fields)})"
    return str(type_)


def class_name(cls: type) -> str:
    """Return the full name of a class, with the names of fields, in their order."""
    fields = [getattr(cls, name, None) for name in ("_fields", "__match_args__")]
    given = dict.fromkeys(names for names in fields if isinstance(names, tuple) and names)
    shown = "".join(map(str, given))
    return f"{cls.__module__}.{cls.__qualname__}{shown}"


# -- paths -----------------------------------------------------------------------------------------


def resolve(function: Any, path: Iterable[tuple[str, Any]], arguments: Mapping[str, Any]) -> Any:
    """Return the value that ``path`` leads to from ``function``, MISSING if it does not.

    ``arguments`` holds the arguments that are functions, modules and the like.
    """
    value: Any = function
    for kind, name in path:
        value = follow(value, kind, name, arguments)
        if value is MISSING:
            return MISSING
    return value


def follow(value: Any, kind: str, name: Any, arguments: Mapping[str, Any]) -> Any:
    """Return the value that one step of a path leads to, MISSING if there is none."""
    match kind:
        case "free":
            is_function = isinstance(value, types.FunctionType)
            return Scope(value).lookup(name)[1] if is_function else MISSING
        case "attr":
            return getattr(value, name, MISSING)
        case "args" | "keywords" | "__defaults__" | "__kwdefaults__" | "__dataclass_fields__":
            try:
                return getattr(value, kind)[name]
            except (AttributeError, LookupError, TypeError):
                return MISSING
        case "argument":
            return arguments.get(name, MISSING)
        case "live":
            return name
        case "dispatch":
            cls = unspelled(name) if isinstance(name, str) else name
            known = isinstance(cls, type) and hasattr(value, "dispatch")
            return value.dispatch(cls) if known else MISSING
        case "contents":
            return tuple(value) if type(value) is list else MISSING
        case "import":
            return unspelled(name)
    return MISSING


def storable(path: Iterable[tuple[str, Any]]) -> list[list[Any]] | None:
    """Return a path as JSON can hold it, None if it starts at an object that has no name."""
    rows: list[list[Any]] = []
    for kind, name in path:
        if kind == "live":
            start = importable(name)
            if start is None:
                return None
            rows += start
            continue
        if kind == "dispatch" and (name := spelled(name)) is None:
            return None
        rows.append([kind, name])
    return rows


def importable(value: Any) -> list[list[Any]] | None:
    """Return a path to an object that starts at an import, None if there is none.

    A decorator such as ``functools.cache`` takes the place of a function, and refers to it.
    """
    name = spelled(value)
    if name is not None:
        return [["import", name]]
    name = qualified_name(value)
    rows: list[list[Any]] = [["import", f"{home_module(value)}:{name}"]]
    around = MISSING if name is None else unspelled(rows[0][1])
    while around is not value and len(rows) <= MAX_DECORATORS:
        around = getattr(around, "__wrapped__", MISSING)
        if around is MISSING:
            return None
        rows.append(["attr", "__wrapped__"])
    return rows if around is value else None


MAX_DECORATORS = 8
"""How many decorators around one another are looked through."""


def spelled(value: Any) -> str | None:
    """Return ``module:qualname`` of an object that can be imported again, else None."""
    if isinstance(value, types.ModuleType):
        return f"{value.__name__}:" if sys.modules.get(value.__name__) is value else None
    name = qualified_name(value)
    module = home_module(value)
    if name is None or not module:
        return None
    text = f"{module}:{name}"
    return text if is_same(unspelled(text), value) else None


def unspelled(text: str) -> Any:
    """Return the object that ``module:qualname`` names, MISSING if there is none."""
    module, _, name = text.partition(":")
    try:
        # one that is being imported by who waits for this thread is there, and locked
        value: Any = sys.modules.get(module) or REGISTRY.loading.imported(module)
        for part in name.split(".") if name else ():
            value = getattr(value, part)
    except (ImportError, AttributeError, ValueError):
        return MISSING
    return value


# -- rules -----------------------------------------------------------------------------------------


def rule_digest(rule: Rule, depth: int = 0) -> str:
    """Return a hash of what a rule does, but for the module-level names that it reads."""
    parts: list[object] = [
        rule.wrt, rule.types, rule.elementwise, rule.kink, rule.primal_note, rule.linear,
        rule.bilinear, rule.templates, rule.opted_out,
    ]
    for part in (rule.definition, rule.forward, *rule.partials):
        if isinstance(part, types.FunctionType):
            parts.append(function_digest(part, depth=depth))
        else:
            parts.append(repr(part))
    return digest(*parts)


def coverage(function: Any, depth: int = 0) -> str:
    """Return text that says which rules and declarations cover a callable, "" if none do.

    A rule may hold in its closure what it covers: ``depth`` says how deep in such it is.
    """
    replacement = REGISTRY.replacement(function)
    rules = (*REGISTRY.rules_of(function), *(() if replacement is None else (replacement,)))
    inactive = REGISTRY.inactive(function)
    found = f" rules {digest(*(rule_digest(rule, depth) for rule in rules))}" if rules else ""
    if inactive is not None:
        found += f" inactive {inactive.pure}"
    said = REGISTRY.stated(function)
    return found if said == UNKNOWN else f"{found} facts {facts_text(said, depth)}"


def facts_text(said: Facts, depth: int) -> str:
    """Return what is said of a function as text that is the same in other processes."""
    series = ", ".join(
        " ".join((fingerprint(one.series, False, depth + 1), *(
            fingerprint(word, False, depth + 1) if callable(word) else repr(word)
            for word in (*one.given, one.first, one.place))))
        for one in said.recurrence or ()
    )
    functions = (
        f"{name} ({fingerprint(function, False, depth + 1)})"
        for name in ("typed_as", "written_as", "supposed_as")
        if (function := getattr(said, name)) is not None
    )
    plain = replace(
        said, recurrence=None, typed_as=None, written_as=None, supposed_as=None)
    return f"{plain!r} recurrence ({series}) {' '.join(functions)}"


def rules_manifest(rules: Iterable[Rule]) -> list[list[str]] | None:
    """Return the digests of the rules used, None if one of them cannot be found again."""
    rows = []
    for rule in rules:
        name = spelled(rule.function)
        if name is None:
            return None
        rows.append([name, coverage(rule.function)])
    return rows


def rules_hold(rows: Iterable[list[str]]) -> bool:
    """Say whether the rules that an entry was compiled under are still the same."""
    for name, wanted in rows:
        function = unspelled(name)
        if function is MISSING or coverage(function) != wanted:
            return False
    return True


def names_manifest(names: Mapping[tuple[str, str], Any]) -> list[list[str]]:
    """Return what rules read by name while they were opened: helper functions and constants."""
    return [[module, name, name_text(value)] for (module, name), value in names.items()]


def names_hold(rows: Iterable[list[str]]) -> bool:
    """Say whether the names that rules read still mean the same."""
    for module, name, wanted in rows:
        value = unspelled(f"{module}:{name}")
        if value is MISSING or name_text(value) != wanted:
            return False
    return True


def name_text(value: Any) -> str:
    """Return the text of what a rule reads by name; numbers count by value, as they are folded."""
    return default_text(value, False, 0)
