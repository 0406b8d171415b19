"""Pattern programs: IR as a function that computes with what values depend on.

What does not depend on the inputs is computed as the program itself does it. Everything else goes
through the methods of a ``Run``, or of the lanes of a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from adcompiler.analyses.purity import Purity, checks
from adcompiler.ir.evaluate import DOMAIN, Code, Evaluator, Frame
from adcompiler.ir.nodes import (
    Atom, Attribute, Call, Const, Do, Function, If, Item, Let, Loop, Origin, Rhs, Star, Statement,
    Update, Var, operands,
)
from adcompiler.ir.visit import bound_inside, defined, walk
from adcompiler.ops.registry import hashable
from adcompiler.optimise.common_subexpressions import common_subexpressions
from adcompiler.optimise.dead_code import dead_code
from adcompiler.runtime.containers import cell_value
from adcompiler.sparsity.interpreter.generic import Origins
from adcompiler.sparsity.interpreter.table import ALWAYS, may_vary
from adcompiler.sparsity.interpreter.taint import tainted_variables
from adcompiler.sparsity.interpreter.varying import is_harmless
from adcompiler.support.structs import dataclass
from adcompiler.typed.callee import Callee
from adcompiler.typed.unit import Unit


@dataclass(eq=False)
class Program:
    """A function as a pattern program: ``entry`` takes a run, then the function's arguments.

    ``function`` is what is run, ``tainted`` the variables that may depend on the inputs; ``values``
    are its constants of which more is done than to read what they hold.
    """

    entry: Callable[..., Any]
    function: Function
    tainted: frozenset[Var]
    values: Sequence[Any]


class PatternEvaluator(Evaluator):
    """Makes closures on a run; ``in_lanes`` those of the body of a loop in lanes."""

    def __init__(
        self, tainted: frozenset[Var], detached: frozenset[Var], purity: Purity, sources: Origins
    ) -> None:
        super().__init__()
        self.tainted = tainted
        self.detached = detached
        self.purity = purity
        self.sources = sources
        self.in_lanes = False
        self.relied: dict[int, Any] = {}

    def place(self, atom: Atom) -> Var | int:
        if isinstance(atom, Const):
            self.relied[id(atom.value)] = atom.value
        return super().place(atom)

    def is_tainted(self, *atoms: Atom | Star) -> bool:
        return not self.tainted.isdisjoint(
            atom.atom if isinstance(atom, Star) else atom for atom in atoms)

    def statement(self, statement: Statement) -> tuple[Var | None, Code, Origin | None]:
        target, code, origin = super().statement(statement)
        if target in self.detached and isinstance(statement, Let) and not (
            isinstance(statement.rhs, Update)  # of storage that was there before
        ):
            code = partial(detached, code)
        looked = self.sources.looked(statement)
        return target, partial(looking, looked, code) if looked else code, origin

    # -- loops -----------------------------------------------------------------------------------

    def loop(self, node: Loop) -> Code:
        """Make a loop run with all its iterations at once, where that is worth a try."""
        one_by_one = super().loop(node)
        if self.in_lanes or not self.runs_in_lanes(node):
            return one_by_one
        before = self.tainted
        self.tainted, self.in_lanes = before | defined_in(node), True
        body = self.iteration(node)
        self.tainted, self.in_lanes = before, False
        iterables, inits = self.values(node.iterables), self.values(node.inits)
        results, count = (*node.results, *node.collects), len(node.params)

        def run(f: Frame) -> None:
            found = f[DOMAIN].in_lanes(
                iterables(f), inits(f), lambda lanes, *values: body({**f, DOMAIN: lanes}, *values),
                count, node)
            if found is None:
                one_by_one(f)
            else:
                f.update(zip(results, found, strict=True))

        return run

    def runs_in_lanes(self, node: Loop) -> bool:
        """Say whether it is worth while to try a loop with all iterations at once."""
        inside = list(walk(node.body))
        return all(self.fits_lanes(statement) for statement in (node, *inside)) and any(
            isinstance(statement, Let) and self.is_tainted(*operands(statement.rhs))
            for statement in inside
        )

    def fits_lanes(self, statement: Statement) -> bool:
        """Say whether a statement does nothing but compute, choose, repeat, and write arrays."""
        match statement:
            case Let(_, rhs):
                return isinstance(rhs, Update) or (self.purity.is_pure(rhs) and not (
                    isinstance(rhs, Call) and (
                        not isinstance(rhs.func, Const) or rhs.func.value in STATEFUL)))
            case Do(rhs):
                return checks(rhs)
            case Loop():
                return statement.condition is None and not statement.stops and bool(
                    statement.iterables) and not statement.body.diverges
        return isinstance(statement, If)

    # -- right-hand sides ------------------------------------------------------------------------

    def rhs(self, rhs: Rhs) -> Code:
        through = self.is_tainted(*operands(rhs))
        match rhs:
            case Call():
                return self.call(rhs, through)
            case Item(obj, index) if not through:
                whole, place = self.place(obj), self.place(index)
                return lambda f: f[whole][f[place]]
            case Attribute(Const(owner), name) if not through:
                return lambda f: f[DOMAIN].read_attribute(owner, name)
            case Attribute(obj, name) if not through:
                place = self.place(obj)
                return lambda f: getattr(f[place], name)
        return super().rhs(rhs)

    def call(self, rhs: Call, through: bool) -> Code:
        """Return what calls a function: itself, where nothing depends on the inputs."""
        function: Any = rhs.func.value if isinstance(rhs.func, Const) else None
        if function is cell_value:
            owner, index = rhs.args
            held = self.values((index,))
            if isinstance(owner, Const):
                return lambda f: f[DOMAIN].read_cell(owner.value, *held(f))
            both = self.values(rhs.args)
            return lambda f: f[DOMAIN].read_cell(*both(f))
        given = self.values(rhs.args)
        if isinstance(function, Callee):
            return lambda f: f[DOMAIN].callee(function, given(f))
        if not isinstance(rhs.func, Const):
            return super().rhs(rhs)
        self.place(rhs.func)
        named = self.named(rhs.kwargs)
        origins = self.sources.of(*rhs.args, *(atom for _, atom in rhs.kwargs))
        if origins:
            return lambda f: f[DOMAIN].at_generic(function, given(f), named(f), origins)
        if through or (hashable(function) and function in ALWAYS):
            return lambda f: f[DOMAIN].call(function, given(f), named(f))
        if may_vary(function):
            return lambda f: f[DOMAIN].varying(function, given(f), named(f))
        if not is_harmless(function):
            return lambda f: f[DOMAIN].concrete(function, given(f), named(f))
        if rhs.kwargs:
            return lambda f: function(*given(f), **named(f))
        return lambda f: function(*given(f))


def detached(code: Code, f: Frame) -> Any:
    """Return a value as one that carries no derivative."""
    return f[DOMAIN].detached(code(f))


def looking(origins: frozenset[int], code: Code, f: Frame) -> Any:
    """Return the value of code that looks at the values of arguments."""
    f[DOMAIN].looked(origins)
    return code(f)


def defined_in(loop: Loop) -> frozenset[Var]:
    """Return the variables that a loop binds in each iteration."""
    found = {*loop.binds()}
    for statement in walk(loop.body):
        found.update(defined(statement), bound_inside(statement))
    return frozenset(found)


STATEFUL = (next, iter, zip, enumerate, reversed, map, filter)
"""Functions that give iterators, or go on with one: each iteration needs its own."""


def program_of(
    function: Function, unit: Unit, inputs: Collection[Var] | None = None,
    with_dead_code: bool = False, sources: Origins | None = None,
) -> Program:
    """Return the pattern program of a function.

    ``inputs`` are the parameters that may depend on the inputs, by default all of them.
    ``sources`` tells which of the arguments that may be generic values come from.
    With ``with_dead_code`` it computes even what its result does not need.
    """
    body = function.body
    purity = Purity(unit.type, unit.definition)
    if not with_dead_code:
        body = dead_code(body, purity)
        if not unit.writes.detached:  # equal values differ if only one carries a derivative
            body = dead_code(common_subexpressions(body, purity), purity)
    params = [p.var for p in function.params] + list(function.captures)
    tainted = tainted_variables(body, params if inputs is None else inputs)
    evaluator = PatternEvaluator(
        tainted, frozenset(unit.writes.detached), purity,
        Origins(unit, function, ()) if sources is None else sources)
    function = replace(function, body=body)
    entry = evaluator.function(function)
    return Program(entry, function, tainted, [*evaluator.relied.values()])
