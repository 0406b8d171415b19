"""Sparse Jacobians and Hessians: pattern and coloring once, compressed derivatives each time.

The pattern comes from abstract interpretation, a coloring says which columns (rows) share one
derivative, all of which are evaluated in one sweep over many seeds, and every nonzero is read from
the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

import numpy as np

from adcompiler.api.argnums import Asked, stated
from adcompiler.api.composed import Part
from adcompiler.api.derivative import P
from adcompiler.api.emitted import EmittedDerivative
from adcompiler.api.keywords import suggesting
from adcompiler.api.sparse.derivative import SparseDerivative
from adcompiler.api.sparse.given_patterns import Stated, given
from adcompiler.api.sparse.structure import Structure, repeatable
from adcompiler.api.sparse.structures import Settings
from adcompiler.api.sparse.watched_patterns import Point
from adcompiler.dispatch import AtPoint, Compiled, Options
from adcompiler.dispatch.linear_maps import Pushforward
from adcompiler.dispatch.written import Written
from adcompiler.runtime.batches import seed_of
from adcompiler.sparsity.coloring.coloring import Coloring
from adcompiler.sparsity.coloring.decompression import Data, Out
from adcompiler.sparsity.coloring.flattening import (
    flat, is_column, is_row, leaves, real_dtype, unflat,
)
from adcompiler.typed.derivatives import ONLY_OUTSIDE
from adcompiler.typed.options import Argnums

class SparseJacobian(SparseDerivative[P]):
    """A function's Jacobian as a sparse matrix; see ``sparse_jacobian``."""

    mode = "sparse_jacobian"

    def __init__(
        self, function: Callable[..., Any], argnums: Argnums, settings: Settings
    ) -> None:
        super().__init__(function, argnums, settings)
        self.forward, self.reverse = self.parts["forward"], self.parts["reverse"]

    def sweeps(
        self, coloring: Coloring, call: Written
    ) -> tuple[Compiled | None, Compiled | None, Any]:
        forward = code_for(self.fixed, call) if coloring.column_count else None
        if not coloring.row_count:
            return forward, None, None
        value, _ = call.given_to(self.reverse)
        return forward, code_for(self.reverse, call), value

    def swept(self, coloring: Coloring | None) -> Part:
        pulls = coloring is not None and coloring.row_count > coloring.column_count
        return self.reverse if pulls else self.fixed

    def matrix(self, found: Structure, point: Point, out: Out) -> Any:
        dtype, coloring, wanted = point.dtype, found.coloring, point.wanted
        args, kwargs = point.call
        at = columns = rows = None
        if coloring.column_count:
            at = self.fixed(*args, **kwargs)
            columns = self.columns(found, at, point)
        if not (kwargs or found.watched.why or self.settings.mode == "local") and (
            columns is not None or not coloring.column_count
        ):
            self.last = repeatable(found, at, args, self.find.forms.wrt)
        if coloring.column_count and columns is None:
            push = self.forward(*args, **kwargs)

            def forward(seeds: np.ndarray) -> np.ndarray:
                value, along = push(*unflat(seeds, wanted, is_column))
                real_dtype(value, is_row)
                return flat(along, value, len(seeds), dtype, is_row)

            columns = [found.swept(False, dtype, forward)]
        if coloring.row_count:
            value, pull = self.reverse(*args, **kwargs)
            if self.given is not None:
                self.given.check_rows(
                    sum(np.size(leaf) for leaf in leaves(value, is_row)), found.pattern)

            def reverse(seeds: np.ndarray) -> np.ndarray:
                back = self.several(pull(unflat(seeds, value, is_row)))
                return flat(back, wanted, len(seeds), dtype, is_column)

            rows = found.swept(True, real_dtype(value, is_row), reverse)
        return self.returned(found, found.decompression.values(columns, rows, dtype), out, point)

    def along(self, direction: np.ndarray, point: Point) -> np.ndarray:
        push = point.call.given_to(self.forward)
        value, along = push(*unflat(direction, point.wanted, is_column))
        return np.asarray(flat(along, value, 1, point.dtype, is_row)[0])

    def columns(
        self, found: Structure, at: AtPoint | Pushforward, point: Point
    ) -> list[np.ndarray] | None:
        """Return the derivatives along the seeds by code for constant ones, None without it."""
        if not isinstance(at, AtPoint):
            return None

        def flattened(result: Any, count: int) -> np.ndarray:
            if not at.with_value:
                if self.given is not None:
                    self.given.check_rows(np.size(result) // count, found.pattern)
                return np.reshape(result, (count, found.pattern.shape[0]))
            value, along = result
            if value is None:
                value = seed_of(along, 0)
            real_dtype(value, is_row)
            rows = flat(along, value, count, point.dtype, is_row)
            if self.given is not None:
                self.given.check_rows(rows.shape[1], found.pattern)
            return rows

        return found.along(at, point.wanted, point.dtype, flattened)


class SparseHessian(SparseDerivative[P]):
    """A function's Hessian as a sparse matrix; see ``sparse_hessian``."""

    mode = "sparse_hessian"

    def __init__(
        self, function: Callable[..., Any], argnums: Argnums, settings: Settings
    ) -> None:
        super().__init__(function, argnums, settings)
        self.products = self.parts["products"]

    def sweeps(
        self, coloring: Coloring, call: Written
    ) -> tuple[Compiled | None, Compiled | None, Any]:
        return code_for(self.fixed, call) if coloring.column_count else None, None, None

    def matrix(self, found: Structure, point: Point, out: Out) -> Any:
        dtype, wanted = point.dtype, point.wanted
        args, kwargs = point.call
        products: Any = None
        if found.coloring.column_count:
            at = self.fixed(*args, **kwargs)
            if isinstance(at, AtPoint):
                products = found.along(at, wanted, dtype, lambda result, count: flat(
                    self.several(result[1] if at.with_value else result), wanted, count, dtype,
                    is_column))
            if products is not None and not kwargs and self.settings.mode == "global":
                self.last = repeatable(found, at, args, self.find.forms.wrt)
        if found.coloring.column_count and products is None:
            push = self.products(*args, **kwargs)

            def forward(seeds: np.ndarray) -> np.ndarray:
                along = self.several(push(*unflat(seeds, wanted, is_column))[1])
                return flat(along, wanted, len(seeds), dtype, is_column)

            products = found.swept(False, dtype, forward)
        data = found.decompression.values(products, products, dtype)
        return self.returned(found, data, out, point)

    def along(self, direction: np.ndarray, point: Point) -> np.ndarray:
        push = point.call.given_to(self.products)
        along = self.several(push(*unflat(direction, point.wanted, is_column))[1])
        return np.asarray(flat(along, point.wanted, 1, point.dtype, is_column)[0])


def code_for(derivative: Part, call: Written) -> Compiled:
    """Return the emitted code of a derivative for these arguments."""
    s = derivative.specialisations
    return s.find(s.values(call.given_to(derivative.bound)))[0]


class ValueAndSparseJacobian(SparseJacobian[P]):
    """A function's value and its sparse Jacobian; see ``value_and_sparse_jacobian``."""

    def __init__(
        self, function: Callable[..., Any], argnums: Argnums, settings: Settings
    ) -> None:
        super().__init__(function, argnums, settings)
        self.valued: Callable[..., Any] = self.primal if self.backend in ("python", "record") else (
            EmittedDerivative(function, Options("primal", (), backend=self.backend)))

    def __call__(self, *args: Any, out: Out = None, **kwargs: Any) -> tuple[Any, Any]:
        """Return the value and the Jacobian, written into ``out`` if given."""
        matrix = super().__call__(*args, out=out, **kwargs)
        return self.valued(*args, **kwargs), matrix

    def values(self, *args: Any, out: np.ndarray | None = None, **kwargs: Any) -> np.ndarray:
        found: np.ndarray = super().__call__(*args, out=Data if out is None else out, **kwargs)
        return found


def made(
    make: Callable[..., Any], function: Callable[..., Any] | None, argnums: Asked,
    settings: Settings,
) -> Any:
    """Return a sparse derivative; without a function, what makes one of it."""
    if function is None:
        return lambda f: made(make, f, argnums, settings)
    return make(function, stated(function, argnums), settings)


@overload
def sparse_jacobian(
    function: None = None, argnums: Asked = 0, *, kind: str = "auto",
    order: str = "smallest_last", backend: str = "python", pattern: Stated = None,
    check: bool = True, format: str = "csr", mode: str = "global", progress: bool = False,
) -> Callable[[Callable[P, Any]], SparseJacobian[P]]: ...
@overload
def sparse_jacobian(
    function: Callable[P, Any], argnums: Asked = 0, *, kind: str = "auto",
    order: str = "smallest_last", backend: str = "python", pattern: Stated = None,
    check: bool = True, format: str = "csr", mode: str = "global", progress: bool = False,
) -> SparseJacobian[P]: ...
@suggesting
def sparse_jacobian(
    function: Callable[..., Any] | None = None, argnums: Asked = 0, *, kind: str = "auto",
    order: str = "smallest_last", backend: str = "python", pattern: Stated = None,
    check: bool = True, format: str = "csr", mode: str = "global", progress: bool = False,
) -> Any:
    """Return a function that computes the Jacobian of ``function`` as a sparse array of SciPy.

    It is compressed by coloring. Can be used as a decorator. The derivative has further methods:
    ``coordinates(*args)`` are the rows and columns of the nonzeros, ``values(*args)`` the nonzeros
    alone, ``prepare(*args)`` finds pattern and coloring ahead.

    Parameters:
        function (callable): A function of arrays, which returns numbers.
        argnums (int, str or tuple): As for ``grad``.
        kind (str): ``"column"`` (forward mode), ``"row"`` (reverse mode), ``"bidirectional"``, or
            ``"auto"``: what needs the fewest sweeps.
        order (str): That of the greedy coloring, as for ``color``.
        backend (str): ``"native"``: the derivatives along all colors are computed by machine loops;
            ``"auto"``: where loops of the function go by elements.
        pattern: The pattern, a dense or sparse matrix of which the nonzeros count, or a tuple of
            the rows and of the columns of these; then none is computed.
        check (bool): A ``pattern`` that lacks a nonzero of the Jacobian makes others wrong, so each
            matrix is tested against one more derivative, along a fixed direction. False leaves that
            out.
        format (str): ``"csr"``, ``"csc"`` or ``"coo"``.
        mode (str): ``"global"``, or ``"local"``: the pattern is that at the arguments, found anew
            at each point; it has fewer entries where much vanishes there.
        progress (bool): A terminal shows how many sweeps are done.

    Returns:
        SparseJacobian: A function of the same arguments. The matrix has a row for each number in
        the result and a column for each real number in the arguments, as ``jacobian_sparsity``
        orders them, and the dtype of the arguments. Every call for arguments of the same shapes
        gives a matrix of the same structure, in which zeros may be stored; ``out=`` takes such a
        matrix, or a vector for its nonzeros, to be filled.

    Raises:
        UnsupportedError: For code that cannot be followed.
        WrongPatternError: If a ``pattern`` that was given lacks a nonzero.
        ValueError: For a pattern of another shape, and for other words.

    Example:
        >>> import numpy as np
        >>> from adcompiler import sparse_jacobian
        >>> sparse_jacobian(lambda x: x[1:] * x[:-1])(np.array([1.0, 2.0, 3.0])).toarray()
        array([[2., 1., 0.],
               [0., 3., 2.]])
    """
    return made(SparseJacobian, function, argnums, Settings(
        kind, order, backend, given(pattern, check), format, mode=mode, progress=progress))


@suggesting
def value_and_sparse_jacobian(
    function: Callable[..., Any] | None = None, argnums: Asked = 0, *, kind: str = "auto",
    order: str = "smallest_last", backend: str = "python", pattern: Stated = None,
    check: bool = True, format: str = "csr", mode: str = "global", progress: bool = False,
) -> Any:
    """Return a function that computes the value of ``function`` and its sparse Jacobian, a pair.

    The value takes one evaluation of the function, by ``backend``.

    Parameters:
        function, argnums, kind, order, backend, pattern, check, format, mode, progress: As for
            ``sparse_jacobian``.

    Returns:
        SparseJacobian: A function of the same arguments, which returns ``(value, matrix)``; it has
        the methods of ``sparse_jacobian``.

    Raises:
        UnsupportedError, WrongPatternError, ValueError: As ``sparse_jacobian``.

    Example:
        >>> import numpy as np
        >>> from adcompiler import value_and_sparse_jacobian
        >>> value, matrix = value_and_sparse_jacobian(lambda x: x**2)(np.array([1.0, 2.0]))
        >>> value, matrix.nnz
        (array([1., 4.]), 2)
    """
    return made(ValueAndSparseJacobian, function, argnums, Settings(
        kind, order, backend, given(pattern, check), format, mode=mode, progress=progress))


@overload
def sparse_hessian(
    function: None = None, argnums: Asked = 0, *, kind: str = "star",
    order: str = "smallest_last", backend: str = "python", pattern: Stated = None,
    check: bool = True, format: str = "csr", triangle: str | None = None, mode: str = "global",
    progress: bool = False,
) -> Callable[[Callable[P, Any]], SparseHessian[P]]: ...
@overload
def sparse_hessian(
    function: Callable[P, Any], argnums: Asked = 0, *, kind: str = "star",
    order: str = "smallest_last", backend: str = "python", pattern: Stated = None,
    check: bool = True, format: str = "csr", triangle: str | None = None, mode: str = "global",
    progress: bool = False,
) -> SparseHessian[P]: ...
@suggesting
def sparse_hessian(
    function: Callable[..., Any] | None = None, argnums: Asked = 0, *, kind: str = "star",
    order: str = "smallest_last", backend: str = "python", pattern: Stated = None,
    check: bool = True, format: str = "csr", triangle: str | None = None, mode: str = "global",
    progress: bool = False,
) -> Any:
    """Return a function that computes the Hessian of ``function`` as a sparse array of SciPy.

    Parameters:
        function (callable): A function that returns one real number.
        argnums, order, backend, check, format, mode, progress: As for ``sparse_jacobian``.
        kind (str): ``"star"`` (every entry is read from a product with the Hessian), ``"acyclic"``
            (fewer products, entries by substitution) or ``"column"`` (symmetry is not used).
        pattern: As for ``sparse_jacobian``; it is symmetric, or one of its triangles.
        triangle (str): ``"lower"`` or ``"upper"``: only that triangle, with the diagonal, is
            returned, as solvers ask for it.

    Returns:
        SparseHessian: A function of the same arguments, as for ``sparse_jacobian``.

    Raises:
        UnsupportedError, WrongPatternError: As ``sparse_jacobian``.
        ValueError: For a pattern that is not symmetric, and for other words.

    Example:
        >>> import numpy as np
        >>> from adcompiler import sparse_hessian
        >>> sparse_hessian(lambda x: x[0] * x[1] + x[2] ** 2)(np.ones(3)).toarray()
        array([[0., 1., 0.],
               [1., 0., 0.],
               [0., 0., 2.]])
    """
    if kind not in ("star", "acyclic", "column"):
        raise ValueError(f"kind is one of star, acyclic, column, not {kind!r}")
    return made(SparseHessian, function, argnums, Settings(
        kind, order, backend, given(pattern, check, True), format, triangle, mode, progress))


ONLY_OUTSIDE.update({
    sparse_jacobian: "jacobian", value_and_sparse_jacobian: "jacobian", sparse_hessian: "hessian"})

__all__ = [
    "SparseDerivative", "SparseHessian", "SparseJacobian", "Structure", "ValueAndSparseJacobian",
    "sparse_hessian", "sparse_jacobian", "value_and_sparse_jacobian",
]
