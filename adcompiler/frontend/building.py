"""What lowering a function keeps track of: its variables, the statements so far, how blocks end."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import gast

from adcompiler.frontend.interface import RAISES, RETURNS, End, Interface
from adcompiler.frontend.names import assigned_names, declared_names, mark_outer, unbound_names
from adcompiler.frontend.rejected import Rejection
from adcompiler.frontend.rewriting.own_targets import shown
from adcompiler.frontend.sources.places import users_place
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Block, Call, Closure, Const, Do, Free, If, Let, Loop, Origin, Pack, Rhs,
    Star, Statement, Unsupported, Var,
)
from adcompiler.runtime import check_bound, note_value, store_global

Lowered = TypeVar("Lowered")


class Builder(Interface):
    """The state of lowering one function, and what every kind of node is lowered with."""

    def __init__(
        self, node: gast.FunctionDef | gast.Lambda, file: str, lines: Mapping[int, str],
        parent: Builder | None
    ) -> None:
        self.node = node
        self.file = file
        self.lines = lines
        self.parent = parent
        self.globals = frozenset(declared_names(node, gast.Global))
        self.locals = {n: None for n in assigned_names(node) if n not in self.globals}
        self.env: dict[str, Atom] = {}
        self.statements: list[Statement] = []
        self.unsure: set[Atom] = {UNDEF}
        self.checked: frozenset[Atom] = frozenset()
        self.captures: dict[str, Var] = {}
        self.itself: Var | None = None
        self.making: list[str] = []
        self.states: tuple[str, ...] = ()
        self.watches: list[dict[str, set[Atom]]] = []
        self.places: dict[str, Var] = {}
        self.noted_names: dict[tuple[int, ...], list[str]] = (
            {} if parent is None else parent.noted_names
        )
        self.attempts: tuple[Any, ...] = ()
        self.cleanups = 0
        self.stateful: dict[str, tuple[str, ...]] = {}
        self.origin = self.locate(node)
        if parent is None:
            mark_outer(node)

    @abstractmethod
    def fresh(self, base: str, inside: gast.GeneratorExp | None = None) -> str:
        """Return a name for a local variable that the function has not outside of ``inside``."""

    def optional(self, node: gast.expr | None) -> Atom:
        return NONE if node is None else self.expression(node)

    # -- what is written -----------------------------------------------------------------------

    def locate(self, node: Any) -> Origin:
        line = getattr(node, "lineno", None)
        if line is None:
            return self.origin
        place = users_place(self.file, line)
        if place is not None:
            return place
        text = self.lines.get(line, "")
        end = node.end_col_offset if node.end_lineno == line else len(text)
        return Origin(self.file, line, node.col_offset, text, width=max(1, end - node.col_offset))

    def let(self, rhs: Rhs, name: str, temporary: bool = True) -> Var:
        var = Var(shown(name), temporary)
        display = isinstance(rhs, Pack) and rhs.kind in ("tuple", "list") and not any(
            isinstance(item, Star) for item in rhs.items
        )
        if not display and not isinstance(rhs, (Closure, Free)):
            self.may_raise()
        self.statements.append(Let(var, rhs, self.origin))
        return var

    def may_raise(self) -> None:
        """Note, for the handlers around, what variables are where an exception may be raised."""
        for watch in self.watches:
            for name, values in watch.items():
                values.add(self.env.get(name, UNDEF))

    def reject(self, node: gast.AST, why: Rejection, **names: str) -> Atom:
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
        if name in self.locals:
            atom = self.env.get(name, UNDEF)
            if isinstance(atom, Const) and hasattr(atom.value, "late"):
                return self.used_function(name, atom.value)
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
            self.statements.append(Do(Call(Const(check_bound), (atom, *how)), self.origin))
            self.checked |= {atom}
        return atom

    def captured(self, name: str) -> Var | None:
        """Return what stands for a variable of the functions around; None if it is none.

        It may have no value yet when this function is called: whoever reads it checks that.
        """
        if name in self.captures:
            return self.captures[name]
        if self.parent is None or name in self.globals:
            return None
        if name == getattr(self.node, "name", None) and name in self.parent.locals:
            self.itself = self.itself or Var(name)
            return self.itself
        if not self.parent.binds(name):
            return None
        var = self.captures[name] = Var(shown(name))
        if self.parent.may_be_unbound(name):
            self.unsure.add(var)
        return var

    def handed_to_closure(self, name: str) -> Atom:
        """Return a variable for a function made here, which checks it where it reads it."""
        if name not in self.locals:
            return self.captured(name) or self.load(name)
        atom = self.env.get(name, UNDEF)
        return self.load(name) if hasattr(getattr(atom, "value", None), "late") else atom

    def may_be_unbound(self, name: str) -> bool:
        """Say whether a function made here may be called while a variable has no value."""
        if name in self.locals:
            return self.is_unsure(self.env.get(name, UNDEF)) or name in unbound_names(self.node)
        return self.parent is not None and self.parent.may_be_unbound(name)

    def is_unsure(self, atom: Atom) -> bool:
        """Say whether a variable may have no value yet, as far as has been checked."""
        return atom in self.unsure and atom not in self.checked

    def binds(self, name: str) -> bool:
        """Say whether this function or one around it has ``name`` as a local variable."""
        if name in self.locals:
            return True
        return self.parent is not None and name not in self.globals and self.parent.binds(name)

    def bind(self, name: str, value: Atom) -> Atom:
        """Assign ``value`` to the local ``name``; a temporary just made takes over the name."""
        if name in self.globals:
            store = Call(Const(store_global), (Const(name), value))
            self.statements.append(Do(store, self.origin))
            return value
        if isinstance(value, Var) and value.temporary and self.statements:
            named = Var(shown(name))
            renamed = _rename_target(self.statements[-1], value, named)
            if renamed is not self.statements[-1]:
                self.statements[-1] = renamed
                value = named
        self.env[name] = value
        if name in self.places:
            note = Call(Const(note_value), (self.places[name], value))
            self.statements.append(Do(note, self.origin))
        return value

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
        then_statements, then_env, then_end = self.region(then)
        else_statements, else_env, else_end = self.region(orelse)
        live_then, live_else = self.is_left_behind(then_end), self.is_left_behind(else_end)
        names: list[str] = []
        pairs: list[tuple[Atom, Atom]] = []
        results: list[Var] = []
        for name in dict.fromkeys((*then_env, *else_env)):
            a, b = then_env.get(name, UNDEF), else_env.get(name, UNDEF)
            before = self.env.get(name, UNDEF)
            changed = (live_then and a is not before) or (live_else and b is not before)
            if changed:
                names.append(name)
                pairs.append((a if live_then else UNDEF, b if live_else else UNDEF))
                results.append(Var(shown(name)))
                if (live_then and self.is_unsure(a)) or (live_else and self.is_unsure(b)):
                    self.unsure.add(results[-1])
        may = (then_end.may | else_end.may) - {RAISES} or frozenset({RAISES})
        value: Atom = UNDEF
        if then_end.value is not UNDEF or else_end.value is not UNDEF:
            pairs.append((then_end.value, else_end.value))
            value = Var("value", True)
            results.append(value)
        code: Atom = Const(next(iter(may)))
        if len(may) > 1:
            pairs.append((then_end.code, else_end.code))
            code = Var("exit", True)
            results.append(code)
        self.statements.append(If(
            condition,
            Block(then_statements, tuple(a for a, _ in pairs), then_end.may == {RAISES}),
            Block(else_statements, tuple(b for _, b in pairs), else_end.may == {RAISES}),
            tuple(results), origin,
        ))
        self.env.update(zip(names, results, strict=False))
        return End(code, value, may)


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
