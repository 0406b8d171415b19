"""A pushforward in two parts: the primal, run once, and the linear map of tangents.

What depends on no tangent goes into the first part, in the order that it had; the rest is the
second part, which reads what the first one saves. Of a loop or branch either part gets one of the
same kind: a branch saves its condition, a loop a list of what its iterations computed. Storage that
the primal goes on to write into is saved as a copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from adcompiler.analyses.purity import Purity
from adcompiler.analyses.storage import is_mutable, written_operand
from adcompiler.derive.forward.forwarder import push
from adcompiler.derive.forward.tangents import Tangents
from adcompiler.derive.masking import masked
from adcompiler.derive.primal_and_pullback import Pushes, as_added
from adcompiler.ir import types as t
from adcompiler.ir.dataflow import Flow
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Block, Const, Do, Function, If, Item, Let, Loop, Origin, Pack,
    Param, Region, Rhs, Slice, Statement, Try, Var, With, operands,
)
from adcompiler.ir.visit import defined, definitions, free_variables, substitute_block, walk
from adcompiler.optimise.dead_code import dead_code
from adcompiler.products.finish import own_arrays
from adcompiler.products.ownership import (
    copied, given_back, owned_residuals, shared_storage, storage_of,
)
from adcompiler.products.pair import effects_of
from adcompiler.products.product import Product, plain_functions
from adcompiler.products.pushforward import dual_parameter, finished_dot, tidied
from adcompiler.products.specialised import Typed, all_params
from adcompiler.infer.calls.callees import unique_name
from adcompiler.infer.inference import Inference
from adcompiler.typed.builder import Builder
from adcompiler.typed.unit import Unit


class NotSplittable(Exception):
    """A pushforward whose tangents cannot be computed after the whole primal has run."""


def linearization(unit: Unit, typed: Typed) -> Product:
    """Return the primal that saves what the tangents read, and the function of the tangents.

    Raises NotSplittable where tangents are computed inside of ``with`` or ``try``.
    """
    s = Inference(unit)
    name, origin = typed.function.name, typed.origin
    for callee in unit.calls.callees.values():
        if callee.name == name:
            callee.name = unique_name(unit, f"{name}_recursive")
    effects = effects_of(unit, typed)
    back = () if effects == "by call" else given_back(unit, typed)
    duals = {var: dual_parameter(unit, var) for var in typed.inputs}
    pushes: Pushes = {}
    body = Block((*typed.statements, *back), (typed.value,))
    pushed = push(s, body, duals, typed.value, pushes, apart=True)
    statements = [*typed.entry, *pushed.statements]
    with s.writing_to(statements):
        y_dot = finished_dot(s, pushed, origin)
    block = tidied(Block(tuple(statements), (pushed.value, y_dot)), unit)
    block = masked(unit, block, duals.values(), duals)
    primal = Function(f"{name}_linearized", all_params(unit, typed), block, origin)
    *both, residuals = two_functions(s, primal, list(duals.values()), f"{name}_tangent", own=True)
    docs = {
        both[0].name: f"Return the value of `{name}` and what its tangents need.",
        both[1].name: f"Return the derivative of the value of `{name}` along "
        f"{', '.join(var.name for var in duals.values()) or 'nothing'}.",
    }
    functions = [*both, *called_functions(unit, pushes)]
    return Product(
        [*functions, *plain_functions(functions)], docs, residuals,
        tuple(f.name for f in functions), effects,
    )


def called_functions(unit: Unit, pushes: Pushes) -> list[Function]:
    """Return the two functions of each function that is called, and of those that these call."""
    functions: list[Function] = []
    for one in as_added(pushes):
        callee = one.callee.function
        assert callee is not None
        if callee.body.diverges:
            raise NotSplittable
        s = Inference(unit)
        duals = {
            p.var: dual_parameter(unit, p.var)
            for p, active in zip(callee.params, one.active, strict=True) if active
        }
        (output,) = callee.body.yields
        pushed = push(s, callee.body, duals, output, pushes, apart=True)
        statements = list(pushed.statements)
        with s.writing_to(statements):
            y_dot = pushed.dot or Tangents(s).zero_of(pushed.value, callee.origin)
        block = tidied(Block(tuple(statements), (pushed.value, y_dot)), unit)
        block = masked(unit, block, duals.values(), duals)
        primal = replace(callee, name=one.linearized.name, body=block)
        first, second, _ = two_functions(
            s, primal, list(duals.values()), one.tangent.name, own=False
        )
        functions += [first, second]
    return functions


def two_functions(
    s: Builder, whole: Function, duals: list[Var], name: str, own: bool
) -> tuple[Function, Function, list[str]]:
    """Return a pushforward in two parts, and the names of what the first saves for the second.

    ``whole`` yields the value and its tangent; the second function is called ``name``. ``own``
    says that the user gets what they return, and may change it.
    """
    unit, origin = s.unit, whole.origin
    first, rest = Splitter(s, whole.body, duals, origin).parts()
    (value,) = first.yields
    primal = replace(whole, body=first)
    made = definitions(first) | {p.var for p in primal.params}
    saved = [v for v in free_variables(rest) if v in made]
    forward = list(first.statements)
    saved, rest = owned_residuals(s, saved, forward, rest, primal, value, not own)
    if own:
        rest = own_arrays(rest, unit, {*made, *saved, *duals}, origin)
    with s.writing_to(forward):
        packed = s.let(Pack("tuple", tuple(saved)), t.UNKNOWN, "saved", origin)
    residuals = Var("residuals", False)
    unit.types[residuals] = t.UNKNOWN
    unit.naming.opened[residuals] = len(saved)
    opened = [Let(v, Item(residuals, Const(i)), origin) for i, v in enumerate(saved)]
    purity = Purity(unit.type, unit.definition)
    body = dead_code(Block(tuple(forward), (value, packed)), purity)
    tangent = Function(
        name, (Param(residuals, 1), *(Param(var, 1) for var in duals)),
        replace(rest, statements=(*opened, *rest.statements)), origin,
    )
    return replace(primal, body=body), tangent, [unit.naming.names.get(v, v.name) for v in saved]


class Splitter:
    """Parts the statements of a pushforward by whether they depend on the tangents ``duals``."""

    def __init__(
        self, s: Builder, block: Block, duals: Iterable[Var], origin: Origin
    ) -> None:
        self.s = s
        self.origin = origin
        self.block = block
        self.purity = Purity(s.unit.type, s.unit.definition)
        self.duals = frozenset(duals)
        self.late: set[Atom] = set(self.duals)
        self.shared = shared_storage(block, s.unit)
        self.made = definitions(block)
        self.mark()
        self.early_writes = {
            root for statement in walk(block)
            if isinstance(statement, Let) and statement.target not in self.late
            and (old := written_operand(statement.rhs)) is not None
            for root in storage_of(old, self.shared)
        }

    def parts(self) -> tuple[Block, Block]:
        """Return the part that yields the value, and the part that yields its tangent."""
        value, y_dot = self.block.yields
        if value in self.late:
            raise NotSplittable
        early, late = self.split(self.block.statements)
        rest = self.tidy(late, [y_dot])
        made = [v for st in early for v in defined(st)]
        copies = self.kept_apart(self.needed_inside(made, rest), early, self.origin)
        return Block(tuple(early), (value,)), substitute_block(rest, copies)

    # -- what depends on tangents --------------------------------------------------------------

    def mark(self) -> None:
        """Find what depends on tangents, or is written into with them."""
        flow = Flow()
        for statement in walk(self.block):
            if isinstance(statement, Let):
                flow.add(statement.target, operands(statement.rhs))
                old = written_operand(statement.rhs)
                for atom in () if old is None else storage_of(old, self.shared):
                    if isinstance(atom, Var) and is_mutable(self.s.unit.type(atom)):
                        flow.add(atom, (statement.target,))
            elif isinstance(statement, Region):
                flow.steps += [edge[:2] for edge in statement.edges()]
        self.late = flow.forward(self.duals)
        if self.late - self.duals - self.made:  # storage of others that tangents are written into
            raise NotSplittable
        for statement in walk(self.block):
            if isinstance(statement, Loop):
                if statement.stop() in self.late:
                    raise NotSplittable
            elif isinstance(statement, Region) and any(
                atom in self.late for atom in statement.decides()
            ):
                raise NotSplittable

    # -- parting -------------------------------------------------------------------------------

    def split(self, statements: Iterable[Statement]) -> tuple[list[Statement], list[Statement]]:
        """Return statements in two parts."""
        early: list[Statement] = []
        late: list[Statement] = []
        for statement in statements:
            match statement:
                case Let(target, rhs):
                    (late if target in self.late else early).append(statement)
                    if target not in self.late and self.is_cheap(target, rhs):
                        late.append(statement)
                case Do(rhs):
                    has_late = any(atom in self.late for atom in operands(rhs))
                    (late if has_late else early).append(statement)
                case If() if self.has_late(statement):
                    self.branch(statement, early, late)
                case Loop() if self.has_late(statement):
                    self.loop(statement, early, late)
                case With() | Try() if self.has_late(statement):
                    raise NotSplittable
                case _:
                    early.append(statement)
        return early, late

    def is_cheap(self, target: Var, rhs: Rhs) -> bool:
        """Say whether the second part makes a value again: a subscript of several parts, a method.

        A method holds the value that it belongs to, which is what has to be saved.
        """
        return isinstance(rhs, (Pack, Slice)) and not is_mutable(self.s.unit.type(target))

    def has_late(self, statement: Statement) -> bool:
        """Say whether something in a region depends on tangents."""
        inside = Block((statement,))
        return any(var in self.late for var in definitions(inside)) or any(
            isinstance(inner, Do) and any(a in self.late for a in operands(inner.rhs))
            for inner in walk(inside)
        )

    def tidy(self, statements: Sequence[Statement], yields: Sequence[Atom]) -> Block:
        """Return a block of the second part without what nothing reads."""
        return dead_code(Block(tuple(statements), tuple(yields)), self.purity)

    def kept_apart(
        self, needed: Sequence[Var], early: list[Statement], origin: Origin
    ) -> dict[Var, Atom]:
        """Write copies of those values whose storage is written into later on; return these."""
        copies: dict[Var, Atom] = {}
        for var in needed:
            if not is_mutable(self.s.unit.type(var)) or not (
                storage_of(var, self.shared) & self.early_writes
            ):
                continue
            place = next(
                (i + 1 for i, st in enumerate(early) if var in defined(st)), 0
            )
            near = getattr(early[place - 1], "origin", None) if place else None
            with self.s.writing_to([]) as out:
                copies[var] = copied(self.s, var, near or origin)
            early[place:place] = out
        return copies

    def needed_inside(self, made: Iterable[Var], second: Block) -> list[Var]:
        """Return what the second part of a region reads of values made in the first."""
        inside = set(made)
        needed = [v for v in free_variables(second) if v in inside]
        if any(isinstance(self.s.unit.type(v), (t.Method, t.FunctionType)) for v in needed):
            raise NotSplittable  # what they hold may change
        return needed

    def saved_var(self, var: Var, type_: t.Type, name: str) -> Var:
        """Return a new variable for what a region saves of ``var``."""
        saved = Var(name, False)
        self.s.copy_facts(var, saved)
        self.s.unit.defs.pop(saved, None)
        self.s.unit.types[saved] = type_
        return saved

    def branch(self, node: If, early: list[Statement], late: list[Statement]) -> None:
        """Part a branch: both parts are branches on one condition."""
        here = [i for i, result in enumerate(node.results) if result not in self.late]
        there = [i for i, result in enumerate(node.results) if result in self.late]
        results = [node.results[i] for i in here]
        firsts: list[tuple[list[Statement], list[Atom]]] = []
        seconds: list[Block] = []
        arms = (node.then, node.orelse)
        saved: list[list[tuple[Var, Atom]]] = []
        for arm in arms:
            first, second = self.split(arm.statements)
            if arm.diverges:
                firsts.append((first, [arm.yields[i] for i in here] if arm.yields else []))
                seconds.append(Block((), (UNDEF,) * len(there), True))
                saved.append([])
                continue
            rest = self.tidy(second, [arm.yields[i] for i in there])
            needed = self.needed_inside([v for st in first for v in defined(st)], rest)
            copies = self.kept_apart(needed, first, node.origin)
            fresh = {v: self.saved_var(v, self.s.unit.type(v), v.name) for v in needed}
            saved.append([(fresh[v], copies.get(v, v)) for v in needed])
            firsts.append((first, [arm.yields[i] for i in here]))
            seconds.append(substitute_block(rest, dict(fresh)))
        for side, pairs in enumerate(saved):
            for var, atom in pairs:
                results.append(var)
                firsts[side][1].append(atom)
                other = arms[1 - side]
                firsts[1 - side][1].append(UNDEF if other.diverges else NONE)
        then, orelse = (
            Block(tuple(out), tuple(yields), arm.diverges)
            for (out, yields), arm in zip(firsts, arms, strict=True)
        )
        early.append(If(node.condition, then, orelse, tuple(results), node.origin))
        late.append(If(
            node.condition, seconds[0], seconds[1], tuple(node.results[i] for i in there),
            node.origin,
        ))

    def loop(self, node: Loop, early: list[Statement], late: list[Statement]) -> None:
        """Part a loop: the second one runs over what the iterations of the first saved."""
        if node.condition is not None and any(
            v in self.late for v in definitions(node.condition)
        ):
            raise NotSplittable
        if node.body.diverges:
            raise NotSplittable
        first, second = self.split(node.body.statements)
        here, there = parted(self.late, node.params, node.inits, node.next_values(), node.results)
        collected = list(zip(node.collects, node.collected(), strict=True))
        early_lists = [(c, a) for c, a in collected if c not in self.late]
        late_lists = [(c, a) for c, a in collected if c in self.late]
        items, late_items = parted(self.late, node.items, node.iterables)
        late_yields = [*(row[2] for row in there), *(a for _, a in late_lists)]
        made = [*(row[0] for row in items), *(row[0] for row in here),
                *(v for st in first for v in defined(st))]
        rest = self.tidy(second, late_yields)
        needed = self.needed_inside(made, rest)
        copies = self.kept_apart(needed, first, node.origin)
        entry, taken, tape = self.tape([copies.get(v, v) for v in needed], needed, first, node)
        stop = node.stop()
        early.append(replace(
            node, items=tuple(row[0] for row in items), iterables=tuple(row[1] for row in items),
            params=tuple(row[0] for row in here), inits=tuple(row[1] for row in here),
            body=Block(tuple(first), (
                *(row[2] for row in here), *(a for _, a in early_lists), taken[0],
                *(() if stop is None else (stop,)),
            )),
            results=tuple(row[3] for row in here),
            collects=(*(c for c, _ in early_lists), tape),
        ))
        body = substitute_block(rest, dict(taken[1]))
        late.append(Loop(
            (entry, *(row[0] for row in late_items)), (tape, *(row[1] for row in late_items)), None,
            tuple(row[0] for row in there), tuple(row[1] for row in there),
            replace(body, statements=(*taken[2], *body.statements)),
            tuple(row[3] for row in there), node.origin, tuple(c for c, _ in late_lists),
        ))

    def tape(
        self, values: list[Atom], needed: list[Var], first: list[Statement], node: Loop
    ) -> tuple[Var, tuple[Atom, dict[Var, Atom], list[Statement]], Var]:
        """Write what an iteration saves: one value, or a tuple of several.

        Returns what the second loop calls an entry; what is appended, how the second body calls
        its parts, and the statements that take these out; and the list.
        """
        unit, origin = self.s.unit, node.origin
        if len(values) == 1 and isinstance(values[0], Var):
            type_ = unit.type(values[0])
            entry = self.saved_var(needed[0], type_, needed[0].name)
            tape = Var(f"{needed[0].name}_tape", False)
            unit.types[tape] = t.List(type_)
            return entry, (values[0], {needed[0]: entry}, []), tape
        tape = Var("tape", False)
        if not values:  # how many iterations there were
            entry = Var("_", False)
            unit.types[entry], unit.types[tape] = t.INT, t.List(t.INT)
            return entry, (Const(0), {}, []), tape
        whole = t.Tuple(tuple(map(unit.type, values)))
        with self.s.writing_to(first):
            pair = self.s.let(Pack("tuple", tuple(values)), whole, "saved", origin)
        entry = Var("saved", True)
        unit.types[entry], unit.types[tape] = whole, t.List(whole)
        unit.naming.opened[entry] = len(values)
        mapping: dict[Var, Atom] = {}
        opened: list[Statement] = []
        for i, var in enumerate(needed):
            part = self.saved_var(var, whole.items[i], var.name)
            rhs = Item(entry, Const(i))
            unit.defs[part] = rhs
            opened.append(Let(part, rhs, origin))
            mapping[var] = part
        return entry, (pair, mapping, opened), tape


def parted(late: set[Atom], variables: Sequence[Var], *rows: Sequence[Any]) -> Any:
    """Return rows of a table that begin with variables, apart by whether these are late."""
    whole = list(zip(variables, *rows, strict=True))
    return [row for row in whole if row[0] not in late], [row for row in whole if row[0] in late]


__all__ = ["NotSplittable", "linearization"]
