"""Calls that make or take sparse matrices of SciPy, where these are followed entry by entry.

A function is compiled with SciPy's own matrices first. Where that is refused, as their elements
carry a derivative, ``Settings.by_entries`` asks for this: a matrix that is made of arrays, or of
another one and a number, becomes one of ``runtime/sparse/matrices.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeGuard

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import UNDEF, Atom, Const, Origin, Star
from adcompiler.ir.operators import BINARY
from adcompiler.ops.qualified_names import root_module
from adcompiler.ops.registry import hashable
from adcompiler.infer.objects import live_class
from adcompiler.infer.storage.memory_order import of_unknown_layout
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer
from adcompiler.typed.unit import Unit

Maker = Callable[[Operations, type, list[Atom], dict[str, Atom], Origin], Atom | None]
ARITHMETIC = {one.function: one for one in BINARY} | {one.in_place: one for one in BINARY}
SUMS = {"add": "added", "sub": "subtracted"}
ADDING = tuple(one.in_place for one in BINARY if one.name in SUMS)
SCALINGS = ("mul", "truediv")
PRODUCT = next(Const(one.function) for one in BINARY if one.name == "matmul")
KEEPS = {"csc": "csc", "csr": "csr"}
"""The format of a sum or product, by that of the first operand; that of others is csr."""


def forms() -> Any:
    """Return the module of matrices as entries, None while SciPy's are not loaded."""
    if "scipy.sparse" not in sys.modules:
        return None
    from adcompiler.runtime.sparse import matrices  # SciPy's, which is there

    return matrices


def filled_forms() -> Any:
    """Return the classes of matrices that are filled element by element, by those of SciPy."""
    from adcompiler.runtime.sparse.filled import FILLED  # which has SciPy's

    return FILLED


def is_entries(type_: t.Type) -> bool:
    """Say whether a value is a sparse matrix as entries."""
    return isinstance(type_, t.Object) and type_.cls.__module__ == (
        "adcompiler.runtime.sparse.matrices") and type_.field("_rows") is not None


def is_filled(type_: t.Type) -> bool:
    """Say whether a value is a sparse matrix that is filled element by element."""
    return is_of_filled(type_) and type_.field("_filled") is not None


def is_of_filled(type_: t.Type) -> TypeGuard[t.Object]:
    """Say whether a value is such a matrix or a part of one."""
    return isinstance(type_, t.Object) and type_.cls.__module__ == (
        "adcompiler.runtime.sparse.filled")


def is_whole(type_: t.Type) -> bool:
    """Say whether a value is a sparse matrix of SciPy."""
    return isinstance(type_, t.Object) and str(type_.cls.__module__).startswith(
        "scipy.sparse.") and hasattr(type_.cls, "tocoo")


def call_sparse(
    s: Operations, func: Const, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """Write a call that makes or takes a sparse matrix; None if it is none, or stays as it is."""
    value, module = func.value, forms()
    if module is None or not hashable(value) or any(isinstance(arg, Star) for arg in args):
        return None
    types = [s.unit.type(arg) for arg in args]
    about = value in makers() or any(
        is_entries(one) or is_whole(one) or is_of_filled(one) for one in types)
    if not about:
        return None
    s.unit.calls.sparse = True
    if not s.unit.settings.options.by_entries:
        return None
    found = call_with_entries(s, func, args, kwargs, types, origin, name)
    return None if found is None else of_unknown_layout(s, name, args, found, origin)


def call_with_entries(
    s: Operations, func: Const, args: list[Atom], kwargs: dict[str, Atom], types: list[t.Type],
    origin: Origin, name: str,
) -> Atom | None:
    """Write a call that makes or takes a sparse matrix of which the entries are followed."""
    value, module = func.value, forms()
    assert module is not None
    maker: Maker | None = makers().get(value)
    if maker is not None:
        return maker(s, value, args, dict(kwargs), origin)
    of = types[0] if len(types) > 1 else None
    if isinstance(of, t.Object) and is_filled(of) and not is_element(s.unit, args[1]):
        if value is getattr(of.cls, "__getitem__", None):
            return s.call(s.attribute(args[0], "part", origin), args[1:], {}, origin, name)
        if value is getattr(of.cls, "__setitem__", None):
            put = "put_part" if is_of_filled(types[2]) else "put_each"
            return s.call(s.attribute(args[0], put, origin), args[1:], {}, origin, name)
    if any(is_of_filled(one) and not is_filled(one) for one in types) and value not in ADDING and (
        value in ARITHMETIC or root_module(value) in ("scipy", "numpy")
    ):
        s.reject(
            origin, "a part of a sparse matrix that is filled here can only be added to, by `+=` "
            "and `-=`", "compute with the matrix itself, after `.tocsr()`", "sparse-matrices")
        return UNDEF
    if any(map(is_filled, types)) and (
        value in ARITHMETIC or root_module(value) in ("scipy", "numpy")
    ):
        args = [compressed(s, arg, origin) for arg in args]
        return s.call(func, args, kwargs, origin, name)
    if value in ARITHMETIC and not kwargs and len(args) == 2:
        return call_arithmetic(s, value, args, origin, name)
    if value in module.SYSTEMS and is_entries(types[0]):
        kwargs = {} if value is not module.spsolve else kwargs
        return s.call(Const(module.SYSTEMS[value]), args if value is module.spsolve else args[:1],
                      kwargs, origin, name)
    if value in module.ITERATIVE and is_entries(types[0]):
        given = [func, args[0], *(wholly(s, arg, origin) for arg in args[1:])]
        return s.call(Const(module.iterated), given, kwargs, origin, name)
    if any(map(is_entries, types)) and root_module(value) in ("scipy", "numpy"):
        args = [wholly(s, arg, origin) for arg in args]
        return s.call(func, args, kwargs, origin, name)
    return None


# -- what they are made of -------------------------------------------------------------------------


def makers() -> dict[Any, Maker | None]:
    """Return the functions that make sparse matrices, and what writes calls of them."""
    found = MAKERS.get("found")
    module = forms()
    if found is None and module is not None:
        sparse = sys.modules["scipy.sparse"]
        found = MAKERS["found"] = {
            **dict.fromkeys(module.FORMS, make_matrix),
            **{getattr(sparse, one): make_diagonals for one in ("diags", "diags_array")
               if hasattr(sparse, one)},
            sparse.spdiags: make_of_table, sparse.kron: make_kron,
            **dict.fromkeys(filled_forms(), make_filled),
        }
    return found or {}


MAKERS: dict[str, dict[Any, Maker | None]] = {}


def make_matrix(
    s: Operations, cls: Any, args: list[Atom], kwargs: dict[str, Atom], origin: Origin
) -> Atom | None:
    """Write ``csc_matrix(...)`` and its kin of entries; None where they are given another matrix.

    A dense array makes one of SciPy, which has no derivative.
    """
    module = forms()
    form = live_class(s.unit, module.FORMS[cls])
    names = ("arg1", "shape", "dtype", "copy")
    given = dict(zip(names, args, strict=False)) | kwargs
    kept: dict[str, Atom] = {
        key: atom for key, atom in given.items() if key in ("shape", "dtype")}
    first = given.get("arg1", UNDEF)
    type_ = s.unit.type(first)
    if is_entries(type_) or is_filled(type_):
        method = s.attribute(first, "as_form", origin)
        made = s.call(method, [form], {}, origin, "matrix")
        if "dtype" not in kept:
            return made
        return s.call(s.attribute(made, "astype", origin), [kept["dtype"]], {}, origin, "matrix")
    if not isinstance(type_, t.Tuple) or len(given) > len(names) or given.keys() - set(names):
        return None
    of_format = module.FORMS[cls].format
    if len(type_.items) == 2 and of_format == "dia":
        return s.call(Const(module.from_table), [form, first], kept, origin, "matrix")
    if len(type_.items) == 2 and not isinstance(type_.items[0], t.Scalar):
        return s.call(Const(module.from_coordinates), [form, first], kept, origin, "matrix")
    if len(type_.items) == 3 and of_format in ("csc", "csr"):
        by_rows = Const(of_format == "csr")
        return s.call(
            Const(module.from_compressed), [form, by_rows, first], kept, origin, "matrix")
    return None


def make_filled(
    s: Operations, cls: Any, args: list[Atom], kwargs: dict[str, Atom], origin: Origin
) -> Atom | None:
    """Write ``lil_matrix((m, n))`` and its kin of floats; None of another matrix or dtype."""
    given = dict(zip(("arg1", "shape", "dtype"), args, strict=False)) | kwargs
    type_, dtype = s.unit.type(given.get("arg1", UNDEF)), given.get("dtype", Const(None))
    if given.keys() - {"arg1", "dtype"} or not isinstance(dtype, Const) or (
        dtype.value not in (None, float, np.float64, "d", "float", "float64")
    ) or not (isinstance(type_, t.Tuple) and len(type_.items) == 2 and all(
        isinstance(item, t.Scalar) for item in type_.items)
    ):
        return None
    return s.call(live_class(s.unit, filled_forms()[cls]), [given["arg1"]], {}, origin, "matrix")


def make_diagonals(
    s: Operations, function: Callable[..., Any], args: list[Atom], kwargs: dict[str, Atom],
    origin: Origin
) -> Atom | None:
    """Write ``diags`` or ``diags_array``; None where the arguments are of another kind."""
    module = forms()
    is_array = function.__name__ == "diags_array"
    names = ("diagonals",) if is_array else ("diagonals", "offsets", "shape", "format", "dtype")
    given = dict(zip(names, args, strict=False)) | kwargs
    table = module.ARRAYS if is_array else module.MATRICES
    format_ = given.pop("format", Const(None))
    if len(args) > len(names) or "diagonals" not in given or not isinstance(format_, Const):
        return None
    form = table.get(format_.value or "dia")
    diagonals, offsets = given.pop("diagonals"), given.get("offsets", Const(0))
    if form is None or given.keys() - {"offsets", "shape", "dtype"}:
        return None
    type_ = s.unit.type(diagonals)
    if isinstance(s.unit.type(offsets), t.Scalar):
        of_numbers = isinstance(type_, t.List) and isinstance(type_.item, t.Scalar)
        if not of_numbers and not (isinstance(type_, t.Array) and type_.ndim == 1):
            return None
        parts: tuple[Atom, ...] | None = (diagonals,)
    else:
        parts = s.unit.elements(diagonals)
    if parts is None or any(isinstance(part, Star) for part in parts):
        numbers = isinstance(type_, t.List) and isinstance(type_.item, t.Scalar)
        gather = module.numbers_as_diagonals if numbers else module.end_to_end
        pair = s.call(Const(gather), [diagonals], {}, origin, "diagonals")
        values, lengths = (s.item(pair, Const(k), origin) for k in (0, 1))
    else:
        rows = [s.call(Const(np.atleast_1d), [part], {}, origin, "diagonal") for part in parts]
        sizes = [s.call(Const(np.size), [row], {}, origin, "length") for row in rows]
        lengths = s.pack("tuple", tuple(sizes), "lengths", origin)
        packed = s.pack("tuple", tuple(rows), "diagonals", origin)
        values = s.call(Const(np.concatenate), [packed], {}, origin, "values")
    form_ = live_class(s.unit, form)
    return s.call(Const(module.from_diagonals), [form_, values, lengths], given, origin, "matrix")


def make_of_table(
    s: Operations, function: Callable[..., Any], args: list[Atom], kwargs: dict[str, Atom],
    origin: Origin
) -> Atom | None:
    """Write ``spdiags(data, diags, m, n, format)``."""
    module = forms()
    given = dict(zip(("data", "diags", "m", "n", "format"), args, strict=False)) | kwargs
    format_ = given.get("format", Const(None))
    if not {"data", "diags", "m"} <= given.keys() or not isinstance(format_, Const):
        return None
    form = module.MATRICES.get(format_.value or "dia")
    shape = given["m"]
    if "n" in given and not (isinstance(given["n"], Const) and given["n"].value is None):
        shape = s.pack("tuple", (given["m"], given["n"]), "shape", origin)
    if form is None:
        return None
    data = s.pack("tuple", (given["data"], given["diags"]), "table", origin)
    return s.call(
        Const(module.from_table), [live_class(s.unit, form), data, shape], {}, origin, "matrix")


def make_kron(
    s: Operations, function: Callable[..., Any], args: list[Atom], kwargs: dict[str, Atom],
    origin: Origin
) -> Atom | None:
    """Write ``kron(A, B, format)`` of sparse matrices, one of which is entries."""
    module = forms()
    given = dict(zip(("A", "B", "format"), args, strict=False)) | kwargs
    pair = [given.get("A", UNDEF), given.get("B", UNDEF)]
    format_ = given.get("format", Const(None))
    if not any(is_entries(s.unit.type(one)) for one in pair) or not isinstance(format_, Const):
        return None
    if not all(is_entries(s.unit.type(one)) or is_whole(s.unit.type(one)) for one in pair):
        return None
    a, b = (as_entries(s, one, origin) for one in pair)
    matrices = not any(map(is_array, (s.unit.type(a), s.unit.type(b))))
    form = (module.MATRICES if matrices else module.ARRAYS).get(format_.value or "coo")
    if form is None:
        return None
    cls = live_class(s.unit, form)
    return s.call(Const(module.kron), [cls, a, b], {}, origin, name_of(function))


def name_of(function: Callable[..., Any]) -> str:
    """Return what to call the result of a function."""
    return str(function.__name__)


# -- arithmetic ------------------------------------------------------------------------------------


def call_arithmetic(
    s: Operations, function: Callable[..., Any], args: list[Atom], origin: Origin, name: str
) -> Atom | None:
    """Write an operator of sparse matrices; None if it stays as it is."""
    types = [s.unit.type(arg) for arg in args]
    row = ARITHMETIC[function]
    if row.name in SCALINGS and function is row.in_place and is_entries(types[0]):
        refuse_part(s, types[0], "*=" if row.name == "mul" else "/=", origin)
        return UNDEF
    sparse = [is_entries(one) or is_whole(one) for one in types]
    if all(sparse):
        return of_two(s, row.name, function, args, types, origin, name)
    first, other = (args[0], args[1]) if sparse[0] else (args[1], args[0])
    kind = types[1] if sparse[0] else types[0]
    number = isinstance(kind, t.Scalar) or (isinstance(kind, t.Array) and kind.ndim == 0)
    scales = row.name == "mul" or (row.name == "truediv" and sparse[0])
    if number and scales and not (isinstance(other, Const) and is_whole(s.unit.type(first))):
        matrix = as_entries(s, first, origin)
        values = s.attribute(matrix, "_values", origin)
        scaled = s.call(Const(row.function), [values, other], {}, origin, "values")
        return s.call(s.attribute(matrix, "with_values", origin), [scaled], {}, origin, name)
    of_matrices = row.name == "mul" and not is_array(s.unit.type(first))
    if of_matrices and isinstance(kind, t.Array) and is_entries(s.unit.type(first)):
        return s.call(PRODUCT, args, {}, origin, name)
    if row.name == "matmul" or not any(map(is_entries, types)):
        return None
    return s.call(Const(function), [wholly(s, arg, origin) for arg in args], {}, origin, name)


def of_two(
    s: Operations, row: str, function: Callable[..., Any], args: list[Atom], types: list[t.Type],
    origin: Origin, name: str
) -> Atom | None:
    """Write an operator of two sparse matrices, one of which is entries at least."""
    module = forms()
    if not any(map(is_entries, types)):
        return None
    arrays = any(map(is_array, types))
    product = row == "matmul" or (row == "mul" and not arrays)
    if not product and row not in SUMS:
        return s.call(Const(function), [wholly(s, arg, origin) for arg in args], {}, origin, name)
    formats = [format_of(type_) for type_ in types]
    of_result = "dia" if formats == ["dia", "dia"] else KEEPS.get(formats[0], "csr")
    form = live_class(s.unit, (module.ARRAYS if arrays else module.MATRICES)[of_result])
    written = module.multiplied if product else getattr(module, SUMS[row])
    pair = [as_entries(s, arg, origin) for arg in args]
    return s.call(Const(written), [form, *pair], {}, origin, name)


def as_entries(s: Operations, matrix: Atom, origin: Origin) -> Atom:
    """Return a sparse matrix as entries."""
    module, type_ = forms(), s.unit.type(matrix)
    if is_entries(type_):
        return matrix
    table = module.ARRAYS if is_array(type_) else module.MATRICES
    form = live_class(s.unit, table.get(format_of(type_), table["csr"]))
    return s.call(Const(module.from_whole), [form, matrix], {}, origin, "matrix")


def is_element(unit: Unit, index: Atom) -> bool:
    """Say whether an index of a matrix is that of one element."""
    type_ = unit.type(index)
    return isinstance(type_, t.Tuple) and len(type_.items) == 2 and all(
        isinstance(item, t.Scalar) for item in type_.items)


def compressed(s: Operations, value: Atom, origin: Origin) -> Atom:
    """Return the entries of a matrix that is filled element by element; others as they are."""
    if isinstance(value, Star) or not is_filled(s.unit.type(value)):
        return value
    return s.call(s.attribute(value, "tocsr", origin), [], {}, origin, "matrix")


def wholly(s: Operations, value: Atom, origin: Origin) -> Atom:
    """Return a matrix of SciPy for entries, which has no derivative; other values as they are."""
    if not is_entries(s.unit.type(value)):
        return value
    return s.call(s.attribute(value, "whole", origin), [], {}, origin, "matrix")


def is_array(type_: t.Type) -> bool:
    """Say whether a sparse matrix is a sparse array, whose ``*`` goes element by element."""
    if not isinstance(type_, t.Object):
        return False
    cls = getattr(type_.cls, "of", type_.cls)
    return not issubclass(cls, sys.modules["scipy.sparse"].spmatrix)


def format_of(type_: t.Type) -> str:
    """Return the format of a sparse matrix."""
    assert isinstance(type_, t.Object)
    return str(getattr(type_.cls, "of", type_.cls).__name__)[:3]


# -- what is not supported -------------------------------------------------------------------------


def refuse_part(s: Writer, type_: t.Type, name: str, origin: Origin) -> bool:
    """Report an attribute of entries that is not there, or that is assigned."""
    if not is_entries(type_) and not is_filled(type_):
        return False
    assert isinstance(type_, t.Object)
    refuse_use(s, f"`{name}` of a {forms().STAND_FOR[type_.cls].__name__}", origin)
    return True


def refuse_whole(s: Writer, function: Callable[..., Any], origin: Origin) -> bool:
    """Report a derivative through a matrix of SciPy that was made of entries, where it was."""
    module = forms()
    if module is None or function is not module.whole:
        return False
    refuse_use(s, "what SciPy computes of a sparse matrix", origin.via or origin)
    return True


def refuse_use(s: Writer, use: str, origin: Origin) -> None:
    """Report a use of entries that is not compiled."""
    s.reject(
        origin, f"{use} that is made here of values which may carry a derivative",
        "compute with the array that it is made of, before it is made", "sparse-matrices",
    )
