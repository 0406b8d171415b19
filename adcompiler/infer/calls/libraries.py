"""Where a function comes from: an installed package, the standard library, the runtime."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import types as python_types
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adcompiler.frontend.sources.places import is_users
from adcompiler.ir.atoms import Const, Origin
from adcompiler.ops.qualified_names import KERNELS, home_module, is_emitted_home
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime import add_at, append, drop_last, entry, put_entry


OWN = ("adcompiler", "adcompiler_rules")


def is_library(function: Callable[..., Any]) -> bool:
    """Say whether a Python function belongs to the standard library or an installed package."""
    # What this package has code compiled as is the program's, wherever the package is installed.
    if (getattr(function, "__module__", None) or "").partition(".")[0] in OWN:
        return False
    return is_within(function, PREFIXES) and is_within(function, (*standard(), *installed()))


@functools.cache
def is_of_package(file: str) -> bool:
    """Say whether a file belongs to an installed package, other than this one."""
    return file.startswith(installed()) and is_users(file)


def call_of_package(sites: Sequence[Origin]) -> Origin | None:
    """Return the innermost of some calls that stands in the user's code, None if none does."""
    return next((site for site in reversed(sites) if not is_of_package(site.file)), None)


def is_standard(function: Callable[..., Any]) -> bool:
    """Say whether a Python function belongs to the standard library."""
    return is_library(function) and not is_within(function, installed())


def works_on_programs(function: Callable[..., Any]) -> bool:
    """Say whether a Python function of the standard library deals with programs, text or files."""
    module = str(getattr(function, "__module__", None)).partition(".")[0]
    return module in PROGRAMS_AND_TEXT and is_standard(function)


def is_within(function: Any, places: tuple[str, ...]) -> bool:
    """Say whether the source of a Python function lies in one of some directories."""
    name: str = function.__code__.co_filename
    return name.startswith(places)


def may_be_tried(function: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    """Say whether a function may be called on stand-ins: one of an installed package.

    The user's own functions never run when compiling, nor do those of the standard library, many
    of which write files or messages. Others run if a fact says so, or if all that they reach is
    Python and NumPy: C code of a package need not check what it is given.
    """
    functions = [function, *(
        a.value for a in args
        if isinstance(a, Const) and isinstance(a.value, python_types.FunctionType)
    )]
    return all(
        is_within(f, installed()) and (REGISTRY.facts(f).may_be_tried or is_python_throughout(f))
        for f in functions
    )


def is_python_throughout(function: Any) -> bool:
    """Say whether a Python function reaches no compiled code but that of Python and NumPy."""
    found = REACHED.get(function)
    if found is None:
        seen: set[int] = set()
        found = REACHED[function] = reaches_python_only(function, seen)
    return found


def reaches_python_only(value: Any, seen: set[int]) -> bool:
    """Say that of any value that a function may name; ``seen`` are those that were looked at."""
    while hasattr(value, "__wrapped__") and not isinstance(value, python_types.FunctionType):
        value = value.__wrapped__
    if isinstance(value, python_types.MethodType):
        value = value.__func__
    if not isinstance(value, python_types.FunctionType):
        return not isinstance(value, compiled_functions()) or is_known_compiled(value)
    if id(value) in seen or (is_within(value, standard()) and not is_within(value, installed())):
        return True
    seen.add(id(value))
    if len(seen) > MOST_REACHED:
        return False
    return all(reaches_python_only(part, seen) for part in named_by(value))


def named_by(function: python_types.FunctionType) -> Iterator[Any]:
    """Yield what the code of a function names: globals, parts of modules, captured values."""
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # an empty cell
            yield cell.cell_contents
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        codes += [part for part in code.co_consts if isinstance(part, python_types.CodeType)]
        values = [function.__globals__.get(name) for name in code.co_names]
        for value in values:
            if not isinstance(value, python_types.ModuleType):
                yield value
            elif root_name(value.__name__) not in KNOWN_ROOTS:
                yield from (vars(value).get(name) for name in code.co_names)


def is_known_compiled(value: Any) -> bool:
    """Say whether a compiled function is one of Python's or NumPy's, or has facts of its own."""
    return root_name(home_module(value)) in KNOWN_ROOTS or REGISTRY.facts(value).may_be_tried


def root_name(module: str) -> str:
    """Return the first part of a dotted name."""
    return module.partition(".")[0]


def is_runtime(value: Any) -> bool:
    """Say whether a function belongs to the runtime of emitted code, which is never opened."""
    module = str(getattr(value, "__module__", ""))
    return is_emitted_home(module) and module not in SUBSTITUTES


def is_compiled(value: Callable[..., Any]) -> bool:
    """Say whether the source of a runtime function is compiled, for its own derivative.

    These are functions that write into what they are given, and adjoints that have no rule.
    """
    if value in WRITING:
        return True
    from adcompiler.ops.basics import CHECKS  # a while, which only compiling takes

    if value in CHECKS or not isinstance(value, python_types.FunctionType):
        return False
    return getattr(value, "__module__", "") in COMPILED and not REGISTRY.has_rules(value) and (
        REGISTRY.inactive(value) is None
    )


def makes_sparse_or_spline(cls: type) -> bool:
    """Say whether instances of a class are typed by what they hold: SciPy's arrays and splines."""
    return str(cls.__module__).startswith(("scipy.interpolate.", "scipy.sparse."))


def stays_whole(function: Callable[..., Any]) -> bool:
    """Say whether a function works on sparse arrays or splines, by code that is not followed."""
    module, name = str(getattr(function, "__module__", "")), function.__qualname__
    if module.startswith("scipy.interpolate."):
        return name.rpartition(".")[2] in SPLINE_METHODS
    return module.startswith("scipy.sparse.") and (
        "." not in name or function.__name__ in SPARSE_METHODS
    )


def is_namedtuple(value: Any) -> bool:
    """Say whether ``value`` is a class made by ``namedtuple`` or ``NamedTuple``."""
    return (
        isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")
        and value.__init__ is object.__init__
    )


@functools.cache
def directories(*names: str) -> tuple[str, ...]:
    """Return directories of this Python installation as prefixes of file names."""
    import sysconfig  # which reads how Python was built

    return tuple(str(Path(sysconfig.get_path(name))) + os.sep for name in names)


PREFIXES = (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)
"""Where all of these directories are."""
REACHED: weakref.WeakKeyDictionary[Any, bool] = weakref.WeakKeyDictionary()
MOST_REACHED = 400
KNOWN_ROOTS = frozenset({*sys.stdlib_module_names, "numpy"})
"""The packages whose compiled code checks what it is given."""


def standard() -> tuple[str, ...]:
    """Return the directories of Python's own modules."""
    return directories("stdlib", "platstdlib")


def installed() -> tuple[str, ...]:
    """Return the directories of installed packages."""
    return directories("purelib", "platlib")


SUBSTITUTES = tuple(
    f"adcompiler.runtime.{name}" for name in ("substitutes", "sparse.matrices", "sparse.filled"))
"""Modules of the runtime whose classes and functions are compiled as a user's are."""
COMPILED = frozenset({
    "adcompiler.runtime.adjoints.elementwise", "adcompiler.runtime.adjoints.sequences",
    f"{KERNELS}.reductions", f"{KERNELS}.sequences",
})
"""Modules of the runtime whose functions are adjoints written in the accepted language."""
WRITING = frozenset({add_at, append, drop_last, entry, put_entry})
"""Functions of the runtime that write into their arguments, or that undo it."""
PROGRAMS_AND_TEXT = frozenset({
    "abc", "ast", "dis", "gettext", "importlib", "inspect", "linecache", "locale", "logging", "os",
    "pathlib", "platform", "posixpath", "re", "shutil", "string", "subprocess", "sysconfig",
    "tempfile", "textwrap", "threading", "tokenize", "traceback", "typing", "warnings",
})
"""Modules whose functions give nothing to differentiate, so that their source is not opened."""

SPARSE_METHODS = frozenset({
    "__abs__", "__add__", "__getitem__", "__matmul__", "__mul__", "__neg__", "__pow__", "__radd__",
    "__rmatmul__", "__rmul__", "__rsub__", "__sub__", "__truediv__", "asformat", "astype", "conj",
    "conjugate", "copy", "count_nonzero", "diagonal", "dot", "getcol", "getnnz", "getrow", "max",
    "maximum", "mean", "min", "minimum", "multiply", "nonzero", "power", "sum", "toarray",
    "tobsr", "tocoo", "tocsc", "tocsr", "todense", "todia", "todok", "tolil", "trace", "transpose",
})
"""Methods of SciPy's sparse arrays that do not change the array."""

SPLINE_METHODS = frozenset({
    "__call__", "antiderivative", "derivative", "derivatives", "from_spline", "get_coeffs",
    "get_knots", "get_residual", "integral", "integrate", "roots", "solve",
})
"""Methods of SciPy's splines that do not change the spline."""


@functools.cache
def compiled_functions() -> tuple[type, ...]:
    """Return the classes of functions that are written in C."""
    return (python_types.BuiltinFunctionType, python_types.MethodDescriptorType, np.ufunc,
            type(np.random.default_rng), type(np.sum))
