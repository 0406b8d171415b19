"""Whether the iterations of a loop are independent, so that they may run at the same time.

What is not proved is taken not to hold. A number that an iteration assigns is read by that one
alone, or it is a sum, or it counts what is kept: by how much an iteration lets it grow is the same
for all. An array that is written into was made by the loops themselves; each iteration has rows of
its own of it, or its next places on a tape, or all of them only add to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

from adcompiler.backends.native.helpers import TEXTS
from adcompiler.backends.native.loops import (
    BOOL, FLOAT, INT, Apply, Assign, Binary, Bind, Body, Choose, Element, Expr, Extent, Flat, For,
    Forever, Leave, LoopFunction, Make, Name, Number, Part, Reserve, Row, Store, Turn, Unary, Use,
    View, When, rows_of,
)
from adcompiler.backends.native.reading import bound_by, elements_of, has_break, names_in, read_by
from adcompiler.backends.native.writer import Writer
from adcompiler.support.structs import dataclass

ZERO, ONE = Number(0), Number(1)
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=", "and", "or", "|")


class Dependent(Exception):
    """Iterations of a loop are not proved independent; the text says why."""


@dataclass
class Independent:
    """What iterations share: ``sums`` with their types, arrays that they add to, counts.

    A sum of truth values is whether any of them holds.

    ``steps`` tells by how much an iteration lets a count grow, ``grows`` has the buffers that are
    filled as far as a count.
    """

    sums: dict[str, str] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)
    steps: dict[str, Expr] = field(default_factory=dict)
    grows: dict[str, str] = field(default_factory=dict)


class Proof:
    """The proof for one loop of a function, or ``Dependent``."""

    def __init__(self, w: Writer, function: LoopFunction, loop: For) -> None:
        self.w, self.loop = w, loop
        self.inside = list(rows_of(loop.body))
        mine = set(map(id, self.inside))
        self.all = list(rows_of(function.body))
        self.outside = [row for row in self.all if id(row) not in mine and row is not loop]
        self.seen_outside = {name for row in self.outside for name in read_by(row)}
        self.seen_outside |= {name for row in self.outside if (name := bound_by(row))}
        for output in function.outputs:
            self.seen_outside |= {output.value} if isinstance(output.value, str) else names_in(
                output.value)
        self.given = {parameter.name: parameter for parameter in function.parameters}
        self.bound = {loop.name, *(name for row in self.inside if (name := bound_by(row)))}
        self.found = Independent()

    def prove(self) -> Independent:
        """Return what iterations share. Raises Dependent."""
        if has_break(self.loop.body):
            raise Dependent("it may end early")
        if any(isinstance(row, Use) and row.helper not in TEXTS for row in self.inside):
            raise Dependent("it makes calls in Python")
        self.counts()
        self.numbers()
        self.arrays()
        return self.found

    # -- numbers -------------------------------------------------------------------------------

    def counts(self) -> None:
        """Find the numbers that each iteration lets grow by as much."""
        for name in sorted(self.bound & self.seen_outside):
            step = self.step(self.loop.body, name)
            if step is not None and step != ZERO:
                self.found.steps[name] = step

    def step(self, body: Body, name: str) -> Expr | None:
        """Return by how much statements let a count grow; None if that is not known."""
        total: Expr = ZERO
        for row in body.rows:
            match row:
                case Assign(target, Binary("+", Name(of), Number(1) as one)) if (
                    target == of == name and type(one.value) is int
                ):
                    more: Expr | None = ONE
                case When(_, then, orelse):
                    arms = [self.step(then, name), self.step(orelse, name)]
                    more = ZERO if arms == [ZERO, ZERO] else None
                case For(inner, start, stop, block):
                    more = None if inner == name else self.step(block, name)
                    if more is not None and more != ZERO:
                        count = None if has_break(block) else self.count(start, stop)
                        more = None if count is None else times(more, count)
                case Forever(block):
                    more = ZERO if self.step(block, name) == ZERO else None
                case _:
                    more = None if bound_by(row) == name else ZERO
            if more is None:
                return None
            total = plus(total, more)
        return total

    def count(self, start: Expr, stop: Expr) -> Expr | None:
        """Return how many iterations an inner loop has, if all of the outer ones know that."""
        first, end = self.same_for_all(start), self.same_for_all(stop)
        if first is None or end is None:
            return None
        least = self.w.least(stop)
        if first == ZERO and least is not None and least >= 0:
            return end
        size = end if first == ZERO else Binary("-", end, first)
        return Choose(Binary(">", end, first), size, ZERO)

    def same_for_all(self, expr: Expr) -> Expr | None:
        """Return an integer in terms of what no iteration changes, None if it is not of these."""
        match expr:
            case Number():
                return expr
            case Name(name) if name not in self.bound:
                return expr
            case Name(name) if name in self.w.defined:
                return self.same_for_all(self.w.defined[name])
            case Extent(buffer) if buffer not in self.bound:
                return expr
            case Binary(sign, left, right) if sign in "+-*" or sign in COMPARISONS:
                a, b = self.same_for_all(left), self.same_for_all(right)
                return None if a is None or b is None else Binary(sign, a, b)
            case Choose(test, then, orelse):
                parts = [self.same_for_all(one) for one in (test, then, orelse)]
                return None if None in parts else Choose(*parts)  # type: ignore[arg-type]
        return None

    def numbers(self) -> None:
        """Find sums; everything else is assigned before it is read, and not read behind."""
        late = self.late()
        for name in sorted(self.bound):
            if name in self.found.steps or (name not in self.seen_outside and name not in late):
                continue
            if not any(isinstance(row, Assign) and row.name == name for row in self.inside):
                continue  # an array, or what grows
            if self.is_flag(name):
                self.found.sums[name] = BOOL
                continue
            dtype = self.dtype(Name(name))
            if not self.is_sum(name) or dtype not in (FLOAT, INT):
                raise Dependent(f"`{name}` of one iteration is read by others")
            self.found.sums[name] = dtype

    def late(self) -> set[str]:
        """Return the names that may be read in an iteration before that gives them a value."""
        found: set[str] = set()

        def visit(rows: Iterable[Row], have: set[str]) -> set[str] | None:
            for row in rows:
                found.update((read_by(row) & self.bound) - have)
                match row:
                    case When(_, then, orelse):
                        arms = [visit(arm.rows, set(have)) for arm in (then, orelse)]
                        ends = [arm for arm in arms if arm is not None]
                        if not ends:
                            return None
                        have = set.intersection(*ends)
                    case For(name, _, _, block):
                        visit(block.rows, have | {name})
                    case Forever(block):
                        visit(block.rows, set(have))
                    case Leave(None):
                        return None
                    case _:
                        have |= {name for name in [bound_by(row)] if name}
            return have

        visit(self.loop.body.rows, {self.loop.name})
        return found

    def is_flag(self, name: str) -> bool:
        """Say whether iterations only note in a truth value that something happened."""
        return all(
            isinstance(row, Assign) and isinstance(row.value, Binary) and row.value.operator == "|"
            and row.value.left == Name(name) and name not in names_in(row.value.right)
            for row in self.inside if bound_by(row) == name or name in read_by(row)
        )

    def is_sum(self, name: str) -> bool:
        """Say whether iterations only add to a number, or take away, whatever it is."""
        flows = {name}
        while True:
            new = set()
            for row in self.inside:
                if not read_by(row) & flows:
                    continue
                if not isinstance(row, Assign) or not adds_to(row.value, flows):
                    return False
                new.add(row.name)
            if new <= flows:
                break
            flows |= new
        return all(
            isinstance(row, Assign) and adds_to(row.value, flows)
            for row in self.inside if bound_by(row) in flows
        ) and not (flows - {name}) & self.seen_outside

    def dtype(self, expr: Expr, around: frozenset[str] = frozenset()) -> str | None:
        """Return the machine type of a number, None if it is not known."""
        match expr:
            case Number(value):
                return BOOL if isinstance(value, bool) else INT if isinstance(value, int) else FLOAT
            case Extent():
                return INT
            case Apply(function):
                return {"int": INT, "isfinite": BOOL}.get(function, FLOAT)
            case Element(buffer):
                return self.dtype_of(buffer)
            case Name(name) if name in self.given:
                return self.given[name].dtype
            case Name(name):
                values = [row.value for row in self.all
                          if isinstance(row, Assign) and row.name == name]
                if any(isinstance(row, For) and row.name == name for row in self.all):
                    return INT
                kinds = {} if name in around else {
                    self.dtype(value, around | {name}): 0 for value in values}
                kinds.pop(None, None)
                return next(iter(kinds)) if len(kinds) == 1 else None
            case Binary(sign) if sign in COMPARISONS:
                return BOOL
            case Binary("/"):
                return FLOAT
            case Binary(_, left, right) | Choose(_, left, right):
                kinds = {self.dtype(left, around): 0, self.dtype(right, around): 0}
                kinds.pop(None, None)
                return next(iter(kinds)) if len(kinds) == 1 else None
            case Unary(sign, operand):
                return BOOL if sign == "not" else self.dtype(operand, around)
        return None

    def dtype_of(self, buffer: str) -> str | None:
        """Return the machine type of an array's elements, None if it is not known."""
        if buffer in self.given:
            return self.given[buffer].dtype
        for row in self.all:
            if bound_by(row) == buffer:
                match row:
                    case Make(dtype=dtype):
                        return dtype
                    case Bind(_, of) | Part(_, of) | Turn(_, of) | View(_, str() as of):
                        return self.dtype_of(of)
                    case View(_, Flat(of)):
                        return self.dtype_of(of)
        return None

    # -- arrays --------------------------------------------------------------------------------

    def arrays(self) -> None:
        """Find how each array is written into that iterations share."""
        late = self.late()
        for row in self.inside:
            name = bound_by(row)
            if isinstance(row, (Bind, Make, Part, View, Turn, Use)) and name and (
                name in self.seen_outside or name in late
            ):
                raise Dependent(f"`{name}` is another array in each iteration")
            if isinstance(row, Use) and row.writes:
                raise Dependent(f"`{row.helper}` writes into what it is given")
        written: dict[str, None] = {}
        for row in self.inside:
            if isinstance(row, (Store, Reserve)):
                bases = self.bases(row.buffer)
                if bases == {""}:
                    continue
                if len(bases) > 1:
                    raise Dependent(f"`{row.buffer}` is one of several arrays")
                written[next(iter(bases))] = None
        for buffer in written:
            self.shared(buffer)

    def bases(self, name: str) -> set[str]:
        """Return the arrays outside of the loop that one may be a part of; "" is a new one."""
        if name not in self.bound or self.rows(name, Reserve):
            return {name}
        found: set[str] = set()
        for row in self.inside:
            if bound_by(row) == name:
                match row:
                    case Bind(_, of) | Part(_, of) | Turn(_, of) | View(_, str() as of):
                        found |= self.bases(of)
                    case View(_, Flat(of)):
                        found |= self.bases(of)
                    case _:
                        found.add("")
        return found

    def rows(self, name: str, kind: type) -> list[Row]:
        """Return the rows of a kind in the loop that give a name a value."""
        return [row for row in self.inside if isinstance(row, kind) and bound_by(row) == name]

    def shared(self, buffer: str) -> None:
        """Prove that iterations write into an array apart from one another. Raises Dependent."""
        makers = [row for row in self.outside if bound_by(row) == buffer]
        if buffer in self.given or sum(isinstance(row, Make) for row in makers) != 1 or not all(
            isinstance(row, (Make, Reserve)) for row in makers
        ):
            raise Dependent(f"`{buffer}` may share its storage with other arrays")
        touched = {name for row in self.inside for name in read_by(row)} - self.bound
        root = self.w.root(buffer)
        if any(self.w.root(name) == root for name in touched - {buffer}):
            raise Dependent(f"`{buffer}` may share its storage with other arrays")
        names = {buffer} | {name for name in self.bound if self.w.root(name) == root}
        if self.is_filled(buffer, names) or self.is_apart(buffer, names):
            return
        if all(self.only_adds(row, names) for row in self.inside):
            self.found.added.append(buffer)
            return
        raise Dependent(f"iterations write into the same elements of `{buffer}`, or it is not "
                        "known that they do not")

    def is_filled(self, buffer: str, names: set[str]) -> bool:
        """Say whether an array is only filled as far as a count, which grows behind that."""
        if names != {buffer}:
            return False
        stores = [row for row in self.inside if isinstance(row, Store) and row.buffer == buffer]
        places = {row.indices for row in stores}
        if len(places) != 1:
            return False
        match places.pop():
            case (Name(top),) if top in self.found.steps:
                pass
            case _:
                return False
        for row in self.inside:
            if isinstance(row, Store) and row.buffer == buffer:
                if buffer in names_in(*row.indices, row.value) or row.adds:
                    return False
            elif isinstance(row, Reserve) and row.buffer == buffer:
                continue
            elif buffer in read_by(row):
                return False
        if not pushed(self.loop.body, buffer, top):
            return False
        self.found.grows[buffer] = top
        return True

    def is_apart(self, buffer: str, names: set[str]) -> bool:
        """Say whether each iteration has rows of its own: one axis is at its number everywhere."""
        places: list[set[tuple[int, int]]] = []

        def note(indices: Sequence[object]) -> None:
            found = set()
            for axis, index in enumerate(indices):
                if isinstance(index, (Name, Binary)):
                    base, more = self.w.affine(index)
                    if base == Name(self.loop.name):
                        found.add((axis, more))
            places.append(found)

        for row in self.inside:
            if isinstance(row, Part) and row.buffer == buffer:
                if None in row.places:
                    return False
                note(row.places)
            elif isinstance(row, Store) and row.buffer == buffer:
                note(row.indices)
            elif isinstance(row, (Bind, Turn, View, Use, Reserve, Part)) and buffer in read_by(row):
                return False
            for element in elements_of(row):
                if element.buffer == buffer:
                    note(element.indices)
        return bool(places) and bool(set.intersection(*places))

    def only_adds(self, row: Row, names: set[str]) -> bool:
        """Say whether a statement only adds to an array, or takes a part of it."""
        if any(element.buffer in names for element in elements_of(row)):
            return False
        if isinstance(row, Store):
            return row.buffer not in names or row.adds
        if isinstance(row, (Use, Reserve)):
            return not read_by(row) & names
        return True


def adds_to(expr: Expr, flows: set[str]) -> bool:
    """Say whether an expression is one of some numbers, with something added to it or taken."""
    match expr:
        case Name(name):
            return name in flows
        case Binary("+", left, right):
            return (adds_to(left, flows) and not names_in(right) & flows) or (
                adds_to(right, flows) and not names_in(left) & flows)
        case Binary("-", left, right):
            return adds_to(left, flows) and not names_in(right) & flows
    return False




def pushed(body: Body, buffer: str, top: str) -> bool:
    """Say whether a count grows behind each store at it, among the same statements."""
    for at, row in enumerate(body.rows):
        match row:
            case Store(name) if name == buffer:
                if not any(isinstance(one, Assign) and one.name == top
                           for one in body.rows[at + 1 :]):
                    return False
            case When(_, then, orelse):
                if not pushed(then, buffer, top) or not pushed(orelse, buffer, top):
                    return False
            case For(body=block) | Forever(block):
                if not pushed(block, buffer, top):
                    return False
    return True





def plus(a: Expr, b: Expr) -> Expr:
    """Return a sum."""
    return b if a == ZERO else a if b == ZERO else Binary("+", a, b)


def times(a: Expr, b: Expr) -> Expr:
    """Return a product."""
    return b if a == ONE else a if b == ONE else Binary("*", a, b)
