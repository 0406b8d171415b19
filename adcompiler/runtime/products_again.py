"""Adjoints of the adjoints of products of several operands, for second derivatives.

Such an adjoint is a sum over pairs of operands. Every function is pure.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from adcompiler.runtime.products import (
    between_lists,
    einsum_adjoints,
    from_lists,
    multi_dot_adjoint,
)
from adcompiler.runtime.shaping import like
from adcompiler.runtime.structure import add, zeros_like


def replaced(items: Any, position: int, item: Any) -> Any:
    """Return the tuple or list ``items`` with ``item`` in the given position."""
    return type(items)(item if i == position else other for i, other in enumerate(items))


def einsum_adjoints_adjoint(
    dy: Any, g: Any, subscripts: str, operands: Any, optimize: Any = False
) -> tuple[Any, Any]:
    """Return the cotangents of ``g`` and ``operands`` for ``einsum_adjoints``."""
    return _sum_over_operands(
        dy, g, operands,
        lambda items: np.einsum(subscripts, *items, optimize=optimize),
        lambda items: einsum_adjoints(g, subscripts, items, optimize),
    )


def einsum_lists_adjoints_adjoint(
    dy: Any, g: Any, arguments: Any, optimize: Any = False
) -> tuple[Any, Any]:
    """Return the cotangents of ``g`` and ``arguments`` for ``einsum_lists_adjoints``."""
    subscripts, operands = from_lists(arguments)
    dy = tuple(dy[: 2 * len(operands) : 2])
    dg, d_operands = einsum_adjoints_adjoint(dy, g, subscripts, operands, optimize)
    return dg, between_lists(d_operands, arguments)


def multi_dot_adjoint_adjoint(dy: Any, g: Any, arrays: Any) -> tuple[Any, Any]:
    """Return the cotangents of ``g`` and ``arrays`` for ``multi_dot_adjoint``."""
    return _sum_over_operands(
        dy, g, arrays, np.linalg.multi_dot, lambda items: multi_dot_adjoint(g, items)
    )


def _sum_over_operands(
    dy: Any, g: Any, operands: Any, product: Callable[[Any], Any], adjoints: Callable[[Any], Any]
) -> tuple[Any, Any]:
    """Sum over operands what the product and its adjoints give with ``dy`` in their place."""
    dg, d_operands = [], []
    for k, operand in enumerate(operands):
        items = replaced(operands, k, dy[k])
        dg.append(product(items))
        d_operands.append(like(replaced(adjoints(items), k, zeros_like(operand)), operands))
    return like(reduce(np.add, dg), g), reduce(add, d_operands)
