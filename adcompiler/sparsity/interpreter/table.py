"""What functions do to dependences: the table of transfers, and what is known of functions else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.analyses.array_libraries import computed_elsewhere
from adcompiler.ir.nodes import Origin
from adcompiler.ops.classify import DECLARED
from adcompiler.ops.qualified_names import display_name
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.runtime.functionals import passive
from adcompiler.sparsity.dependences.values import Value
from adcompiler.sparsity.interpreter.varying import GENERATORS

Transfer = Callable[..., Any]
TRANSFERS: dict[Any, Transfer] = {}
"""What functions do to dependences: called with the run, the function and its arguments."""

ALWAYS: set[Any] = set()
"""Functions that write into their first argument, so that it matters who else has it."""

STRUCTURAL: set[Any] = set()
"""Functions that only move the items of containers, which they are called with as they are."""


class Refusal(Exception):
    """The pattern cannot be computed: the problem, and what to write instead.

    ``origins`` are the places that are being run, the innermost first.
    """

    def __init__(self, problem: str, hint: str = "", anchor: str = "sparsity-patterns") -> None:
        super().__init__(problem)
        self.problem = problem
        self.hint = hint
        self.anchor = anchor
        self.origins: list[Origin] = []


def find_transfer(function: Callable[..., Any]) -> Transfer:
    """Return what a function does to dependences; raises Refusal if it is not known."""
    if not hashable(function):
        raise without_rule(function)
    direct = TRANSFERS.get(function)
    if direct is not None:
        return direct
    said = transfer_of(function)
    if said is not None:
        return TRANSFERS[said]
    owner = getattr(function, "__self__", None)
    if issubclass(type(owner), (list, tuple, dict, str)):
        return without_owner(function, owner)
    if getattr(function, "__objclass__", None) is str:
        return TRANSFERS[INACTIVE]
    if isinstance(function, type) and issubclass(function, tuple) and hasattr(function, "_fields"):
        return constructed
    resolved = REGISTRY.resolve(function)
    if resolved in TRANSFERS:
        return TRANSFERS[resolved]
    if resolved in DECLARED:
        return TRANSFERS[ELEMENTWISE]
    if REGISTRY.inactive(resolved) is not None or (isinstance(function, type) and issubclass(
        function, BaseException
    )):
        return TRANSFERS[INACTIVE]
    rules = REGISTRY.rules_of(resolved)
    if any(rule.elementwise for rule in rules):
        return TRANSFERS[ELEMENTWISE]
    if rules:
        return TRANSFERS[DENSE]
    if isinstance(function, np.ufunc) and function.signature is None and function.nout == 1:
        return TRANSFERS[ELEMENTWISE]
    raise without_rule(function)


def without_owner(function: Callable[..., Any], owner: Value) -> Transfer:
    """Return what a method of a container does to dependences."""
    plain = getattr(type(owner), function.__name__)
    if isinstance(owner, str):
        return TRANSFERS[INACTIVE]
    found = find_transfer(plain)
    return lambda run, _, *args, **kwargs: found(run, plain, owner, *args, **kwargs)


def constructed(_: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A named tuple."""
    return function(*args, **kwargs)


ELEMENTWISE, INACTIVE, DENSE = "elementwise", "inactive", "dense"
KIND, DTYPE, LAYOUT = "kind", "dtype of result", "layout"
LINEARLY, GROUPED, SYSTEM, STATED = "linearly", "grouped", "system", "stated"
"""Keys of the transfers for functions that have none of their own."""

BY_ELEMENTS = tuple(f"scipy.sparse._{part}" for part in ("lil", "dok", "index", "csparsetools"))
"""The modules of sparse matrices that are filled element by element, in place."""


def without_rule(function: Callable[..., Any]) -> Refusal:
    """Return the refusal of a function that nothing is known of."""
    if str(getattr(function, "__module__", "")).startswith(BY_ELEMENTS):
        return Refusal(
            "a sparse matrix that is filled element by element with what depends on the inputs",
            "coo_array((np.array(values), (rows, columns)), shape=...) of lists", "missing-rule")
    elsewhere = computed_elsewhere(function)
    if elsewhere is not None:
        return Refusal(*elsewhere, "missing-rule")
    return Refusal(
        f"{display_name(function)}() has neither a rule nor readable source, so what its result "
        "depends on is not known",
        "write a rule for it, or declare it non_differentiable", "missing-rule",
    )


def transfer_of(function: Callable[..., Any]) -> str | None:
    """Return the word for what a function does to dependences, if the facts have one."""
    return REGISTRY.facts(function).transfer


def transfer(*functions: Any) -> Callable[[Transfer], Transfer]:
    """Register what functions do to dependences: those of which the facts say one of these words.

    Functions of the runtime, and classes, are given themselves.
    """

    def register(given: Transfer) -> Transfer:
        for function in functions:
            TRANSFERS[function] = given
        return given

    return register


def may_vary(function: Callable[..., Any]) -> bool:
    """Say whether a second call with the same arguments may give something else.

    That is so for functions of random generators, clocks and the like, and for all of which nothing
    is known.
    """
    if isinstance(getattr(function, "__self__", None), GENERATORS):
        return True
    if isinstance(function, type):
        return False
    if not hashable(function):
        return True
    if function in TRANSFERS or function in STRUCTURAL or function is passive:
        return False
    return not REGISTRY.facts(function).is_pure
