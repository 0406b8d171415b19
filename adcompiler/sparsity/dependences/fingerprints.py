"""Fingerprints of what a pattern depends on, so that one is kept as long as it holds."""

from __future__ import annotations

import hashlib
import pickle
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adcompiler.runtime.records import is_record, state_of

Fingerprint = tuple[Any, ...]


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


def fingerprint(values: Sequence[Any]) -> Fingerprint:
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
        if isinstance(value, (int, float, complex, str, bytes, type(None), np.generic)):
            hashed.update(repr(value).encode())
        elif isinstance(value, (types.FunctionType, types.ModuleType, type)):
            alive.append(value)
        elif id(value) in seen:  # a value that contains itself
            hashed.update(f"again {seen[id(value)]}".encode())
        else:
            seen[id(value)] = len(seen)
            contents(value)

    def contents(value: Any) -> None:
        if isinstance(value, np.ndarray) and value.dtype.kind not in "OV":
            hashed.update(f"{value.dtype.str}{value.shape}".encode())
            hashed.update(value.tobytes())
        elif isinstance(value, (tuple, list)):
            parts(value)
        elif isinstance(value, dict):
            parts(list(value))
            parts(list(value.values()))
        elif is_record(value):
            parts(list(state_of(value)))
            parts(list(state_of(value).values()))
            alive.append(type(value))
        else:
            try:
                hashed.update(pickle.dumps(value))
            except Exception:
                alive.append(object())

    add(list(values))
    return hashed.digest(), *alive


class Reads:
    """What a run of a pattern program read beside its arguments: how to read it again."""

    def __init__(self) -> None:
        self.readers: dict[Any, Callable[[], Any]] = {}

    def read(self, key: Any, reader: Callable[[], Any]) -> Any:
        """Return what ``reader`` gives, and remember it under ``key``."""
        self.readers.setdefault(key, reader)
        return reader()

    def fingerprint(self) -> Fingerprint | None:
        """Return the fingerprint of all that was read, as it is now; None if some is gone."""
        try:
            return fingerprint([reader() for reader in self.readers.values()])
        except (AttributeError, IndexError, KeyError, ValueError):
            return None
