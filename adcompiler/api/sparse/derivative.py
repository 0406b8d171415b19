"""What sparse Jacobians and Hessians have in common: structures, by what they depend on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from adcompiler.api.derivative import Code, Derivative, P
from adcompiler.api.emitted import Argnums, EmittedDerivative
from adcompiler.api.fallback import BY_BACKEND, because, may_record, tell_recorded
from adcompiler.api.sparse.given_patterns import Given
from adcompiler.api.sparse.kept_structures import KeptStructures
from adcompiler.api.sparse.structure import Repeatable, Structure
from adcompiler.api.sparse.watched_patterns import MODES, Watched, warn_if_full, watched_pattern
from adcompiler.dispatch import Compiled, Options
from adcompiler.dispatch.explain import Explanation
from adcompiler.dispatch.guards import Guard
from adcompiler.dispatch.source_text import SourceText
from adcompiler.dispatch.written import as_written, sees_calls
from adcompiler.errors import ADError, not_one_of
from adcompiler.ops.registry import REGISTRY
from adcompiler.plot import Pattern
from adcompiler.runtime import own
from adcompiler.runtime.progress import watching
from adcompiler.sparsity.coloring.coloring import Coloring, color
from adcompiler.sparsity.coloring.decompression import FORMATS, TRIANGLES, Data, Decompression
from adcompiler.sparsity.coloring.kept import kept_coloring
from adcompiler.sparsity.dependences.fingerprints import fingerprint
from adcompiler.support.structs import dataclass
from adcompiler.typed.derivatives import Wanted

@dataclass(frozen=True)
class Settings:
    """How a sparse derivative is found, and in which form it is returned."""

    kind: str = "auto"
    order: str = "smallest_last"
    backend: str = "python"
    given: Given | None = None
    form: str = "csr"
    triangle: str | None = None
    mode: str = "global"
    progress: bool = False

    def __post_init__(self) -> None:
        for name, value, possible in (
            ("format", self.form, FORMATS), ("triangle", self.triangle, TRIANGLES),
            ("mode", self.mode, MODES),
        ):
            if value not in possible:
                raise ValueError(not_one_of(name, str(value), map(str, possible)))
        if self.mode == "local" and self.given is not None:
            raise ValueError("a pattern that is given is not found, whatever the mode")


class SparseDerivative(Derivative[P, Any]):
    """Base of sparse Jacobians and Hessians: keeps structures by what they depend on."""

    mode = "sparse_jacobian"
    options: Wanted
    fixed: Any
    reverse: Any = None

    def __init__(
        self, function: Callable[..., Any], argnums: Argnums, settings: Settings
    ) -> None:
        self.settings = settings
        self.given = given = settings.given
        self.is_tested = given is not None and given.check
        self.argnums = tuple(argnums) if isinstance(argnums, list) else argnums
        super().__init__(function, Wanted(self.mode, self.argnums))
        self.kind, self.order, self.backend = settings.kind, settings.order, settings.backend
        self.kept = KeptStructures()
        self.last: Repeatable | None = None
        self.recording: SparseDerivative[P] | None = (
            self if self.backend == "record" else None)
        self.form: EmittedDerivative[..., Any] = EmittedDerivative(
            function, Options("vjp", self.argnums))
        if any(self.form.specialisations.parts):
            raise TypeError("sparse derivatives are with respect to whole arguments")
        self.written: dict[Any, Self] | None = {} if sees_calls(function) else None
        self.__signature__ = self.form.__signature__
        REGISTRY.watch(self)

    def made_of(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return type(self), (self.primal, self.argnums, self.settings)

    def as_called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Self:
        """Return the derivative for calls that are written like this one."""
        if self.written is None:
            return self
        key = (len(args), *kwargs)
        if key not in self.written:
            made, argnums = as_written(self.primal, self.argnums, len(args), tuple(kwargs))
            self.written[key] = type(self)(made, argnums, self.settings)
        return self.written[key]

    def rules_changed(self) -> None:
        """Forget all structures; called when a rule is registered or removed."""
        self.kept.clear()
        self.last = None

    def structure(self, *args: Any, **kwargs: Any) -> Structure:
        """Return the pattern and coloring for arguments like these; found once, then kept.

        They depend on the shapes of the floating arguments, and on the values of everything else:
        other arguments, captured and global variables; of other floating arguments on where a
        matrix of them is zero, and on their values where a branch, a subscript or a shape does.
        """
        self = self.as_called(args, kwargs)
        return self.structure_for(*self.arguments(args, kwargs), args, kwargs)

    def structure_for(
        self, values: Sequence[Any], wanted: Sequence[Any], args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Structure:
        """Return the structure for all arguments, those differentiated among them."""
        wrt = self.form.specialisations.wrt
        others = {i: value for i, value in enumerate(values) if i not in wrt}

        def made(watched: Watched) -> Structure:
            if self.given is None:
                warn_if_full(watched.pattern, watched.full)
            def colored() -> Coloring:
                return self.colored(watched.pattern)

            coloring = colored() if self.settings.mode == "local" else kept_coloring(
                watched.pattern, (type(self).mode, self.kind, self.order), colored)
            return Structure(coloring, Decompression(
                coloring, self.settings.form, self.settings.triangle), watched)

        return self.kept.structure(
            wanted, others, self.settings.mode == "local",
            lambda looked: self.watched(wanted, args, kwargs, looked), made)

    def watched(
        self, wanted: Sequence[Any], args: tuple[Any, ...], kwargs: dict[str, Any],
        looked: frozenset[int],
    ) -> Watched:
        """Return the pattern for these arguments: found, or given where the function is recorded.
        """
        if self.given is not None and self.backend == "record":
            return self.given.depending_on(
                Guard(()), self.primal, args, kwargs, wanted, BY_BACKEND)
        try:
            if self.given is None:
                return watched_pattern(
                    self.form.specialisations, self.primal, args, kwargs, self.argnums,
                    self.is_second, looked, self.settings.mode)
            return self.given.watched(self.primal, args, kwargs, self.argnums, wanted)
        except ADError as error:
            if not self.may_record(error):
                raise
            if self.given is None:
                error.add_note("A recording finds no pattern: state it by pattern=...")
                raise
            tell_recorded(self.form.specialisations.target, error)
            self.recording = self.recording or type(self)(
                self.primal, self.argnums, replace(self.settings, backend="record"))
            return self.given.depending_on(
                Guard(()), self.primal, args, kwargs, wanted, because(error))

    def may_record(self, error: ADError) -> bool:
        """Say whether calls that the compiler refuses with this error are recorded.

        They are where the pattern is given.
        """
        return may_record(Options("forward", self.argnums, backend=self.backend), error)

    def why_recorded(self, *args: Any, **kwargs: Any) -> str | None:
        self = self.as_called(args, kwargs)
        found = self.structure(*args, **kwargs)
        return found.watched.why or self.swept(found.coloring).why_recorded(*args, **kwargs)

    def __call__(self, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        """Return the derivative at the arguments, a sparse array, written into ``out`` if given.

        ``out`` is such an array of an earlier call, or a vector for the nonzeros.
        """
        with watching(self.settings.progress, self):
            self = self.as_called(args, kwargs)
            if self.last is not None and not kwargs and not self.is_tested:
                again = self.last.matrix(args, out, self.fixed, self.reverse)
                if again is not None:
                    return again
            values, wanted = self.arguments(args, kwargs)
            found = self.structure_for(values, wanted, args, kwargs)
            if not found.watched.why or self.recording is None:
                return self.matrix(found, wanted, out, args, kwargs)
            args, kwargs = own(args), own(kwargs)
            before = fingerprint([args, kwargs])
            matrix = self.recording.matrix(found, wanted, out, args, kwargs)
            if fingerprint([args, kwargs]) != before:
                from adcompiler.api.sparse.patterns import writes  # loads the compiler

                raise writes(self.form.specialisations)
            return matrix

    def matrix(
        self, found: Structure, wanted: Sequence[Any], out: Any, args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Return the matrix of a structure, tested if the pattern was given."""
        raise NotImplementedError

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        coloring = self.colors(*args, **kwargs)
        return replace(super().explain(*args, **kwargs), coloring=str(coloring))

    def prepare(self, *args: Any, **kwargs: Any) -> Self:
        """Find the structure for arguments like these ahead of the first evaluation."""
        self.structure(*args, **kwargs)
        return self

    def colored(self, pattern: Pattern) -> Coloring:
        """Return the coloring of the pattern."""
        return color(pattern, self.kind, self.order)

    def arguments(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], list[Any]]:
        """Return the values of all parameters, and those that are differentiated."""
        s = self.form.specialisations
        values = s.values(self.form.bound(*args, **kwargs))
        return values, [values[i] for i in s.wrt]

    def source_for(self, *args: Any, **kwargs: Any) -> SourceText:
        """Return the text of a module with a function that computes the same matrix.

        It holds for arguments of these shapes, and these values of what else the pattern depends
        on; numbers and arrays that the function captured are written as they are now. Raises
        ADError for a function that uses what no import reaches. It is Python, whatever the backend.
        """
        self = self.as_called(args, kwargs)
        if self.backend != "python":
            made = type(self)(
                self.primal, self.argnums, replace(self.settings, backend="python"))
            return made.source_for(*args, **kwargs)
        from adcompiler.api.sparse.source import SparseModule  # loads the compiler

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

    def values(self, *args: Any, out: np.ndarray | None = None, **kwargs: Any) -> np.ndarray:
        """Return the nonzeros at the arguments, a vector, in the order of ``coordinates``.

        They are written into ``out``, a vector of as many floats, if given. Raises ValueError for
        one of another length.
        """
        found: np.ndarray = self(*args, out=Data if out is None else out, **kwargs)
        return found

    def coordinates(self, *args: Any, **kwargs: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows and the columns of the nonzeros, vectors of integers counted from 0.

        They are in the order of the ``format``, and the same at all arguments of a structure.
        """
        structure = self.structure(*args, **kwargs)
        shown = structure.decompression.shown.tocoo()
        return shown.row.copy(), shown.col.copy()

    def along(
        self, direction: np.ndarray, wanted: Sequence[Any], dtype: Any, args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> np.ndarray:
        """Return the derivative along a direction, by code that no pattern was used for."""
        raise NotImplementedError

    def pattern(self, *args: Any, **kwargs: Any) -> Any:
        from adcompiler.plot import Pattern

        return Pattern(self.structure(*args, **kwargs).pattern)

    def colors(self, *args: Any, **kwargs: Any) -> Coloring:
        return self.structure(*args, **kwargs).coloring

    def swept(self, coloring: Coloring | None) -> EmittedDerivative[..., Any]:
        """Return the derivative of which code computes most of it; None: before any coloring."""
        raise NotImplementedError

    def code(self, *args: Any, **kwargs: Any) -> Code:
        self = self.as_called(args, kwargs)
        return self.swept(self.structure(*args, **kwargs).coloring).code(*args, **kwargs)

    def running(self) -> Derivative[..., Any]:
        found = self.kept.last()
        return self.swept(None if found is None else found.coloring)


def several(derivative: SparseDerivative[...], found: Any) -> Any:
    """Return what is found of the arguments as one for each of them."""
    return (found,) if derivative.form.specialisations.single else found


def returned(
    derivative: SparseDerivative[...], found: Structure, data: np.ndarray, out: Any,
    wanted: Sequence[Any], dtype: Any, args: tuple[Any, ...], kwargs: dict[str, Any],
) -> Any:
    """Return the nonzeros as they are asked for, tested if the pattern was given.

    Raises WrongPatternError if that is wrong.
    """
    given = derivative.given
    if given is not None and derivative.is_tested:
        matrix = found.decompression.put(data, None)
        if derivative.settings.triangle is not None:
            matrix = matrix + matrix.T - sp.dia_array(
                (matrix.diagonal()[None], [0]), shape=matrix.shape)
        direction = given.direction(matrix.shape[1], dtype)
        given.verify(matrix, direction, derivative.along(direction, wanted, dtype, args, kwargs))
    return found.decompression.put(data, out)
