"""Runs the IR of any stage as it stands, without the emitter.

``Evaluator.run`` calls an IR function on Python values. What an ``Update`` or a call that writes
does to storage, it does in place, as emitted code does. A ``Watch`` is told of all that is read and
bound, so that what the compiler holds to be true of a variable can be compared with what occurs.
"""

from __future__ import annotations

import inspect
import itertools
import operator
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from adcompiler.errors import Finding, InternalError, UnsupportedError
from adcompiler.ir import evaluate
from adcompiler.ir.nodes import (
    Atom, Block, Const, Do, Function, Let, Loop, Origin, Rhs, Statement, Undefined, Var,
)

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


class Values(dict[Any, Any]):
    """The values of variables, of which a watch is told as they are bound."""

    def __init__(self, values: Mapping[Any, Any], watch: Watch) -> None:
        super().__init__(values)
        self.watch = watch

    def __setitem__(self, place: Any, value: Any) -> None:
        super().__setitem__(place, value)
        if isinstance(place, Var):
            self.watch.bound(place, self)

    def __getitem__(self, place: Any) -> Any:
        value = super().__getitem__(place)
        if isinstance(place, int) and type(value) in (list, dict, set):
            return value.copy()  # a display, made anew
        return value

    def update(self, pairs: Iterable[tuple[Any, Any]]) -> None:  # type: ignore[override]
        for place, value in pairs:
            self[place] = value


class Watched(evaluate.Evaluator):
    """Makes closures that tell a watch what they do."""

    def __init__(self, domain: Evaluator) -> None:
        super().__init__()
        self.domain = domain
        self.watch = domain.watch

    def frame(self, values: dict[Any, Any]) -> Values:
        self.values_now = Values(values, self.watch)
        return self.values_now

    def place(self, atom: Atom) -> Var | int:
        if isinstance(atom, Var):
            return atom
        named = self.domain.named(atom.value)
        nothing = isinstance(atom.value, Undefined)  # None stands for the value of such a variable
        return self.constant(
            Const(None) if nothing else atom if named is None else
            Const(self.domain.callable(named)))

    def block(self, block: Block) -> evaluate.Code:
        code = super().block(block)

        def run(f: Values) -> Any:
            found = code(f)
            self.watch.yielded(block.yields, f)
            return found

        return run

    def statement(self, statement: Statement) -> tuple[Var | None, evaluate.Code, Origin | None]:
        target, code, origin = super().statement(statement)
        if not isinstance(statement, Let | Do):
            return target, code, origin
        rhs = statement.rhs

        def run(f: Values) -> Any:
            self.watch.before(rhs, f)
            result = code(f)
            self.watch.after(target, rhs, f, result)
            return result

        return target, run, origin

    def loop(self, node: Loop) -> evaluate.Code:
        code = super().loop(node)

        def run(f: Values) -> None:
            code(f)
            self.watch.ended(node, f)

        return run


class Evaluator:
    """Evaluates IR functions as Python does: the domain of values as they are.

    ``functions`` are those that constants name, as emitted code does; ``free`` looks up the free
    names of a function that has not been specialised.
    """

    origin: Origin | None = None
    set = staticmethod(set)
    item = staticmethod(operator.getitem)
    attribute = staticmethod(getattr)

    def __init__(
        self, functions: Iterable[Function] = (), free: Callable[[str], Any] | None = None,
        watch: Watch | None = None,
    ) -> None:
        self.functions = {function.name: function for function in functions}
        self.looked_up = free
        self.watch = watch or Watch()

    def run(self, function: Function, *values: Any, captured: Iterable[Any] = ()) -> Any:
        """Run a function with a value for each parameter, then for what it captures."""
        made = Watched(self)
        yields = made.function(function)(self, *values, *captured)
        self.watch.left(made.values_now)
        return yields[0] if len(yields) == 1 else yields

    def callable(self, function: Function) -> Callable[..., Any]:
        """Return a function as Python code may call it."""

        def evaluated(*values: Any) -> Any:
            return self.run(function, *values)

        evaluated.__name__ = function.name
        return evaluated

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

    # -- control flow --------------------------------------------------------------------------

    def failed(self, error: Exception, origin: Origin | None) -> None:
        """An exception goes its way."""

    def branch(self, condition: Any, then: evaluate.Arm, orelse: evaluate.Arm) -> tuple[Any, ...]:
        return then() if condition else orelse()

    def loop(
        self, iterables: tuple[Any, ...], state: tuple[Any, ...], body: Callable[..., Any],
        condition: Callable[..., Any] | None, count: int, collects: int, stops: bool,
    ) -> tuple[Any, ...]:
        """Run a loop: ``zip`` of what it runs over, or as long as its condition holds."""
        rows = zip(*iterables, strict=False) if condition is None else itertools.repeat(())
        collected: list[list[Any]] = [[] for _ in range(collects)]
        for row in rows:
            if condition is not None and not condition(*state)[0]:
                break
            values = body(*row, *state)
            state = values[:count]
            for items, value in zip(collected, values[count:], strict=False):
                items.append(value)
            if stops and values[-1]:
                break
        return (*state, *collected)

    def attempt(
        self, body: evaluate.Arm, handlers: Iterable[tuple[Any, Callable[[Any], Any]]]
    ) -> tuple[Any, ...]:
        try:
            return body()
        except BaseException as error:
            for classes, handler in handlers:
                if isinstance(error, classes):
                    found: tuple[Any, ...] = handler(error)
                    return found
            raise

    def exception(self, exception: Any, cause: Any) -> BaseException:
        """Return what is raised: again what is handled, if it is None."""
        if exception is None:
            handled = sys.exception()
            assert handled is not None
            return handled
        made: BaseException = exception() if isinstance(exception, type) else exception
        if cause is not None:
            made.__cause__ = cause() if isinstance(cause, type) else cause
        return made

    def unsupported(self, finding: Finding) -> None:
        raise UnsupportedError([finding])

    # -- values --------------------------------------------------------------------------------

    def call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return function(*args, **kwargs)

    def items(self, value: Any) -> Any:
        return value

    def read_global(self, module: str, path: str) -> Any:
        return operator.attrgetter(path)(sys.modules[module])

    def free(self, name: str) -> Any:
        if self.looked_up is None:
            raise InternalError(f"nothing is known of the free name {name}")
        return self.looked_up(name)

    def format(self, *parts: Any) -> str:
        return "".join(part if isinstance(part, str) else text(*part) for part in parts)

    def closure(
        self, function: Function, captured: tuple[Any, ...], defaults: tuple[Any, ...]
    ) -> Any:
        if function.itself is not None:
            function = replace(function, captures=(*function.captures, function.itself))

        def closure(*args: Any, **kwargs: Any) -> Any:
            held = captured if function.itself is None else (*captured, closure)
            return self.run(
                function, *arguments(function, args, kwargs, defaults), captured=held)

        closure.__name__ = function.name
        return closure

    def update(self, whole: Any, steps: tuple[Any, ...], value: Any, adds: bool) -> Any:
        """Write into a part of a value and return the value."""
        place = whole
        for step in steps[:-1]:
            place = part(place, step)
        kind, name, args, *_ = steps[-1]
        if adds and kind == "item" and isinstance(place, np.ndarray):
            if is_basic(args[0]):
                place[args[0]] += value
            else:
                np.add.at(place, args[0], value)
            return whole
        if adds:
            more = part(place, steps[-1])
            more += value
            value = more
        if kind == "item":
            place[args[0]] = value
        elif kind == "attr":
            setattr(place, name, value)
        else:
            raise InternalError(f"a {kind} cannot be assigned to")
        return whole


def text(value: Any, conversion: int, specification: str | None) -> str:
    """Return a part of an f-string."""
    shown = CONVERSIONS[conversion](value) if conversion in CONVERSIONS else value
    return format(shown, specification or "")


def part(place: Any, step: tuple[Any, ...]) -> Any:
    """Return what a step leads to."""
    kind, name, args, kwargs, function = step
    if kind == "item":
        return place[args[0]]
    return getattr(place, name) if kind == "attr" else function(place, *args, **kwargs)


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
