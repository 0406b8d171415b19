"""What sparse Jacobians and Hessians have in common: calls, and matrices of a structure."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from adcompiler.api.composed import ComposedDerivative, Part, parts_of
from adcompiler.api.derivative import Derivative, P
from adcompiler.api.sparse.structure import Repeatable, Structure
from adcompiler.api.sparse.structures import Settings, Structures
from adcompiler.api.sparse.watched_patterns import Point
from adcompiler.dispatch import Compiled
from adcompiler.dispatch.explain import Explanation
from adcompiler.dispatch.source_text import SourceText
from adcompiler.dispatch.written import Written, sees_calls
from adcompiler.ops.registry import REGISTRY
from adcompiler.plot import Pattern
from adcompiler.runtime.progress import watching
from adcompiler.sparsity.coloring.coloring import Coloring
from adcompiler.sparsity.coloring.decompression import Data, Out
from adcompiler.sparsity.dependences.fingerprints import fingerprint
from adcompiler.typed.derivatives import Wanted
from adcompiler.typed.operators import OPERATORS
from adcompiler.typed.options import Argnums


class SparseDerivative(ComposedDerivative[P, Any]):
    """Base of sparse Jacobians and Hessians: keeps structures by what they depend on."""

    mode = "sparse_jacobian"
    reverse: Any = None

    def __init__(
        self, function: Callable[..., Any], argnums: Argnums, settings: Settings
    ) -> None:
        second = OPERATORS[self.mode].second
        find = Structures(function, argnums, settings, second)
        parts = parts_of(
            self.mode, function, find.positions if second else argnums, settings.backend)
        super().__init__(
            function, Wanted(self.mode, argnums), type(self),
            {"argnums": argnums, "settings": settings}, parts)
        self.settings, self.find = settings, find
        self.given, self.backend = settings.given, settings.backend
        self.is_tested = settings.given is not None and settings.given.check
        self.fixed = parts["fixed"]
        self.last: Repeatable | None = None
        self.forms = {} if sees_calls(function) else None
        self.__signature__ = find.forms.target.signature
        REGISTRY.watch(self)

    def rules_changed(self) -> None:
        """Forget all structures; called when a rule is registered or removed."""
        self.find.kept.clear()
        self.last = None

    def structure(self, *args: Any, **kwargs: Any) -> Structure:
        """Return the pattern and coloring for arguments like these; found once, then kept.

        They depend on the shapes of the floating arguments, and on the values of everything else:
        other arguments, captured and global variables; of other floating arguments on where a
        matrix of them is zero, and on their values where a branch, a subscript or a shape does.
        """
        find, point = self.found(Written(args, kwargs))
        return find.at(point)

    def found(self, call: Written) -> tuple[Structures, Point]:
        """Return what finds structures for calls that are written like this one, and its arguments.
        """
        find: Structures = self.form(call).find
        return find, find.point(call)

    def why_recorded(self, *args: Any, **kwargs: Any) -> str | None:
        found = self.structure(*args, **kwargs)
        return found.watched.why or super().why_recorded(*args, **kwargs)

    def why_last_recorded(self) -> str | None:
        return None

    def __call__(self, *args: Any, out: Out = None, **kwargs: Any) -> Any:
        """Return the derivative at the arguments, a sparse array, written into ``out`` if given.

        ``out`` is such an array of an earlier call, or a vector for the nonzeros.
        """
        with watching(self.settings.progress, self):
            call = Written(args, kwargs)
            self = self.form(call)
            if self.last is not None and not kwargs and not self.is_tested:
                again = self.last.matrix(args, out, self.fixed, self.reverse)
                if again is not None:
                    return again
            point = self.find.point(call)
            found = self.find.at(point)
            if not found.watched.why or self.backend == "record":
                return self.matrix(found, point, out)
            recording: SparseDerivative[...] = self.recording
            call = call.own()
            before = fingerprint([*call])
            matrix = recording.matrix(found, point._replace(call=call), out)
            if fingerprint([*call]) != before:
                from adcompiler.api.sparse.patterns import writes  # loads the compiler

                raise writes(self.find.forms)
            return matrix

    @functools.cached_property
    def recording(self) -> Any:
        """The derivative by recordings."""
        return self.like(settings=replace(self.settings, backend="record"))

    def matrix(self, found: Structure, point: Point, out: Out) -> Any:
        """Return the matrix of a structure, tested if the pattern was given."""
        raise NotImplementedError

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        coloring = self.colors(*args, **kwargs)
        return replace(Derivative.explain(self, *args, **kwargs), coloring=str(coloring))

    def prepare(self, *args: Any, **kwargs: Any) -> Self:
        """Find the structure for arguments like these ahead of the first evaluation."""
        self.structure(*args, **kwargs)
        return self

    def source_for(self, *args: Any, **kwargs: Any) -> SourceText:
        """Return the text of a module with a function that computes the same matrix.

        It holds for arguments of these shapes, and these values of what else the pattern depends
        on; numbers and arrays that the function captured are written as they are now. Raises
        ADError for a function that uses what no import reaches. It is Python, whatever the backend.
        """
        call = Written(args, kwargs)
        self = self.form(call)
        if self.backend != "python":
            made: Self = self.like(settings=replace(self.settings, backend="python"))
            return made.source_for(*args, **kwargs)
        from adcompiler.api.sparse.source import SparseModule  # loads the compiler

        point = self.find.point(call)
        found = self.find.at(point)
        module = SparseModule(
            self.find.forms, point.wanted, found.coloring, found.decompression, self.is_second)
        return SourceText(module.text(*self.sweeps(found.coloring, call)))

    def sweeps(
        self, coloring: Coloring, call: Written
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

    def along(self, direction: np.ndarray, point: Point) -> np.ndarray:
        """Return the derivative along a direction, by code that no pattern was used for."""
        raise NotImplementedError

    def pattern(self, *args: Any, **kwargs: Any) -> Any:
        return Pattern(self.structure(*args, **kwargs).pattern)

    def colors(self, *args: Any, **kwargs: Any) -> Coloring:
        return self.structure(*args, **kwargs).coloring

    def swept(self, coloring: Coloring | None) -> Part:
        """Return the derivative of which code computes most of it; None: before any coloring."""
        return self.fixed

    def called(self, call: Written) -> Part:
        self = self.form(call)
        return self.swept(self.find.at(self.find.point(call)).coloring)

    def running(self) -> Derivative[..., Any]:
        found = self.find.kept.last()
        return self.swept(None if found is None else found.coloring)

    def several(self, found: Any) -> Any:
        """Return what is found of the arguments as one for each of them."""
        return (found,) if self.options.single else found

    def returned(self, found: Structure, data: np.ndarray, out: Out, point: Point) -> Any:
        """Return the nonzeros as they are asked for, tested if the pattern was given.

        Raises WrongPatternError if that is wrong.
        """
        given = self.given
        if given is not None and self.is_tested:
            matrix = found.decompression.put(data, None)
            if self.settings.triangle is not None:
                matrix = matrix + matrix.T - sp.dia_array(
                    (matrix.diagonal()[None], [0]), shape=matrix.shape)
            direction = given.direction(matrix.shape[1], point.dtype)
            given.verify(matrix, direction, self.along(direction, point))
        return found.decompression.put(data, out)
