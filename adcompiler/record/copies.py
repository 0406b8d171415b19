"""Copies of arguments for a recording: what is differentiated becomes objects of its own.

One object in two places stays one; arrays that share memory share it in the copies, too. What the
run does to the copies is done to the caller's objects where that is wanted.
"""

from __future__ import annotations

import copy
import types
from typing import Any

import numpy as np

from adcompiler.record.tape import NUMBERS, bounds
from adcompiler.runtime.records import is_record, record, state_of


def fresh(number: Any) -> Any:
    """Return an equal number that is another object."""
    if isinstance(number, np.inexact):
        return number.dtype.type(np.array(number)[()]) if type(number) is not np.float64 else (
            np.array(number)[()])
    if type(number) is float:
        return float.fromhex(number.hex()) if number == number else float("nan")
    if type(number) is complex:
        return complex(number.real, number.imag)
    made = copy.copy(number)
    if made is number:  # of a derived class
        base: Any = float if isinstance(number, float) else complex
        made = base.__new__(type(number), base(number))
        made.__dict__.update(getattr(number, "__dict__", {}))
    return made


class Copies:
    """Copies of what arguments hold; ``pairs`` are originals with their copies."""

    def __init__(self) -> None:
        self.pairs: dict[int, tuple[Any, Any]] = {}
        self.roots: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def of(self, value: Any) -> Any:
        """Return the copy of a value."""
        if isinstance(value, NUMBERS):
            return fresh(value)
        if value is None or isinstance(value, (int, str, bytes, type, types.ModuleType,
                                               types.FunctionType, types.BuiltinFunctionType)):
            return value
        known = self.pairs.get(id(value))
        if known is not None:
            return known[1]
        return self.of_object(value)

    def of_object(self, value: Any) -> Any:
        """Return the copy of an array or container."""
        made: Any
        if isinstance(value, np.ndarray):
            made = self.of_array(value)
        elif type(value) is list:
            made = []
            self.pairs[id(value)] = value, made
            made.extend(map(self.of, value))
        elif isinstance(value, dict) and (type(value) is dict or hasattr(value, "copy")):
            made = {} if type(value) is dict else value.copy()
            self.pairs[id(value)] = value, made
            made.update((k, self.of(v)) for k, v in value.items())
        elif type(value) is tuple:
            made = tuple(map(self.of, value))
        elif isinstance(value, tuple) and hasattr(value, "_fields"):
            made = type(value)(*map(self.of, value))
        elif is_record(value):
            made = record(type(value))
            self.pairs[id(value)] = value, made
            for name, part in state_of(value).items():
                object.__setattr__(made, name, self.of(part))
        elif isinstance(value, types.MethodType):
            made = types.MethodType(value.__func__, self.of(value.__self__))
        elif isinstance(value, (np.random.Generator, np.random.RandomState)):
            made = copy.deepcopy(value)
        else:
            made = value
        self.pairs[id(value)] = value, made
        return made

    def of_array(self, array: np.ndarray) -> np.ndarray:
        """Return the copy of an array, a view of the copy of what owns its memory."""
        root = array
        while isinstance(root.base, np.ndarray):
            root = root.base
        if array.dtype.hasobject:
            made = array.copy()
            for place in np.ndindex(made.shape):
                made[place] = self.of(made[place])
            return made
        if root.base is not None or type(root) is not np.ndarray or type(array) is not np.ndarray:
            return array.copy("K")
        known = self.roots.get(id(root))
        if known is None:
            known = self.roots[id(root)] = root, np.copy(root, "K")
        made = known[1]
        if made.strides != root.strides:
            made = np.lib.stride_tricks.as_strided(made, root.shape, root.strides)
        if array is root:
            made.flags.writeable = array.flags.writeable
            return made
        first = array.__array_interface__["data"][0] - bounds(root)[0] if array.size else 0
        view = np.ndarray(array.shape, array.dtype, made.base if made.base is not None else made,
                          first, array.strides)
        view.flags.writeable = array.flags.writeable
        return view

    def give_back(self) -> None:
        """Do to the originals what was done to the copies."""
        back = {id(made): value for value, made in self.pairs.values() if made is not value}
        for value, made in list(self.pairs.values()):
            if made is value:
                continue
            if isinstance(value, np.ndarray):
                if value.flags.writeable and not value.dtype.hasobject:
                    value[...] = made
            elif type(value) is list:
                value[:] = [self.original(item, back) for item in made]
            elif isinstance(value, dict):
                items = {k: self.original(item, back) for k, item in made.items()}
                value.clear()
                value.update(items)
            elif is_record(value):
                state, old = state_of(made), state_of(value)
                for name in old.keys() - state.keys():
                    object.__delattr__(value, name)
                for name, part in state.items():
                    object.__setattr__(value, name, self.original(part, back))

    def original(self, value: Any, back: dict[int, Any]) -> Any:
        """Return what stands in the original for something that is in the copy."""
        if id(value) in back:
            return back[id(value)]
        if type(value) is tuple and any(id(item) in back for item in value):
            return tuple(self.original(item, back) for item in value)
        return value
