"""Pattern programs: IR as a Python function that computes with what values depend on.

What does not depend on the inputs is computed as the program itself does it. Everything else goes
through the methods of a ``Run``. Branches and loops that turn on such values become functions, so
that both arms, or any number of iterations, can be followed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from adcompiler.analyses.purity import Purity, checks
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Closure, Const, Do, Format, Free, Function, Global, If, Item, Let,
    Loop, Origin, Pack, Raise, Rhs, Slice, Statement, Step, Try, Unsupported, Update, Var, With,
    operands,
)
from adcompiler.ir.visit import bound_inside, defined, walk
from adcompiler.ops.registry import hashable
from adcompiler.optimise.common_subexpressions import common_subexpressions
from adcompiler.optimise.dead_code import dead_code
from adcompiler.runtime.containers import cell_value
from adcompiler.sparsity.interpreter.generic import Origins
from adcompiler.sparsity.interpreter.run import ALWAYS, may_vary
from adcompiler.sparsity.interpreter.taint import tainted_variables
from adcompiler.sparsity.interpreter.text import Text
from adcompiler.sparsity.interpreter.varying import is_harmless
from adcompiler.support.structs import dataclass
from adcompiler.typed.callee import Callee
from adcompiler.typed.unit import Unit


@dataclass(eq=False)
class Program:
    """A function as a pattern program: ``entry`` takes a run, then the function's arguments.

    ``origins`` are the places in the user's source of the lines of its text, ``values`` what its
    constants hold: functions and other objects, and under names with ``o`` those only read from.
    """

    entry: Callable[..., Any]
    text: str
    origins: Mapping[int, Origin]
    filename: str
    values: Mapping[str, Any]


@dataclass(eq=False)
class Writer(Text):
    """Writes the text of a pattern program."""

    # -- blocks ------------------------------------------------------------------------------

    def function(self, function: Function) -> str:
        params = [p.var for p in function.params] + list(function.captures)
        self.rows.append(f"def pattern(R, {', '.join(map(self.atom, params))}):")
        self.returning(function.body)
        return "\n".join(self.rows) + "\n"

    def returning(self, block: Block) -> None:
        self.statements(block)
        if not block.diverges:
            self.line(f"return {self.display(block.yields)}")

    def statements(self, block: Block) -> None:
        if not block.statements:
            self.line("pass")
        for statement in block.statements:
            self.statement(statement)

    def arm(self, block: Block, stem: str, parameters: str = "") -> str:
        name = self.fresh(stem)
        self.line(f"def {name}({parameters}):")
        with self.indented():
            self.returning(block)
        return name

    def statement(self, statement: Statement) -> None:
        looked = self.sources.looked(statement)
        if looked:
            self.line(f"R.looked({self.constant(looked)})")
        match statement:
            case Let(target, rhs, origin) if target in self.detached and not (
                isinstance(rhs, Update)  # of storage that was there before
            ):
                inner = self.rhs(rhs)
                self.line(f"{self.atom(target)} = {self.machine}.detached({inner})", origin)
            case Let(target, rhs, origin):
                self.line(f"{self.atom(target)} = {self.rhs(rhs)}", origin)
            case Do(rhs, origin):
                self.line(self.rhs(rhs), origin)
            case Raise(exception, _, origin):
                self.line(f"raise {self.machine}.exception({self.atom(exception)})", origin)
            case Unsupported(finding):
                self.line(f"{self.machine}.unsupported({self.constant(finding)})")
            case If():
                self.branch(statement)
            case Loop():
                self.loop(statement)
            case With():
                self.context(statement)
            case Try():
                self.attempt(statement)

    def assign(self, results: Sequence[Atom], call: str, origin: Origin) -> None:
        self.line(f"{self.targets(results)}, = {call}" if results else call, origin)

    def branch(self, node: If) -> None:
        if self.is_tainted(node.condition):
            then, orelse = self.arm(node.then, "then"), self.arm(node.orelse, "orelse")
            self.assign(
                node.results,
                f"{self.machine}.branch({self.atom(node.condition)}, {then}, {orelse})",
                node.origin,
            )
            return
        for head, arm in ((f"if {self.atom(node.condition)}:", node.then), ("else:", node.orelse)):
            self.line(head, node.origin)
            with self.indented():
                self.inline(arm, node.results)

    def inline(self, block: Block, results: tuple[Var, ...]) -> None:
        self.statements(block)
        if not block.diverges and results:
            self.line(f"{self.display(results)} = {self.display(block.yields)}")

    def loop(self, node: Loop) -> None:
        if self.machine == "R" and self.runs_in_lanes(node):
            self.loop_in_lanes(node)
        else:
            self.one_by_one(node)

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

    def loop_in_lanes(self, node: Loop) -> None:
        """Write a loop twice: with all its iterations at once, and as usual if that fails."""
        name, found = self.fresh("lanes"), self.fresh("found")
        before = self.tainted
        self.tainted, self.machine = before | defined_in(node), "L"
        self.line(f"def {name}(L, {self.targets((*node.items, *node.params))}):", node.origin)
        with self.indented():
            self.returning(node.body)
        self.tainted, self.machine = before, "R"
        self.line(
            f"{found} = R.in_lanes({self.display(node.iterables)}, {self.display(node.inits)}, "
            f"{name}, {len(node.params)})", node.origin)
        self.line(f"if {found} is None:")
        with self.indented():
            self.one_by_one(node)
        results = (*node.results, *node.collects)
        if results:
            self.line("else:")
            with self.indented():
                self.line(f"{self.display(results)} = {found}")

    def one_by_one(self, node: Loop) -> None:
        if self.machine == "L" or node.stops or node.condition is not None or (
            self.is_tainted(*node.iterables)
        ):
            self.followed_loop(node)
        else:
            self.plain_loop(node)

    def plain_loop(self, node: Loop) -> None:
        if node.params:
            self.line(f"{self.display(node.params)} = {self.display(node.inits)}", node.origin)
        for each in node.collects:
            self.line(f"{self.atom(each)} = []")
        over = ", ".join(map(self.atom, node.iterables))
        over = f"zip({over})" if len(node.iterables) > 1 else over
        self.line(f"for {self.targets(node.items)} in {over}:", node.origin)
        with self.indented():
            self.statements(node.body)
            if not node.body.diverges:
                for each, atom in zip(node.collects, node.collected(), strict=True):
                    self.line(f"{self.atom(each)}.append({self.atom(atom)})")
                if node.params:
                    self.line(f"{self.display(node.params)} = {self.display(node.next_values())}")
        if node.results:
            self.line(f"{self.display(node.results)} = {self.display(node.params)}")

    def followed_loop(self, node: Loop) -> None:
        parameters = self.targets((*node.items, *node.params))
        body = self.arm(node.body, "body", parameters)
        condition = "None"
        if node.condition is not None:
            condition = self.arm(node.condition, "condition", self.targets(node.params))
        call = (
            f"{self.machine}.loop({self.display(node.iterables)}, {self.display(node.inits)}, "
            f"{body}, {condition}, {len(node.params)}, {len(node.collects)}, {node.stops})"
        )
        self.assign((*node.results, *node.collects), call, node.origin)

    def context(self, node: With) -> None:
        name = f" as {self.atom(node.target)}" if node.target is not None else ""
        self.line(f"with {self.atom(node.context)}{name}:", node.origin)
        with self.indented():
            self.inline(node.body, node.results)

    def attempt(self, node: Try) -> None:
        body = self.arm(node.body, "attempt")
        handlers = []
        for handler in node.handlers:
            parameter = self.atom(handler.name) if handler.name is not None else "_"
            name = self.arm(handler.body, "handler", parameter)
            handlers.append(f"({self.atom(handler.exception)}, {name}), ")
        self.assign(
            node.results, f"{self.machine}.attempt({body}, ({''.join(handlers)}))", node.origin)

    # -- right-hand sides ----------------------------------------------------------------------

    def rhs(self, rhs: Rhs) -> str:
        through = self.is_tainted(*operands(rhs))
        match rhs:
            case Call(func, args, kwargs):
                return self.call(func, args, kwargs, through)
            case Pack(kind, items, keys):
                return self.pack(kind, items, keys)
            case Item(obj, index):
                inner = f"{self.atom(obj)}, {self.atom(index)}"
                return f"{self.machine}.item({inner})" if through else (
                    f"{self.atom(obj)}[{self.atom(index)}]")
            case Slice(lower, upper, step):
                return f"slice({self.atom(lower)}, {self.atom(upper)}, {self.atom(step)})"
            case Attribute(obj, name):
                if through:
                    return f"{self.machine}.attribute({self.atom(obj)}, {name!r})"
                if isinstance(obj, Const):
                    return f"{self.machine}.read_attribute({self.owner(obj)}, {name!r})"
                return f"{self.atom(obj)}.{name}" if name.isidentifier() else (
                    f"getattr({self.atom(obj)}, {name!r})")
            case Update(obj, steps, value, adds):
                path = "".join(f"{self.step(step)}, " for step in steps)
                inner = f"{self.atom(obj)}, ({path}), {self.atom(value)}, {adds}"
                return f"{self.machine}.update({inner})"
            case Closure(function, _, _):
                return f"{self.machine}.closure({self.constant(function)})"
            case Free(name):
                return f"{self.machine}.free({name!r})"
            case Global(module, path):
                return f"{self.machine}.read_global({module!r}, {path!r})"
            case Format(parts):
                return f"{self.machine}.format({self.parts(parts)})"
        raise AssertionError(rhs)

    def call(self, func: Atom, args: Any, kwargs: Any, through: bool) -> str:
        if isinstance(func, Const) and func.value is cell_value:
            function, index = args
            return f"{self.machine}.read_cell({self.owner(function)}, {self.atom(index)})"
        given = "".join(f"{self.atom(arg)}, " for arg in args)
        named = ", ".join(
            f"**{self.atom(atom)}" if key is None else f"{key!r}: {self.atom(atom)}"
            for key, atom in kwargs
        )
        if isinstance(func, Const) and isinstance(func.value, Callee):
            return f"{self.machine}.callee({self.constant(func.value)}, ({given}))"
        origins = self.sources.of(*args, *(atom for _, atom in kwargs))
        if origins and isinstance(func, Const):
            return (f"{self.machine}.at_generic({self.atom(func)}, ({given}), {{{named}}}, "
                    f"{self.constant(origins)})")
        if through or not isinstance(func, Const) or (
            hashable(func.value) and func.value in ALWAYS
        ):
            return f"{self.machine}.call({self.atom(func)}, ({given}), {{{named}}})"
        if may_vary(func.value):
            return f"{self.machine}.varying({self.atom(func)}, ({given}), {{{named}}})"
        if not is_harmless(func.value):
            return f"R.concrete({self.constant(func.value)}, ({given}), {{{named}}})"
        named = ", ".join(
            f"**{self.atom(atom)}" if key is None else f"{key}={self.atom(atom)}"
            for key, atom in kwargs
        )
        return f"{self.constant(func.value)}({given}{named})"

    def pack(self, kind: str, items: Any, keys: Any) -> str:
        inner = "".join(f"{self.atom(item)}, " for item in items)
        if kind == "tuple":
            return f"({inner})"
        if kind == "list":
            return f"[{inner}]"
        if kind == "set":
            return f"{self.machine}.set([{inner}])"
        pairs = ", ".join(
            f"**{self.atom(item)}" if key is None else f"{self.atom(key)}: {self.atom(item)}"
            for key, item in zip(keys, items, strict=True)
        )
        return f"{{{pairs}}}"

    def step(self, step: Step) -> str:
        args = self.display(step.args)
        kwargs = ", ".join(f"{key!r}: {self.atom(atom)}" for key, atom in step.kwargs)
        function = "None" if step.function is None else self.constant(step.function)
        return f"({step.kind!r}, {step.name!r}, {args}, {{{kwargs}}}, {function})"

    def parts(self, parts: Any) -> str:
        texts = []
        for part in parts:
            if isinstance(part, str):
                texts.append(repr(part))
            else:
                atom, conversion, specification = part
                texts.append(
                    f"({self.atom(atom)}, {conversion}, {self.atom(specification)})")
        return ", ".join(texts)


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
    writer = Writer(
        tainted, frozenset(unit.writes.detached), purity,
        Origins(unit, function, ()) if sources is None else sources)
    text = writer.function(replace(function, body=body))
    filename = f"<pattern {next(NUMBERS)} of {function.name}>"
    namespace = dict(writer.values)
    exec(compile(text, filename, "exec"), namespace)
    return Program(namespace["pattern"], text, writer.origins, filename, writer.values)


NUMBERS = itertools.count()
