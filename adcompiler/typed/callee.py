"""Functions compiled on their own, which others call by name."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from adcompiler.errors import Finding
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Call, Const, Function, Global, Let, Rhs, Var
from adcompiler.ir.visit import walk
from adcompiler.runtime import cell_value
from adcompiler.support.structs import dataclass


Place = tuple[str, str]
"""What tells an object outside of a function from others: a global, an attribute of a class."""
Read = tuple[tuple[Var, Rhs, t.Type], ...]
"""How such an object is read: the variables of the statements, the last of which is the object."""


@dataclass(eq=False)
class Callee:
    """A function compiled on its own and called by name: recursive ones and large ones.

    ``function`` is its specialised IR once that is known; ``result`` the type it returns;
    ``findings`` what in it cannot be compiled, which every call reports. ``written`` are the
    positions of the parameters that it writes into: it returns what becomes of them after its
    result, of the types ``finals``. ``gives`` says what the result shares storage with: ``fresh``
    nothing, ``may`` is not known, a number is the position of the parameter that it is.
    ``given`` says that it is given to another function, or run again in a sweep (``again``: then it
    saves nothing); ``lifted`` is the data of modules and cells that it is passed instead of
    reading it. ``reads`` tells how the objects outside that it refers to are read, ``opens`` what
    it does that only code in the place of a call can follow, and what to write instead.
    ``helpers`` are other functions that its code calls by their names. ``assumed`` are functions
    around it that it calls, of which it took for known what had been found by then; ``checked`` is
    the function with what emitted code has to check.
    """

    name: str
    key: Any
    function: Function | None = None
    result: t.Type = t.BOTTOM
    recursive: bool = False
    findings: list[Finding] = field(default_factory=list)
    written: tuple[int, ...] = ()
    unsure: tuple[int, ...] = ()
    finals: dict[int, t.Type] = field(default_factory=dict)
    gives: str | int = "fresh"
    given: bool = False
    again: bool = False
    lifted: list[tuple[Var, Rhs]] = field(default_factory=list)
    reads: dict[Place, Read] = field(default_factory=dict)
    opens: tuple[str, str] | None = None
    helpers: tuple[Function, ...] = ()
    assumed: set[Callee] = field(default_factory=set)
    checked: Function | None = None

    @property
    def __name__(self) -> str:
        return self.name

    @property
    def reads_data(self) -> bool:
        """Whether it still reads data of modules or cells itself, or in functions it calls."""
        waiting, seen = [self], set()
        while waiting:
            callee = waiting.pop()
            if callee in seen or callee.function is None:
                continue
            seen.add(callee)
            for statement in walk(callee.function.body):
                match statement:
                    case Let(rhs=Global()):
                        return True
                    case Let(rhs=Call(Const(function))) if function is cell_value:
                        return True
                    case Let(rhs=Call(Const(Callee() as inner))):
                        waiting.append(inner)
        return False

    @property
    def primal_name(self) -> str:
        """The name under which the function itself is emitted, where no derivative is wanted."""
        return f"{self.name}_primal"
