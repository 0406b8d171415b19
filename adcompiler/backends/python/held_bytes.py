"""How many bytes a gradient holds when its sweep starts, as an expression in the arguments.

That is what emitted code keeps alive then beside the arguments: the variables that it has assigned
(locals of CPython live until the function ends), and what is in tapes. Arrays that share storage
count once, a view keeps all of what it is a view of, and objects take what CPython takes for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adcompiler.analyses.storage import Sharing, is_mutable
from adcompiler.backends.python.lower import FunctionLowering
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Block, Call, Const, Item, Let, Loop, Pack, Region, Rhs, Star, Statement, Var,
    unstar,
)
from adcompiler.ir.visit import walk
from adcompiler.products.kept_bytes import MOST_CALLS, NOTHING, KeptBytes, NotForetold
from adcompiler.products.sums import Sum
from adcompiler.typed.callee import Callee
from adcompiler.typed.extents import Axis, Symbol
from adcompiler.typed.unit import Unit

ARRAY, AXIS = 96, 16
"""The bytes of an array's object, and for each axis."""
NUMBER = 24
TUPLE = 40
REFERENCE = 8
ENTRY = 9
"""Of a reference in a list that has grown: an eighth is room for more."""

Key = tuple[tuple[Var, ...], str]
"""A value, after the calls that it is made in; whether it is its storage, or refers to that."""
Stored = dict[Key, Sum]
"""What is held, by storage."""


class HeldBytes(KeptBytes):
    """Writes what a function holds when its sweep starts."""

    def __init__(
        self, lowering: FunctionLowering, unit: Unit, lowerings: Mapping[str, FunctionLowering],
        caller: HeldBytes | None = None, given: Mapping[Atom, Atom] = NOTHING,
        calls: tuple[Var, ...] = (),
    ) -> None:
        functions = {name: one.function for name, one in lowerings.items()}
        super().__init__(unit, lowering.function, functions, caller, given)
        self.outer, self.calls = caller, calls
        self.lowering, self.lowerings = lowering, lowerings
        self.sharing = Sharing(unit.type, unit.definition)
        self.inside: dict[Var, tuple[Loop, ...]] = {}
        self.handed: dict[Var, tuple[Loop, int]] = {}
        self.note(lowering.function.body, ())

    def note(self, block: Block, around: tuple[Loop, ...]) -> None:
        """Note the loops that variables are in, and which of them loops hand on."""
        for statement in block.statements:
            if isinstance(statement, Let):
                self.inside[statement.target] = around
            if not isinstance(statement, Region):
                continue
            for var in statement.defines():
                self.inside[var] = around
            here = around
            if isinstance(statement, Loop):
                here = (*around, statement)
                for i, slot in enumerate(zip(statement.params, statement.results, strict=True)):
                    self.handed.update(dict.fromkeys(slot, (statement, i)))
            for var in statement.binds():
                self.inside[var] = here
            for inner in statement.blocks():
                self.note(inner, here)

    # -- what is alive -------------------------------------------------------------------------

    def held(self) -> Sum:
        """Return the bytes that are held when the sweep starts."""
        named: dict[str, Var] = {}
        tapes: list[tuple[Loop, tuple[Var, ...]]] = []
        self.run(self.before_sweep(), named, tapes)
        found: Stored = {}
        for loop, collects in tapes:
            if not self.inside[collects[0]]:
                add(found, self.tape(loop, collects))
        for var in named.values():
            if var not in self.collected and not self.is_given(var):
                add(found, self.stored(var))
        return sum_of(found)

    def before_sweep(self) -> list[Statement]:
        """Return the statements of the forward pass."""
        found: list[Statement] = []
        for statement in self.lowering.function.body.statements:
            if statement.origin.reverse:  # type: ignore[union-attr]
                return found
            if isinstance(statement, Region) and any(
                getattr(inner, "origin", statement.origin).reverse
                for block in statement.blocks() for inner in walk(block)
            ):
                raise NotForetold("which branch is taken", statement.origin)
            found.append(statement)
        return found

    def run(
        self, statements: Sequence[Statement], named: dict[str, Var],
        tapes: list[tuple[Loop, tuple[Var, ...]]],
    ) -> None:
        """Note what the names of the emitted code stand for after some statements."""
        for statement in statements:
            if isinstance(statement, Let):
                self.name_it(statement.target, named)
            if not isinstance(statement, Region):
                continue
            if isinstance(statement, Loop):
                for var in statement.params:
                    self.name_it(var, named)
                if statement not in self.lowering.fusion.comprehensions:
                    for var in statement.items:
                        self.name_it(var, named)
                tapes += [(statement, tape.collects)
                          for tape in self.lowering.tapes.of_loop[statement]]
            if statement not in self.lowering.fusion.comprehensions:
                for block in statement.blocks():
                    if not block.diverges:
                        self.run(block.statements, named, tapes)
            for var in statement.defines():
                self.name_it(var, named)
            if isinstance(statement, Loop):
                for param in statement.params:
                    self.name_it(param, named)

    def name_it(self, var: Var, named: dict[str, Var]) -> None:
        """Note that a variable is assigned, unless it is part of an expression."""
        name = self.lowering.names.names.get(var)
        if name is not None and not self.lowering.fusion.is_fused(var):
            named[name] = var

    # -- storage -------------------------------------------------------------------------------

    def is_given(self, atom: Atom) -> bool:
        """Say whether a value is one of the arguments, or a part of one."""
        return atom in self.params or self.path(atom) is not None

    def stored(self, atom: Atom, visited: frozenset[Var] = frozenset()) -> Stored:
        """Return the storage that a value keeps alive."""
        if not isinstance(atom, Var) or atom in visited:
            return {}
        if self.outer is not None and atom in self.given:
            return self.outer.stored(self.given[atom])
        if self.is_given(atom):
            return {}
        visited |= {atom}
        if atom in self.handed:
            loop, i = self.handed[atom]
            last = loop.next_values()[i]
            is_first = last is loop.params[i] or last in visited  # it is what the loop writes into
            return self.stored(loop.inits[i] if is_first else last, visited)
        if atom in self.items:
            return self.item_of(*self.items[atom], visited)
        type_, made = self.unit.type(atom), self.unit.definition(atom)
        if atom in self.collected:
            loop, _ = self.collected[atom]
            tape = self.lowering.tapes.of_collect[atom]
            return self.tape(loop, tape.collects)
        if atom in self.arms:
            return self.of_arms(atom, visited)
        if isinstance(type_, t.Scalar):
            return {self.key(atom, "number"): Sum.number(NUMBER)}
        if isinstance(type_, t.Array):
            return self.of_array(atom, type_, visited)
        if not is_mutable(type_) and not isinstance(type_, t.Tuple):
            return {}
        if isinstance(made, Pack) and not any(isinstance(one, Star) for one in made.items):
            size = TUPLE + REFERENCE * len(made.items)
            found: Stored = {self.key(atom, "tuple"): Sum.number(size)}
            for one in made.items:
                add(found, self.stored(unstar(one), visited))
            return found
        if isinstance(made, Item) and isinstance(made.index, Const):
            part = self.part_of(made)
            if part is not None:
                return part[0].stored(part[1], visited if part[0] is self else frozenset())
        inner = self.call_of(atom, made)
        if inner is not None:
            found = {self.key(atom, "tuple"): Sum.number(TUPLE + 2 * REFERENCE)}
            for one in inner.lowering.function.body.yields:
                add(found, inner.stored(one))
            return found
        if isinstance(type_, t.Tuple) and all(isinstance(one, t.Scalar) for one in type_.items):
            return {self.key(atom, "tuple"): Sum.number(TUPLE + REFERENCE * len(type_.items))}
        shared = list(self.sharing.of(atom, made)) if made is not None else []
        if isinstance(type_, (t.List, t.Tuple)) and shared:
            found = {self.key(atom, "list"): Sum.number(TUPLE)}
            for operand, _ in shared:
                add(found, self.stored(operand, visited))
            return found
        return {self.key(atom, "all"): self.size(atom)}

    def part_of(self, made: Item) -> tuple[HeldBytes, Atom] | None:
        """Return an item of a tuple that is made here or in a function of ours, and where."""
        of, index = self.unit.definition(made.obj), getattr(made.index, "value", None)
        inner = self.call_of(made.obj, of)
        items: Sequence[Atom | Star] = of.items if isinstance(of, Pack) else (
            () if inner is None else inner.lowering.function.body.yields)
        if not isinstance(index, int) or not -len(items) <= index < len(items) or (
            inner is not None and len(items) == 1  # the tuple itself
        ) or any(isinstance(one, Star) for one in items):
            return None
        return inner or self, unstar(items[index])

    def key(self, atom: Var, kind: str) -> Key:
        """Return what tells the storage of a value from that of all others."""
        return (*self.calls, atom), kind

    def call_of(self, atom: Atom, made: Rhs | None) -> HeldBytes | None:
        """Return what is known of the function that a variable is the result of, if it is ours."""
        if not isinstance(atom, Var) or not isinstance(made, Call) or made.kwargs or (
            not isinstance(made.func, Const) or any(isinstance(one, Star) for one in made.args)
        ):
            return None
        called = made.func.value
        lowering = self.lowerings.get(
            called.primal_name if isinstance(called, Callee) else getattr(called, "name", ""))
        if lowering is None or len(lowering.function.params) != len(made.args):
            return None
        if self.depth == MOST_CALLS:
            raise NotForetold("how often a function calls itself", lowering.function.origin)
        given: dict[Atom, Atom] = dict(zip(
            (p.var for p in lowering.function.params), map(unstar, made.args), strict=True))
        return HeldBytes(
            lowering, self.unit, self.lowerings, self, given, (*self.calls, atom))

    def of_array(self, atom: Var, type_: t.Array, visited: frozenset[Var]) -> Stored:
        """Return the storage of an array: of its own, or that of what it is a view of."""
        made = self.unit.definition(atom)
        inner = self.call_of(atom, made)
        if inner is not None and len(inner.lowering.function.body.yields) == 1:
            return inner.stored(inner.lowering.function.body.yields[0])
        shared = next(iter(self.sharing.of(atom, made)), None) if made is not None else None
        header = Sum.number(ARRAY + AXIS * len(self.unit.shape(atom)))
        if shared is None:
            return {self.key(atom, "storage"): self.size(atom).plus(header)}
        operand, how = shared
        found = self.stored(operand, visited)
        return found if how == "same" else {**found, self.key(atom, "view"): header}

    def of_arms(self, atom: Var, visited: frozenset[Var]) -> Stored:
        """Return the storage of what a branch leaves, which has to be as large in all arms."""
        origin, arms = self.arms[atom]
        every = [self.stored(arm, visited) for arm in arms]
        sizes = {str(sum_of(one)) for one in every}
        if len(sizes) > 1:
            raise NotForetold("which branch is taken", origin)
        return every[0]

    def item_of(self, loop: Loop, iterable: Atom, visited: frozenset[Var]) -> Stored:
        """Return the storage of an item that a loop runs over."""
        type_ = self.unit.type(iterable)
        if isinstance(type_, t.Array) and len(self.unit.shape(iterable)) > 1:
            return self.stored(iterable, visited)
        return {}

    def symbol(self, symbol: Symbol) -> Sum:
        match symbol:
            case Axis(Var() as array, axis) if array not in self.given:
                made = self.unit.definition(array)
                part = self.part_of(made) if isinstance(made, Item) else None
                if part is not None and part[0] is not self:
                    return part[0].extent(self.unit.shape(part[1])[axis])
        return super().symbol(symbol)

    # -- tapes ---------------------------------------------------------------------------------

    def tape(self, loop: Loop, collects: tuple[Var, ...]) -> Stored:
        """Return what a tape keeps alive: what its iterations make, and what was made before."""
        values = dict(zip(loop.collects, loop.collected(), strict=True))
        each = ENTRY + (TUPLE + REFERENCE * len(collects) if len(collects) > 1 else 0)
        found: Stored = {self.key(collects[0], "list"): self.over(loop, Sum.number(each))}
        for collect in collects:
            for key, size in self.stored(values[collect]).items():
                made = key[0][self.depth] if len(key[0]) > self.depth else None
                is_inside = made is not None and loop in self.inside.get(made, ())
                found.setdefault(key, self.over(loop, size) if is_inside else size)
        return found


def add(found: Stored, more: Stored) -> None:
    """Add storage to what is found already; what is there stays."""
    for key, size in more.items():
        found.setdefault(key, size)


def sum_of(found: Stored) -> Sum:
    """Return the bytes of all storage."""
    total = Sum()
    for size in found.values():
        total = total.plus(size)
    return total


def held_bytes(lowerings: Sequence[FunctionLowering], unit: Unit) -> list[str]:
    """Return the bytes that a gradient, the first function, holds when its sweep starts, as a text.

    It is followed by what has to hold for that. Where there is none the first text is empty, and
    the second one tells what is not known.
    """
    known = HeldBytes(lowerings[0], unit, {one.function.name: one for one in lowerings})
    try:
        return [str(known.held()), *known.checks(lowerings[0].function)]
    except NotForetold as reason:
        return ["", str(reason)]
