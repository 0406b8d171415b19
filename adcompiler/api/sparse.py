"""Sparse Jacobians and Hessians: pattern and coloring once, compressed derivatives each time.

The pattern comes from abstract interpretation, a coloring says which columns (rows) share one
derivative, all of which are evaluated in one sweep over many seeds, and every nonzero is read from
the result.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Self, overload

import numpy as np

from adcompiler.api.argnums import Asked, stated
from adcompiler.api.derivative import Code, Derivative, P
from adcompiler.api.emitted import Argnums, EmittedDerivative
from adcompiler.api.given_patterns import Given, given
from adcompiler.api.keywords import suggesting
from adcompiler.api.patterns import watched_pattern
from adcompiler.api.sparse_source import SparseModule
from adcompiler.api.sparse_structure import Repeatable, Structure, repeatable
from adcompiler.dispatch import AtPoint, Compiled, Options
from adcompiler.dispatch.source_text import SourceText
from adcompiler.dispatch.written import as_written, sees_calls
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime.batches import seed_of
from adcompiler.sparsity.coloring.coloring import Coloring, color
from adcompiler.sparsity.coloring.decompression import Decompression
from adcompiler.sparsity.coloring.flattening import (
    flat, is_column, is_row, leaves, real_dtype, unflat,
)
from adcompiler.sparsity.dependences.fingerprints import fingerprint, shape_of
from adcompiler.typed.derivatives import ONLY_OUTSIDE, Wanted

MAX_KEPT = 16
REVERSE_COST = 2.0
"""What one cotangent costs, in tangents, when the kind of coloring is chosen."""

MANY = 24
"""Colors from which it is worth to try both directions together."""


class SparseDerivative(Derivative[P, Any]):
    """Base of sparse Jacobians and Hessians: keeps structures by what they depend on."""

    mode = "sparse_jacobian"
    options: Wanted

    def __init__(
        self, function: Callable[..., Any], argnums: Argnums, kind: str, order: str,
        backend: str = "python", given: Given | None = None,
    ) -> None:
        self.given = given
        self.argnums = tuple(argnums) if isinstance(argnums, list) else argnums
        super().__init__(function, Wanted(self.mode, self.argnums))
        self.kind = kind
        self.order = order
        self.backend = backend
        self.kept: OrderedDict[Any, Structure] = OrderedDict()
        self.last: Repeatable | None = None
        self.form: EmittedDerivative[..., Any] = EmittedDerivative(
            function, Options("vjp", self.argnums))
        if any(self.form.specialisations.parts):
            raise TypeError("sparse derivatives are with respect to whole arguments")
        self.written: dict[Any, Self] | None = {} if sees_calls(function) else None
        self.__signature__ = self.form.__signature__
        REGISTRY.watch(self)

    def made_of(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return type(self), (
            self.primal, self.argnums, self.kind, self.order, self.backend, self.given)

    def as_called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Self:
        """Return the derivative for calls that are written like this one."""
        if self.written is None:
            return self
        key = (len(args), *kwargs)
        if key not in self.written:
            made, argnums = as_written(self.primal, self.argnums, len(args), tuple(kwargs))
            self.written[key] = type(self)(
                made, argnums, self.kind, self.order, self.backend, self.given)
        return self.written[key]

    def rules_changed(self) -> None:
        """Forget all structures; called when a rule is registered or removed."""
        self.kept.clear()
        self.last = None

    def structure(self, *args: Any, **kwargs: Any) -> Structure:
        """Return the pattern and coloring for arguments like these; found once, then kept.

        They depend on the shapes of what is differentiated, and on the values of everything else:
        other arguments, captured and global variables.
        """
        self = self.as_called(args, kwargs)
        return self.structure_for(*self.arguments(args, kwargs), args, kwargs)

    def structure_for(
        self, values: Sequence[Any], wanted: Sequence[Any], args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Structure:
        """Return the structure for all arguments, those differentiated among them."""
        wrt = self.form.specialisations.wrt
        others = [value for i, value in enumerate(values) if i not in wrt]
        key = shape_of(list(wanted)), fingerprint(others)
        found = self.kept.get(key)
        if found is None or not found.watched.holds():
            watched = watched_pattern(
                self.primal, args, kwargs, self.argnums, self.is_second
            ) if self.given is None else self.given.watched(
                self.primal, args, kwargs, self.argnums, wanted)
            coloring = self.colored(watched.pattern)
            found = self.kept[key] = Structure(coloring, Decompression(coloring), watched)
            while len(self.kept) > MAX_KEPT:
                self.kept.popitem(last=False)
        self.kept.move_to_end(key)
        return found

    def prepare(self, *args: Any, **kwargs: Any) -> Self:
        """Find the structure for arguments like these ahead of the first evaluation."""
        self.structure(*args, **kwargs)
        return self

    def colored(self, pattern: Any) -> Coloring:
        """Return the coloring of the pattern."""
        return color(pattern, self.kind, self.order)

    def arguments(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], list[Any]]:
        """Return the values of all parameters, and those that are differentiated."""
        s = self.form.specialisations
        values = s.values(self.form.bound(*args, **kwargs))
        return values, [values[i] for i in s.wrt]

    def several(self, derivative: Any) -> Any:
        """Return a derivative of the arguments as one for each of them."""
        return (derivative,) if self.form.specialisations.single else derivative

    def source_for(self, *args: Any, **kwargs: Any) -> SourceText:
        """Return the text of a module with a function that computes the same matrix.

        It holds for arguments of these shapes, and these values of what else the pattern depends
        on. Raises ADError for a function that uses what no import reaches. It is Python, whatever
        the backend.
        """
        self = self.as_called(args, kwargs)
        if self.backend != "python":
            made = type(self)(
                self.primal, self.argnums, self.kind, self.order, given=self.given)
            return made.source_for(*args, **kwargs)
        values, wanted = self.arguments(args, kwargs)
        found = self.structure_for(values, wanted, args, kwargs)
        module = SparseModule(
            self.form, wanted, found.coloring, found.decompression, self.is_second)
        return SourceText(module.text(*self.sweeps(found.coloring, args, kwargs)))

    def sweeps(
        self, coloring: Coloring, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Compiled | None, Compiled | None, Any]:
        """Return the code of the forward and reverse sweeps needed, and what the function gives."""
        raise NotImplementedError

    @property
    def is_tested(self) -> bool:
        """Whether every matrix is tested, as its pattern was given."""
        return self.given is not None and self.given.check

    def tested(
        self, matrix: Any, wanted: Sequence[Any], dtype: Any, args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Return a matrix, tested if its pattern was given; WrongPatternError if that is wrong."""
        if self.given is not None and self.is_tested:
            direction = self.given.direction(dtype)
            self.given.verify(
                matrix, direction, self.along(direction, wanted, dtype, args, kwargs))
        return matrix

    def along(
        self, direction: np.ndarray, wanted: Sequence[Any], dtype: Any, args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> np.ndarray:
        """Return the derivative along a direction, by code that no pattern was used for."""
        raise NotImplementedError

    def pattern(self, *args: Any, **kwargs: Any) -> Any:
        return self.structure(*args, **kwargs).pattern

    def colors(self, *args: Any, **kwargs: Any) -> Coloring:
        return self.structure(*args, **kwargs).coloring

    def swept(self, coloring: Coloring | None) -> EmittedDerivative[..., Any]:
        """Return the derivative of which code computes most of it; None: before any coloring."""
        raise NotImplementedError

    def code(self, *args: Any, **kwargs: Any) -> Code:
        self = self.as_called(args, kwargs)
        return self.swept(self.structure(*args, **kwargs).coloring).code(*args, **kwargs)

    def running(self) -> Derivative[..., Any]:
        found = next(reversed(self.kept.values()), None)
        return self.swept(None if found is None else found.coloring)


class SparseJacobian(SparseDerivative[P]):
    """A function's Jacobian as a sparse matrix; see ``sparse_jacobian``."""

    mode = "sparse_jacobian"

    def __init__(
        self, function: Callable[..., Any], argnums: Argnums, kind: str, order: str,
        backend: str = "python", given: Given | None = None,
    ) -> None:
        super().__init__(function, argnums, kind, order, backend, given)
        self.forward: EmittedDerivative[..., Any] = EmittedDerivative(
            function, Options("forward", self.argnums, batched=True, backend=backend))
        self.fixed: EmittedDerivative[..., Any] = EmittedDerivative(
            function,
            Options("forward", self.argnums, batched=True, constant=True, backend=backend,
                    alone=True))
        self.reverse: EmittedDerivative[..., Any] = EmittedDerivative(
            function, Options("vjp", self.argnums, batched=True, backend=backend))

    def colored(self, pattern: Any) -> Coloring:
        if self.kind != "auto":
            return color(pattern, self.kind, self.order)
        by_column = color(pattern, "column", self.order)
        fullest = int(np.bincount(pattern.indices).max(initial=0))
        if by_column.count <= min(REVERSE_COST * fullest, MANY):
            return by_column  # rows need at least as many colors as the fullest column has nonzeros
        by_row = color(pattern, "row", self.order)
        cost = {by_column: by_column.count, by_row: REVERSE_COST * by_row.count}
        if min(cost.values()) > MANY:
            both = color(pattern, "bidirectional", self.order)
            cost[both] = both.column_count + REVERSE_COST * both.row_count
        return min(cost, key=lambda coloring: cost[coloring])

    def sweeps(
        self, coloring: Coloring, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Compiled | None, Compiled | None, Any]:
        forward = code_for(self.fixed, args, kwargs) if coloring.column_count else None
        if not coloring.row_count:
            return forward, None, None
        value, _ = self.reverse(*args, **kwargs)
        return forward, code_for(self.reverse, args, kwargs), value

    def swept(self, coloring: Coloring | None) -> EmittedDerivative[..., Any]:
        pulls = coloring is not None and coloring.row_count > coloring.column_count
        return self.reverse if pulls else self.fixed

    def __call__(self, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        """Return the Jacobian at the arguments, a CSR array, written into ``out`` if given."""
        self = self.as_called(args, kwargs)
        if self.last is not None and not kwargs and not self.is_tested:
            again = self.last.matrix(args, out, self.fixed, self.reverse)
            if again is not None:
                return again
        values, wanted = self.arguments(args, kwargs)
        dtype = real_dtype(wanted, is_column)
        found = self.structure_for(values, wanted, args, kwargs)
        coloring = found.coloring
        at = columns = rows = None
        if coloring.column_count:
            at = self.fixed(*args, **kwargs)
            columns = self.columns(found, at, wanted, dtype)
        if not kwargs and (columns is not None or not coloring.column_count):
            self.last = repeatable(found, at, args, self.form.specialisations.wrt)
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
                self.given.check_rows(sum(np.size(leaf) for leaf in leaves(value, is_row)))

            def reverse(seeds: np.ndarray) -> np.ndarray:
                back = self.several(pull(unflat(seeds, value, is_row)))
                return flat(back, wanted, len(seeds), dtype, is_column)

            rows = found.swept(True, real_dtype(value, is_row), reverse)
        return self.tested(
            found.decompression.matrix(columns, rows, out, dtype), wanted, dtype, args, kwargs)

    def along(
        self, direction: np.ndarray, wanted: Sequence[Any], dtype: Any, args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> np.ndarray:
        value, along = self.forward(*args, **kwargs)(*unflat(direction, wanted, is_column))
        return np.asarray(flat(along, value, 1, dtype, is_row)[0])

    def columns(
        self, found: Structure, at: Any, wanted: Sequence[Any], dtype: Any
    ) -> list[np.ndarray] | None:
        """Return the derivatives along the seeds by code for constant ones, None without it."""
        if not isinstance(at, AtPoint):
            return None

        def flattened(result: Any, count: int) -> np.ndarray:
            if not at.with_value:
                if self.given is not None:
                    self.given.check_rows(np.size(result) // count)
                return np.reshape(result, (count, found.pattern.shape[0]))
            value, along = result
            if value is None:
                value = seed_of(along, 0)
            real_dtype(value, is_row)
            rows = flat(along, value, count, dtype, is_row)
            if self.given is not None:
                self.given.check_rows(rows.shape[1])
            return rows

        return found.along(at, wanted, dtype, flattened)


class SparseHessian(SparseDerivative[P]):
    """A function's Hessian as a sparse matrix; see ``sparse_hessian``."""

    mode = "sparse_hessian"

    def __init__(
        self, function: Callable[..., Any], argnums: Argnums, kind: str, order: str,
        backend: str = "python", given: Given | None = None,
    ) -> None:
        super().__init__(function, argnums, kind, order, backend, given)
        s = self.form.specialisations
        positions: Any = tuple(i - len(s.target.first) for i in s.wrt)
        if s.single:
            (positions,) = positions
        gradient: EmittedDerivative[..., Any] = EmittedDerivative(
            function, Options("grad", positions))
        self.products: EmittedDerivative[..., Any] = EmittedDerivative(
            gradient, Options("forward", positions, batched=True, backend=backend, alone=True))
        self.fixed: EmittedDerivative[..., Any] = EmittedDerivative(
            gradient, Options("forward", positions, batched=True, constant=True, backend=backend,
                              alone=True))

    def sweeps(
        self, coloring: Coloring, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Compiled | None, Compiled | None, Any]:
        needed = coloring.column_count > 0
        return code_for(self.fixed, args, kwargs) if needed else None, None, None

    def swept(self, coloring: Coloring | None) -> EmittedDerivative[..., Any]:
        return self.fixed

    def __call__(self, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        """Return the Hessian at the arguments, a CSR array, written into ``out`` if given."""
        self = self.as_called(args, kwargs)
        if self.last is not None and not kwargs and not self.is_tested:
            again = self.last.matrix(args, out, self.fixed)
            if again is not None:
                return again
        values, wanted = self.arguments(args, kwargs)
        dtype = real_dtype(wanted, is_column)
        found = self.structure_for(values, wanted, args, kwargs)
        products: Any = None
        if found.coloring.column_count:
            at = self.fixed(*args, **kwargs)
            if isinstance(at, AtPoint):
                products = found.along(at, wanted, dtype, lambda result, count: flat(
                    self.several(result[1] if at.with_value else result), wanted, count, dtype,
                    is_column))
            if products is not None and not kwargs:
                self.last = repeatable(found, at, args, self.form.specialisations.wrt)
        if found.coloring.column_count and products is None:
            push = self.products(*args, **kwargs)

            def forward(seeds: np.ndarray) -> np.ndarray:
                along = self.several(push(*unflat(seeds, wanted, is_column))[1])
                return flat(along, wanted, len(seeds), dtype, is_column)

            products = found.swept(False, dtype, forward)
        return self.tested(
            found.decompression.matrix(products, products, out, dtype), wanted, dtype, args, kwargs)

    def along(
        self, direction: np.ndarray, wanted: Sequence[Any], dtype: Any, args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> np.ndarray:
        push = self.products(*args, **kwargs)
        along = self.several(push(*unflat(direction, wanted, is_column))[1])
        return np.asarray(flat(along, wanted, 1, dtype, is_column)[0])


def code_for(
    derivative: EmittedDerivative[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Compiled:
    """Return the emitted code of a derivative for these arguments."""
    s = derivative.specialisations
    return s.find(s.values(derivative.bound(*args, **kwargs)))[0]


@overload
def sparse_jacobian(
    function: None = None, argnums: Asked = 0, *, kind: str = "auto",
    order: str = "smallest_last", backend: str = "python", pattern: Any = None,
    check: bool = True,
) -> Callable[[Callable[P, Any]], SparseJacobian[P]]: ...
@overload
def sparse_jacobian(
    function: Callable[P, Any], argnums: Asked = 0, *, kind: str = "auto",
    order: str = "smallest_last", backend: str = "python", pattern: Any = None,
    check: bool = True,
) -> SparseJacobian[P]: ...
@suggesting
def sparse_jacobian(
    function: Callable[..., Any] | None = None, argnums: Asked = 0, *, kind: str = "auto",
    order: str = "smallest_last", backend: str = "python", pattern: Any = None,
    check: bool = True,
) -> Any:
    """Return a function that computes the Jacobian of ``function`` as a ``scipy.sparse.csr_array``.

    It has a row for each number in the result and a column for each real number in the arguments
    ``argnums``, as ``jacobian_sparsity`` orders them. Every call for arguments of the same shapes
    gives a matrix of the same structure, in which zeros may be stored; ``out=`` takes such a matrix
    to be filled. ``kind`` is ``"column"`` (forward mode), ``"row"`` (reverse mode),
    ``"bidirectional"``, or ``"auto"``: what needs the fewest sweeps; ``order`` that of the greedy
    coloring. The pattern depends on the values of other arguments and of captured variables:
    it is found anew where these change. ``prepare(*args)`` finds it ahead.
    With ``backend="native"`` the derivatives along all colors are computed by machine loops.

    ``pattern`` states the pattern, a dense or sparse matrix of which the nonzeros count; then none
    is computed. One that lacks a nonzero of the Jacobian makes others wrong, so each matrix is
    tested against one more derivative, along a fixed direction, which raises WrongPatternError.
    ``check=False`` leaves that out. ValueError is raised for a pattern of another shape.

    Can be used as a decorator. Raises UnsupportedError for code that cannot be followed.
    """
    if function is None:
        return lambda f: sparse_jacobian(
            f, argnums, kind=kind, order=order, backend=backend, pattern=pattern, check=check)
    return SparseJacobian(
        function, stated(function, argnums), kind, order, backend, given(pattern, check))


@overload
def sparse_hessian(
    function: None = None, argnums: Asked = 0, *, kind: str = "star",
    order: str = "smallest_last", backend: str = "python", pattern: Any = None,
    check: bool = True,
) -> Callable[[Callable[P, Any]], SparseHessian[P]]: ...
@overload
def sparse_hessian(
    function: Callable[P, Any], argnums: Asked = 0, *, kind: str = "star",
    order: str = "smallest_last", backend: str = "python", pattern: Any = None,
    check: bool = True,
) -> SparseHessian[P]: ...
@suggesting
def sparse_hessian(
    function: Callable[..., Any] | None = None, argnums: Asked = 0, *, kind: str = "star",
    order: str = "smallest_last", backend: str = "python", pattern: Any = None,
    check: bool = True,
) -> Any:
    """Return a function that computes the Hessian of ``function`` as a ``scipy.sparse.csr_array``.

    ``function`` returns one real number. ``kind`` is ``"star"`` (every entry is read from a
    product with the Hessian), ``"acyclic"`` (fewer products, entries by substitution) or
    ``"column"`` (symmetry is not used). Everything else is as for ``sparse_jacobian``; a
    ``pattern`` that is given is symmetric, or ValueError is raised.
    """
    if function is None:
        return lambda f: sparse_hessian(
            f, argnums, kind=kind, order=order, backend=backend, pattern=pattern, check=check)
    if kind not in ("star", "acyclic", "column"):
        raise ValueError(f"kind is one of star, acyclic, column, not {kind!r}")
    return SparseHessian(
        function, stated(function, argnums), kind, order, backend, given(pattern, check))


ONLY_OUTSIDE.update({sparse_jacobian: "jacobian", sparse_hessian: "hessian"})

__all__ = [
    "SparseDerivative", "SparseHessian", "SparseJacobian", "Structure", "sparse_hessian",
    "sparse_jacobian",
]
