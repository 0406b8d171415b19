"""Questions about one function: which of its derivatives are zero, everywhere or at a point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.errors import MissingPrimalError
from adcompiler.ops.classify import DECLARED, LOCAL, Classification
from adcompiler.ops.qualified_names import display_name
from adcompiler.ops.registry import REGISTRY
from adcompiler.sparsity.interpreter.machine import classifications_of

Registrar = Callable[[Callable[..., Any]], Callable[..., Any]]


class GlobalPredicate:
    """Says of a function whether one of its derivatives is zero everywhere.

    ``inputs`` and ``outputs`` are numbers of those of the functions that it is for, ``arguments``
    what is differentiated in (twice, for second derivatives), ``out`` the output that is.
    Raises TypeError for a function that is not classified, or not for so many numbers.
    """

    def __init__(
        self, name: str, inputs: int, outputs: int, arguments: tuple[int, ...], out: int = 0
    ) -> None:
        self.__name__ = name
        self.inputs, self.outputs = inputs, outputs
        self.arguments, self.out = arguments, out

    def __call__(self, function: Any) -> bool:
        """Say whether the derivative of ``function`` is zero for all arguments."""
        return self.found(function).is_zero(*self.arguments)

    def found(self, function: Callable[..., Any]) -> Classification:
        """Return the classification of the output that is asked about."""
        if not is_classified(function):
            raise TypeError(
                f"{display_name(function)} is not classified: it has no elementwise rule, and "
                "was not declared with classify()"
            )
        outputs = classifications_of(function, self.inputs)
        if len(outputs) != self.outputs or len(outputs[0].der1_zero) != self.inputs:
            raise TypeError(
                f"{self.__name__} is for functions of {self.inputs} numbers with {self.outputs} "
                f"results, which {display_name(function)} is not"
            )
        return outputs[self.out]


class LocalPredicate:
    """Says where one of a function's derivatives is zero; falls back to the global predicate."""

    def __init__(self, general: GlobalPredicate) -> None:
        self.general = general
        self.__name__ = general.__name__.replace("_global", "_local")

    def __call__(self, function: Any, *values: Any) -> Any:
        """Say whether the derivative is zero at ``values``: a bool, or an array of them."""
        if len(values) != self.general.inputs:
            raise TypeError(
                f"{self.__name__} takes a function and {self.general.inputs} values, "
                f"not {len(values)}")
        kind = self.general.found(function)
        if any(hasattr(value, "space") for value in values):
            raise MissingPrimalError(self.__name__)
        predicate = kind.where_zero(*self.general.arguments)
        if kind.is_zero(*self.general.arguments) or predicate is None:
            return kind.is_zero(*self.general.arguments)
        found = np.asarray(predicate(*values), bool)
        return found if found.ndim else bool(found)

    def register(self, function: Callable[..., Any]) -> Registrar:
        """Return a decorator that registers where the derivative of ``function`` is zero.

        What it decorates is called with the values of the arguments, numbers or arrays, and returns
        a bool or an array of them. It must be false wherever the derivative is not zero.
        """
        self.general.found(function)

        def add(predicate: Callable[..., Any]) -> Callable[..., Any]:
            known = LOCAL.setdefault(REGISTRY.resolve(function), {})
            known[self.general.out, self.general.arguments] = predicate
            REGISTRY.changed()  # patterns that are kept
            return predicate

        return add


def is_classified(function: Callable[..., Any]) -> bool:
    """Say whether it is known which derivatives of a function vanish."""
    resolved = REGISTRY.resolve(function)
    return (
        resolved in DECLARED or REGISTRY.inactive(resolved) is not None
        or any(rule.elementwise for rule in REGISTRY.rules_of(resolved))
    )


is_der1_zero_global = GlobalPredicate("is_der1_zero_global", 1, 1, (0,))
is_der2_zero_global = GlobalPredicate("is_der2_zero_global", 1, 1, (0, 0))

is_der1_arg1_zero_global = GlobalPredicate("is_der1_arg1_zero_global", 2, 1, (0,))
is_der1_arg2_zero_global = GlobalPredicate("is_der1_arg2_zero_global", 2, 1, (1,))
is_der2_arg1_zero_global = GlobalPredicate("is_der2_arg1_zero_global", 2, 1, (0, 0))
is_der2_arg2_zero_global = GlobalPredicate("is_der2_arg2_zero_global", 2, 1, (1, 1))
is_der_cross_zero_global = GlobalPredicate("is_der_cross_zero_global", 2, 1, (0, 1))

is_der1_out1_zero_global = GlobalPredicate("is_der1_out1_zero_global", 1, 2, (0,), 0)
is_der1_out2_zero_global = GlobalPredicate("is_der1_out2_zero_global", 1, 2, (0,), 1)
is_der2_out1_zero_global = GlobalPredicate("is_der2_out1_zero_global", 1, 2, (0, 0), 0)
is_der2_out2_zero_global = GlobalPredicate("is_der2_out2_zero_global", 1, 2, (0, 0), 1)

is_der1_zero_local = LocalPredicate(is_der1_zero_global)
is_der2_zero_local = LocalPredicate(is_der2_zero_global)

is_der1_arg1_zero_local = LocalPredicate(is_der1_arg1_zero_global)
is_der1_arg2_zero_local = LocalPredicate(is_der1_arg2_zero_global)
is_der2_arg1_zero_local = LocalPredicate(is_der2_arg1_zero_global)
is_der2_arg2_zero_local = LocalPredicate(is_der2_arg2_zero_global)
is_der_cross_zero_local = LocalPredicate(is_der_cross_zero_global)

is_der1_out1_zero_local = LocalPredicate(is_der1_out1_zero_global)
is_der1_out2_zero_local = LocalPredicate(is_der1_out2_zero_global)
is_der2_out1_zero_local = LocalPredicate(is_der2_out1_zero_global)
is_der2_out2_zero_local = LocalPredicate(is_der2_out2_zero_global)
