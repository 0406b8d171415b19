"""Facts about what the compiler itself writes calls of: the runtime, builtins, iterators."""

from __future__ import annotations

import binascii
import bisect
import cmath
import contextlib
import functools
import itertools
import math
import operator
import pickle
import random
import statistics
import struct
import time
import warnings
import zlib
from collections import ChainMap, Counter, OrderedDict, deque
from types import MappingProxyType
from typing import Any

import numpy as np

from adcompiler.ir.operators import IN_PLACE
from adcompiler.ops.facts import (
    ALIKE, ANY, ARRAYS, CONTENTS, EACH, FIRST_WINS, HOLDS, IN_ROWS, INTEGERS, ITEMS, ITERABLES,
    KEPT, MAY, NEVER_NEGATIVE, NUMBERS, OWN, PLAIN, READ, SAME, TEXT, VIEW, Entry, Shares, stated,
)
from adcompiler.runtime import (
    accumulate, add, add_at, append, apart, as_gradient, called, check_assigned,
    check_bound, check_count, check_items, check_keywords, check_lasts, check_position,
    check_rebinds, check_support, choose, dict_keys, drop_last, entry, evaluated,
    give_back, holds_once, keeps_shape, last_written, no_grad, note_value, own,
    passing_on, put_entry, read_global, record, same_extent, same_kind, same_length, same_shape,
    same_trailing_shape, scatter, seed, stays_real, stop_gradient, store_global, told, unpack,
    zeros_like,
)
from adcompiler.runtime.adjoints.kinks import STAND_INS, first_derivative
from adcompiler.runtime.adjoints.products import crossed, in_space
from adcompiler.runtime.adjoints.shaping import (
    complex_viewed, copy_as_laid_out, diagonal_adjoint, diagonal_view, in_place_of, laid_out_as,
    parts_viewed, read_order, reshape_view, viewed,
)
from adcompiler.runtime.aliases import copied_apart
from adcompiler.runtime.batches import zeros_of_each
from adcompiler.runtime.checking import (
    check_cotangent, check_shape, check_shape_each, check_tangent, check_value,
)
from adcompiler.runtime.external import (
    call_external, external_adjoint, external_by_jac, external_by_vjp,
    external_call, external_of_three_by_vjp, external_of_two_by_vjp, external_tangent,
    external_value,
)
from adcompiler.runtime.functionals import array_of, implied, passive, symmetric
from adcompiler.runtime.tables import no_table
from adcompiler.runtime.tapes import as_rows
from adcompiler.runtime.unknown_calls import call_on_copies

ITERTOOLS = tuple(value for value in vars(itertools).values() if isinstance(value, type))
READ_ONLY_CLASSES: tuple[Any, ...] = (
    set, frozenset, deque, OrderedDict, ChainMap, Counter, MappingProxyType,
)
"""Collections of which the methods named below write nothing."""

CHECKS: frozenset[Any] = frozenset({
    apart, called, check_assigned, check_bound, check_cotangent, check_count,
    check_items, check_keywords, check_lasts, check_position, check_rebinds, check_shape,
    check_shape_each, check_support, check_tangent, check_value, copied_apart,
    evaluated, holds_once, in_space, keeps_shape, no_table, same_kind, same_length,
    same_extent, same_shape, same_trailing_shape, seed, stays_real,
})
"""Functions of the runtime that raise where a value is not what it must be."""

READERS: frozenset[Any] = frozenset({getattr})
"""Functions that read of what they are given, and keep nothing in it."""

WRITERS: frozenset[Any] = frozenset({give_back, accumulate})
"""Functions of the runtime that write into an argument."""
EFFECTS: frozenset[Any] = frozenset({
    store_global, read_global, note_value, passing_on,
})
"""Functions of the runtime whose calls keep their order: they write, or read what is written."""


def functions_of(module: Any) -> tuple[Any, ...]:
    """Return the public functions of a module, which are about numbers."""
    return tuple(
        value for name, value in vars(module).items()
        if not name.startswith("_") and callable(value) and not isinstance(value, type)
    )


PASSED_ON: dict[str, tuple[Any, ...]] = {
    "len": (len,), "iter": (iter,), "isinstance": (isinstance,), "print": (print, told),
    "is": (operator.is_, operator.is_not), "equal": (operator.eq, operator.ne),
    "compare": (operator.lt, operator.le, operator.gt, operator.ge),
    "contains": (operator.contains,), "concat": (operator.concat,), "add": (operator.add,),
    "mul": (operator.mul,), "pow": (operator.pow, math.pow), "matmul": (operator.matmul,),
    "sum of items": (sum, math.fsum), "prod of items": (math.prod,), "max of items": (max,),
    "min of items": (min,), "mean of items": (statistics.fmean, statistics.mean),
    "sorted": (sorted,), "hypot": (math.hypot,), "dist": (math.dist,), "log": (math.log,),
}
"""Functions by how their results depend on the elements of arguments."""

MEANT: dict[str, tuple[Any, ...]] = {
    "add": (operator.add,), "subtract": (operator.sub,), "multiply": (operator.mul,),
    "divide": (operator.truediv,), "floor_divide": (operator.floordiv,),
    "remainder": (operator.mod,), "power": (operator.pow, pow), "float_power": (math.pow,),
    "matmul": (operator.matmul,), "negative": (operator.neg,), "positive": (operator.pos,),
    "absolute": (operator.abs, abs), "less": (operator.lt,), "less_equal": (operator.le,),
    "greater": (operator.gt,), "greater_equal": (operator.ge,), "equal": (operator.eq,),
    "not_equal": (operator.ne,), "arcsin": (math.asin,), "arccos": (math.acos,),
    "arctan": (math.atan,), "arctan2": (math.atan2,), "arcsinh": (math.asinh,),
    "arccosh": (math.acosh,), "arctanh": (math.atanh,),
    **{name: (getattr(math, name),) for name in (
        "fabs", "sqrt", "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan",
        "sinh", "cosh", "tanh", "hypot", "copysign", "isfinite", "isnan", "erf", "erfc", "gamma",
        "lgamma",
    )},
    "int_floor": (math.floor,), "int_ceil": (math.ceil,),
}
"""Functions by the words for what they are."""


GIVES_VALUE = stated(pure=True, writes=(), tried=True)
"""Functions that do nothing but give a value."""

BUILTINS: tuple[Entry, ...] = (
    ((
        contextlib.nullcontext, range, len, AssertionError, ValueError, TypeError, slice, super,
        np.errstate, functools.partial, operator.itemgetter, operator.attrgetter,
        operator.methodcaller, np.vectorize, *ITERTOOLS,
    ), GIVES_VALUE),
    ((
        tuple, list, sorted, reversed, zip, enumerate, dict, min, max, next, iter, getattr, map,
        filter,
    ), stated(shares=CONTENTS, writes=())),
    ((zip, enumerate, reversed, iter, dict.items), GIVES_VALUE),
    ((
        range, len, str, int, bool, abs, float, complex, divmod, round, slice, all, any, ascii, bin,
        bytes, callable, chr, format, hasattr, hash, hex, id, isinstance, issubclass, oct, ord,
        print, told, repr, type, complex.conjugate, float.conjugate, float.is_integer,
        operator.contains, operator.countOf, operator.index, operator.indexOf, operator.is_,
        operator.is_not, operator.length_hint, operator.not_, operator.truth,
        *functions_of(math), *functions_of(cmath), *functions_of(statistics),
    ), stated(shares=OWN)),
    ((sum,), stated(shares=(Shares(MAY, (1,)), Shares(ITEMS)))),
    ((
        operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv,
        operator.mod, operator.pow, operator.matmul, operator.and_, operator.or_, operator.xor,
        operator.lshift, operator.rshift, operator.neg, operator.pos, operator.invert,
        operator.concat, operator.eq, operator.ne, operator.lt, operator.le, operator.gt,
        operator.ge, operator.abs,
    ), stated(shares=ITEMS)),
    (IN_PLACE, stated(shares=SAME, writes=("a",))),
    ((
        str.join, *(
            getattr(cls, name) for cls in (list, tuple, dict) for name in (
                "index", "count", "__len__", "__contains__", "__eq__", "__ne__", "__lt__", "__le__",
                "__gt__", "__ge__", "__repr__", "__str__", "__format__", "__sizeof__",
            ) if hasattr(cls, name)
        ),
    ), stated(pure=True, shares=OWN, writes=())),
    (tuple(
        getattr(cls, name) for cls in (list, tuple, dict) for name in (
            "copy", "keys", "values", "items", "get", "__getitem__", "__iter__", "__reversed__",
            "__add__", "__mul__", "__rmul__", "__or__", "__ror__", "_asdict", "_replace",
        ) if hasattr(cls, name)
    ), stated(pure=True, shares=CONTENTS, writes=())),
    (tuple(
        method for cls in (str, bytes, int, float, complex, bool, frozenset, range, slice)
        for method in vars(cls).values() if callable(method)
    ), stated(pure=True, writes=())),
    (tuple(
        getattr(cls, name) for cls in READ_ONLY_CLASSES for name in (
            "union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset",
            "isdisjoint", "copy", "keys", "values", "items", "get", "index", "count",
            "most_common", "elements", "total", "__len__", "__contains__", "__iter__", "__eq__",
            "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__and__", "__or__", "__sub__",
            "__xor__", "__rand__", "__ror__", "__rsub__", "__rxor__", "__getitem__", "__reversed__",
        ) if hasattr(cls, name)
    ), stated(pure=True, shares=CONTENTS, writes=())),
    ((
        struct.pack, struct.unpack, struct.unpack_from, struct.calcsize, pickle.dumps, pickle.loads,
        bisect.bisect_left, bisect.bisect_right, *functions_of(time), *functions_of(binascii),
        *functions_of(zlib),
    ), stated(shares=OWN, writes=())),
    ((set, frozenset, tuple, list, dict, sum), stated(writes=())),
    ((
        list, dict, iter, zip, enumerate, reversed, range, map, filter, np.ndindex, np.ndenumerate,
        np.errstate, *ITERTOOLS,
    ), stated(fresh=True)),
    ((
        operator.add, operator.sub, operator.mul, operator.neg, operator.pos, operator.eq,
        operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
    ), stated(total=NUMBERS)),
    ((
        operator.add, operator.sub, operator.mul, operator.neg, operator.pos, operator.abs, abs,
    ), stated(total=(NUMBERS, ARRAYS))),
    ((operator.truediv,), stated(total=ARRAYS)),
    ((operator.is_, operator.is_not, type), stated(total=ANY)),
    ((len, list, tuple, zip, enumerate, iter, reversed), stated(total=ITERABLES)),
    ((bool, str, repr, operator.not_), stated(total=(PLAIN, NUMBERS))),
    ((range,), stated(total=INTEGERS)),
    ((
        list, tuple, set, frozenset, dict, sum, sorted, min, max, math.fsum, math.prod, str.join,
    ), stated(exhausts=True)),
    ((
        operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos,
        operator.abs, abs, operator.eq, operator.ne, operator.lt, operator.le, operator.gt,
        operator.ge, operator.not_, operator.iadd, operator.isub, operator.imul, operator.itruediv,
        operator.floordiv, operator.mod, float, int, bool, complex, str, repr, len,
    ), stated(classes=True)),
    ((
        operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
        operator.pow, operator.neg, operator.pos, operator.abs, abs, operator.iadd, operator.isub,
        operator.imul, operator.itruediv, operator.eq, operator.ne, operator.lt, operator.le,
        operator.gt, operator.ge, operator.and_, operator.or_, operator.xor, operator.invert,
    ), stated(elementwise=True)),
    ((
        str, repr, format, ascii, bytes, memoryview, float.hex, float.as_integer_ratio, str.format,
        struct.pack, struct.pack_into, print, told,
    ), stated(form=TEXT)),
    ((float, complex, float.fromhex, struct.unpack, struct.unpack_from), stated(form=READ)),
    ((range,), stated(sized=True)),
    ((
        abs, operator.abs, math.fabs, math.exp, math.exp2, math.sqrt, math.cosh, math.hypot,
        math.erfc, math.dist, len,
    ), stated(sign=NEVER_NEGATIVE)),
    ((
        operator.add, operator.mul, operator.truediv, operator.pow, operator.pos, float, min,
    ), stated(sign=KEPT)),
    ((max,), stated(sign=FIRST_WINS)),
    ((
        sum, min, max, any, all, list, tuple, set, frozenset, dict, sorted, zip, enumerate, map,
        filter, math.fsum, math.prod, str.join, functools.reduce,
        *(getattr(statistics, name) for name in statistics.__all__ if name.islower()), *ITERTOOLS,
    ), stated(iterates=True)),
    ((
        np.errstate, warnings.catch_warnings, contextlib.nullcontext, contextlib.closing,
        contextlib.redirect_stdout, contextlib.redirect_stderr, open,
    ), stated(passes_on=True)),
    ((random.shuffle,), stated(changes="container")),
    ((
        operator.iconcat, delattr, list.append, list.extend, list.insert, list.pop, list.remove,
        list.clear, list.sort, list.reverse, list.__setitem__, list.__delitem__, dict.__setitem__,
        dict.__delitem__, dict.update, dict.pop, dict.popitem, dict.setdefault, dict.clear,
    ), stated(changes="container")),
    ((complex,), stated(defaults={"imag": 0})),
    ((sum,), stated(defaults={"start": 0})),
    ((sorted,), stated(defaults={"key": None, "reverse": False})),
    ((int, float), stated(defaults={})),
    ((len,), stated(of_form=True)),
    ((
        operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos,
    ), stated(axes=EACH)),
    ((reversed, list, tuple, zip, enumerate, iter), stated(axes=IN_ROWS)),
    *((functions, stated(transfer=word)) for word, functions in PASSED_ON.items()),
    *((functions, stated(means=word)) for word, functions in MEANT.items()),
)

FRESH_RUNTIME = (
    own, entry, dict_keys, copy_as_laid_out, stop_gradient, zeros_like, seed, no_grad, passive,
    array_of,
    call_on_copies, call_external, external_call, external_value, external_adjoint,
    external_tangent, external_by_vjp, external_of_two_by_vjp, external_of_three_by_vjp,
    external_by_jac, diagonal_adjoint, crossed, scatter, last_written, as_gradient, as_rows,
)
"""Functions of the runtime whose results share storage with nothing that they are given."""

OF_RUNTIME: tuple[Entry, ...] = (
    (CHECKS | WRITERS | EFFECTS | {call_on_copies, told}, stated(pure=False, tried=False)),
    (FRESH_RUNTIME, stated(shares=OWN)),
    ((passive,), stated(tried=False)),
    ((record,), stated(shares=CONTENTS)),
    ((reshape_view, diagonal_view, viewed, parts_viewed, complex_viewed), stated(shares=VIEW)),
    ((diagonal_view,), stated(tried=True)),
    ((
        reshape_view, viewed, parts_viewed, complex_viewed, read_order,
    ), stated(reads_layout=True)),
    ((first_derivative, *STAND_INS), stated(
        pure=True, writes=(), tried=True, shares=Shares(SAME, (0,)), transfer="moves")),
    ((implied, symmetric, laid_out_as, in_place_of), stated(shares=Shares(MAY, (0,)))),
    ((add_at,), stated(shares=Shares(SAME, (0,)))),
    ((append, drop_last, put_entry), stated(shares=(Shares(SAME, (0,)), Shares(HOLDS)))),
    ((choose,), stated(shares=Shares(MAY, (1, 2)))),
    ((add,), stated(shares=MAY)),
    ((add_at, append, drop_last, put_entry), stated(updates=True)),
    ((own, seed, stop_gradient, no_grad, zeros_like, record), stated(fresh=True)),
    ((no_grad,), stated(total=ANY)),
    ((zeros_like,), stated(axes=ALIKE)),
    ((zeros_like, zeros_of_each), stated(of_form=True)),
    ((unpack,), stated(exhausts=True, iterates=True)),
    ((own, copy_as_laid_out), stated(order=KEPT)),
    ((viewed,), stated(form=(TEXT, READ))),
    ((parts_viewed, complex_viewed), stated(form=READ)),
)
