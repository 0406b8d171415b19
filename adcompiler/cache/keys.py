"""What emitted code depends on, as text that another process can check without parsing anything.

The primary key covers the text of the function, the argument types, the product wanted and the
versions. What is found only while compiling (the other functions and values it reaches, the rules
it uses) goes into a manifest, which is checked when an entry is found.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
import types
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from adcompiler.analyses.values import type_of
from adcompiler.frontend.scope import MISSING, Scope
from adcompiler.frontend.source import read_source
from adcompiler.rulekit.registry import REGISTRY, Rule, root_module

PACKAGE = Path(__file__).parent.parent


def digest(*parts: object) -> str:
    """Return a hash of the text forms of ``parts``."""
    return hashlib.sha256("\x00".join(map(str, parts)).encode()).hexdigest()


_compiler: list[str] = []


def compiler_digest() -> str:
    """Return a hash of the compiler's own files (their names, sizes and times)."""
    if not _compiler:
        rows = []
        for folder, _, names in os.walk(PACKAGE):
            for name in sorted(names):
                if name.endswith(".py"):
                    status = os.stat(os.path.join(folder, name))
                    rows.append(f"{name} {status.st_size} {status.st_mtime_ns}")
        _compiler.append(digest(*sorted(rows)))
    return _compiler[0]


def primary_key(function: types.FunctionType, request: Iterable[object]) -> str:
    """Return the key under which emitted code for ``function`` is kept."""
    source = read_source(function)
    return digest(
        compiler_digest(), sys.version, np.__version__, function.__module__,
        function.__qualname__, source.file, source.first_line, source.snippet, *request,
    )


def code_digest(code: types.CodeType) -> str:
    """Return a hash of what a code object does."""
    constants = [
        code_digest(c) if isinstance(c, types.CodeType) else f"{type(c).__name__} {c!r}"
        for c in code.co_consts
    ]
    return digest(code.co_code.hex(), code.co_names, code.co_varnames, code.co_freevars, *constants)


def fingerprint(value: Any) -> str:
    """Return text that is equal for two values that emitted code may not tell apart."""
    if isinstance(value, types.ModuleType):
        return f"module {value.__name__}"
    if isinstance(value, types.FunctionType):
        defaults = [type_of(v) for v in (value.__defaults__ or ())]
        return f"def {value.__module__}.{value.__qualname__} {code_digest(value.__code__)} " + (
            " ".join(map(str, defaults))
        )
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if name is not None:
        module = getattr(value, "__module__", None) or root_module(value)
        return f"{type(value).__name__} {module}.{name}"
    return f"type {type_of(value)}"


def resolve(function: Any, path: Iterable[tuple[str, Any]]) -> Any:
    """Return the value that ``path`` leads to from ``function``, MISSING if it does not."""
    value: Any = function
    for kind, name in path:
        if kind == "free":
            if not isinstance(value, types.FunctionType):
                return MISSING
            value = Scope(value).lookup(name)[1]
        elif kind == "attr":
            value = getattr(value, name, MISSING)
        elif kind in ("args", "keywords", "__defaults__", "__kwdefaults__"):
            holder = getattr(value, kind, None)
            try:
                value = holder[name]  # type: ignore[index]
            except (LookupError, TypeError):
                return MISSING
        else:
            return MISSING
        if value is MISSING:
            return MISSING
    return value


def rule_digest(rule: Rule) -> str:
    """Return a hash of what a rule does."""
    parts: list[object] = [rule.wrt, rule.types, rule.elementwise]
    for part in (rule.definition, *rule.partials):
        code = getattr(part, "__code__", None)
        parts.append(code_digest(code) if code is not None else repr(part))
    return digest(*parts)


def spelled(function: Any) -> str | None:
    """Return ``module:qualname`` of a function that can be imported again, else None."""
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    module = getattr(function, "__module__", None)
    if module is None:
        owner = getattr(function, "__objclass__", None)
        module = owner.__module__ if owner is not None else root_module(function)
    if not isinstance(name, str) or not module:
        return None
    text = f"{module}:{name}"
    return text if unspelled(text) is function else None


def unspelled(text: str) -> Any:
    """Return the function that ``module:qualname`` names, MISSING if there is none."""
    module, _, name = text.partition(":")
    try:
        value: Any = importlib.import_module(module)
        for part in name.split("."):
            value = getattr(value, part)
    except (ImportError, AttributeError):
        return MISSING
    return value


def rules_manifest(rules: Iterable[Rule]) -> list[list[str]] | None:
    """Return the digests of the rules used, None if one of them cannot be found again."""
    rows = []
    for rule in rules:
        name = spelled(rule.function)
        if name is None:
            return None
        rows.append([name, digest(*sorted(map(rule_digest, REGISTRY.rules_of(rule.function))))])
    return rows


def rules_hold(rows: Iterable[list[str]]) -> bool:
    """Say whether the rules that an entry was compiled under are still the same."""
    for name, wanted in rows:
        function = unspelled(name)
        if function is MISSING:
            return False
        if digest(*sorted(map(rule_digest, REGISTRY.rules_of(function)))) != wanted:
            return False
    return True
