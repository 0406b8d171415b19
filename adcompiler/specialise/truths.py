"""Which conditions are known when compiling: by their types, and by the branches around them."""

from __future__ import annotations

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Const, Origin
from adcompiler.specialise.calls.operator_methods import truth_of_instance
from adcompiler.specialise.writer import Writer


class Truths(Writer):
    """The part of the specialiser that decides conditions."""

    def truth(self, atom: Atom, origin: Origin) -> Atom:
        """Return the condition ``atom`` as a constant if its truth is known."""
        if isinstance(atom, Const):
            try:
                return Const(bool(atom.value))
            except Exception:
                return atom
        if atom in self.unit.truths:
            return Const(self.unit.truths[atom])
        type_ = self.unit.type(atom)
        if isinstance(type_, (t.FunctionType, t.Method)):
            return Const(True)
        if isinstance(type_, t.Tuple):
            return Const(bool(type_.items))
        if isinstance(type_, t.Object):
            return truth_of_instance(self, atom, type_, origin)
        return atom

    def truth_in_arm(self, atom: Atom, condition: Atom, chosen: bool) -> bool | None:
        """Return the truth of a value in an arm of a branch, None if it is not known.

        In its arms the condition itself is true, and false: ``c and False`` is false.
        """
        if atom is condition:
            return chosen
        known = self.unit.truths.get(atom)
        simple = isinstance(atom, Const) and (atom.value is None or type(atom.value) in t.OPTIONS)
        return bool(getattr(atom, "value", None)) if simple else known
