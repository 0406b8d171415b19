"""Which derivatives of a function vanish: what sparsity patterns are computed from.

A function of ``n`` numbers has, for each of its outputs, a ``Classification``. The compiler reads
most of them off the rules; ``classify`` declares one where that is not possible or not tight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Predicate = Callable[..., Any]
"""Says, given the arguments of a function, where a derivative is zero: a bool or an array."""


@dataclass(frozen=True, slots=True)
class Classification:
    """Which derivatives of a function of numbers are zero everywhere.

    ``der1_zero[i]`` is true if the first derivative in argument ``i`` is, ``der2_zero[i]`` if the
    second is; ``cross_zero`` holds the pairs ``(i, j)``, ``i < j``, of arguments in which the mixed
    second derivative is. ``der1_zero_local[i]`` says where the first derivative is zero,
    given the arguments; None falls back to ``der1_zero[i]``.
    """

    der1_zero: tuple[bool, ...]
    der2_zero: tuple[bool, ...]
    cross_zero: frozenset[tuple[int, int]] = frozenset()
    der1_zero_local: tuple[Predicate | None, ...] = ()

    def local(self, i: int) -> Predicate | None:
        """Return what says where the first derivative in argument ``i`` is zero, if declared."""
        return self.der1_zero_local[i] if i < len(self.der1_zero_local) else None


DECLARED: dict[Any, tuple[Classification, ...]] = {}
"""What was declared of functions: one classification for each of their outputs."""


def of_letters(letters: str, *local: Predicate | None) -> Classification:
    """Return the classification that letters stand for.

    One letter for each argument: ``z`` if its derivatives are zero, ``f`` if only the first one is
    not, ``s`` if the second one is not either; then, if there are several, ``c`` if their mixed
    derivatives may be nonzero and ``z`` if they are zero.
    """
    count = max(len(letters) - 1, 1)
    pairs = {(i, j) for j in range(count) for i in range(j)}
    return Classification(
        tuple(letter == "z" for letter in letters[:count]),
        tuple(letter != "s" for letter in letters[:count]),
        frozenset(pairs if letters[-1] == "z" else ()), local,
    )


def declare(functions: Sequence[Any], *outputs: Classification) -> None:
    """Declare the classification of each of ``functions``: one for each output."""
    for function in functions:
        DECLARED[function] = outputs
