"""Calls for which there are no loops, made in Python from within loops: islands.

They are calls of library functions that do nothing but give a value, of numbers and arrays, and
return such, as their types tell. Where one raises, or gives what its type does not tell, the loops
give up, and Python runs from the start. A function without loops or passes over arrays of its own
stays in Python.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from adcompiler.analyses.purity import Purity
from adcompiler.backends.native.context import Context
from adcompiler.backends.native.loops import (
    ARRAYS, BOOL, CARRIED, FLOAT, INT, SINGLE, Body, Element, Expr, Extent, For, Leave,
    LoopFunction, Number, Part, Unary, Use, rows_of,
)
from adcompiler.backends.native.ops.singles import dtype_of
from adcompiler.backends.native.values import (
    WIDE, Buffer, Carried, Declined, Fused, Known, Num, Several, Value,
)
from adcompiler.backends.python.module import emit_module
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Block, Call, Const, Function, Origin, Pack, Param, Var, unstar
from adcompiler.ops.registry import REGISTRY
from adcompiler.products.product import Product
from adcompiler.support.structs import dataclass
from adcompiler.typed.builder import Builder
from adcompiler.typed.unit import Unit

NUMPY = {FLOAT: np.float64, INT: np.int64, BOOL: np.bool_, SINGLE: np.float32}
PLAIN = (str, bool, int, float, type(None), type, np.dtype, slice)
"""Classes of values known to the compiler that calls are given as they are."""
BY_POSITION = 1


@dataclass(frozen=True, slots=True)
class Island:
    """A call: what is called, the function that does so in Python, the forms of what it gives."""

    called: str
    name: str
    function: Function
    forms: tuple[str, ...]
    nested: bool


# -- in the middle of lowering ---------------------------------------------------------------------


class Islands:
    """Writes calls that are made in Python; ``base`` begins their names."""

    def __init__(self, low: Context, base: str) -> None:
        self.low, self.base = low, base
        self.made: list[Island] = []
        self.first: Declined | None = None
        self.params: list[Param] = []
        self.handed: list[Expr | str] = []
        self.purity = Purity(low.unit.type, low.unit.definition)

    def call(
        self, target: Var, func: Atom, args: Sequence[Any], kwargs: Mapping[Any, Atom],
        origin: Origin, declined: Declined,
    ) -> Any:
        """Return what a call gives that is made in Python; raises what loops declined it with."""
        unit = self.low.unit
        call = Call(func, tuple(args), tuple(kwargs.items()))
        form = unit.type(target)
        parts = list(parts_of(form))
        if not parts or None in parts or not self.is_mere(call):
            raise declined
        self.params, self.handed = [], []
        s = Builder(unit)
        try:
            given = tuple(self.argument(s, unstar(arg), origin) for arg in args)
            named = tuple((key, self.argument(s, atom, origin)) for key, atom in kwargs.items())
        except Declined:
            raise declined from None
        result = s.let(Call(func, given, named), form, target.name, origin)
        hint = getattr(getattr(func, "value", None), "__name__", target.name)
        name = self.low.w.fresh(f"{self.base}_{hint}")
        made = Function(f"{name}_in_python", tuple(self.params), Block(tuple(s.out), (result,)),
                        origin)
        forms = tuple(spelled(*part) for part in parts if part is not None)
        self.made.append(Island(hint, name, made, forms, isinstance(form, t.Tuple)))
        if self.first is None:
            self.first = replace_origin(declined, origin)
        return self.results(target, name, form)

    def worth_it(self, rows: Body) -> list[Island]:
        """Return the calls; raises Declined if the function does nothing else."""
        if self.first is not None and not any(isinstance(row, For) for row in rows_of(rows)):
            raise self.first
        return self.made

    def is_mere(self, call: Call) -> bool:
        """Say whether a call does nothing but give a value, for sure."""
        if not self.purity.is_pure(call):
            return False
        if not isinstance(call.func, Const):
            return False
        facts = REGISTRY.facts(call.func.value)
        output = facts.output
        return facts.writes_nothing and (output is None or not (
            output[0] in dict(call.kwargs)
            or (output[1] is not None and len(call.args) > output[1])))

    def argument(self, s: Builder, atom: Atom, origin: Origin) -> Atom:
        """Return an argument of the call in Python."""
        if isinstance(atom, Const):
            return atom
        low = self.low
        value = low.ready(low.arrays.settled(low.value(atom)))
        return self.handed_over(s, atom, value, s.unit.type(atom), origin)

    def handed_over(
        self, s: Builder, atom: Atom | None, value: Value, type_: t.Type, origin: Origin
    ) -> Atom:
        """Return a value as Python has it, made of parameters of the call's function."""
        name = atom.name if isinstance(atom, Var) else "x"
        if isinstance(value, (Num, Buffer, Fused, Carried)):
            return self.parameter(s, name, self.low.arrays.settled(value), type_, origin)
        if isinstance(value, Several):
            return self.packed(s, atom, value, type_, origin)
        if isinstance(value, Known) and isinstance(value.value, PLAIN) and (
            isinstance(type_, t.Text) == isinstance(value.value, str)
        ):
            return Const(value.value)
        raise Declined("a call is given what is no number or array")

    def parameter(
        self, s: Builder, name: str, value: Num | Buffer | Carried, type_: t.Type, origin: Origin
    ) -> Atom:
        """Return a number or an array that is handed over."""
        dtype, ndim = value.dtype, getattr(value, "ndim", None)
        var = Var(name)
        is_array = isinstance(type_, t.Array) and (type_.dtype, type_.ndim) == (dtype, ndim)
        if not isinstance(value, Num) and not is_array:
            raise Declined("a call is given an array of a type that is not known")
        if isinstance(value, Num) and not isinstance(type_, t.Scalar):
            raise Declined("a call is given a number of a type that is not known")
        s.unit.types[var] = type_
        self.params.append(Param(var, BY_POSITION))
        if not isinstance(value, Num):
            self.handed.append(value.name)
            return var
        assert isinstance(type_, t.Scalar)
        if dtype_of(type_) != dtype:
            raise Declined("a number is of another kind than is known")
        self.handed.append(value.expr)
        if type_.dtype is None:
            return var
        return s.let(Call(Const(NUMPY[dtype]), (var,), ()), type_, name, origin)

    def packed(
        self, s: Builder, atom: Atom | None, value: Several, type_: t.Type, origin: Origin
    ) -> Atom:
        """Return a tuple or a list of what is handed over."""
        made = s.unit.definition(atom) if isinstance(atom, Var) else None
        if isinstance(made, Pack) and len(made.items) == len(value.items):
            kind, atoms = made.kind, [unstar(item) for item in made.items]
            items = [(one, s.unit.type(one)) for one in atoms]
        elif isinstance(type_, t.Tuple) and type_.cls is tuple and (
            len(type_.items) == len(value.items)
        ):
            kind, items = "tuple", [(None, one) for one in type_.items]  # type: ignore[misc]
        else:
            raise Declined("a call is given what is not known to be a tuple")
        parts = tuple(
            one if isinstance(one, Const) else self.handed_over(s, one, part, of, origin)
            for (one, of), part in zip(items, value.items, strict=True)
        )
        return s.let(Pack(kind, parts), type_, "items", origin)

    def results(self, target: Var, name: str, form: t.Type) -> Any:
        """Write the call, and return what it gives."""
        w = self.low.w
        hint = self.low.unit.naming.names.get(target, target.name)
        answer = w.fresh("answer")
        w.write(Use(answer, name, tuple(self.handed)))
        w.write(Leave(Unary("not", Element(answer, (Number(0),)))))
        values: list[Any] = []
        for position, part in enumerate(parts_of(form), 1):
            assert part is not None
            dtype, ndim = part
            if ndim is None:
                number = w.assign(hint, Element(answer, (Number(position),)))
                values.append(Num(number, dtype, WIDE))
                continue
            array = w.fresh(hint)
            w.write(Part(array, answer, (Number(position),)))
            values.append(Carried(array, dtype, ndim) if dtype in CARRIED else Buffer(
                array, dtype, tuple(Extent(array, i) for i in range(ndim))))
        return Several(tuple(values)) if isinstance(form, t.Tuple) else values[0]


def parts_of(type_: t.Type) -> Iterator[tuple[str, int | None] | None]:
    """Yield the machine types and numbers of axes of what a result holds; None if it has none."""
    match type_:
        case t.Scalar(dtype=dtype) if type_.exact and (found := dtype_of(type_)) and (
            dtype in (None, found)
        ):
            yield found, None
        case t.Array(dtype, ndim) if dtype in (*ARRAYS, *CARRIED) and ndim:
            yield dtype, ndim
        case t.Tuple(items) if not any(isinstance(item, t.Tuple) for item in items):
            for item in items:
                yield from parts_of(item)
        case _:
            yield None


def spelled(dtype: str, ndim: int | None) -> str:
    """Return the form of a number or an array, which lies in C order."""
    axes = "" if ndim is None else f"[{', '.join([':'] * (ndim - 1) + ['::1'])}]"
    return f"{dtype}{axes}"


def replace_origin(declined: Declined, origin: Origin) -> Declined:
    """Return what was declined, with its place."""
    declined.origin = declined.origin or origin
    return declined


# -- their text ------------------------------------------------------------------------------------


def text_of(unit: Unit, loops: Sequence[LoopFunction], islands: Sequence[Island], text: str) -> str:
    """Return what stands in front of loops that make calls in Python: these calls.

    ``text`` is the module's so far. Raises Declined if they take names that mean something else.
    """
    used = {row.helper for one in loops for row in rows_of(one.body) if isinstance(row, Use)}
    islands = [island for island in islands if island.name in used]
    if not islands:
        return ""
    docs = {one.function.name: "Make a call that there are no loops for." for one in islands}
    made, bound = emit_module(Product([one.function for one in islands], docs), unit)
    if not is_named(unit, bound) or clashing(made, text):
        raise Declined("a call in Python needs names that are taken", islands[0].function.origin)
    unit.said.append("calls in Python: " + ", ".join(dict.fromkeys(
        f"{island.called} ({island.function.origin.where})" for island in islands)))
    wrapped = "".join(map(wrapper, islands))
    return f'''{made.rstrip()}


from adcompiler.runtime.native import answer_of
{wrapped}'''


def is_named(unit: Unit, bound: Mapping[str, Any]) -> bool:
    """Say whether values that no import reaches have these names in the module's text already."""
    named = unit.naming.bound
    return all(name in named and named[name] is value for name, (value, _) in bound.items())


def wrapper(island: Island) -> str:
    """Return the text of the compiled function that makes a call in Python."""
    names = [f"x{i}" if i else "x" for i, _ in enumerate(island.function.params)]
    given = "".join(f", {name}" for name in names)
    forms = "; ".join(island.forms)
    return f'''

@compiled
def {island.name}({given.removeprefix(", ")}):
    """Return whether a call in Python gives what is expected, and that."""
    return answer_of({island.function.name}, "{forms}", {island.nested}{given})
'''


def clashing(made: str, text: str) -> bool:
    """Say whether two texts give a name two meanings."""
    names, others = named_in(made), named_in(text)
    return any(others.get(name, meaning) != meaning for name, meaning in names.items())


def named_in(text: str) -> dict[str, str]:
    """Return what each name at the level of a module stands for."""
    found: dict[str, str] = {}
    for node in ast.parse(text).body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            source = getattr(node, "module", None)
            for alias in node.names:
                of = alias.name if source or alias.asname else alias.name.partition(".")[0]
                found[alias.asname or of] = f"{source}:{of}"
        elif isinstance(node, ast.FunctionDef):
            found[node.name] = f"def {node.name}: {ast.unparse(node)}"
        elif isinstance(node, ast.Assign):
            found |= {ast.unparse(one): ast.unparse(node) for one in node.targets}
    return found
