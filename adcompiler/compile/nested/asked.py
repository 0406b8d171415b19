"""What is asked for where compiled code calls an operator, and how the answer is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from adcompiler.compile.nested.primal_and_pullback import Half, Tangents, half
from adcompiler.compile.nested.trees import function_of_text
from adcompiler.errors import Finding
from adcompiler.ir import types as t
from adcompiler.ir.nodes import UNDEF, Atom, Call, Const, Origin
from adcompiler.infer.interface import Operations
from adcompiler.support.structs import dataclass
from adcompiler.typed.derivatives import Wanted, maker_of
from adcompiler.typed.operators import OPERATORS


@dataclass(frozen=True)
class Asked:
    """A derivative that is asked for: of what, where, and the line that does."""

    s: Operations
    wanted: Wanted
    func: Atom
    args: list[Any]
    kwargs: dict[str, Atom]
    origin: Origin
    name: str

    def half(
        self, mode: str, tangents: Tangents | None = None, **options: Any
    ) -> Half | None:
        """Write a transform of the function; None after a report."""
        wanted = Wanted(mode, self.wanted.several, False, tuple(options.items()))
        return half(
            self.s, wanted, self.func, self.args, self.kwargs, self.origin,
            self.name, tangents,
        )

    def of(self, func: Atom, mode: str = "", **options: Any) -> Asked:
        """Return the same question about another function, or of another mode."""
        wanted = replace(
            self.wanted, mode=mode or self.wanted.mode, options=tuple(options.items())
        )
        return replace(self, func=func, wanted=wanted)

    def reject(self, problem: str, hint: str) -> Atom:
        """Report that this cannot be compiled."""
        return self.s.reject(self.origin, problem, hint, "higher-order")

    def item(self, atom: Atom, i: int) -> Atom:
        """Write the reading of an item."""
        return self.s.item(atom, Const(i), self.origin, self.name)

    def call(self, text: str, names: dict[str, Any], args: Sequence[Atom]) -> Atom:
        """Write a call of a function whose text is given."""
        function = Const(function_of_text(self.s.unit, text, names, self.origin))
        return self.s.call(function, list(args), {}, self.origin, self.name)

    def derivative(self, mode: str, argnums: Any) -> Atom:
        """Write the derivative of the function, as a function."""
        wanted = Wanted(mode, argnums)
        (option, *_) = OPERATORS[mode].options
        return self.s.let(
            Call(Const(maker_of(mode)), (self.func,), ((option, Const(argnums)),)),
            t.FunctionType(wanted), self.name, self.origin, False,
        )


def first_accepted(asked: Asked, ways: Sequence[Callable[[], Atom]]) -> Atom:
    """Write the first of some ways that is not refused; all refused, tell why the first is."""
    s, findings = asked.s, asked.s.unit.findings
    count = len(findings)
    refused: list[Finding] = []
    for way in ways:
        before = None if s.heap is None else (s.heap.state.copy(), dict(s.heap.references))
        with s.writing_to([]) as out:
            found = way()
        if len(findings) == count:
            s.out.extend(out)
            return found
        refused = refused or findings[count:]
        del findings[count:]
        if s.heap is not None and before is not None:
            s.heap.state, s.heap.references = before
    findings += refused
    return UNDEF
