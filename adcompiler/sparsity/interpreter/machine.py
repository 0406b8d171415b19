"""What pattern programs call: a run with the operations of the IR."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adcompiler.errors import Finding
from adcompiler.ir import nodes as ir
from adcompiler.ir.nodes import UNDEF
from adcompiler.ops.classify import Classification
from adcompiler.sparsity.dependences.fingerprints import Reads
from adcompiler.sparsity.dependences.values import (
    Dependent, Either, Operand, UnknownShape, Value, element, has_dependents,
)
from adcompiler.sparsity.interpreter import control
from adcompiler.sparsity.interpreter.control import (
    Follower, Loop, UnknownError, UnreachedError, flow_back, meeting,
)
from adcompiler.sparsity.interpreter.generic import Origins, called
from adcompiler.sparsity.interpreter.joining import covers, join
from adcompiler.sparsity.interpreter.lanes.lanes import FEWEST, in_lanes, len_of
from adcompiler.sparsity.interpreter.program import Program, program_of
from adcompiler.sparsity.interpreter.run import Bound, Record, Run
from adcompiler.sparsity.interpreter.table import Refusal
from adcompiler.sparsity.transfers import (  # noqa: F401  (the tables of transfers)
    elementwise, grouped, linear_algebra, linear_maps, lookups, movement, products, reductions,
    stated, structures,
)
from adcompiler.sparsity.transfers.classification import classifications
from adcompiler.sparsity.transfers.indexing import get_item, is_place, updated
from adcompiler.sparsity.transfers.movement import rows_of
from adcompiler.sparsity.transfers.structures import stopped
from adcompiler.typed.callee import Callee
from adcompiler.typed.unit import Unit
from adcompiler.runtime.sparse.matrices import Factored

if TYPE_CHECKING:
    from adcompiler.sparsity.dependences.index_sets import Array
    from adcompiler.sparsity.interpreter.lanes.lane_values import Lane, Sum

RECURSIONS = 3
"""So many calls of a function inside of itself are followed where its end is not known."""


CONVERSIONS: dict[int, Callable[[Any], str]] = {ord("r"): repr, ord("s"): str, ord("a"): ascii}


class Frame:
    """A recursive function of which only what its calls have in common is known."""

    def __init__(self, args: tuple[Dependent | Lane | Sum, ...]) -> None:
        self.args = args
        self.calls: list[tuple[Any, ...]] = []
        self.result: Any = None
        self.is_reached = False


class Machine(Run):
    """A run of one pattern program and of those of the functions that it calls by name."""

    def __init__(
        self, unit: Unit, local: bool, second: bool,
        programs: dict[Callee, Program] | None = None, sources: Origins | None = None,
        generic: frozenset[int] = frozenset(),
    ) -> None:
        super().__init__(local, second)
        self.unit = unit
        self.sources = sources
        self.generic = generic
        self.layouts = bool(unit.layouts.read)
        self.programs = {} if programs is None else programs
        self.depths: dict[Callee, int] = {}
        self.frames: dict[Callee, Frame] = {}
        self.reads = Reads()
        self.one_by_one: set[ir.Loop] = set()

    # -- functions of numbers -----------------------------------------------------------------

    def classifications(
        self, function: Callable[..., Any], count: int, real: bool = True
    ) -> tuple[Classification, ...]:
        return classifications(Machine, function, count, self.second, real)

    # -- generic numbers ----------------------------------------------------------------------

    def at_generic(
        self, function: Callable[..., Any], args: tuple[Dependent | Lane | Sum, ...],
        kwargs: Mapping[str, Value], origins: frozenset[int],
    ) -> Any:
        """Return the result of a call of values that may come from generic numbers."""
        if self.generic.isdisjoint(origins):
            return self.call(function, args, kwargs)
        return called(self, function, args, kwargs, self.generic & origins)

    # -- operations ---------------------------------------------------------------------------

    def item(self, obj: Value, index: Dependent) -> Any:
        if type(obj) is Dependent and obj.value is None and is_place(obj.shape, index):
            first, second = obj.first, obj.second
            return Dependent(
                (), obj.dtype, first if first.own is None else element(first, index),
                second if second.own is None else element(second, index),
            )
        if isinstance(obj, Either) or isinstance(index, Either):
            raise Refusal("a part of one of two values of different kinds", 'mode="local"')
        return get_item(self, obj, index)

    def items(self, value: Dependent) -> Any:
        return rows_of(self, value) if isinstance(value, Dependent) else value

    update, branch, attempt = updated, control.branch, control.attempt

    def attribute(self, obj: Operand, name: str) -> Any:
        """Return ``obj.name``."""
        if isinstance(obj, Either):
            raise Refusal(f"the attribute {name} of one of two values", 'mode="local"')
        if not isinstance(obj, Dependent):
            return getattr(obj, name)
        if obj.dtype is str:
            return Bound(getattr(str, name), obj)
        if name in ("shape", "ndim", "size", "dtype"):
            if obj.shape is None and name != "dtype":
                return Dependent((), int) if name == "size" else UnknownShape()
            return self.call(getattr(np.ndarray, name), (obj,), {})
        if name == "mT":
            return self.call(np.swapaxes, (obj, -1, -2), {})
        if name in ("T", "real", "imag"):
            moved = {"T": np.transpose, "real": np.real, "imag": np.imag}[name]
            return self.call(moved, (obj,), {})
        if name == "flat":
            return self.call(np.ravel, (obj,), {})
        found = getattr(np.ndarray, name, None) or getattr(float, name, None)
        if found is None:
            raise AttributeError(name)
        if not callable(found):
            raise Refusal(
                f"`.{name}`, which depends on how arrays lie in memory", "write slices")
        return Bound(found, obj)

    def loop(
        self, iterables: Sequence[Value], inits: tuple[Dependent | Array, ...],
        body: Callable[..., Any], condition: Callable[..., Any] | None, count: int, collects: int,
        stops: bool
    ) -> tuple[Any, ...]:
        return Loop(self, body, condition, count, collects, stops)(iterables, inits)

    def in_lanes(
        self, iterables: Sequence[Value], inits: tuple[Dependent | Array, ...],
        body: Callable[..., Any], count: int, loop: ir.Loop
    ) -> tuple[Any, ...] | None:
        """Return the results of a loop with all its iterations at once, None if that fails."""
        if self.local or loop in self.one_by_one or any(
            len_of(one) < FEWEST for one in iterables
        ):
            return None
        found = in_lanes(self, iterables, inits, body, count)
        if found is None:
            self.one_by_one.add(loop)
        return found

    def detached(self, value: Array) -> Any:
        """Return a value as one that carries no derivative."""
        return stopped(self, None, value)

    def set(self, items: Sequence[Value]) -> Any:
        if has_dependents(items):
            raise Refusal("a set of values that depend on the inputs", "a list")
        return set(items)

    def exception(self, exception: Value, _: Value) -> Exception:
        """Return what a ``raise`` statement raises."""
        if isinstance(exception, Either):
            self.raised = UnknownError("one of several exceptions")
            return self.raised
        made = exception() if isinstance(exception, type) else exception
        self.raised = made if isinstance(made, Exception) else Exception(made)
        return self.raised

    @staticmethod
    def closure(function: ir.Function, *_: tuple[Any, ...]) -> ir.Function:
        return function

    @staticmethod
    def free(name: str) -> Any:
        raise NameError(f"name {name!r} is not defined")

    @staticmethod
    def unsupported(finding: Finding) -> Any:
        raise Refusal(finding.problem, finding.hint, finding.anchor)

    def read_global(self, module: str, path: str) -> Any:
        """Return the present value of a global variable."""
        name, *rest = path.split(".")
        owner = sys.modules[module]
        found = self.stored.get((id(vars(owner)), name), UNDEF)
        if found is UNDEF:
            return self.reads.read("global", owner, path)
        for each in rest:
            found = self.attribute(found, each)
        return found

    def read_attribute(self, obj: Dependent, name: str) -> Any:
        """Return the present value of an attribute of a function, class or module."""
        return self.reads.read("attribute", obj, name)

    def read_cell(self, function: Callable[..., Any], index: int) -> Any:
        """Return the present value of a variable that a function captured."""
        return self.reads.read("cell", function, index)

    @staticmethod
    def format(*parts: Any) -> Any:
        """Return the text of an f-string, which is not known if something in it is not."""
        if has_dependents(parts):
            return Dependent((), str)
        texts = []
        for part in parts:
            if isinstance(part, str):
                texts.append(part)
            else:
                value, conversion, specification = part
                convert = CONVERSIONS.get(conversion)
                shown = value if convert is None else convert(value)
                texts.append(format(shown, specification or ""))
        return "".join(texts)

    # -- functions called by name ------------------------------------------------------------

    def program(self, callee: Callee) -> Program:
        """Return the pattern program of a function called by name."""
        if callee not in self.programs:
            assert callee.function is not None
            self.programs[callee] = program_of(
                callee.function, self.unit, sources=self.sources)
        return self.programs[callee]

    def callee(self, callee: Callee, args: tuple[Factored | Dependent | str, ...]) -> Any:
        """Return the result of a function called by name."""
        frame = self.frames.get(callee)
        if frame is not None:
            return self.summarised(frame, args)
        depth = self.depths.get(callee, 0)
        if depth >= RECURSIONS and self.owned is not None and not self.local:
            return self.summary(callee, args)
        self.depths[callee] = depth + 1
        try:
            return self.program(callee).entry(self, *args)[0]
        finally:
            self.depths[callee] = depth

    def summarised(self, frame: Frame, args: tuple[Any, ...]) -> Any:
        """Return what is known by now of a recursive call of a function that is being followed."""
        frame.calls.append(args)
        if not frame.is_reached:
            raise UnreachedError
        return frame.result

    def summary(self, callee: Callee, args: tuple[Any, ...]) -> Any:
        """Return what a recursive function gives for all calls that it may come to make.

        Arguments and results are joined until nothing new comes.
        """
        program = self.program(callee)
        frame = self.frames[callee] = Frame(args)
        try:
            for _ in range(1000):
                meets: dict[int, Record] = {}
                frame.args = meeting(self, frame.args, meets)
                given = meeting(self, (frame.result,), meets)
                (frame.result,) = given
                frame.calls = []
                result, reached = self.once(program, frame)
                wider = (*frame.args,)
                for call in frame.calls:
                    wider = tuple(map(join, wider, call))
                results = join(frame.result, result) if frame.is_reached and reached else (
                    result if reached else frame.result)
                settled = covers(frame.args, wider) and (
                    reached == frame.is_reached and covers(frame.result, results))
                if settled:
                    flow_back(list(wider), list(frame.args), meets)
                    flow_back(results, frame.result, meets)
                    break
                frame.args, frame.result = wider, results
                frame.is_reached = frame.is_reached or reached
        finally:
            del self.frames[callee]
        if not frame.is_reached:
            raise UnreachedError
        return frame.result

    def once(self, program: Program, frame: Frame) -> tuple[Any, bool]:
        """Return the result of one run of a recursive function, and whether there is one."""
        try:
            with Follower(self):
                return program.entry(self, *frame.args)[0], True
        except UnreachedError:
            return None, False


def classifications_of(
    function: Callable[..., Any], count: int, real: bool = True
) -> tuple[Classification, ...]:
    """Return which derivatives of a function of ``count`` numbers vanish, for each output.

    Unless ``real``, some of the numbers may be complex.
    """
    return classifications(Machine, function, count, True, real)
