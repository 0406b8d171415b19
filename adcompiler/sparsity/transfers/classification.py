"""Which derivatives of elementwise functions vanish: declared, or read off their rules."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.ops.classified import CURVED, OF_MODULUS, never
from adcompiler.ops.classify import DECLARED, LOCAL, Classification, of_letters
from adcompiler.ops.registry import REGISTRY
from adcompiler.ops.rules import Rule
from adcompiler.support.signatures import signature as signature_of
from adcompiler.sparsity.transfers.partials import Runs, constant_at, inputs_of


def classifications(
    runs: Runs, function: Callable[..., Any], count: int, second: bool, real: bool
) -> tuple[Classification, ...]:
    """Return which derivatives of a function of ``count`` numbers vanish, for each output.

    Whether partial derivatives are constant is found by ``runs`` of their pattern programs. Without
    ``second`` nothing is found out about the second derivatives. Unless ``real``, some of the
    numbers may be complex.
    """
    function = REGISTRY.resolve(function)
    if not real and function in OF_MODULUS:
        return (CURVED,)
    found = DECLARED.get(function)
    if found is None:
        rule = next((r for r in REGISTRY.rules_of(function) if r.elementwise), None)
        if rule is not None:
            found = (of_rule(runs, rule, second),)
        else:
            letter = "s" if REGISTRY.inactive(function) is None else "z"
            found = (of_letters(
                letter * count + ("" if count == 1 else "c" if letter == "s" else "z")),)
    return refined(function, found) if function in LOCAL else found


def refined(
    function: Callable[..., Any], outputs: tuple[Classification, ...]
) -> tuple[Classification, ...]:
    """Return classifications with what was registered of where derivatives are zero."""
    found = list(outputs)
    for (out, arguments), predicate in LOCAL[function].items():
        found[out] = found[out].refined(arguments, predicate)
    return tuple(found)


@functools.lru_cache(maxsize=4096)
def of_rule(runs: Runs, rule: Rule, second: bool) -> Classification:
    """Return which derivatives vanish by the partial derivatives that a rule gives.

    Of one that it does not give (None) nothing is known: it may vary with every argument.
    """
    partials = rule.partials
    count = len(partials)
    first = tuple(p is not None and not callable(p) and p == 0 for p in partials)
    reads = [
        set(range(count)) if p is None or (callable(p) and not second)
        else varying(runs, p, count) if callable(p) else set()
        for p in partials
    ]
    zero = {
        (i, j) for j in range(count) for i in range(j) if j not in reads[i] or i not in reads[j]
    }
    local = tuple(None if rule.kink else zero_at(p, count) for p in partials)
    curved = () if rule.kink or not second else tuple(
        ((i, j), second_zero_at(runs, rule, i, j)) for j in range(count) for i in range(j + 1)
        if j in reads[i] and i in reads[j] and (i, j) not in zero
    )
    return Classification(
        first, tuple(i not in reads[i] for i in range(count)), frozenset(zero), local, curved
    )


def second_zero_at(runs: Runs, rule: Rule, i: int, j: int) -> Callable[..., Any]:
    """Return what says where the second derivative in two arguments is zero."""
    partial, count = rule.partials[i], len(rule.partials)
    if partial is None:
        partial, j = rule.partials[j], i
    if partial is None:
        return never

    def is_zero(*values: Any) -> Any:
        with np.errstate(all="ignore"):
            given = (*values, rule.function(*values)) if takes_result(partial, count) else values
        if any(isinstance(value, tuple) for value in given):
            return never(*values)
        return constant_at(runs, partial, count, j, given)

    return is_zero


def zero_at(partial: Callable[..., Any], count: int) -> Callable[..., Any] | None:
    """Return what says where a partial derivative is zero, None if it is constant."""
    if not callable(partial):
        return None

    def is_zero(*values: Any) -> Any:
        if takes_result(partial, count):
            return never(*values)
        with np.errstate(all="ignore"):
            return np.equal(partial(*map(np.asarray, values)), 0)

    return is_zero


def takes_result(partial: Callable[..., Any], count: int) -> bool:
    """Say whether a partial derivative is a function of the arguments and the result."""
    return len(signature_of(partial).parameters) > count


def varying(runs: Runs, partial: Callable[..., Any], count: int) -> set[int]:
    """Return the arguments that a partial derivative varies with, by its own derivative."""
    found = inputs_of(runs, partial, count)
    return set(range(count)) if found is None else found
