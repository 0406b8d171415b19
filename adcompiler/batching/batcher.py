"""Derivative code of one seed made code of many: cotangents or tangents with a leading axis.

Code that computes derivatives is linear in its seeds, so that most of it works for many seeds at
once: products with residuals broadcast along the leading axis, subscripts get ``:`` in front, sums
count their axes from one. Of anything else each seed is computed by itself. What depends on no seed
stays as it is.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from adcompiler.analyses.purity import CHECKS, Purity
from adcompiler.analyses.storage import METADATA, written_operand
from adcompiler.errors import NotBatchable
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Attribute, Block, Call, Const, Do, If, Item, Let, Loop, Origin, Pack, Raise,
    Rhs, Star, Statement, Step, Try, Unsupported, Update, Var, With, operands, substitute,
)
from adcompiler.ir.visit import arms_of, walk
from adcompiler.runtime import (
    add, add_at, append, as_gradient, drop_last, project, unbroadcast, zeros_like,
)
from adcompiler.runtime.batches import (
    as_gradient_each, count_seeds, project_each, repeated, seed_of, stacked, unbroadcast_each,
    zeros_of_each,
)
from adcompiler.runtime.regions import check_shape, check_shape_each
from adcompiler.specialise.writer import Writer

OPERATORS: frozenset[Any] = frozenset({
    operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos,
    np.where, np.real, np.imag,
})
"""Functions, beside ufuncs, that work on each element by itself."""

SAME: frozenset[Any] = frozenset({np.copy, np.array, np.asarray, np.ascontiguousarray, zeros_like,
                                  np.zeros_like})
"""Functions of one argument that do for arrays with one more axis what they do for others."""

ALONG_AXIS: frozenset[Any] = frozenset({
    np.flip, np.roll, np.cumsum, np.diff, np.sum, np.squeeze, np.mean,
})
"""Functions ``f(x, ..., axis)``; without an axis some of them work on all axes."""

ON_ALL_AXES: frozenset[Any] = frozenset({np.flip, np.sum, np.mean})
IN_ORDER: frozenset[Any] = frozenset({np.roll, np.cumsum})
"""Functions that without an axis take the numbers of an array as one sequence."""

SEQUENCES: frozenset[Any] = frozenset({reversed, list, tuple, zip, enumerate, iter})
JOINING: frozenset[Any] = frozenset({np.concatenate, np.stack})
FLATTENING = ("ravel", "flatten")
SIZES: dict[Any, str] = {np.shape: "shape", np.size: "size", np.ndim: "ndim", len: "len"}
METHODS: dict[str, Any] = {"sum": np.sum, "mean": np.mean, "copy": np.copy}
WHOLE = slice(None)


class Batcher:
    """Rewrites one block of derivative code."""

    def __init__(
        self, s: Writer, seeded: Iterable[Var], origin: Origin, before: Sequence[Statement] = ()
    ) -> None:
        self.s = s
        self.before = Block(tuple(before))
        self.written_as: dict[Atom, Rhs] = {}
        self.seeded = tuple(seeded)
        self.origin = origin
        self.batched = set(self.seeded)
        self.logical: dict[Var, t.Type] = {}
        self.mapping: dict[Var, Atom] = {}
        self.purity = Purity(s.unit.type, s.unit.definition)
        self.seeds: Var | None = None
        self.counts = True
        self.constant: set[Atom] = set()
        self.writes = True

    def run(self, block: Block, wanted: Sequence[int]) -> Block:
        """Return ``block`` for many seeds; the yields at ``wanted`` have the leading axis for sure.

        Raises NotBatchable for code that this cannot be written for.
        """
        while self.mark(block):
            pass
        self.written_as = {
            st.target: st.rhs for part in (self.before, block) for st in walk(part)
            if isinstance(st, Let)
        }
        self.constant = {var for var in self.seeded if not may_be_written(var, block)}
        self.writes = any(
            isinstance(statement, Let) and written_operand(statement.rhs) is not None
            for statement in walk(block)
        )
        for var in list(self.batched):
            self.logical[var] = self.s.unit.type(var)
            self.s.unit.types[var] = lifted(self.logical[var])
            self.s.unit.shapes.pop(var, None)
        with self.s.writing_to([]) as out:
            self.statements(block.statements)
            yields = []
            for i, a in enumerate(block.yields):
                if i not in wanted and a in self.batched:
                    raise NotBatchable
                yields.append(self.expanded(a, self.origin) if i in wanted else self.atom(a))
        if self.seeds is not None and self.counts:
            count = Call(Const(count_seeds), (self.seeded[0],))
            if isinstance(self.s.unit.type(self.seeded[0]), t.Array):
                count = Call(Const(len), (self.seeded[0],))
            out.insert(0, Let(self.seeds, count, self.origin.reversed()))
        return replace(block, statements=tuple(out), yields=tuple(yields))

    # -- which values depend on the seeds ------------------------------------------------------

    def mark(self, block: Block) -> bool:
        """Add what depends on the seeds; say whether anything was added."""
        before = len(self.batched)
        for statement in walk(block):
            match statement:
                case Let(target, rhs) if self.depends(rhs) and carries(self.s.unit.type(target)):
                    self.batched.add(target)
                case If(then=then, orelse=orelse, results=results):
                    for arm in (then, orelse):
                        self.unify(results, () if arm.diverges else arm.yields)
                case With() | Try():
                    for arm in arms_of(statement):
                        self.unify(statement.results, () if arm.diverges else arm.yields)
                case Loop():
                    self.unify(statement.params, statement.inits)
                    self.unify(statement.params, statement.next_values())
                    self.unify(statement.results, statement.params)
                    self.unify(statement.collects, statement.collected())
                    self.batched.update(
                        item for item, iterable in zip(
                            statement.items, statement.iterables, strict=True
                        ) if iterable in self.batched and carries(self.s.unit.type(item))
                    )
        return len(self.batched) > before

    def unify(self, targets: Sequence[Var], values: Sequence[Atom]) -> None:
        """Mark those targets that may get a value which depends on the seeds."""
        self.batched.update(
            var for var, value in zip(targets, values, strict=False) if value in self.batched
        )

    def depends(self, rhs: Rhs) -> bool:
        """Say whether a value depends on the seeds, and not only on the shapes that they have."""
        match rhs:
            case Attribute(_, name) if name in METADATA:
                return False
            case Call(Const(function)) if function in (np.shape, np.ndim, np.size, len):
                return False
            case Call(Const(function), args) if function in (project, as_gradient):
                return args[0] in self.batched
            case Call(Const(function), args) if function is zeros_like or (
                function is np.zeros_like
            ):
                return args[0] in self.batched
        return any(a in self.batched for a in operands(rhs))

    # -- statements ----------------------------------------------------------------------------

    def effect(self, rhs: Rhs) -> Rhs:
        """Return what is run for all seeds in place of a call that nobody reads the result of."""
        match rhs:
            case Call(Const(function), (g, shape, place)) if function is check_shape and (
                g in self.batched and shape not in self.batched
            ):
                return Call(Const(check_shape_each), (g, shape, place))
        if any(a in self.batched for a in operands(rhs)):
            raise NotBatchable
        return rhs

    def atom(self, atom: Any) -> Any:
        """Return the atom that holds a value now."""
        if isinstance(atom, Star):
            return Star(self.atom(atom.atom))
        return self.mapping.get(atom, atom) if isinstance(atom, Var) else atom

    def block(self, block: Block, batched: Sequence[bool]) -> Block:
        """Return the block of a region; yields in the places of ``batched`` get the axis."""
        with self.s.writing_to([]) as out:
            self.statements(block.statements)
            yields = [
                self.expanded(a, self.origin) if wanted and a is not UNDEF else self.atom(a)
                for a, wanted in zip(block.yields, batched, strict=True)
            ] if not block.diverges else list(block.yields)
        return Block(tuple(out), tuple(yields), block.diverges)

    def statements(self, statements: Iterable[Statement]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        s = self.s
        match statement:
            case Let(target, rhs, origin):
                self.let(target, substitute(rhs, self.mapping), origin)
            case Do(rhs, origin):
                rhs = substitute(rhs, self.mapping)
                s.out.append(Do(self.effect(rhs), origin))
            case If(condition, then, orelse, results, origin):
                if condition in self.batched:
                    raise NotBatchable
                wanted = [r in self.batched for r in results]
                s.out.append(If(
                    self.atom(condition), self.block(then, wanted), self.block(orelse, wanted),
                    results, origin,
                ))
            case Loop():
                self.loop(statement)
            case With(body=body):
                wanted = [r in self.batched for r in statement.results]
                s.out.append(replace(statement, body=self.block(body, wanted)))
            case Try(body=body):
                wanted = [r in self.batched for r in statement.results]
                handlers = tuple(
                    replace(h, body=self.block(h.body, wanted)) for h in statement.handlers
                )
                body = self.block(body, wanted)
                s.out.append(replace(statement, body=body, handlers=handlers))
            case Raise() | Unsupported():
                s.out.append(statement)
            case _:
                raise NotBatchable

    def loop(self, node: Loop) -> None:
        if node.condition is not None and any(
            a in self.batched for a in node.condition.yields
        ):
            raise NotBatchable
        iterables = [self.in_order(self.atom(a), node.origin) for a in node.iterables]
        inits = [
            self.expanded(a, node.origin) if p in self.batched else self.atom(a)
            for p, a in zip(node.params, node.inits, strict=True)
        ]
        condition = node.condition
        if condition is not None:
            condition = self.block(condition, [False] * len(condition.yields))
        wanted = [v in self.batched for v in (*node.params, *node.collects)]
        stop = [False] if node.stops else []
        body = self.block(node.body, [*wanted, *stop])
        self.s.out.append(replace(
            node, iterables=tuple(iterables), inits=tuple(inits), condition=condition, body=body
        ))

    def let(self, target: Var, rhs: Rhs, origin: Origin) -> None:
        if target not in self.batched:
            if any(a in self.batched for a in operands(rhs)):
                rhs = self.metadata(rhs, origin)
            self.s.out.append(Let(target, rhs, origin))
            self.s.unit.defs[target] = rhs
            return
        new = self.rhs(target, rhs, origin)
        if isinstance(new, Var):
            self.mapping[target] = new
            return
        self.s.unit.defs[target] = new
        self.s.out.append(Let(target, new, origin))

    def write(self, rhs: Rhs, type_: t.Type, name: str, origin: Origin) -> Var:
        """Write a value with a leading axis, of the logical type ``type_``."""
        new = self.s.let(rhs, lifted(type_), name, origin)
        assert isinstance(new, Var)
        self.batched.add(new)
        self.logical[new] = type_
        return new

    # -- right-hand sides ----------------------------------------------------------------------

    def rhs(self, target: Var, rhs: Rhs, origin: Origin) -> Rhs | Var:
        """Return a right-hand side for many seeds, or the variable that holds the value."""
        match rhs:
            case Item(obj, index):
                read = self.item(obj, index, origin)
                if self.is_array(obj) and isinstance(self.logical[target], t.Scalar) and (
                    self.writes and obj not in self.constant
                ):  # numbers stay what they are when the array is written; columns are views
                    column = self.s.let(read, self.s.unit.type(target), target.name, origin)
                    return Call(Const(np.copy), (column,))
                return read
            case Attribute(obj, name):
                return self.attribute(obj, name)
            case Pack(kind, items, keys) if kind != "set":
                if any(isinstance(item, Star) for item in items):
                    raise NotBatchable
                return Pack(kind, tuple(
                    self.expanded(item, origin) if carries(self.s.unit.type(item)) else item
                    for item in items if not isinstance(item, Star)
                ), keys)
            case Update():
                return self.update(rhs, origin)
            case Call(Const(function)):
                return self.call(target, function, rhs, origin)
            case Call():
                return self.method(target, rhs, origin)
        raise NotBatchable

    def metadata(self, rhs: Rhs, origin: Origin) -> Rhs:
        """Return what reads the shape of one seed's value."""
        match rhs:
            case Attribute(x, "shape" | "size" | "ndim" as name) if self.is_array(x):
                return self.size_behind(x, name, origin)
            case Call(Const(function), (x,), ()) if self.is_array(x) and function in SIZES:
                return self.size_behind(x, SIZES[function], origin)
            case Attribute(_, "dtype"):
                return rhs
            case Call(Const(builtin), (x,), ()) if builtin is len and self.is_container(x):
                return rhs
        raise NotBatchable

    def size_behind(self, x: Any, name: str, origin: Origin) -> Rhs:
        """Return the shape of one seed's value, its number of elements, or of axes."""
        if name == "ndim":
            return Call(Const(int), (Const(self.rank(x)),))
        whole = self.s.let(Call(Const(np.shape), (x,)), t.UNKNOWN, "shape", origin)
        if name == "len":
            return Item(whole, Const(1))
        behind = Item(whole, Const(slice(1, None)))
        if name == "shape":
            return behind
        return Call(Const(math.prod), (self.s.let(behind, t.UNKNOWN, "shape", origin),))

    def is_array(self, atom: Any) -> bool:
        """Say whether a value has a leading axis: it is one array, not a container of some."""
        return atom in self.batched and isinstance(self.logical[atom], (t.Array, t.Scalar))

    def is_container(self, atom: Any) -> bool:
        """Say whether a value is known to hold values with leading axes, and has none itself."""
        type_ = self.logical.get(atom, self.s.unit.type(atom))
        return isinstance(type_, (t.List, t.Tuple, t.Dict))

    def rank(self, atom: Atom | Star) -> int:
        """Return the number of axes of a value of one seed."""
        if isinstance(atom, Star):
            raise NotBatchable
        type_ = self.logical[atom] if atom in self.batched else self.s.unit.type(atom)
        if isinstance(type_, t.Scalar):
            return 0
        if not isinstance(type_, t.Array):
            raise NotBatchable
        return type_.ndim

    def differ_in_rank(self, atoms: Iterable[Any]) -> bool:
        """Say whether some of these are numbers and arrays of different numbers of axes."""
        types = (self.logical.get(a) or self.s.unit.type(a) for a in atoms)
        return len({
            type_.ndim if isinstance(type_, t.Array) else 0
            for type_ in types if isinstance(type_, (t.Array, t.Scalar))
        }) > 1

    def expanded(self, atom: Any, origin: Origin) -> Atom:
        """Return a value with a leading axis, of seeds for which it is the same."""
        atom = self.atom(atom)
        if atom in self.batched or atom is NONE or atom is UNDEF:
            return atom  # type: ignore[no-any-return]
        type_ = self.s.unit.type(atom)
        if not carries(type_) and not isinstance(type_, t.Scalar):
            raise NotBatchable
        made = self.s.unit.definition(atom)
        count = self.count()
        name = atom.name if isinstance(atom, Var) else "zero"
        if isinstance(made, Call) and isinstance(made.func, Const) and (
            made.func.value in (np.zeros_like, zeros_like)
        ):
            zeros = Call(Const(zeros_of_each), (made.args[0], count))
            return self.write(zeros, type_, name, origin)
        return self.write(Call(Const(repeated), (atom, count)), type_, name, origin)

    def count(self) -> Var:
        """Return the variable that holds the number of seeds."""
        if self.seeds is None:
            self.seeds = Var("seeds", False)
            self.s.unit.types[self.seeds] = t.INT
        return self.seeds

    def aligned(self, atom: Atom, rank: int, origin: Origin) -> Atom:
        """Return a value so that each seed's broadcasts as one of ``rank`` axes."""
        missing = rank - self.rank(atom)
        if atom not in self.batched or missing <= 0:
            return atom
        index: tuple[Any, ...] = (WHOLE, *(None,) * missing)
        if self.rank(atom):
            index = (*index, Ellipsis)
        dtype = getattr(self.s.unit.type(atom), "dtype", "float64")
        return self.write(Item(atom, Const(index)), t.Array(dtype, rank), "piece", origin)

    # -- subscripts ----------------------------------------------------------------------------

    def item(self, obj: Atom, index: Atom, origin: Origin) -> Rhs:
        if index in self.batched:
            raise NotBatchable
        type_ = self.logical.get(obj) if isinstance(obj, Var) else None
        if isinstance(type_, t.Array):
            return Item(obj, self.behind_seeds(index, origin)[0])
        if isinstance(type_, (t.Tuple, t.List, t.Dict)):
            return Item(obj, index)
        raise NotBatchable

    def parts(self, index: Atom, origin: Origin) -> list[Atom]:
        """Return the parts of a subscript."""
        made = self.written_as.get(index) or self.s.unit.definition(index)
        if isinstance(made, Pack) and made.kind == "tuple":
            if any(isinstance(item, Star) for item in made.items):
                raise NotBatchable
            return [item for item in made.items if not isinstance(item, Star)]
        if isinstance(index, Const):
            values = index.value if isinstance(index.value, tuple) else (index.value,)
            return [Const(value) for value in values]
        type_ = self.s.unit.type(index)
        if isinstance(type_, t.Unknown):
            raise NotBatchable
        if isinstance(type_, t.Tuple):
            return [
                self.s.let(Item(index, Const(i)), part, "part", origin)
                for i, part in enumerate(type_.items)
            ]
        return [index]

    def behind_seeds(self, index: Atom, origin: Origin) -> tuple[Atom, Callable[[int], int]]:
        """Return a subscript behind the leading axis, and how many axes it leaves of so many."""
        parts = self.parts(index, origin)
        taken = left = 0
        gathered: int | None = None
        places = []
        integers = []
        for place, part in enumerate(parts):
            type_ = self.s.unit.type(part)
            value = part.value if isinstance(part, Const) else MISSING
            if value is None:
                left += 1
            elif value is Ellipsis:
                continue
            elif isinstance(value, slice) or isinstance(type_, t.SliceType):
                taken += 1
                left += 1
            elif isinstance(type_, t.Scalar) and type_.kind == "int":
                taken += 1
                integers.append(place)
            elif isinstance(type_, t.Array) and type_.kind in ("int", "bool"):
                mask = type_.kind == "bool"
                taken += type_.ndim if mask else 1
                gathered = max(gathered or 0, 1 if mask else type_.ndim)
                places.append(place)
            elif isinstance(type_, t.List) and isinstance(type_.item, t.Scalar):
                taken += 1
                gathered = max(gathered or 0, 1)
                places.append(place)
            else:
                raise NotBatchable
        if places:
            several = sorted([*places, *integers])
            if several[-1] - several[0] + 1 != len(several):
                raise NotBatchable  # NumPy moves the axes of separated index arrays to the front
        made: Atom
        if all(isinstance(part, Const) for part in parts):
            made = Const((WHOLE, *(part.value for part in parts)))  # type: ignore[union-attr]
        else:
            items = (Const(WHOLE), *parts)
            made = self.s.let(
                Pack("tuple", items), t.Tuple(tuple(map(self.s.unit.type, items))), "index", origin
            )
        return made, lambda rank: rank - taken + left + (gathered or 0)

    def value_for(self, value: Atom, rank: int, origin: Origin) -> Atom:
        """Return a value so that it can be stored in a part of ``rank`` axes."""
        if self.rank(value) > rank:
            raise NotBatchable
        return self.aligned(value, rank, origin)

    def update(self, rhs: Update, origin: Origin) -> Rhs:
        obj = self.expanded(rhs.obj, origin)
        assert isinstance(obj, Var)
        steps: list[Step] = []
        type_: t.Type = self.logical[obj]
        in_array = False
        for step in rhs.steps:
            if any(a in self.batched for a in step.atoms):
                raise NotBatchable
            in_array = isinstance(type_, t.Array)
            found, type_ = self.step(step, type_, origin)
            steps += found
        if isinstance(type_, t.Array) and (in_array or rhs.adds):
            value = self.value_for(rhs.value, type_.ndim, origin)
        else:
            value = self.expanded(rhs.value, origin)
        return replace(rhs, obj=obj, steps=tuple(steps), value=value)

    def step(self, step: Step, type_: t.Type, origin: Origin) -> tuple[list[Step], t.Type]:
        """Return what leads to a part of a value of many seeds, and the type of one seed's part."""
        if step.kind == "attr" and step.name == "T" and isinstance(type_, t.Array):
            axes = Const((0, *range(type_.ndim, 0, -1)))
            turned = Step("call", args=(axes,), function=np.transpose)
            return ([turned] if type_.ndim > 1 else []), type_
        if step.kind == "item" and isinstance(type_, t.Array):
            index, left = self.behind_seeds(step.args[0], origin)
            return [replace(step, args=(index,))], t.Array(type_.dtype, left(type_.ndim))
        if step.kind == "item" and isinstance(type_, t.List):
            return [step], type_.item
        raise NotBatchable

    # -- attributes and methods ----------------------------------------------------------------

    def attribute(self, obj: Atom, name: str) -> Rhs | Var:
        if not isinstance(obj, Var) or not self.is_array(obj):
            raise NotBatchable
        if isinstance(self.s.unit.type(obj), t.Array) and name in (
            *METHODS, *FLATTENING, "reshape", "conj"
        ):
            return Attribute(obj, name)
        if name in ("real", "imag"):
            return Attribute(obj, name)
        if name == "T" and self.rank(obj) < 2:
            return obj
        if name == "T":
            axes = (0, *range(self.rank(obj), 0, -1))
            return Call(Const(np.transpose), (obj, Const(axes)))
        if name == "mT":
            return Attribute(obj, name)
        raise NotBatchable

    def method(self, target: Var, rhs: Call, origin: Origin) -> Rhs | Var:
        made = self.written_as.get(rhs.func) or self.s.unit.definition(rhs.func)
        if not isinstance(made, Attribute):
            raise NotBatchable
        if made.name == "conj" and not rhs.args:
            return Call(Const(np.conj), (made.obj,))
        if made.name == "reshape" and not rhs.kwargs:
            args = rhs.args
            if len(args) == 1 and not isinstance(args[0], Star):
                return self.reshaped(made.obj, args[0], origin)
            return Call(rhs.func, (self.count(), *args))
        if made.name in FLATTENING and not rhs.args and not rhs.kwargs:
            flat = self.reshaped(made.obj, Const(-1), origin)
            if made.name == "ravel":
                return flat
            return Call(Const(np.copy), (self.s.let(flat, lifted(self.s.unit.type(target)),
                                                    "flat", origin),))
        function = METHODS.get(made.name)
        if function is None:
            raise NotBatchable
        whole = Call(Const(function), (made.obj, *rhs.args), rhs.kwargs)
        return self.call(target, function, whole, origin)

    # -- calls ---------------------------------------------------------------------------------

    def call(self, target: Var, function: Any, rhs: Call, origin: Origin) -> Rhs | Var:
        args = rhs.args
        plain = not rhs.kwargs and not any(isinstance(arg, Star) for arg in args)
        if plain and (is_elementwise(function) or function in OPERATORS):
            return self.elementwise(target, function, list(args), origin)
        if plain and function in (float, complex) and len(args) == 1 and self.is_array(args[0]):
            if self.rank(args[0]):
                raise NotBatchable
            number = args[0]
            assert isinstance(number, Var)
            kind = "float64" if function is float else "complex128"
            if getattr(self.s.unit.type(number), "dtype", None) == kind:
                return number
            return Call(Const(np.asarray), (number, Const(function)))
        if plain and function in SAME and len(args) == 1 and (
            self.is_array(args[0]) or function is zeros_like
        ):
            return rhs
        if plain and function in (np.array, np.asarray) and len(args) == 1:
            return self.of_items(args[0], rhs, origin)
        if plain and function is add:
            if self.differ_in_rank(args):
                raise NotBatchable
            return rhs
        if plain and function is add_at:
            return self.add_at(args, origin)
        if plain and function is unbroadcast:
            return Call(Const(unbroadcast_each), args)
        if plain and function is project:
            return Call(Const(project_each), args)
        if plain and function is as_gradient:
            return Call(Const(as_gradient_each), (*args, self.count()))
        if plain and function in (operator.matmul, np.matmul) and (
            found := self.matmul(args, origin)
        ) is not None:
            return found
        if plain and function in SEQUENCES:
            return Call(rhs.func, tuple(self.in_order(a, origin) for a in args))
        if plain and function is append:
            return Call(rhs.func, (self.expanded(args[0], origin), self.expanded(args[1], origin)))
        if plain and function is drop_last:
            return rhs
        if plain and function is np.reshape and len(args) == 2:
            return self.reshaped(args[0], args[1], origin)
        if plain and function is np.ravel and len(args) == 1:
            return self.reshaped(args[0], Const(-1), origin)
        if function in JOINING and (found := self.joined(function, rhs, origin)) is not None:
            return found
        if plain and function is np.full_like and self.is_array(args[0]) and (
            len(args) == 2 and args[1] not in self.batched and self.rank(args[1]) == 0
        ):
            return rhs
        if plain and function is np.outer and len(args) == 2 and (
            self.rank(args[0]) == self.rank(args[1]) == 1
        ):
            return self.outer(args[0], args[1], origin)
        if is_solver(function) and (
            found := self.solved(rhs, origin)
        ) is not None:
            return found
        if function in ALONG_AXIS and (found := self.along_axis(function, rhs)) is not None:
            return found
        return self.one_by_one(target, rhs, origin)

    def elementwise(self, target: Var, function: Any, args: list[Any], origin: Origin) -> Rhs:
        rank = max(self.rank(a) for a in args)
        if t.is_number(self.logical[target]) and rank != self.rank(target):
            raise NotBatchable  # some type is wrong; one seed by itself needs none
        return Call(Const(function), tuple(self.aligned(a, rank, origin) for a in args))

    def add_at(self, args: tuple[Any, ...], origin: Origin) -> Rhs:
        buffer = self.expanded(args[0], origin)
        assert isinstance(buffer, Var)
        type_ = self.logical[buffer]
        if isinstance(type_, t.Array):
            index, left = self.behind_seeds(args[1], origin)
            value = self.value_for(args[2], left(type_.ndim), origin)
            return Call(Const(add_at), (buffer, index, value))
        if isinstance(type_, (t.List, t.Tuple)):
            return Call(Const(add_at), (buffer, args[1], self.expanded(args[2], origin)))
        raise NotBatchable

    def matmul(self, args: tuple[Any, ...], origin: Origin) -> Rhs | None:
        a, b = args
        if isinstance(a, Star) or isinstance(b, Star):
            return None
        if a in self.batched and b in self.batched:
            return None
        first, second = self.rank(a), self.rank(b)
        if a in self.batched:
            if second > 2 and first != second:
                return None
            return Call(Const(operator.matmul), (a, b))
        if second == 1:
            if first > 2:
                return None
            made = self.written_as.get(a)
            if first == 2 and isinstance(made, Attribute) and made.name == "T":
                a = made.obj
            elif first == 2:
                dtype = getattr(self.s.unit.type(a), "dtype", "float64")
                a = self.s.let(Attribute(a, "T"), t.Array(dtype, 2), "turned", origin)
            return Call(Const(operator.matmul), (b, a))
        return None if first > 2 and first != second else Call(Const(operator.matmul), (a, b))

    def outer(self, a: Any, b: Any, origin: Origin) -> Rhs:
        """Return the outer products of vectors, of which one or both have a leading axis."""
        dtype = getattr(self.s.unit.type(a), "dtype", "float64")
        standing = Item(a, Const((Ellipsis, None)))
        if a in self.batched:
            column: Atom = self.write(standing, t.Array(dtype, 2), "column", origin)
        else:
            column = self.s.let(standing, t.Array(dtype, 2), "column", origin)
        return Call(Const(operator.mul), (column, self.aligned(b, 2, origin)))

    def solved(self, rhs: Call, origin: Origin) -> Rhs | None:
        """Return the solutions for vectors of many seeds, as columns of one right-hand side."""
        if len(rhs.args) != 2 or any(isinstance(a, Star) for a in rhs.args):
            return None
        matrix, right = rhs.args
        if matrix in self.batched or not isinstance(right, Var) or (
            not isinstance(self.s.unit.type(right), t.Array) or self.rank(right) != 1
        ):
            return None
        type_ = self.s.unit.type(right)
        columns = self.s.let(Attribute(right, "T"), type_, "columns", origin)
        call = replace(rhs, args=(matrix, columns))
        return Attribute(self.s.let(call, type_, "solved", origin), "T")

    def in_order(self, atom: Any, origin: Origin) -> Any:
        """Return what a loop runs over: for an array its rows, each with all seeds."""
        if isinstance(atom, Star):
            raise NotBatchable
        if atom in self.batched and isinstance(self.logical[atom], t.Array):
            made = Call(Const(np.swapaxes), (atom, Const(0), Const(1)))
            rows = self.s.let(made, self.s.unit.type(atom), "rows", origin)
            if self.rank(atom) > 1 or not self.writes:
                return rows
            copied = Call(Const(np.copy), (rows,))
            return self.s.let(copied, self.s.unit.type(atom), "rows", origin)
        if atom in self.batched and not self.is_container(atom):
            match self.s.unit.definition(atom):
                case Call(Const(function)) if function in SEQUENCES:
                    return atom  # made of what is in order
            raise NotBatchable
        return atom

    def reshaped(self, x: Any, shape: Any, origin: Origin) -> Rhs:
        if not self.is_array(x) or shape in self.batched:
            raise NotBatchable
        type_ = self.s.unit.type(shape)
        if isinstance(shape, Const) and isinstance(shape.value, int):
            behind: Any = (shape.value,)
        elif isinstance(shape, Const) and isinstance(shape.value, tuple):
            behind = shape.value
        elif isinstance(type_, t.Scalar):
            made = Pack("tuple", (self.count(), shape))
            whole = self.s.let(made, t.Tuple((t.INT, type_)), "shape", origin)
            return Call(Const(np.reshape), (x, whole))
        else:
            front = self.s.let(Pack("tuple", (self.count(),)), t.Tuple((t.INT,)), "front", origin)
            made_shape = Call(Const(operator.add), (front, shape))
            return Call(
                Const(np.reshape), (x, self.s.let(made_shape, t.UNKNOWN, "shape", origin))
            )
        items: tuple[Atom, ...] = (self.count(), *map(Const, behind))
        whole = self.s.let(Pack("tuple", items), t.Tuple((t.INT,) * len(items)), "shape", origin)
        return Call(Const(np.reshape), (x, whole))

    def of_items(self, items: Any, rhs: Call, origin: Origin) -> Rhs:
        """Return the array of a list of values of many seeds."""
        depth, type_ = 0, self.logical[items]
        while isinstance(type_, t.List):
            depth, type_ = depth + 1, type_.item
        if not isinstance(type_, (t.Scalar, t.Array)) or not carries(type_):
            raise NotBatchable
        inside = self.s.let(rhs, t.UNKNOWN, "items", origin)
        return Call(Const(np.moveaxis), (inside, Const(depth), Const(0)))

    def joined(self, function: Any, rhs: Call, origin: Origin) -> Rhs | None:
        """Return a concatenation behind the leading axis; None if it is not of known arrays."""
        items, *rest = rhs.args
        named = dict(rhs.kwargs)
        axis = rest[0] if rest else named.get("axis", Const(0))
        parts = None if isinstance(items, Star) else self.s.unit.elements(items)
        if parts is None or len(rest) > 1 or set(named) - {"axis"} or not (
            isinstance(axis, Const) and isinstance(axis.value, int)
        ):
            return None
        arrays = tuple(self.as_array(self.expanded(part, origin), origin) for part in parts)
        if not all(map(self.is_array, arrays)):
            return None
        packed = Pack("tuple", arrays)
        types = t.Tuple(tuple(map(self.s.unit.type, arrays)))
        behind = Const(axis.value + 1 if axis.value >= 0 else axis.value)
        return Call(Const(function), (self.s.let(packed, types, "parts", origin), behind))

    def as_array(self, atom: Atom, origin: Origin) -> Atom:
        """Return a list of floats, for many seeds, as an array; anything else as it is."""
        type_ = self.logical.get(atom) if isinstance(atom, Var) else None
        if not isinstance(type_, t.List) or not isinstance(type_.item, t.Scalar) or (
            type_.item.kind != "float"
        ):
            return atom
        made = self.of_items(atom, Call(Const(np.array), (atom,)), origin)
        return self.write(made, t.Array(type_.item.dtype or "float64", 1), "items", origin)

    def along_axis(self, function: Any, rhs: Call) -> Rhs | None:
        """Return a call with its axes counted behind the leading one; None if they are not known.
        """
        x, *rest = rhs.args
        named = dict(rhs.kwargs)
        position = 2 if function in (np.roll, np.diff) else 1
        if not self.is_array(x) or any(isinstance(a, Star) or a in self.batched for a in rest):
            return None
        given = rest[position - 1] if len(rest) >= position else named.get("axis")
        if given is None:
            given = Const(-1) if function is np.diff else NONE
        if not isinstance(given, Const) or set(named) - {"axis", "keepdims"} or (
            len(rest) > position
        ):
            return None
        axis = given.value
        if axis is None and self.rank(x) == 1 and function in IN_ORDER:
            axis = 1
        elif axis is None:
            if function not in ON_ALL_AXES:
                return None
            axis = tuple(range(1, self.rank(x) + 1))
        elif isinstance(axis, tuple):
            axis = tuple(a + 1 if a >= 0 else a for a in axis)
        elif isinstance(axis, int):
            axis = axis + 1 if axis >= 0 else axis
        else:
            return None
        named["axis"] = Const(axis)
        return Call(Const(function), (x, *rest[: position - 1]), tuple(named.items()))

    def one_by_one(self, target: Var, rhs: Call, origin: Origin) -> Rhs:
        """Return the results of a call for each seed, put together."""
        if not self.purity.is_pure(rhs) or not isinstance(rhs.func, Const) or (
            rhs.func.value in CHECKS or getattr(rhs.func.value, "primal_name", None) is not None
        ):
            raise NotBatchable
        s = self.s
        seeds = s.let(Call(Const(range), (self.count(),)), t.Range(), "range", origin)
        i = Var("i", False)
        s.unit.types[i] = t.INT
        with s.writing_to([]) as out:
            changed: dict[Var, Atom] = {}
            for atom in operands(rhs):
                if isinstance(atom, Var) and atom in self.batched and atom not in changed:
                    read: Rhs = Item(atom, i)
                    if not self.is_array(atom):
                        read = Call(Const(seed_of), (atom, i))
                    changed[atom] = s.let(read, self.logical[atom], atom.name, origin)
            result = s.let(substitute(rhs, changed), self.logical[target], target.name, origin)
        found = Var("each")
        s.unit.types[found] = t.List(self.logical[target])
        s.out.append(Loop(
            (i,), (seeds,), None, (), (), Block(tuple(out), (result,)), (), origin, (found,)
        ))
        return Call(Const(stacked), (found,))


MISSING = object()


def is_elementwise(function: Any) -> bool:
    """Say whether a function is a ufunc that works on each element by itself."""
    return isinstance(function, np.ufunc) and function.signature is None and function.nout == 1


def is_solver(function: Any) -> bool:
    """Say whether a function solves linear systems for the columns of its second argument."""
    home = (getattr(function, "__module__", None) or "").split("._")[0]
    return function is np.linalg.solve or (
        home == "scipy.linalg" and getattr(function, "__name__", "") == "lu_solve"
    )


def may_be_written(var: Var, block: Block) -> bool:
    """Say whether the storage of ``var`` may be written into, as far as is clear at a glance."""
    for statement in walk(block):
        match statement:
            case Let(_, rhs) if written_operand(rhs) is var:
                return True
            case Loop(inits=values) if var in (*values, *statement.next_values()):
                return True
            case If(then=then, orelse=orelse) if var in (*then.yields, *orelse.yields):
                return True
            case Let(_, rhs) if var in operands(rhs) and isinstance(rhs, (Attribute, Pack)):
                return True
    return False


def carries(type_: t.Type) -> bool:
    """Say whether values of this type can carry a derivative."""
    match type_:
        case t.Scalar(kind):
            return kind in ("float", "complex")
        case t.Array():
            return type_.kind in ("float", "complex")
    return isinstance(type_, (t.List, t.Tuple, t.Dict, t.Unknown, t.Object, t.Method))


def lifted(type_: t.Type) -> t.Type:
    """Return the type of the values of many seeds, from that of one."""
    match type_:
        case t.Scalar(kind, dtype):
            return t.Array(dtype or {"complex": "complex128"}.get(kind, "float64"), 1)
        case t.Array(dtype, ndim):
            return t.Array(dtype, ndim + 1)
        case t.List(item):
            return t.List(lifted(item))
        case t.Tuple(items, cls):
            return t.Tuple(tuple(map(lifted, items)), cls)
        case t.Dict(keys, items):
            return t.Dict(keys, tuple(map(lifted, items)))
        case t.Object(cls, fields):
            return t.Object(cls, tuple((name, lifted(field)) for name, field in fields))
    return type_


def batched_block(
    s: Writer, block: Block, seeded: Sequence[Var], wanted: Sequence[int], origin: Origin,
    before: Sequence[Statement] = (),
) -> Block:
    """Return derivative code for many seeds, which ``seeded`` hold.

    The yields at ``wanted`` have the leading axis for sure. ``before`` is what runs before it,
    of which it may read anything. Raises NotBatchable.
    """
    return Batcher(s, seeded, origin, before).run(block, wanted)


__all__ = ["NotBatchable", "batched_block"]
