"""Where a function comes from: an installed package, the standard library, the runtime."""

from __future__ import annotations

import os
import sysconfig
import types as python_types
from pathlib import Path
from typing import Any

from adcompiler.ir.nodes import Const
from adcompiler.rulekit.registry import REGISTRY
from adcompiler.runtime import add_at, append, drop_last, entry, put_entry


def is_library(function: Any) -> bool:
    """Say whether a Python function belongs to the standard library or an installed package."""
    return is_within(function, (*STANDARD, *INSTALLED))


def is_standard(function: Any) -> bool:
    """Say whether a Python function belongs to the standard library."""
    return is_library(function) and not is_within(function, INSTALLED)


def works_on_programs(function: Any) -> bool:
    """Say whether a Python function of the standard library deals with programs, text or files."""
    module = str(getattr(function, "__module__", None)).partition(".")[0]
    return module in PROGRAMS_AND_TEXT and is_standard(function)


def is_within(function: Any, places: tuple[str, ...]) -> bool:
    """Say whether the source of a Python function lies in one of some directories."""
    name: str = function.__code__.co_filename
    return name.startswith(places)


def may_be_tried(function: Any, args: tuple[Any, ...]) -> bool:
    """Say whether a function may be called on stand-ins: one of an installed package.

    The user's own functions never run when compiling, nor do those of the standard library, many
    of which write files or messages.
    """
    functions = [function, *(
        a.value for a in args
        if isinstance(a, Const) and isinstance(a.value, python_types.FunctionType)
    )]
    return all(is_within(f, INSTALLED) for f in functions)


def is_runtime(value: Any) -> bool:
    """Say whether a function belongs to the runtime of emitted code, which is never opened."""
    return str(getattr(value, "__module__", "")).startswith("adcompiler.runtime")


def is_compiled(value: Any) -> bool:
    """Say whether the source of a runtime function is compiled, for its own derivative.

    These are functions that write into what they are given, and adjoints that have no rule.
    """
    if value in WRITING:
        return True
    return getattr(value, "__module__", "") in COMPILED and not REGISTRY.has_rules(value) and (
        REGISTRY.inactive(value) is None
    )


def pure_library(value: Any) -> bool:
    """Say whether a library function without a rule may be tried on stand-in values."""
    module = getattr(value, "__module__", "") or ""
    writes = "_sparsetools" in str(module)  # into arrays whose size it does not check
    if isinstance(value, type):  # classes whose instances are typed by what they hold
        return str(module).startswith(("scipy.interpolate.", "scipy.sparse."))
    return "random" not in str(module) and not writes


def stays_whole(function: Any) -> bool:
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


def directories(*names: str) -> tuple[str, ...]:
    """Return directories of this Python installation as prefixes of file names."""
    return tuple(str(Path(sysconfig.get_path(name))) + os.sep for name in names)


STANDARD = directories("stdlib", "platstdlib")
INSTALLED = directories("purelib", "platlib")
COMPILED = frozenset({
    "adcompiler.runtime.elementwise", "adcompiler.runtime.reductions",
    "adcompiler.runtime.sequences",
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
