"""What lowering a function keeps track of: its variables, the statements so far, how blocks end."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import gast

from adcompiler.frontend import rejected
from adcompiler.frontend.interface import RAISES, RETURNS, Arm, Attempt, End, Recipe, recipe_of
from adcompiler.frontend.names import unbound_names
from adcompiler.frontend.rejected import Rejection
from adcompiler.frontend.rewriting.own_targets import shown
from adcompiler.frontend.sources.places import users_place
from adcompiler.frontend.state import Names
from adcompiler.ir.nodes import (
    UNDEF, Atom, Block, Call, Closure, Const, Do, Free, Handler, If, Let, Loop, Origin, Pack,
    Rhs, Star, Statement, Try, Unsupported, Var,
)
from adcompiler.runtime import check_bound, note_value, store_global

Lowered = TypeVar("Lowered")


class Builder:
    """The IR of one function as it is written: all parts of the lowering write here.

    ``env`` has what the variables are now, ``unsure`` the values that may be none, ``checked`` what
    of them has been tested. ``watches`` receive what variables are where something may raise,
    ``places`` say where their values are noted, ``attempts`` which ``try`` are lowered in parts.
    """

    def __init__(
        self, names: Names, file: str, lines: Mapping[int, str], around: Builder | None
    ) -> None:
        self.names = names
        self.file = file
        self.lines = lines
        self.around = around
        self.env: dict[str, Atom] = {}
        self.statements: list[Statement] = []
        self.unsure: set[Atom] = {UNDEF}
        self.checked: frozenset[Atom] = frozenset()
        self.captures: dict[str, Var] = {}
        self.itself: Var | None = None
        self.making: list[str] = []
        self.watches: list[dict[str, set[Atom]]] = []
        self.places: dict[str, Var] = {}
        self.noted_names: dict[tuple[int, ...], list[str]] = (
            {} if around is None else around.noted_names
        )
        self.attempts: tuple[Attempt, ...] = ()
        self.cleanups = 0
        self.origin = self.locate(names.node)

    # -- what is written -----------------------------------------------------------------------

    def locate(self, node: gast.AST) -> Origin:
        """Return the place of a node in the text; that of what it is part of if it has none."""
        line = getattr(node, "lineno", None)
        if line is None:
            return self.origin
        place = users_place(self.file, line)
        if place is not None:
            return place
        text = self.lines.get(line, "")
        start, end, last = (
            getattr(node, name) for name in ("col_offset", "end_col_offset", "end_lineno"))
        width = (end if last == line else len(text)) - start
        return Origin(self.file, line, start, text, width=max(1, width))

    def let(self, rhs: Rhs, name: str, temporary: bool = True) -> Var:
        """Write the definition of a value; return it."""
        var = Var(shown(name), temporary)
        display = isinstance(rhs, Pack) and rhs.kind in ("tuple", "list") and not any(
            isinstance(item, Star) for item in rhs.items
        )
        if not display and not isinstance(rhs, (Closure, Free)):
            self.may_raise()
        self.statements.append(Let(var, rhs, self.origin))
        return var

    def do(self, function: Callable[..., object], *args: Atom) -> None:
        """Write a call made for its effect."""
        self.statements.append(Do(Call(Const(function), args), self.origin))

    def may_raise(self) -> None:
        """Note, for the handlers around, what variables are where an exception may be raised."""
        for watch in self.watches:
            for name, values in watch.items():
                values.add(self.env.get(name, UNDEF))

    def reject(self, node: gast.AST, why: Rejection, **names: str) -> Atom:
        """Write that a form is not supported; return what stands for its value."""
        names = {key: shown(name) for key, name in names.items()}
        finding = self.locate(node).finding(
            why.problem.format(**names), why.hint.format(**names), why.anchor
        )
        self.statements.append(Unsupported(finding))
        return UNDEF

    # -- variables -----------------------------------------------------------------------------

    def load(self, name: str, outer: bool = False) -> Atom:
        """Read a variable; it is one of the ``outer`` function for code that runs apart."""
        if name == "__debug__":  # no variable: nothing can assign it
            return Const(__debug__)
        if name in self.names.locals:
            atom = self.env.get(name, UNDEF)
            if (recipe := recipe_of(atom)) is not None:
                return self.used_function(name, recipe)
            return self.checked_atom(name, atom, outer)
        captured = self.captured(name)
        if captured is None:
            return self.let(Free(name), name)
        return captured if captured is self.itself else self.checked_atom(name, captured, True)

    def checked_atom(self, name: str, atom: Atom, outer: bool) -> Atom:
        """Return the value of a variable, checked if it may have none."""
        if self.is_unsure(atom):
            self.may_raise()
            how = (Const(shown(name)), *((Const(True),) if outer else ()))
            self.do(check_bound, atom, *how)
            self.checked |= {atom}
        return atom

    def captured(self, name: str) -> Var | None:
        """Return what stands for a variable of the functions around; None if it is none.

        It may have no value yet when this function is called: whoever reads it checks that.
        """
        if name in self.captures:
            return self.captures[name]
        if self.around is None or name in self.names.globals:
            return None
        if name == self.names.itself and name in self.around.names.locals:
            self.itself = self.itself or Var(name)
            return self.itself
        if not self.around.names.binds(name):
            return None
        var = self.captures[name] = Var(shown(name))
        if self.around.may_be_unbound(name):
            self.unsure.add(var)
        return var

    def handed_to_closure(self, name: str) -> Atom:
        """Return a variable for a function made here, which checks it where it reads it."""
        if name not in self.names.locals:
            return self.captured(name) or self.load(name)
        atom = self.env.get(name, UNDEF)
        return atom if recipe_of(atom) is None else self.load(name)

    def used_function(self, name: str, recipe: Recipe) -> Atom:
        """Write the making of a function, with what its variables are now."""
        if name in self.making:
            return self.reject(recipe.node, rejected.CALL_ONE_ANOTHER, name=name)
        self.making.append(name)
        captures = tuple(map(self.handed_to_closure, recipe.captures))
        self.making.pop()
        return self.let(Closure(recipe.function, captures, recipe.defaults), name)

    def may_be_unbound(self, name: str) -> bool:
        """Say whether a function made here may be called while a variable has no value."""
        if name in self.names.locals:
            unsure = self.is_unsure(self.env.get(name, UNDEF))
            return unsure or name in unbound_names(self.names.node)
        return self.around is not None and self.around.may_be_unbound(name)

    def is_unsure(self, atom: Atom) -> bool:
        """Say whether a variable may have no value yet, as far as has been checked."""
        return atom in self.unsure and atom not in self.checked

    def bind(self, name: str, value: Atom) -> Atom:
        """Assign ``value`` to the local ``name``; a temporary just made takes over the name."""
        if name in self.names.globals:
            self.do(store_global, Const(name), value)
            return value
        if isinstance(value, Var) and value.temporary and self.statements:
            named = Var(shown(name))
            renamed = _rename_target(self.statements[-1], value, named)
            if renamed is not self.statements[-1]:
                self.statements[-1] = renamed
                value = named
        self.env[name] = value
        if name in self.places:
            self.do(note_value, self.places[name], value)
        return value

    def with_states(self, value: Atom) -> Atom:
        """Return what the function returns for ``value``: with its variables, if it changes any."""
        if not self.names.states:
            return value
        now = tuple(self.env[name] for name in self.names.states)
        return self.let(Pack("tuple", (value, *now)), "results")

    # -- blocks --------------------------------------------------------------------------------

    def region(
        self, lower: Callable[[], Lowered]
    ) -> tuple[tuple[Statement, ...], dict[str, Atom], Lowered]:
        """Lower into a block of its own: return its statements, variables, and what was lowered."""
        statements, env, origin = self.statements, self.env, self.origin
        checked = self.checked
        self.statements, self.env = [], dict(env)
        try:
            result = lower()
            return tuple(self.statements), self.env, result
        finally:
            self.statements, self.env, self.origin = statements, env, origin
            self.checked = checked

    def is_left_behind(self, end: End) -> bool:
        """Say whether what a block assigned may be read behind it.

        It is not if the block returns, unless a ``finally`` runs then.
        """
        return not end.may <= ({RAISES} if self.cleanups else {RETURNS, RAISES})

    def arms(
        self, condition: Atom, then: Callable[[], End], orelse: Callable[[], End]
    ) -> End:
        """Lower both arms of a branch and merge their variables, codes and values."""
        origin = self.origin
        self.may_raise()
        (yes, no), results, end = self.joined([self.region(then), self.region(orelse)])
        self.statements.append(If(condition, yes, no, results, origin))
        return end

    def is_code(self, code: Atom, wanted: int, name: str) -> Var:
        """Write the test of whether a block ended in one way."""
        return self.let(Call(Const(operator.eq), (code, Const(wanted))), name)

    def with_handlers(
        self, arms: Sequence[Arm], caught: Sequence[tuple[Atom, Var | None]], origin: Origin
    ) -> tuple[tuple[Var, ...], End]:
        """Write a ``try`` of a body and of handlers; return its results, and how it ends."""
        (body, *blocks), results, end = self.joined(arms)
        handlers = tuple(
            Handler(*one, block) for one, block in zip(caught, blocks, strict=True))
        self.statements.append(Try(body, handlers, results, origin))
        return results, end

    def choose(
        self, condition: Atom, then: Callable[[], Atom], orelse: Callable[[], Atom]
    ) -> Atom:
        """Lower a conditional expression: only the arm that is chosen is evaluated."""
        return self.arms(
            condition, lambda: End(value=then()), lambda: End(value=orelse())).value

    def joined(self, lowered: Sequence[Arm]) -> tuple[list[Block], tuple[Var, ...], End]:
        """Merge the variables, codes and values of arms of which one is completed."""
        live = [self.is_left_behind(end) for _, _, end in lowered]
        rows: list[list[Atom]] = [[] for _ in lowered]
        results: list[Var] = []
        after: dict[str, Atom] = {}

        def add(var: Var, values: Sequence[Atom]) -> None:
            results.append(var)
            for row, value in zip(rows, values, strict=True):
                row.append(value)

        for name in dict.fromkeys(n for _, env, _ in lowered for n in env):
            values = [env.get(name, UNDEF) for _, env, _ in lowered]
            old = self.env.get(name, UNDEF)
            if any(is_live and v is not old for is_live, v in zip(live, values, strict=True)):
                result = after[name] = Var(shown(name))
                add(result, [v if i else UNDEF for i, v in zip(live, values, strict=True)])
                if any(i and self.is_unsure(v) for i, v in zip(live, values, strict=True)):
                    self.unsure.add(result)
        ends = [end for _, _, end in lowered]
        every = frozenset(code for end in ends for code in end.may)
        may = every - {RAISES} or frozenset({RAISES})
        value: Atom = UNDEF
        if any(end.value is not UNDEF for end in ends):
            value = Var("value", True)
            add(value, [end.value for end in ends])
        code: Atom = Const(next(iter(may)))
        if len(may) > 1:
            code = Var("exit", True)
            add(code, [end.code for end in ends])
        self.env.update(after)
        blocks = [
            Block(statements, tuple(row), end.may == {RAISES})
            for (statements, _, end), row in zip(lowered, rows, strict=True)
        ]
        return blocks, tuple(results), End(code, value, may)


def target_name(node: gast.AST, default: str = "item") -> str:
    """Return the name of what a loop, a generator or an assignment binds, if it is one name."""
    target = getattr(node, "target", node)
    return shown(target.id) if isinstance(target, gast.Name) else default


def _rename_target(statement: Statement, old: Var, new: Var) -> Statement:
    """Return ``statement`` defining ``new`` where it defined ``old``; itself if it does not."""

    def renamed(targets: tuple[Var, ...]) -> tuple[Var, ...]:
        return tuple(new if target is old else target for target in targets)

    match statement:
        case Let(target, rhs, origin) if target is old:
            return Let(new, rhs, origin)
        case If(results=results) if old in results:
            return replace(statement, results=renamed(results))
        case Loop(collects=collects) if old in collects:
            return replace(statement, collects=renamed(collects))
    return statement
