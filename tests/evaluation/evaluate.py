"""Runs the IR of any stage as it stands, without the emitter.

``Evaluator.run`` calls an IR function on Python values. What an ``Update`` or a call that writes
does to storage, it does in place, as emitted code does. A ``Watch`` is told of all that is read and
bound, so that what the compiler holds to be true of a variable can be compared with what occurs.
"""

from __future__ import annotations

import inspect
import operator
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from adcompiler.errors import InternalError, UnsupportedError
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Closure, Do, Format, Free, Function, Global, If, Item, Let,
    Loop, Pack, Raise, Rhs, Slice, Star, Statement, Step, Try, Undefined, Unsupported, Update, Var,
    With,
)

Env = dict[Var, Any]
CONVERSIONS: dict[int, Callable[[Any], str]] = {ord("s"): str, ord("r"): repr, ord("a"): ascii}


class Watch:
    """What is told of an evaluation; this one takes no notice."""

    def bound(self, var: Var, values: Mapping[Var, Any]) -> None:
        """Take note that ``var`` has a value, which it keeps: it is defined once."""

    def before(self, rhs: Rhs, values: Mapping[Var, Any]) -> None:
        """Take note of what is evaluated next; ``values`` are those of the variables around."""

    def after(self, target: Var | None, rhs: Rhs, values: Mapping[Var, Any], result: Any) -> None:
        """Take note of what came out."""

    def yielded(self, atoms: Iterable[Atom], values: Mapping[Var, Any]) -> None:
        """Take note of what a block hands on."""

    def ended(self, loop: Loop, values: Mapping[Var, Any]) -> None:
        """Take note that the last iteration of a loop is over."""

    def left(self, values: Mapping[Var, Any]) -> None:
        """Take note that a function has returned."""


class Evaluator:
    """Evaluates IR functions: ``functions`` are those that constants name, as emitted code does.

    ``free`` looks up the free names of a function that has not been specialised.
    """

    def __init__(
        self, functions: Iterable[Function] = (), free: Callable[[str], Any] | None = None,
        watch: Watch | None = None,
    ) -> None:
        self.functions = {function.name: function for function in functions}
        self.free = free
        self.watch = watch or Watch()

    def run(self, function: Function, *values: Any, env: Env | None = None) -> Any:
        """Run a function with a value for each parameter; ``env`` holds what it captures."""
        env = {} if env is None else env
        self.bind_all((param.var for param in function.params), values, env)
        yields = self.block(function.body, env)
        self.watch.left(env)
        return yields[0] if len(yields) == 1 else yields

    def callable(self, function: Function) -> Callable[..., Any]:
        """Return a function as Python code may call it."""

        def evaluated(*values: Any) -> Any:
            return self.run(function, *values)

        evaluated.__name__ = function.name
        return evaluated

    # -- blocks --------------------------------------------------------------------------------

    def block(self, block: Block, env: Env) -> tuple[Any, ...]:
        """Run a block and return what it yields."""
        for statement in block.statements:
            self.statement(statement, env)
        if block.diverges:
            raise InternalError("a block that always raises was left")
        self.watch.yielded(block.yields, env)
        return tuple(self.atom(atom, env) for atom in block.yields)

    def bind(self, var: Var, value: Any, env: Env) -> None:
        env[var] = value
        self.watch.bound(var, env)

    def bind_all(self, variables: Iterable[Var], values: Iterable[Any], env: Env) -> None:
        for var, value in zip(variables, values, strict=True):
            self.bind(var, value, env)

    def statement(self, statement: Statement, env: Env) -> None:
        match statement:
            case Let(target, rhs, _):
                self.bind(target, self.observed(target, rhs, env), env)
            case Do(rhs, _):
                self.observed(None, rhs, env)
            case Raise(exception, cause, _):
                self.throw(self.atom(exception, env), cause, env)
            case Unsupported(finding):
                raise UnsupportedError([finding])
            case If():
                self.branch(statement, env)
            case Loop():
                self.loop(statement, env)
            case With():
                self.within(statement, env)
            case Try():
                self.bind_all(statement.results, self.attempt(statement, env), env)

    def branch(self, node: If, env: Env) -> None:
        """Run the arm that the condition chooses."""
        arm = node.then if self.atom(node.condition, env) else node.orelse
        self.bind_all(node.results, self.block(arm, env), env)

    def within(self, node: With, env: Env) -> None:
        """Run a block inside of a context."""
        with self.atom(node.context, env) as entered:
            if node.target is not None:
                self.bind(node.target, entered, env)
            values = self.block(node.body, env)
        self.bind_all(node.results, values, env)

    def throw(self, exception: Any, cause: Atom, env: Env) -> None:
        source = self.atom(cause, env)
        if exception is None:
            raise
        if source is None:
            raise exception
        raise exception from source

    def attempt(self, node: Try, env: Env) -> tuple[Any, ...]:
        try:
            return self.block(node.body, env)
        except BaseException as error:
            return self.handled(error, node, env)

    def handled(self, error: BaseException, node: Try, env: Env) -> tuple[Any, ...]:
        """Run the handler of an exception, or raise it again."""
        for handler in node.handlers:
            if isinstance(error, self.atom(handler.exception, env)):
                if handler.name is not None:
                    self.bind(handler.name, error, env)
                return self.block(handler.body, env)
        raise

    def loop(self, node: Loop, env: Env) -> None:
        """Run a loop: ``zip`` of what it runs over, or as long as its condition holds."""
        rows = zip(*(self.rows(self.atom(atom, env)) for atom in node.iterables), strict=False)
        collected: list[list[Any]] = [[] for _ in node.collects]
        carried = tuple(self.atom(atom, env) for atom in node.inits)
        while True:
            self.bind_all(node.params, carried, env)
            if node.condition is not None:
                if not self.block(node.condition, env)[0]:
                    break
            else:
                row = next(rows, None)
                if row is None:
                    break
                self.bind_all(node.items, row, env)
            values = self.block(node.body, env)
            carried = values[: len(node.params)]
            for items, value in zip(collected, values[len(node.params) :], strict=False):
                items.append(value)
            if node.stops and values[-1]:
                break
        self.watch.ended(node, env)
        self.bind_all(node.results, carried, env)
        self.bind_all(node.collects, collected, env)

    def rows(self, value: Any) -> Any:
        """Return what a loop over ``value`` runs over."""
        return value

    # -- values --------------------------------------------------------------------------------

    def atom(self, atom: Atom, env: Env) -> Any:
        """Return the value of an atom; None stands for that of a variable without one."""
        if isinstance(atom, Var):
            if atom not in env:
                raise InternalError(f"{atom!r} is read where it has no value")
            return env[atom]
        value = atom.value
        if isinstance(value, Undefined):
            return None
        if type(value) in (list, dict, set):
            return value.copy()  # a display, made anew
        named = self.named(value)
        return value if named is None else self.callable(named)

    def named(self, value: Any) -> Function | None:
        """Return the function that emitted code calls by name where a constant stands for it."""
        if not type(value).__module__.startswith("adcompiler."):
            return None
        if getattr(value, "role", None) is not None:
            return self.functions[value.name]
        if hasattr(value, "recursive") and hasattr(value, "key"):
            found = self.functions.get(value.primal_name, value.function)
            assert isinstance(found, Function)
            return found
        return None

    def items(self, atoms: Iterable[Atom | Star], env: Env) -> list[Any]:
        """Return the values of arguments or elements, starred ones spread out."""
        values: list[Any] = []
        for atom in atoms:
            if isinstance(atom, Star):
                values += self.atom(atom.atom, env)
            else:
                values.append(self.atom(atom, env))
        return values

    def observed(self, target: Var | None, rhs: Rhs, env: Env) -> Any:
        self.watch.before(rhs, env)
        result = self.rhs(rhs, env)
        self.watch.after(target, rhs, env, result)
        return result

    def rhs(self, rhs: Rhs, env: Env) -> Any:
        """Return the value of a right-hand side."""
        match rhs:
            case Call(func, args, kwargs):
                function = self.atom(func, env)
                positional = self.items(args, env)
                return function(*positional, **self.keywords(kwargs, env))
            case Item(obj, index):
                return self.atom(obj, env)[self.atom(index, env)]
            case Attribute(obj, name):
                return getattr(self.atom(obj, env), name)
            case Pack(kind, items, keys):
                return self.display(kind, items, keys, env)
            case Slice(lower, upper, step):
                return slice(*(self.atom(part, env) for part in (lower, upper, step)))
            case Update():
                return self.update(rhs, env)
            case Global(module, path):
                return operator.attrgetter(path)(sys.modules[module])
            case Closure():
                return self.closure(rhs, env)
            case Free(name):
                if self.free is None:
                    raise InternalError(f"nothing is known of the free name {name}")
                return self.free(name)
            case Format(parts):
                return "".join(
                    part if isinstance(part, str) else self.text(part, env) for part in parts
                )

    def keywords(
        self, pairs: Iterable[tuple[str | None, Atom]], env: Env
    ) -> dict[str, Any]:
        named: dict[str, Any] = {}
        for key, atom in pairs:
            value = self.atom(atom, env)
            more = dict(value) if key is None else {key: value}
            if twice := named.keys() & more.keys():
                raise TypeError(f"got multiple values for keyword argument {min(twice)!r}")
            named.update(more)
        return named

    def display(
        self, kind: str, items: tuple[Atom | Star, ...], keys: tuple[Atom | None, ...], env: Env
    ) -> Any:
        if kind != "dict":
            return {"tuple": tuple, "list": list, "set": set}[kind](self.items(items, env))
        table: dict[Any, Any] = {}
        for key, value in zip(keys, self.items(items, env), strict=True):
            table.update(value if key is None else {self.atom(key, env): value})
        return table

    def text(self, part: tuple[Atom, int, Atom], env: Env) -> str:
        value, conversion, specification = part
        shown = self.atom(value, env)
        if conversion in CONVERSIONS:
            shown = CONVERSIONS[conversion](shown)
        return format(shown, self.atom(specification, env) or "")

    def closure(self, made: Closure, env: Env) -> Any:
        function = made.function
        captured = [self.atom(atom, env) for atom in made.captures]
        defaults = tuple(self.atom(atom, env) for atom in made.defaults)

        def closure(*args: Any, **kwargs: Any) -> Any:
            inner: Env = {}
            self.bind_all(function.captures, captured, inner)
            if function.itself is not None:
                inner[function.itself] = closure
            return self.run(function, *arguments(function, args, kwargs, defaults), env=inner)

        closure.__name__ = function.name
        return closure

    # -- storage -------------------------------------------------------------------------------

    def update(self, rhs: Update, env: Env) -> Any:
        """Write into a part of a value and return the value."""
        whole = place = self.atom(rhs.obj, env)
        for step in rhs.steps[:-1]:
            place = self.part(place, step, env)
        last, value = rhs.steps[-1], self.atom(rhs.value, env)
        if rhs.adds and last.kind == "item" and isinstance(place, np.ndarray):
            index = self.atom(last.args[0], env)
            if is_basic(index):
                place[index] += value
            else:
                np.add.at(place, index, value)
            return whole
        if rhs.adds:
            part = self.part(place, last, env)
            part += value
            value = part
        if last.kind == "item":
            place[self.atom(last.args[0], env)] = value
        elif last.kind == "attr":
            setattr(place, last.name, value)
        else:
            raise InternalError(f"a {last.kind} cannot be assigned to")
        return whole

    def part(self, place: Any, step: Step, env: Env) -> Any:
        """Return what a step leads to."""
        args = [self.atom(atom, env) for atom in step.args]
        named = {key: self.atom(atom, env) for key, atom in step.kwargs}
        match step.kind:
            case "item":
                return place[args[0]]
            case "attr":
                return getattr(place, step.name)
        return step.function(place, *args, **named)


def is_basic(index: Any) -> bool:
    """Say whether a subscript of an array takes every element at most once, and a view."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(
        part is None or part is Ellipsis or isinstance(part, (int, np.integer, slice))
        for part in parts
    )


def arguments(
    function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any], defaults: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Return the values of a function's parameters, as Python binds them."""
    missing = iter(defaults)
    signature = inspect.Signature([
        inspect.Parameter(
            p.var.name, inspect._ParameterKind(p.kind),
            default=next(missing, None) if p.has_default else inspect.Parameter.empty,
        )
        for p in function.params
    ])
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return tuple(bound.arguments.values())
