"""Fingerprints of what a pattern depends on, so that one is kept as long as it holds."""

from __future__ import annotations

import copyreg
import hashlib
import io
import operator
import pickle
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adcompiler.cache.keys import class_name, digest
from adcompiler.cache.rules_fingerprint import in_library, libraries
from adcompiler.ops.qualified_names import root_module
from adcompiler.runtime.containers import cell_value
from adcompiler.runtime.records import dict_of, is_record, state_of
from adcompiler.support.structs import dataclass

if TYPE_CHECKING:
    from adcompiler.sparsity.dependences.index_sets import Array

Fingerprint = tuple[Any, ...]


class Unknown:
    """Stands for what a fingerprint does not tell from other values."""


def shape_of(value: Any) -> Any:
    """Return the structure, shapes and dtypes of a value, without its real numbers."""
    if isinstance(value, (tuple, list)):
        return type(value), tuple(map(shape_of, value))
    if isinstance(value, dict):
        return dict, tuple((key, shape_of(item)) for key, item in value.items())
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        return value.dtype.str, value.shape
    if is_record(value):
        return type(value), tuple((n, shape_of(v)) for n, v in state_of(value).items())
    if isinstance(value, (float, complex, np.inexact)):
        return type(value)
    return fingerprint([value])


def fingerprint(
    values: Sequence[Any], pickled: Callable[[Any], bytes] = pickle.dumps
) -> Fingerprint:
    """Return what tells the contents of values from other contents.

    Functions, classes and modules stand for themselves. What can neither be looked into nor be
    pickled equals nothing, not even itself.
    """
    if not values:
        return ()
    hashed = hashlib.blake2b(digest_size=16)
    alive: list[Any] = []
    seen: dict[int, int] = {}

    def parts(items: Sequence[Any]) -> None:
        hashed.update(str(len(items)).encode())
        for item in items:
            add(item)

    def add(value: Any) -> None:
        hashed.update(f"{type(value).__module__}.{type(value).__qualname__};".encode())
        if type(value) in PLAIN or isinstance(value, np.generic):
            hashed.update(repr(value).encode())
        elif isinstance(value, (types.FunctionType, types.ModuleType, type, Unknown)):
            alive.append(value)
        elif id(value) in seen:  # a value that contains itself
            hashed.update(f"again {seen[id(value)]}".encode())
        else:
            seen[id(value)] = len(seen)
            contents(value)

    def contents(value: Array) -> None:
        if type(value) is np.ndarray and value.dtype.kind not in "OV":
            flags = value.flags.c_contiguous, value.flags.f_contiguous
            hashed.update(f"{value.dtype.str}{value.shape}{flags}".encode())
            hashed.update(value.tobytes())
        elif isinstance(value, (tuple, list, dict)):
            parts(list(value))
            if isinstance(value, dict):
                parts(list(value.values()))
            if dict_of(value):
                add(dict_of(value))
        elif is_record(value):
            parts(list(state_of(value)))
            parts(list(state_of(value).values()))
            alive.append(type(value))
        else:
            try:
                hashed.update(pickled(value))
            except Exception:
                alive.append(Unknown())

    add(list(values))
    return hashed.digest(), *alive


PLAIN = frozenset({bool, int, float, complex, str, bytes, type(None)})


# -- in other processes ----------------------------------------------------------------------------


def lasting(values: Sequence[Any]) -> str | None:
    """Return text that tells the contents of values from others in every process.

    None where that is not known: of functions that are not of a library, whose text may read
    anything, and of instances that are pickled in a way of their own.
    """
    hashed, *alive = fingerprint(values, pickled_alike) or (b"",)
    texts = [name_of(value) for value in alive]
    return None if None in texts else digest(hashed.hex(), *texts)


def name_of(value: Any) -> str | None:
    """Return the name of a class, a module, or a function of a library; None of other values."""
    if isinstance(value, type):
        return f"class {class_name(value)}"
    if isinstance(value, types.ModuleType):
        return f"module {value.__name__}"
    return in_library(value)


class AlikePickler(pickle.Pickler):
    """Pickles what other processes pickle in the same way; raises PicklingError of the rest."""

    def reducer_override(self, value: Any) -> Any:
        cls = type(value)
        if isinstance(value, type) or cls in copyreg.dispatch_table:
            return NotImplemented
        if isinstance(value, types.FunctionType):
            known = in_library(value) is not None
        else:
            known = all(
                base is object or root_module(base) in libraries() for base in (
                    next((b for b in cls.__mro__ if name in vars(b)), object)
                    for name in ("__reduce_ex__", "__reduce__", "__getstate__")))
        if not known:
            raise pickle.PicklingError("what it holds is not known")
        return NotImplemented


def pickled_alike(value: Array) -> bytes:
    """Return a value as bytes that tell it from others in every process; or PicklingError."""
    file = io.BytesIO()
    AlikePickler(file).dump(value)
    return file.getvalue()


# -- what is read ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Read:
    """How a value is read: a ``global`` variable of a module, an ``attribute``, or a ``cell``.

    ``name`` is what the ``owner`` has it under, of a function's cells the number.
    """

    kind: str
    owner: Any
    name: Any

    def __call__(self) -> Any:
        """Return the present value."""
        if self.kind == "cell":
            return cell_value(self.owner, self.name)
        if self.kind == "global":
            return operator.attrgetter(self.name)(self.owner)
        return getattr(self.owner, self.name)


class Reads:
    """What a run of a pattern program read beside its arguments: how to read it again."""

    def __init__(self) -> None:
        self.readers: dict[tuple[str, int, Any], Read] = {}

    def read(self, kind: str, owner: Any, name: Any) -> Any:
        """Return the present value of what is read, and remember how."""
        return self.readers.setdefault((kind, id(owner), name), Read(kind, owner, name))()

    def values(self) -> list[Any]:
        """Return all that was read, as it is now; raises what reading raises if some is gone."""
        return [reader() for reader in self.readers.values()]

    def fingerprint(self) -> Fingerprint | None:
        """Return the fingerprint of all that was read, as it is now; None if some is gone."""
        try:
            return fingerprint(self.values())
        except (AttributeError, IndexError, KeyError, ValueError):
            return None
