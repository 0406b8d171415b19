"""Containers outside of a function that it fills where they hold nothing yet, and reads: memos.

``if key not in MEMO: MEMO[key] = np.sum(x * x)`` computes the value at the first call, and reads it
at later ones, whose derivative would silently be zero. What the text shows is told here of a
function; that a stored value depends on what is differentiated is told when the derivative is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from adcompiler.frontend.scope import Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Const, Do, Free, Function, If, Item, Let, Origin, Pack, Statement,
    Try, Update, Var, operands, unstar,
)
from adcompiler.ir.operators import ORDER, is_one
from adcompiler.ir.remembered import remembered
from adcompiler.ir.visit import edges, walk
from adcompiler.ops.pure_calls import STORING_ATTRIBUTE, STORING_ITEM
from adcompiler.runtime import store_global
from adcompiler.infer.interface import Env
from adcompiler.infer.storage.container_fields import was_made_here
from adcompiler.infer.writer import Writer
from adcompiler.support.structs import dataclass

Place = tuple[Any, ...]
"""A variable, or the name of one outside, and the attributes that lead from there."""

FILLING = frozenset({"append", "extend", "insert", "update", "add", "appendleft", "__setitem__"})
ITEM = "[]"
OWN = str(Path(__file__).parents[1])
"""Where the classes are that stand for those of Python: what they hold is the program's own."""
OF_SIZES = frozenset({"shape", "ndim", "size", "dtype", "__class__", "__name__", "keys"})
SIZES = frozenset({"len", "isinstance", "type", "range", "hasattr", "id", "callable", "str"})
"""Attributes and functions of which the results carry no derivative."""


@dataclass(frozen=True)
class Memo:
    """A store into a container that is filled where it holds nothing yet.

    ``holder`` is the variable, or name, that leads to it; ``sources`` are the parameters and
    captured variables that the stored value is computed from. It may be ``sized``: what decides
    whether it runs reads no more of the holder than its length. ``whole`` says that the holder is
    the container, not what an attribute or item of it leads to.
    """

    holder: Any
    sources: tuple[Var, ...]
    origin: Origin
    sized: bool = False
    whole: bool = False


def note_memos(s: Writer, function: Function, env: Env, scope: Scope | None) -> None:
    """Note the memos of a function that is compiled for some arguments: see ``Writes.memos``."""
    if scope is None or scope.is_rule or scope.emitted or function.origin.file.startswith(OWN):
        return
    given_by_callers = {param.var for param in function.params if not param.has_default}
    for memo in memos_in(function):
        holder = None if isinstance(memo.holder, str) else env.get(memo.holder)
        if isinstance(holder, Var) and isinstance(s.unit.type(holder), t.Array) and (
            memo.sized or memo.holder in given_by_callers
        ):
            continue  # arrays have a length from the beginning; what they hold is an argument's
        if memo.whole and isinstance(memo.holder, str) and isinstance(
            scope.lookup(memo.holder)[1], ModuleType
        ):
            continue  # `np.add(x, y, out=z)` calls a function
        if is_outside(s, memo.holder, env, scope):
            given = tuple(s.value(source, env) for source in memo.sources)
            s.unit.writes.memos.append((given, memo.origin))


def is_outside(s: Writer, holder: Any, env: Env, scope: Scope) -> bool:
    """Say whether a container may have been there before the code ran."""
    if isinstance(holder, str):
        return True
    atom = env.get(holder)
    if not isinstance(atom, Var) or s.heap is None:
        return atom is not None
    return not is_inside(s, atom)


def is_inside(s: Writer, atom: Atom) -> bool:
    """Say whether the code that is compiled made an object, or its caller did."""
    if not isinstance(atom, Var) or s.heap is None:
        return False
    root = s.heap.reference(atom).root
    if root in s.unit.writes.made_inside or was_made_here(s, root):
        return True
    made = s.unit.definition(root)
    return isinstance(made, (Pack, Update)) and root not in s.heap.globals.values()


@remembered
def memos_in(function: Function) -> tuple[Memo, ...]:
    """Return the memos that the text of a function shows."""
    finder = Finder(function.body)
    return tuple(finder.memos())


class Finder:
    """Finds the memos in the body of a function."""

    def __init__(self, body: Block) -> None:
        self.body = body
        self.made = {one.target: one.rhs for one in walk(body) if isinstance(one, Let)}
        self.conditions = {
            var: one.condition for one in walk(body) if isinstance(one, If) for var in one.results}
        self.sources: dict[Var, list[Atom]] = {}
        for edge in edges(body):
            self.sources.setdefault(edge.target, []).append(edge.source)

    def memos(self) -> Iterator[Memo]:
        """Yield the stores into places that what decides whether they run reads."""
        for statement in walk(self.body):
            if isinstance(statement, If):
                asked = self.read_by([statement.condition])
                read = self.read_by([statement.condition], SIZES)
                arms: tuple[Block, ...] = (statement.then, statement.orelse)
            elif isinstance(statement, Try):
                asked = {place for inner in walk(statement.body) if isinstance(inner, (Let, Do))
                         for atom in operands(inner.rhs) for place in self.read_by([atom])}
                asked |= {place for inner in walk(statement.body) if isinstance(inner, Let)
                          for place in self.read_by([inner.target])}
                arms, read = tuple(handler.body for handler in statement.handlers), asked
            else:
                kept = self.stores([statement], {"setdefault"}, False)
                yield from self.made_memos(kept, None)
                yield from self.chosen_memos(statement)
                continue
            inside = [one for arm in arms for one in walk(arm)]
            yield from self.made_memos(self.stores(inside, FILLING), asked, read)

    def chosen_memos(self, statement: Statement) -> Iterator[Memo]:
        """Yield the store ``MEMO[key] = MEMO[key] if key in MEMO else new``, and its like."""
        for place, values, origin in self.stores([statement], FILLING):
            chosen = [self.conditions[var] for var in self.reached(values) if (
                var in self.conditions)]
            yield from self.made_memos(
                [(place, values, origin)], self.read_by(chosen), self.read_by(chosen, SIZES))

    def made_memos(
        self, stores: Iterable[tuple[Place, list[Atom], Origin]], asked: set[Place] | None,
        read: set[Place] | None = None,
    ) -> Iterator[Memo]:
        """Yield the memos among stores: of places that are ``asked`` (None: any).

        Of those that are not ``read`` the length is asked alone.
        """
        for place, values, origin in stores:
            if asked is not None and place not in asked:
                continue
            sources = tuple(self.leaves(values))
            if sources:
                sized = read is not None and place not in read
                yield Memo(place[0], sources, origin, sized, len(place) == 1)

    def stores(
        self, statements: Iterable[Statement], methods: Collection[str], assigned: bool = True
    ) -> Iterator[tuple[Place, list[Atom], Origin]]:
        """Yield the places that statements store into, by ``methods`` or as ``assigned``."""
        for statement in statements:
            if not isinstance(statement, (Let, Do)) or not isinstance(statement.rhs, Call):
                continue
            rhs = statement.rhs
            args = list(map(unstar, rhs.args))
            function = rhs.func.value if isinstance(rhs.func, Const) else None
            place, values = None, args[-1:]
            if function is not None and not assigned:
                continue
            if function is STORING_ITEM:
                place = self.place(args[0])
            elif function is STORING_ATTRIBUTE and isinstance(args[1], Const):
                place = self.place(args[0])
                place = None if place is None else (*place, args[1].value)
            elif function is store_global and isinstance(args[0], Const):
                place = (args[0].value,)
            else:
                method = self.made.get(rhs.func) if isinstance(rhs.func, Var) else None
                if isinstance(method, Attribute) and method.name in methods:
                    place = self.place(method.obj)
                    values = [*args, *(atom for _, atom in rhs.kwargs)]
            if place is not None:
                yield place, values, statement.origin

    def place(self, atom: Atom) -> Place | None:
        """Return the place that an object was read from."""
        if not isinstance(atom, Var):
            return None
        rhs = self.made.get(atom)
        match rhs:
            case None:
                return None if atom in self.sources else (atom,)
            case Free(name):
                return (name,)
            case Attribute(obj, name):
                before = self.place(obj)
                return None if before is None else (*before, name)
            case Item(obj, _):
                before = self.place(obj)
                return None if before is None else (*before, ITEM)
        return None

    def read_by(
        self, atoms: Iterable[Atom], functions: frozenset[str] = frozenset()
    ) -> set[Place]:
        """Return the places that values are computed from, but for what is only compared in size.

        ``if loss < self.best: self.best = loss`` keeps a record, and is no memo. What the results
        of ``functions`` are computed from may be left out, and with them what attributes that are
        sizes belong to, and what stands in a display, which is true if anything does.
        """
        found: set[Place] = set()
        if functions:
            atoms = [atom for atom in atoms if not isinstance(atom, Var) or not isinstance(
                self.made.get(atom), Pack)]
        attributes = OF_SIZES if functions else frozenset()
        for var in self.reached(atoms, attributes, functions, ordered=False):
            place = self.place(var)
            if place is not None and place[-1] not in attributes:
                found |= {place[:end] for end in range(1, len(place) + 1)}
            rhs = self.made.get(var)
            args = list(map(unstar, rhs.args)) if isinstance(rhs, Call) else []
            if len(args) > 1 and isinstance(args[1], Const):  # hasattr(obj, "name")
                before = self.place(args[0])
                found |= set() if before is None else {(*before, args[1].value)}
        return found

    def leaves(self, atoms: Iterable[Atom]) -> list[Var]:
        """Return the parameters and captured variables that values are computed from."""
        return [var for var in self.reached(atoms, OF_SIZES, SIZES)
                if var not in self.made and var not in self.sources]

    def reached(
        self, atoms: Iterable[Atom], attributes: frozenset[str] = frozenset(),
        functions: frozenset[str] = frozenset(), ordered: bool = True,
    ) -> dict[Var, None]:
        """Return the variables that values are computed from, but for some attributes and calls."""
        found: dict[Var, None] = {}
        waiting = [atom for atom in atoms if isinstance(atom, Var)]
        while waiting:
            var = waiting.pop()
            if var in found:
                continue
            found[var] = None
            rhs = self.made.get(var)
            more = list(self.sources.get(var, ()))
            if rhs is not None and not (
                isinstance(rhs, Attribute) and rhs.name in attributes
            ) and not (isinstance(rhs, Call) and self.name_of(rhs.func) in functions):
                given = list(map(unstar, operands(rhs)))
                sized = ordered or not isinstance(rhs, Call) or not isinstance(
                    rhs.func, Const) or not is_one(rhs.func.value, ORDER)
                more += given if sized else [one for one in given if self.is_length(one)]
            waiting += [atom for atom in more if isinstance(atom, Var)]
        return found

    def is_length(self, atom: Atom) -> bool:
        """Say whether a value is the length of something."""
        rhs = self.made.get(atom) if isinstance(atom, Var) else None
        return isinstance(rhs, Call) and self.name_of(rhs.func) == "len"

    def name_of(self, function: Atom) -> str:
        """Return the name of a function that is called."""
        rhs = self.made.get(function) if isinstance(function, Var) else None
        return str(getattr(rhs, "name", ""))
