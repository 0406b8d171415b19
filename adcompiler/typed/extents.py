"""Extents of axes as expressions, so that equal ones are known to be equal whatever the data.

An extent is a sum of symbols with integer coefficients and a number: ``n + k``, ``2*n - 1``.
Symbols are the axes of arrays about which no more is known, integers of the program, differences
cut off at 0 (the extent of ``x[2:]``), and extents that meet and of which one may be stretched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from adcompiler.ir.nodes import Atom, Var
from adcompiler.support.structs import dataclass


@dataclass(frozen=True, slots=True)
class Axis:
    """The extent of an axis of an array; ``axis`` counts from the first one."""

    array: Atom
    axis: int


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a variable that holds an integer, which may be negative."""

    var: Var


@dataclass(frozen=True, slots=True)
class CutOff:
    """The larger one of a sum and 0."""

    of: Extent


@dataclass(frozen=True, slots=True)
class Least:
    """The smaller one of two extents."""

    one: Extent
    other: Extent


class Met:
    """What broadcasting makes of extents: the one that is not 1, if they are not equal."""

    __slots__ = ("extents", "key")

    def __init__(self, extents: tuple[Extent, ...]) -> None:
        self.extents = extents
        self.key = frozenset(extents)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Met) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


Symbol = Axis | Value | CutOff | Least | Met


class Extent:
    """A sum of symbols, each with its coefficient, and of a number.

    Symbols stay in the order in which they came up, so that what is written of them does not
    depend on hashes; sums are equal in whichever order.
    """

    __slots__ = ("constant", "key", "terms")

    def __init__(self, terms: tuple[tuple[Symbol, int], ...], constant: int) -> None:
        self.terms = terms
        self.constant = constant
        self.key = (frozenset(terms), constant)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Extent) and self.key == other.key)

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        terms = sorted((count < 0, shown(symbol, count)) for symbol, count in self.terms)
        parts = [text for _, text in terms]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts).replace("+ -", "- ")

    @property
    def symbol(self) -> Symbol | None:
        """The symbol that is the extent, None if it is another sum."""
        if self.constant or len(self.terms) != 1:
            return None
        ((symbol, count),) = self.terms
        return symbol if count == 1 else None

    @property
    def number(self) -> int | None:
        """The number that is the extent, None if it is not known."""
        return None if self.terms else self.constant

    def plus(self, other: Extent, times: int = 1) -> Extent:
        """Return ``self + times * other``."""
        terms = dict(self.terms)
        for symbol, count in other.terms:
            terms[symbol] = terms.get(symbol, 0) + times * count
        return Extent(
            tuple(term for term in terms.items() if term[1]),
            self.constant + times * other.constant,
        )

    def never_negative(self) -> bool:
        """Say whether the sum cannot be negative, as no part of it can."""
        return self.constant >= 0 and all(
            count > 0 and not isinstance(symbol, Value) for symbol, count in self.terms)


Shape = tuple[Extent, ...]
"""The extents of the axes of an array."""


def number(value: int) -> Extent:
    """Return a known extent."""
    return Extent((), value)


def of(symbol: Symbol) -> Extent:
    """Return a symbol as an extent."""
    return Extent(((symbol, 1),), 0)


ONE = number(1)


def axes(array: Atom, ndim: int) -> Shape:
    """Return the shape of an array about which no more is known than its number of axes."""
    return tuple(of(Axis(array, i)) for i in range(ndim))


def cut_off(size: Extent) -> Extent:
    """Return the larger one of a sum and 0, in one form for all sums that differ below 0 only."""
    symbol = size.plus(number(-size.constant)).symbol
    if size.constant <= 0 and isinstance(symbol, CutOff):
        return cut_off(symbol.of.plus(number(size.constant)))
    if size.number is not None:
        return number(max(size.number, 0))
    return size if size.never_negative() else of(CutOff(size))


def least(one: Extent, other: Extent) -> Extent:
    """Return the smaller one of two extents."""
    if other.plus(one, -1).never_negative():
        return one
    return other if one.plus(other, -1).never_negative() else of(Least(one, other))


def met(extents: Iterable[Extent]) -> Extent:
    """Return the extent to which broadcasting stretches others."""
    found: dict[Extent, None] = {}
    for extent in extents:
        if isinstance(extent.symbol, Met):
            found.update(dict.fromkeys(extent.symbol.extents))
        elif extent != ONE:
            found[extent] = None
    for extent in found:
        if extent.number is not None:
            return extent  # all others are this one, or 1
    if len(found) > 1:
        return of(Met(tuple(found)))
    return next(iter(found), ONE)


def broadcast(shapes: Iterable[Shape]) -> Shape:
    """Return the shape to which arrays of these shapes are stretched."""
    given = list(shapes)
    return tuple(
        met(shape[-back] for shape in given if len(shape) >= back)
        for back in range(max(map(len, given), default=0), 0, -1)
    )


def rewritten(extent: Extent, equal: Mapping[Symbol, Extent]) -> Extent:
    """Return an extent with symbols replaced by what they are equal to."""
    result = number(extent.constant)
    for symbol, count in extent.terms:
        result = result.plus(replaced(symbol, equal), count)
    return result


def replaced(symbol: Symbol, equal: Mapping[Symbol, Extent]) -> Extent:
    """Return what a symbol is equal to."""
    if symbol in equal:
        return rewritten(equal[symbol], equal)
    if isinstance(symbol, Met):
        return met(rewritten(extent, equal) for extent in symbol.extents)
    if isinstance(symbol, CutOff):
        return cut_off(rewritten(symbol.of, equal))
    if isinstance(symbol, Least):
        found = least(rewritten(symbol.one, equal), rewritten(symbol.other, equal))
        return found if found.symbol in (None, symbol) else rewritten(found, equal)
    return of(symbol)


def symbols(extent: Extent) -> Iterable[Symbol]:
    """Yield the symbols of an extent, and those that they are made of."""
    for symbol, _ in extent.terms:
        yield symbol
        if isinstance(symbol, CutOff):
            yield from symbols(symbol.of)
        elif isinstance(symbol, Least):
            yield from symbols(symbol.one)
            yield from symbols(symbol.other)
        elif isinstance(symbol, Met):
            for part in symbol.extents:
                yield from symbols(part)


def solved(a: Extent, b: Extent) -> tuple[Symbol, Extent] | None:
    """Return the symbol that is to stand for what makes two extents equal, and what it equals.

    It is one of ``a`` if there is one. None if the two are equal already, or no symbol is alone.
    """
    for one, other in ((a, b), (b, a)):
        difference = one.plus(other, -1)  # it is 0
        for symbol, count in one.terms:
            if not isinstance(symbol, Axis | Value | Least) or count not in (1, -1) or (
                (symbol, count) not in difference.terms
            ):
                continue
            value = number(0).plus(difference.plus(of(symbol), -count), -count)
            if symbol not in symbols(value):
                return symbol, value
    return None


def shown(symbol: Symbol, count: int) -> str:
    """Return a term as it is printed."""
    match symbol:
        case Axis(array, axis):
            text = f"{name_of(array)}.shape[{axis}]"
        case Value(var):
            text = name_of(var)
        case CutOff(size):
            text = f"max({size}, 0)"
        case Least(one, other):
            text = f"min({one}, {other})"
        case Met():
            text = f"broadcast({', '.join(sorted(map(str, symbol.extents)))})"
    return text if count == 1 else f"-{text}" if count == -1 else f"{count}*{text}"


def name_of(atom: Atom) -> str:
    """Return the name of a variable, or a word for a constant."""
    return getattr(atom, "name", "constant")
