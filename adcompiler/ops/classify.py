"""Which derivatives of a function vanish: what sparsity patterns are computed from.

A function of ``n`` numbers has, for each of its outputs, a ``Classification``. The compiler reads
most of them off the rules; ``classify`` declares one where that is not possible or not tight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from adcompiler.errors import not_one_of
from adcompiler.ops.qualified_names import findable
from adcompiler.ops.registry import REGISTRY
from adcompiler.support.structs import dataclass

Predicate = Callable[..., Any]
"""Says, given the arguments of a function, where a derivative is zero: a bool or an array."""


@dataclass(frozen=True, slots=True)
class Classification:
    """Which derivatives of a function of numbers are zero everywhere.

    ``der1_zero[i]`` is true if the first derivative in argument ``i`` is, ``der2_zero[i]`` if the
    second is; ``cross_zero`` holds the pairs ``(i, j)``, ``i < j``, of arguments in which the mixed
    second derivative is. ``der1_zero_local[i]`` says where the first derivative is zero,
    given the arguments; None falls back to ``der1_zero[i]``. ``second_zero_local`` says so of
    second derivatives, for pairs ``(i, j)``, ``i <= j``, of arguments.
    """

    der1_zero: tuple[bool, ...]
    der2_zero: tuple[bool, ...]
    cross_zero: frozenset[tuple[int, int]] = frozenset()
    der1_zero_local: tuple[Predicate | None, ...] = ()
    second_zero_local: tuple[tuple[tuple[int, int], Predicate], ...] = ()

    def is_zero(self, *arguments: int) -> bool:
        """Say whether the derivative in one or two arguments is zero everywhere."""
        i, j = arguments[0], arguments[-1]
        if len(arguments) == 1:
            return self.der1_zero[i]
        return self.der2_zero[i] if i == j else (i, j) in self.cross_zero

    def where_zero(self, *arguments: int) -> Predicate | None:
        """Return what says where the derivative in one or two arguments is zero, if declared."""
        if len(arguments) == 1:
            return self.local(arguments[0])
        return dict(self.second_zero_local).get((arguments[0], arguments[1]))

    def refined(self, arguments: tuple[int, ...], predicate: Predicate) -> Classification:
        """Return the classification with a predicate for one derivative."""
        if len(arguments) == 1:
            first = [self.local(i) for i in range(len(self.der1_zero))]
            first[arguments[0]] = predicate
            return replace(self, der1_zero_local=tuple(first))
        pair = arguments[0], arguments[1]
        second = {**dict(self.second_zero_local), pair: predicate}
        return replace(self, second_zero_local=tuple(second.items()))

    def local(self, i: int) -> Predicate | None:
        """Return what says where the first derivative in argument ``i`` is zero, if declared."""
        return self.der1_zero_local[i] if i < len(self.der1_zero_local) else None


DECLARED: dict[Any, tuple[Classification, ...]] = {}
"""What was declared of functions: one classification for each of their outputs."""

LOCAL: dict[Any, dict[tuple[int, tuple[int, ...]], Predicate]] = {}
"""What was registered of where derivatives of functions are zero, by output and arguments."""

KINDS = {"1-1": (1, 1), "2-1": (2, 1), "1-2": (1, 2)}
"""Numbers of inputs and outputs of the functions that can be classified."""


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
        DECLARED[findable(function)] = outputs


def letters_of(found: Classification) -> str:
    """Return the letters for a classification: those that ``of_letters`` reads."""
    count = len(found.der1_zero)
    each = "".join(
        "z" if first else "f" if second else "s"
        for first, second in zip(found.der1_zero, found.der2_zero, strict=True)
    )
    pairs = count * (count - 1) // 2
    return each + ("" if count < 2 else "z" if len(found.cross_zero) == pairs else "c")


def classify(
    function: Callable[..., Any], kind: str, letters: str | None = None, *,
    der1_zero: bool | tuple[bool, bool] = False, der2_zero: bool | tuple[bool, bool] = False,
    cross_zero: bool | None = None,
) -> Any:
    """Declare which derivatives of an elementwise function are zero everywhere; return it.

    Parameters:
        function (callable): The function.
        kind (str): ``"1-1"``, ``"2-1"`` (two inputs) or ``"1-2"`` (two outputs, a tuple).
        letters (str): Another way to say it: one of ``s`` (neither is zero), ``f`` (the second is)
            and ``z`` (both are) for each input or output, and for ``"2-1"`` a last ``c`` (the mixed
            derivative is not zero) or ``z``.
        der1_zero, der2_zero (bool): The first, the second derivative is zero; for the last two
            kinds pairs, one for each input or output.
        cross_zero (bool): The mixed derivative is; by default where it follows from ``der1_zero``.

    Returns:
        callable: The function.

    Raises:
        ValueError: For what no function has: a first derivative that is zero everywhere beside a
            second or mixed one that is not; and for other words.

    Example:
        >>> import numpy as np
        >>> from adcompiler import classify
        >>> def shifted(x):
        ...     return x + 1.0
        >>> classify(shifted, "1-1", "f") is shifted
        True
    """
    if kind not in KINDS:
        raise ValueError(not_one_of("kind", kind, KINDS))
    several = max(KINDS[kind])
    if letters is None:
        letters = _letters(kind, _each(der1_zero, several), _each(der2_zero, several), cross_zero)
    if len(letters) != several + (kind == "2-1") or set(letters[:several]) - set("sfz") or (
        kind == "2-1" and (letters[2] not in "cz" or (letters[2] == "c" and "z" in letters[:2]))
    ):
        raise ValueError(f"letters {letters!r} stand for no class of {kind} functions")
    declare((function,), *map(of_letters, letters if kind == "1-2" else (letters,)))
    REGISTRY.changed()  # patterns that are kept
    return function


def _each(given: bool | tuple[bool, bool], count: int) -> tuple[bool, ...]:
    """Return a declaration for each input or output."""
    each = given if isinstance(given, tuple) else (given,) * count
    if len(each) != count:
        raise ValueError(f"{given} is not one bool for each of {count}")
    return each


def _letters(
    kind: str, first: tuple[bool, ...], second: tuple[bool, ...], cross_zero: bool | None
) -> str:
    """Return letters for declarations; raises ValueError if they contradict one another."""
    if any(a and not b for a, b in zip(first, second, strict=True)):
        raise ValueError("where der1_zero is true, der2_zero is true as well")
    each = "".join(
        "z" if a else "f" if b else "s" for a, b in zip(first, second, strict=True))
    if kind != "2-1":
        return each
    return each + ("z" if (any(first) if cross_zero is None else cross_zero) else "c")
