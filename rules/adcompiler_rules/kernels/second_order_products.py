"""Adjoints of the adjoints of products of several operands, for second derivatives.

Such an adjoint is a sum over pairs of operands. Every function is pure.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from adcompiler.runtime.adjoints.shaping import like
from adcompiler.runtime.structure import add, zeros_like
from adcompiler_rules.kernels.products import (
    between_lists, einsum_adjoint, einsum_adjoints, from_lists, multi_dot_adjoint,
)

COVERED_WITH = "numpy"
"""The module whose rules come with those of these functions."""


def replaced(items: Any, position: int, item: Any) -> Any:
    """Return the tuple or list ``items`` with ``item`` in the given position."""
    return type(items)(item if i == position else other for i, other in enumerate(items))


def einsum_along(dy: Any, subscripts: str, operands: Any, optimize: Any = False) -> Any:
    """Return the sum of products in which one operand after the other is replaced by its ``dy``."""
    return _sum_along(
        dy, operands, lambda items: np.einsum(subscripts, *items, optimize=optimize)
    )


def einsum_along_adjoint(
    v: Any, dy: Any, subscripts: str, operands: Any, optimize: Any = False
) -> tuple[Any, ...]:
    """Return the cotangent of ``dy`` for ``einsum_along``: of the precision of its items."""
    return tuple(
        like(einsum_adjoint(v, subscripts, operands, k, optimize), d) for k, d in enumerate(dy)
    )


def einsum_lists_along(dy: Any, arguments: Any, optimize: Any = False) -> Any:
    """As ``einsum_along`` for the arguments of an einsum with subscripts given as lists."""
    subscripts, operands = from_lists(arguments)
    return einsum_along(tuple(dy[: 2 * len(operands) : 2]), subscripts, operands, optimize)


def multi_dot_along(dy: Any, arrays: Any) -> Any:
    """As ``einsum_along`` for ``np.linalg.multi_dot``."""
    return _sum_along(dy, arrays, np.linalg.multi_dot)


def _sum_along(dy: Any, operands: Any, product: Callable[[Any], Any]) -> Any:
    return reduce(np.add, (
        product(replaced(operands, k, dy[k])) for k in range(len(operands))
    ))


def einsum_adjoint_along(
    d_operands: Any, g: Any, subscripts: str, operands: Any, position: int, optimize: Any = False
) -> Any:
    """Return the derivative of ``einsum_adjoint`` along tangents of the operands."""
    return reduce(np.add, (
        einsum_adjoint(g, subscripts, replaced(operands, k, d), position, optimize)
        for k, d in enumerate(d_operands) if k != position
    ))


def einsum_adjoints_adjoint(
    dy: Any, g: Any, subscripts: str, operands: Any, optimize: Any = False
) -> Any:
    """Return the cotangents of ``operands`` for ``einsum_adjoints``."""
    return _sum_over_operands(
        dy, operands, lambda items: einsum_adjoints(g, subscripts, items, optimize)
    )


def einsum_lists_adjoints_adjoint(
    dy: Any, g: Any, arguments: Any, optimize: Any = False
) -> Any:
    """Return the cotangents of ``arguments`` for ``einsum_lists_adjoints``."""
    subscripts, operands = from_lists(arguments)
    dy = tuple(dy[: 2 * len(operands) : 2])
    d_operands = einsum_adjoints_adjoint(dy, g, subscripts, operands, optimize)
    return between_lists(d_operands, arguments)


def multi_dot_adjoint_adjoint(dy: Any, g: Any, arrays: Any) -> Any:
    """Return the cotangents of ``arrays`` for ``multi_dot_adjoint``."""
    return _sum_over_operands(dy, arrays, lambda items: multi_dot_adjoint(g, items))


def _sum_over_operands(dy: Any, operands: Any, adjoints: Callable[[Any], Any]) -> Any:
    """Sum over operands what the adjoints give with ``dy`` in their place."""
    d_operands = []
    for k, operand in enumerate(operands):
        items = replaced(operands, k, dy[k])
        d_operands.append(like(replaced(adjoints(items), k, zeros_like(operand)), operands))
    return reduce(add, d_operands)
