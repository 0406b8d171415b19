"""Keeps what nobody reads where it may raise: a value is returned only if Python returns one.

``y[3]`` of a list of one item, whose value is not used, ends the user's function. The product that
returns the function's value evaluates it too. A gradient alone keeps what raises by the program's
own doing (``raises_by_itself``), and is free to leave away arithmetic of arrays.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from adcompiler.analyses.purity import Purity
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Const, Do, If, Item, Let, Origin, Pack, Region, Rhs, Star,
    Statement, Step, Update, Var, operands, unstar,
)
from adcompiler.ir.regions import altered
from adcompiler.ir.visit import blocks_of, direct_uses, walk, with_blocks
from adcompiler.ops.counts import takes
from adcompiler.ops.facts import ANY, ARRAYS, INTEGERS, ITERABLES, PLAIN, VALUES
from adcompiler.ops.partial_functions import raises_for_values
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.optimise.dead_code import dead_code
from adcompiler.optimise.rewriter import Rewriter
from adcompiler.runtime import evaluated
from adcompiler.typed.callee import Callee
from adcompiler.typed.unit import Unit


def with_raising_kept(
    unit: Unit, statements: Sequence[Statement], needed: Sequence[Atom], by_itself: bool = False
) -> tuple[Statement, ...]:
    """Return ``statements`` with all that may raise marked as needed, beside ``needed`` itself.

    ``by_itself``: only with what raises by the program's own doing.
    """
    block = Block(tuple(statements), tuple(needed))
    purity = Purity(unit.type, unit.definition)
    live = list(walk(dead_code(_Unchanging(unit, block).block(block), purity)))
    read = {s.target for s in live if isinstance(s, Let)}
    asked = {condition for s in live for condition in tested(s)}
    return _Raising(unit, purity, read, asked, by_itself).block(block).statements


def without_needless_marks(block: Block, purity: Purity) -> Block:
    """Return ``block`` without the marks of values that statements beside them read anyway.

    Statements count that are there without any mark: others may go, and what they read with them.
    """
    if not any(marked(statement) is not None for statement in walk(block)):
        return block
    block = without_reads_before_writes(block, purity)
    bare = dead_code(without_marks(block, None), purity)
    needed = set(bare.yields)
    for statement in walk(bare):
        needed.update(direct_uses(statement))
        for inner in blocks_of(statement):
            needed.update(inner.yields)
    return without_marks(block, needed)


def without_reads_before_writes(block: Block, purity: Purity) -> Block:
    """Return ``block`` without the marks of elements of arrays that it goes on to write.

    ``a[i] += b / c`` reads ``a[i]`` before it divides; the write raises for the same subscript.
    """
    kept: list[Statement] = []
    awaited: list[tuple[int, Item]] = []
    read: dict[Atom, Item] = {}
    for statement in (with_blocks(
        one, lambda inner: without_reads_before_writes(inner, purity)) for one in block.statements
    ):
        value = marked(statement)
        if isinstance(value, Var) and value in read:
            awaited.append((len(kept), read[value]))
        match statement:
            case Let(_, Update(obj, (Step(kind="item", args=(index,)),))):
                for place, item in awaited:
                    if item.obj is obj and item.index is index:
                        del kept[place]
                        break
                awaited = []
            case Let(target, Item(Var() as obj) as item) if (
                isinstance(purity.type_of(obj), t.Array)
            ):
                read[target] = item
            case Let(_, rhs) if purity.is_pure(rhs):
                pass
            case _ if value is None:
                awaited = []
        kept.append(statement)
    if len(kept) == len(block.statements) and all(map(operator.is_, kept, block.statements)):
        return block
    return altered(block, statements=tuple(kept))


def without_marks(block: Block, needed: set[Atom] | None) -> Block:
    """Return ``block`` without the marks of what is ``needed`` and read beside them; None: any."""
    read: set[Atom] = set()
    for statement in block.statements:
        if marked(statement) is None:
            read.update(direct_uses(statement))
    read.update(block.yields)
    kept = tuple(
        with_blocks(statement, lambda inner: without_marks(inner, needed))
        for statement in block.statements
        if (value := marked(statement)) is None or (
            needed is not None and (value not in read or value not in needed))
    )
    if len(kept) == len(block.statements) and all(map(operator.is_, kept, block.statements)):
        return block
    return altered(block, statements=kept)


def marked(statement: Statement) -> Atom | None:
    """Return the value that a statement marks as needed, None if it does something else."""
    match statement:
        case Do(Call(Const(function), (value,))) if function is evaluated:
            return unstar(value)
    return None


def tested(statement: Statement) -> tuple[Atom, ...]:
    """Return the condition of a branch."""
    return (statement.condition,) if isinstance(statement, If) else ()


class _Unchanging(Rewriter):
    """Takes what loops carry and do not change for what it was: other passes will, too.

    Only what is read then is asked for; definitions that it notes are of equal values.
    """

    def rewrite(self, call: Call) -> None:
        return None


class _Raising:
    """Marks what may raise; ``read`` is read anyway, and it is ``asked`` whether that is true."""

    def __init__(
        self, unit: Unit, purity: Purity, read: set[Var], asked: set[Atom], by_itself: bool
    ) -> None:
        self.unit, self.purity, self.read, self.asked = unit, purity, read, asked
        self.by_itself = by_itself

    def block(self, block: Block) -> Block:
        out: list[Statement] = []
        for statement in block.statements:
            match statement:
                case Region() if statement.watched():  # what may raise in its body is kept as it is
                    out.append(statement)
                case Let(target, rhs, origin) if target not in self.read:
                    out.append(statement)
                    if self.is_wanted(target, rhs):
                        out.append(Do(Call(Const(evaluated), (target,)), origin))
                case Do(rhs, origin) if self.purity.is_pure(rhs) and self.may_raise(rhs):
                    out += self.evaluated(rhs, origin)
                case _:
                    for condition in tested(statement):
                        truth = Call(Const(bool), (condition,))
                        if condition not in self.asked and self.may_raise(truth):
                            out += self.evaluated(truth, statement.origin)  # type: ignore[union-attr]
                    out.append(with_blocks(statement, self.block))
        if len(out) == len(block.statements) and all(map(operator.is_, out, block.statements)):
            return block
        return Block(tuple(out), block.yields, block.diverges)

    def evaluated(self, rhs: Rhs, origin: Origin) -> tuple[Statement, ...]:
        """Return what evaluates ``rhs`` for nobody."""
        ignored = Var("ignored")
        self.unit.record(ignored, rhs, t.UNKNOWN)
        return Let(ignored, rhs, origin), Do(Call(Const(evaluated), (ignored,)), origin)

    def is_wanted(self, target: Var, rhs: Rhs) -> bool:
        """Say whether a value that nobody reads may raise as it is computed.

        Of what is computed later, as the elements of a generator, and of functions that are made
        nothing is known here; what a write computes it raises by itself.
        """
        unit = self.unit
        iterators = unit.iterators
        if target in iterators.one_shot and self.runs_over_numbers(rhs):
            return True
        if target in iterators.one_shot or target in iterators.generators or (
            target in unit.writes.spared
        ):
            return False
        types = [unit.type(atom) for atom in (target, *operands(rhs)[1:])]
        if any(t.is_function(type_) and not is_class(type_) for type_ in types):
            return False
        return self.purity.is_pure(rhs) and self.may_raise(rhs)

    def runs_over_numbers(self, rhs: Rhs) -> bool:
        """Say whether an iterator is made of a number, which raises."""
        if not isinstance(rhs, Call) or not isinstance(rhs.func, Const):
            return False
        function = rhs.func.value
        over = rhs.args if takes(function, 3) else rhs.args[:1]
        return REGISTRY.facts(function).is_total_for(ITERABLES) and any(
            isinstance(self.unit.type(unstar(arg)), t.Scalar) for arg in over)

    def may_raise(self, rhs: Rhs) -> bool:
        """Say whether evaluating ``rhs`` may raise, by the types of what it is made of."""
        type_of = self.unit.type
        if self.by_itself and not self.raises_by_itself(rhs):
            return False
        if isinstance(rhs, Item) and isinstance(type_of(rhs.obj), t.Array) and (
            self.unit.is_inside(rhs.obj, rhs.index) or self.was_written_at(rhs.obj, rhs.index)
        ):
            return False
        match rhs:
            case Pack(_, items, keys):
                return any(isinstance(i, Star) for i in items) or not all(
                    isinstance(key, Const) for key in keys)
            case Item(obj, Const(key)):
                match type_of(obj):
                    case t.Tuple(types):
                        return not (type(key) is int and -len(types) <= key < len(types))
                    case t.Dict(known, _) if known is not None:
                        return not hashable(key) or key not in known
            case Attribute(obj, name) if isinstance(type_of(obj), t.Object):
                type_ = type_of(obj)
                return isinstance(type_, t.Object) and type_.field(name) is None
            case Call(Const(function), args, ()) if not any(isinstance(a, Star) for a in args):
                total = REGISTRY.facts(function).total
                if total and takes(function, len(args)) and any(
                    self.are(arguments, args) for arguments in total
                ):
                    return False
        return self.purity.may_raise(rhs)

    def was_written_at(self, obj: Atom, index: Atom) -> bool:
        """Say whether the last thing done to an array was a write at a subscript."""
        match self.unit.definition(obj):
            case Update(_, (Step(kind="item", args=(where,)),)):
                return where is index or (
                    isinstance(where, Const) and isinstance(index, Const)
                    and type(where.value) is type(index.value) is int
                    and where.value == index.value)
        return False

    def raises_by_itself(self, rhs: Rhs) -> bool:
        """Say whether ``rhs`` raises, if it does, by the program's own doing.

        These are subscripts of containers, conversions, and functions of Python's numbers where
        they are not defined. Arithmetic of arrays raises where NumPy is told to, or for its shapes.
        """
        type_of = self.unit.type
        match rhs:
            case Item(obj):
                return isinstance(type_of(obj), (t.List, t.Tuple, t.Dict, t.Text, t.Range))
            case Call(Const(function), args) if hashable(function):
                types = [type_of(unstar(arg)) for arg in args]
                natural = bool(args) and is_natural(args[-1])
                compiled = isinstance(getattr(function, "callee", function), Callee)
                return (compiled or raises_for_values(function, natural)) and all(
                    map(is_of_python, types))
        return False

    def are(self, arguments: str, args: Sequence[Any]) -> bool:
        """Say whether arguments are all of a class for which a function may be total."""
        types = [self.unit.type(arg) for arg in args]
        if arguments == ARRAYS and self.stretches(args):
            return False
        return arguments == ANY or (bool(types) and all(is_one_of(arguments, ty) for ty in types))

    def stretches(self, args: Sequence[Atom]) -> bool:
        """Say whether arrays of different shapes may meet."""
        return len({self.unit.shape(arg) for arg in args}) > 1


def is_of_python(type_: t.Type) -> bool:
    """Say whether a value is a number of Python, a text or a container: nothing of NumPy."""
    if isinstance(type_, t.Scalar):
        return all(dtype is None for _, dtype in type_.classes)
    return isinstance(type_, (t.List, t.Tuple, t.Dict, t.Text, t.Range))


def is_natural(atom: Any) -> bool:
    """Say whether an exponent is one to which every number has a power."""
    return isinstance(atom, Const) and isinstance(atom.value, int) and atom.value >= 0


def is_one_of(arguments: str, type_: t.Type) -> bool:
    """Say whether all values of a type are of a class of arguments."""
    match type_:
        case t.Scalar(kind):
            return kind != "other" and (
                arguments in (VALUES, PLAIN) or (arguments == INTEGERS and kind in ("bool", "int"))
            )
        case t.Array(_, ndim):
            if arguments == ITERABLES:
                return ndim > 0
            return arguments in (ARRAYS, VALUES) and type_.kind in ("int", "float", "complex")
        case t.List() | t.Tuple() | t.Dict() | t.Range() | t.Text():
            return arguments == ITERABLES or (arguments == PLAIN and is_plain(type_))
    return False


def is_plain(type_: t.Type) -> bool:
    """Say whether a value is a number, a text, or a container of such."""
    match type_:
        case t.List(item):
            return is_plain(item)
        case t.Tuple(items) | t.Dict(_, items):
            return all(map(is_plain, items))
    return isinstance(type_, (t.Scalar, t.Range, t.Text, t.Bottom))


def is_class(type_: t.Type) -> bool:
    """Say whether a value is a class, as dtypes are given by."""
    return isinstance(type_, t.Static) and isinstance(type_.value, type)
