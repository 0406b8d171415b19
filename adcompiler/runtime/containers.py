"""Tuples, lists and dicts in emitted code."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from adcompiler.errors import ArgumentsError, UncoveredError
from adcompiler.runtime.adjoints.indexing import own
from adcompiler.runtime.structure import MISSING, zeros_like
from adcompiler.runtime.unfit import Unfit


def not_callable(name: str) -> Callable[..., Any]:
    """Return what stands for a function made in compiled code, where it is used as a value.

    What can be done with functions but call them can be done with it: store and compare them.
    """

    def function(*_: Any, **__: Any) -> Any:
        raise UncoveredError(f"{name}() is called where its derivative was not compiled")

    function.__name__ = function.__qualname__ = name
    return function


def unpack(value: Iterable[Any], count: int, star: int = -1) -> tuple[Any, ...]:
    """Return the ``count`` values that unpacking ``value`` assigns; ``star`` gathers a list.

    Raises ValueError as Python does when the number of values does not fit.
    """
    items = tuple(value)
    if star < 0:
        if len(items) != count:
            few = "not enough" if len(items) < count else "too many"
            raise ValueError(f"{few} values to unpack (expected {count}, got {len(items)})")
        return items
    after = count - star - 1
    if len(items) < count - 1:
        raise ValueError(
            f"not enough values to unpack (expected at least {count - 1}, got {len(items)})"
        )
    end = len(items) - after
    return (*items[:star], list(items[star:end]), *items[end:])


def check_count(value: Any, count: int) -> None:
    """Raise ValueError, as unpacking does, unless ``value`` has ``count`` elements."""
    if len(value) != count:
        few = "not enough" if len(value) < count else "too many"
        got = f", got {len(value)}" if len(value) < count else ""
        raise ValueError(f"{few} values to unpack (expected {count}{got})")


def positions(items: Any, part: slice) -> range:
    """Return the positions of the items of a sequence that a slice takes."""
    return range(*part.indices(len(items)))


def repack(parts: Iterable[Any], value: Any, star: int = -1) -> Any:
    """Return the cotangents of what unpacking ``value`` assigned as the cotangent of ``value``."""
    items = list(parts)
    if star >= 0:
        items[star : star + 1] = items[star]
    if isinstance(value, np.ndarray):
        dtype = value.dtype if value.dtype.kind in "fc" else np.float64
        return np.array(items, dtype).reshape(value.shape)
    if isinstance(value, dict):
        raise ArgumentsError("a dict has no cotangents by position")
    return items if isinstance(value, list) else tuple(items)


def same_length(*sequences: Any) -> None:
    """Raise ValueError, as ``zip(..., strict=True)`` does, unless all have the same length."""
    for position, sequence in enumerate(sequences[1:], start=2):
        if len(sequence) != len(sequences[0]):
            longer = "longer" if len(sequence) > len(sequences[0]) else "shorter"
            raise ValueError(f"zip() argument {position} is {longer} than argument 1")


def same_kind(items: list[Any]) -> None:
    """Raise unless an array of ``items`` has the kind of the first, as ``np.vectorize`` wants.

    ValueError if there is none, TypeError if others are of a higher kind: np.vectorize would cut
    them down to it.
    """
    if not items:
        raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
    first, whole = np.asarray(items[0]).dtype, np.asarray(items).dtype
    if first != whole:
        raise ArgumentsError(
            f"the first result is {first}, to which np.vectorize and np.apply_along_axis convert "
            f"the others, which are {whole}: return one type, or give `otypes=`"
        )


def choose(condition: Any, a: Any, b: Any) -> Any:
    """Return ``a`` if ``condition`` is true, else ``b``: the object itself, which is not copied."""
    return a if condition else b


def append(items: list[Any], value: Any) -> list[Any]:
    """Append ``value`` to a list that the emitted code owns and return the list."""
    items.append(value)
    return items


def drop_last(items: list[Any]) -> list[Any]:
    """Remove the last item of a list that the emitted code owns and return the list."""
    items.pop()
    return items


def dict_of(keys: Iterable[Any], values: Iterable[Any]) -> dict[Any, Any]:
    """Return the dict of ``keys`` and ``values``, which go pairwise."""
    return dict(zip(keys, values, strict=True))


def dict_of_adjoint(g: dict[Any, Any], keys: Iterable[Any], values: list[Any]) -> list[Any]:
    """Return the cotangents of ``values`` for ``dict_of(keys, values)`` with cotangent ``g``."""
    last = {key: position for position, key in enumerate(keys)}
    parts = [zeros_like(value) for value in values]
    for key, position in last.items():
        parts[position] = g[key]
    return parts


def dict_keys(table: dict[Any, Any]) -> list[Any]:
    """Return the keys of a dict, as a list."""
    return list(table)


def dict_values(table: dict[Any, Any]) -> list[Any]:
    """Return the values of a dict, as a list."""
    return list(table.values())


def check_support(law: Any, model: Any) -> None:
    """Raise UncoveredError if a distribution has another support than the one of its class."""
    if (law.a, law.b) != (model.a, model.b):
        raise UncoveredError(
            f"a distribution of the class of {model.name} with the support ({law.a}, {law.b}) has "
            "no rule"
        )


def check_items(items: Any) -> None:
    """Raise TypeError if running over ``items`` gives keys, which carry no derivative."""
    if isinstance(items, Mapping):
        raise ArgumentsError(
            "the items of a dict are run over here, or those of something else: compiled code "
            "has to know which. Write `.keys()` or `.values()`, or make a list in both cases"
        )


def check_bound(value: Any, name: str, outer: bool = False) -> None:
    """Raise UnboundLocalError if ``value`` stands for a variable without value, as None does.

    It is a NameError if a function or generator reads a variable of the ``outer`` function.
    """
    if value is None or value is Unassigned:
        raise unbound(name, outer)


def check_keywords(
    table: Mapping[str, Any], name: str, required: tuple[str, ...], allowed: tuple[str, ...]
) -> None:
    """Raise TypeError, as ``name(**table)`` does, unless its keywords are those that it takes."""
    for key in table:
        if key not in allowed:
            raise TypeError(f"{name}() got an unexpected keyword argument {key!r}")
    for key in required:
        if key not in table:
            raise TypeError(f"{name}() missing 1 required argument: {key!r}")


def unbound(name: str, outer: bool = False) -> NameError:
    """Return what Python raises where a variable without value is read."""
    if outer:
        return NameError(
            f"cannot access free variable {name!r} where it is not associated with a value in "
            "enclosing scope"
        )
    return UnboundLocalError(
        f"cannot access local variable {name!r} where it is not associated with a value"
    )


class Unassigned:
    """What a variable holds that has no value yet, where its value may well be None."""


def check_assigned(value: Any, name: str, outer: bool = False) -> None:
    """Raise as ``check_bound`` if ``value`` is ``Unassigned``: the variable has no value."""
    if value is Unassigned:
        raise unbound(name, outer)


def check_rebinds(value: Any, sign: str, place: str) -> None:
    """Raise Unfit if ``value op= y`` writes into ``value`` instead of making a new one."""
    if isinstance(value, (np.ndarray, list, dict, set, bytearray)) or not isinstance(
        value, (np.generic, int, float, complex, str, tuple, bytes)
    ):
        raise Unfit(
            f"{place}: `{sign}=` would write into a value of type {type(value).__name__}, which "
            f"was not known when compiling: write x = x {sign} y, which makes a new one"
        )


def check_lasts(items: Any, count: int, place: str) -> None:
    """Raise Unfit where ``zip`` would end at ``items``, before it comes to the last function."""
    if len(items) < count:
        raise Unfit(
            f"{place}: what is run over beside {count} functions has {len(items)} items only, "
            "where a loop is written out for all of the functions"
        )


def check_position(items: Any, index: int) -> None:
    """Raise IndexError if a list has no item at ``index``, which is removed from it."""
    if not -len(items) <= operator.index(index) < len(items):
        raise IndexError(f"index {index} is out of range in a list of {len(items)}")


def cell_value(function: Any, index: int) -> Any:
    """Return the current value of a variable that ``function`` captured."""
    return function.__closure__[index].cell_contents


def entry(table: dict[Any, Any], key: Any) -> Any:
    """Return a copy of the entry of a dict, or ``MISSING``; of what is no dict, of an element."""
    return MISSING if isinstance(table, dict) and key not in table else own(table[key])


def put_entry(table: dict[Any, Any], key: Any, old: Any) -> dict[Any, Any]:
    """Make the entry of a dict what ``entry`` returned before, and return the dict."""
    if old is MISSING:
        table.pop(key, None)
    else:
        table[key] = old
    return table


def generated(items: list[Any], *read: Any) -> Iterator[Any]:
    """Return what a generator expression of ``items`` is: an iterator over them.

    ``read`` are the variables that the expression reads.
    """
    return iter(items)


def is_sequence(value: Any) -> bool:
    """Say whether the pattern ``[...]`` may fit ``value``."""
    return sequence_pattern_fits(type(value))


def sequence_pattern_fits(cls: type) -> bool:
    """Say whether the pattern ``[...]`` may fit instances of a class, by a flag of the class.

    The flag is ``Py_TPFLAGS_SEQUENCE``; arrays have it from NumPy 2.5 on.
    """
    return bool(cls.__flags__ & 1 << 5)


def is_mapping(value: Any) -> bool:
    """Say whether the pattern ``{...}`` may fit ``value``."""
    return isinstance(value, Mapping)


def without_keys(table: Mapping[Any, Any], keys: Iterable[Any]) -> dict[Any, Any]:
    """Return the entries of ``table`` whose keys are not among ``keys``."""
    left = dict(table)
    for key in keys:
        del left[key]
    return left


SELF_MATCHED = (
    bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple,
)
"""Classes whose only positional pattern is matched with the instance itself."""


def pattern_argument(cls: type, value: Any, position: int) -> Any:
    """Return what the positional pattern ``position`` of ``cls(...)`` is matched with.

    Raises TypeError if the class takes fewer positional patterns.
    """
    names = getattr(cls, "__match_args__", ())
    if not names and position == 0 and issubclass(cls, SELF_MATCHED):
        return value
    if position >= len(names):
        raise TypeError(
            f"{cls.__name__}() accepts {len(names)} positional sub-patterns ({position + 1} given)"
        )
    return getattr(value, names[position])


def store_global(owner: Any, name: str, value: Any) -> None:
    """Assign a global variable of a module, or of a dict of globals."""
    (owner if isinstance(owner, dict) else vars(owner))[name] = value


def read_global(owner: Any, name: str) -> Any:
    """Return the present value of a global variable of a module, or of a dict of globals."""
    return (owner if isinstance(owner, dict) else vars(owner))[name]
