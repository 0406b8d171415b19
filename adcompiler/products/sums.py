"""Sums of products of integers that are known when code runs, and how they are written."""

from __future__ import annotations

from collections.abc import Iterable

from adcompiler.ir.nodes import Var
from adcompiler.support.structs import dataclass


@dataclass(frozen=True, slots=True)
class Factor:
    """The text of an integer, and the variables of loops that it is made of."""

    text: str
    varies: frozenset[Var] = frozenset()


class Sum:
    """A sum of products of factors, each with a number that it is multiplied with."""

    def __init__(self, terms: Iterable[tuple[tuple[Factor, ...], int]] = ()) -> None:
        found: dict[tuple[Factor, ...], int] = {}
        for factors, count in terms:
            key = tuple(sorted(factors, key=lambda factor: factor.text))
            found[key] = found.get(key, 0) + count
        self.terms = {key: count for key, count in found.items() if count}

    @staticmethod
    def number(value: int) -> Sum:
        return Sum([((), value)])

    @staticmethod
    def of(text: str, *made_of: Sum) -> Sum:
        """Return a sum of one factor, a text in which others stand."""
        return Sum([((Factor(text, frozenset[Var]().union(*(one.varies for one in made_of))),), 1)])

    def plus(self, other: Sum, times: int = 1) -> Sum:
        """Return ``self + times * other``."""
        return Sum((*self.terms.items(), *((key, times * n) for key, n in other.terms.items())))

    def times(self, other: Sum) -> Sum:
        """Return a product of sums, the second one as a factor if it has several terms."""
        if len(other.terms) > 1:
            other = Sum([((other.factor(),), 1)])
        return Sum(
            ((*one, *two), n * m)
            for one, n in self.terms.items() for two, m in other.terms.items())

    @property
    def varies(self) -> frozenset[Var]:
        return frozenset[Var]().union(*(f.varies for factors in self.terms for f in factors))

    def factor(self) -> Factor:
        """Return the sum as one factor."""
        text = str(self)
        plain = text.isidentifier() or text.isdigit() or (
            len(self.terms) == 1 and text.endswith((")", "]")) and "*" not in text)
        return Factor(text if plain else f"({text})", self.varies)

    def __str__(self) -> str:
        parts = []
        ordered = sorted(self.terms.items(), key=lambda term: (-len(term[0]), term[1] < 0))
        for factors, count in ordered:
            texts = [factor.text for factor in factors]
            shown = [str(count)] if count not in (1, -1) or not texts else []
            parts.append(("-" if count == -1 and texts else "") + "*".join(shown + texts))
        return " + ".join(parts).replace("+ -", "- ") or "0"
