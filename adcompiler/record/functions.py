"""Functions in their rewritten form: found by their code, compiled once, kept on disk.

A rewritten function shares the globals, the closure cells, the defaults and the attributes of the
function that it stands for.
"""

from __future__ import annotations

import base64
import functools
import marshal
import os
import sys
import threading
import types
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from adcompiler.cache.keys import compiler_digest, digest
from adcompiler.cache.store import Store, default_directory
from adcompiler.errors import ADError, Finding, SourceNotFoundError, UnsupportedError
from adcompiler.frontend.sources.forwarders import written
from adcompiler.frontend.sources.same_code import compiles_to
from adcompiler.frontend.sources.source import SourceText, parsed, read_source

HERE = os.path.dirname(os.path.abspath(__file__))
MARK = "\0adc:"
HOOKS: dict[str, Callable[..., Any]] = {}
"""The hooks by name; ``record.hooks`` and the modules beside it enter them."""
KNOWN: dict[int, types.CodeType] = {}
"""Codes that are rewritten, by identity; they are kept, so that no other one has it."""
CODES: dict[types.CodeType, types.CodeType | ADError] = {}
"""Rewritten codes by those that they stand for, or why there is none."""
MADE: weakref.WeakKeyDictionary[types.FunctionType, types.FunctionType] = (
    weakref.WeakKeyDictionary())
_lock = threading.RLock()
TELL_REFUSED: list[Callable[[ADError], Any]] = []
"""What is told of functions that cannot be rewritten: the recording that meets them."""


def hooked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Enter a hook under its name, for code that is rewritten."""
    HOOKS[function.__name__] = function
    return function


def is_rewritten(code: types.CodeType) -> bool:
    """Say whether a code is a rewritten one."""
    return id(code) in KNOWN


def is_followed(code: types.CodeType) -> bool:
    """Say whether a code is a rewritten one, or one of the recorder."""
    return id(code) in KNOWN or code.co_filename.startswith(HERE)


def rewritten(function: types.FunctionType) -> types.FunctionType:
    """Return the rewritten form of a function; itself if it is one.

    Raises SourceNotFoundError where no text is known, UnsupportedError for forms in it that are not
    followed.
    """
    if id(function.__code__) in KNOWN:
        return function
    found = MADE.get(function)
    if found is not None and found.__globals__ is function.__globals__ and (
        CODES.get(function.__code__) is found.__code__
    ):
        found.__defaults__, found.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
        return found
    code = code_of(function)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    made = types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__,
        tuple(cells[name] for name in code.co_freevars))
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    made.__dict__.update({"__wrapped__": function})
    MADE[function] = made
    return made


def code_of(function: types.FunctionType) -> types.CodeType:
    """Return the rewritten code of a function, made now or found in memory or on disk."""
    live = function.__code__
    found = CODES.get(live)
    if found is None:
        with _lock:
            found = CODES.get(live)
            if found is None:
                found = CODES[live] = made_or_refused(function)
    if isinstance(found, ADError):
        for tell in TELL_REFUSED:
            tell(found)
        raise found.with_traceback(None)
    return found


def made_or_refused(function: types.FunctionType) -> types.CodeType | ADError:
    """Return the rewritten code of a function, or why there is none."""
    try:
        return with_hooks(kept_or_new(function))
    except ADError as error:
        return error
    except SyntaxError as error:
        live = function.__code__
        return UnsupportedError([Finding(
            live.co_filename, live.co_firstlineno, 0, "", f"this is not recorded: {error.msg}",
            "write it as simpler statements", "recording")])


def kept_or_new(function: types.FunctionType) -> types.CodeType:
    """Return the rewritten code with the names of hooks, from the cache on disk where it is there.
    """
    from adcompiler.record.rewriting import rewritten_code  # parses

    live = function.__code__
    try:
        source = read_source(function)
    except SourceNotFoundError:
        proves = functools.partial(compiles_to, live=live, module=function.__globals__)
        found = None
        if live.co_filename.startswith("<"):  # a text that nobody kept
            found = written(live, proves, SourceText, computes=True)
        if found is None:
            raise
        source = found
    store = Store(default_directory())
    key = digest(
        "recorded", compiler_digest(), sys.implementation.cache_tag, source.file, source.first_line,
        source.indent, source.snippet, live.co_qualname, live.co_freevars, live.co_flags)
    for entry in store.candidates(key):  # of which the store knows that this user wrote it
        with suppress(KeyError, ValueError, EOFError, TypeError):
            code: types.CodeType = marshal.loads(base64.b64decode(entry.manifest["code"]))
            return code
        store.discard(entry)
    made: types.CodeType = rewritten_code(parsed(source), live)
    store.write(key, "recorded", "", {"code": base64.b64encode(marshal.dumps(made)).decode()})
    return made


def with_hooks(code: types.CodeType) -> types.CodeType:
    """Return a code with the hooks themselves in place of their names, also in codes inside."""
    constants: list[Any] = []
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            value = with_hooks(value)
        elif isinstance(value, str) and value.startswith(MARK):
            value = HOOKS[value[len(MARK):]]
        constants.append(value)
    made = code.replace(co_consts=tuple(constants))
    KNOWN[id(made)] = made
    return made
