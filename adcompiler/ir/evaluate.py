"""Evaluates IR on a domain, which says what operations and control flow do to values.

A block becomes a closure, once, that runs it on a *frame*: what variables are, and constants by the
numbers of their places. A domain that does what Python does runs the program; one of sparsity
follows what values depend on.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Closure, Const, Do, Format, Free, Function, Global, If, Item, Let,
    Loop, Origin, Pack, Raise, Rhs, Slice, Star, Statement, Try, Unsupported, Update, Var,
    With, unstar,
)

DOMAIN = "domain"
"""The place in a frame of what does the operations."""

Frame = dict[Any, Any]
Code = Callable[[Frame], Any]
Values = tuple[Any, ...]
Arm = Callable[[], Values]


class Domain(Protocol):
    """What operations do to values, and where control flow goes.

    ``origin`` is told of each statement that is run, ``failed`` of each that raises an exception.
    """

    call: Callable[..., Any]
    item: Callable[..., Any]
    items: Callable[..., Iterable[Any]]
    attribute: Callable[..., Any]
    update: Callable[..., Any]
    set: Callable[..., Any]
    closure: Callable[..., Any]
    format: Callable[..., Any]
    read_global: Callable[[str, str], Any]
    branch: Callable[..., Values]
    loop: Callable[..., Values]
    attempt: Callable[..., Values]
    exception: Callable[..., BaseException]
    failed: Callable[[Exception, Origin | None], None]
    origin: Origin | None


class Evaluator:
    """Makes closures of the statements of one function."""

    def __init__(self) -> None:
        self.constants: Frame = {}
        self.places: dict[int, int] = {}

    def function(self, function: Function) -> Callable[..., Values]:
        """Return a function of the domain, of the parameters and of what is captured."""
        names = [*(param.var for param in function.params), *function.captures]
        body, constants = self.block(function.body), self.constants

        def entry(domain: Domain, *values: Any) -> Values:
            frame = self.frame({**constants, DOMAIN: domain})
            frame.update(zip(names, values, strict=True))
            found: Values = body(frame)
            return found

        return entry

    def frame(self, values: Frame) -> Frame:
        """Return the frame that begins with some values."""
        return values

    # -- atoms ---------------------------------------------------------------------------------

    def place(self, atom: Atom) -> Var | int:
        """Return where in a frame the value of an atom is."""
        return atom if isinstance(atom, Var) else self.constant(atom)

    def constant(self, constant: Const) -> int:
        """Return where in a frame a constant is."""
        place = self.places.setdefault(id(constant.value), len(self.places))
        self.constants[place] = constant.value
        return place

    def values(self, atoms: Sequence[Atom | Star]) -> Code:
        """Return what gives the values of several atoms, starred ones spread out."""
        places = [self.place(unstar(atom)) for atom in atoms]
        starred = [isinstance(atom, Star) for atom in atoms]
        if any(starred):
            return lambda f: tuple(
                value for place, spread in zip(places, starred, strict=True)
                for value in (f[DOMAIN].items(f[place]) if spread else (f[place],)))
        if len(places) > 1:
            return operator.itemgetter(*places)
        if not places:
            return lambda _: ()
        place = places[0]
        return lambda f: (f[place],)

    def named(self, pairs: Sequence[tuple[str | None, Atom]]) -> Callable[[Frame], dict[str, Any]]:
        """Return what gives keyword arguments."""
        if not pairs:
            return lambda _: {}
        names, values = [name for name, _ in pairs], self.values([atom for _, atom in pairs])
        return lambda f: keywords(names, values(f))

    # -- statements ----------------------------------------------------------------------------

    def block(self, block: Block) -> Code:
        """Return what runs a block in a frame, and gives what it yields."""
        rows = [self.statement(statement) for statement in block.statements]
        yields = self.values(block.yields)

        def run(f: Frame) -> Any:
            domain = f[DOMAIN]
            origin = None
            try:
                for target, code, origin in rows:
                    domain.origin = origin
                    f[target] = code(f)
            except Exception as error:
                domain.failed(error, origin)
                raise
            return yields(f)

        return run

    def statement(self, statement: Statement) -> tuple[Var | None, Code, Origin | None]:
        """Return what runs a statement: the variable that it defines, and code for its value."""
        match statement:
            case Let(target, rhs, origin):
                return target, self.rhs(rhs), origin
            case Do(rhs, origin):
                return None, self.rhs(rhs), origin
            case Raise(exception, cause, origin):
                return None, self.throw(self.place(exception), self.place(cause)), origin
            case Unsupported(finding):
                return None, lambda f: f[DOMAIN].unsupported(finding), None
            case If():
                return None, self.branch(statement), statement.origin
            case Loop():
                return None, self.loop(statement), statement.origin
            case With():
                return None, self.context(statement), statement.origin
            case Try():
                return None, self.attempt(statement), statement.origin

    def throw(self, place: Var | int, cause: Var | int) -> Code:
        def run(f: Frame) -> None:
            raise f[DOMAIN].exception(f[place], f[cause])

        return run

    def branch(self, node: If) -> Code:
        condition, results = self.place(node.condition), node.results
        then, orelse = self.block(node.then), self.block(node.orelse)

        def run(f: Frame) -> None:
            found = f[DOMAIN].branch(f[condition], partial(then, f), partial(orelse, f))
            f.update(zip(results, found, strict=True))

        return run

    def iteration(self, node: Loop) -> Callable[..., Values]:
        """Return what runs the body of a loop in a frame, with its items and carried values."""
        bound, body = (*node.items, *node.params), self.block(node.body)

        def run(f: Frame, *values: Any) -> Any:
            f.update(zip(bound, values, strict=True))
            return body(f)

        return run

    def loop(self, node: Loop) -> Code:
        iterables, inits = self.values(node.iterables), self.values(node.inits)
        body = self.iteration(node)
        goes_on = None if node.condition is None else self.block(node.condition)
        params, results = node.params, (*node.results, *node.collects)
        count, collects, stops = len(params), len(node.collects), node.stops

        def run(f: Frame) -> None:
            def condition(*values: Any) -> Any:
                assert goes_on is not None
                f.update(zip(params, values, strict=True))
                return goes_on(f)

            found = f[DOMAIN].loop(
                iterables(f), inits(f), partial(body, f), condition if goes_on else None,
                count, collects, stops)
            f.update(zip(results, found, strict=True))

        return run

    def context(self, node: With) -> Code:
        context, body = self.place(node.context), self.block(node.body)

        def run(f: Frame) -> None:
            with f[context] as f[node.target]:
                found = body(f)
            f.update(zip(node.results, found, strict=True))

        return run

    def attempt(self, node: Try) -> Code:
        body = self.block(node.body)
        handlers = [
            (self.place(one.exception), one.name, self.block(one.body)) for one in node.handlers]

        def handled(f: Frame, name: Var | None, handler: Code, error: BaseException) -> Any:
            f[name] = error
            return handler(f)

        def run(f: Frame) -> None:
            found = f[DOMAIN].attempt(partial(body, f), [
                (f[classes], partial(handled, f, name, handler))
                for classes, name, handler in handlers])
            f.update(zip(node.results, found, strict=True))

        return run

    # -- right-hand sides ----------------------------------------------------------------------

    def rhs(self, rhs: Rhs) -> Code:
        """Return what gives the value of a right-hand side."""
        match rhs:
            case Call(func, args, kwargs):
                function, given, named = self.place(func), self.values(args), self.named(kwargs)
                return lambda f: f[DOMAIN].call(f[function], given(f), named(f))
            case Pack(kind, items, keys):
                return self.display(kind, items, keys)
            case Item(obj, index):
                whole, place = self.place(obj), self.place(index)
                return lambda f: f[DOMAIN].item(f[whole], f[place])
            case Slice(lower, upper, step):
                parts = self.values((lower, upper, step))
                return lambda f: slice(*parts(f))
            case Attribute(obj, name):
                owner = self.place(obj)
                return lambda f: f[DOMAIN].attribute(f[owner], name)
            case Update():
                return self.update(rhs)
            case Closure(function, captures, defaults):
                captured, given = self.values(captures), self.values(defaults)
                return lambda f: f[DOMAIN].closure(function, captured(f), given(f))
            case Free(name):
                return lambda f: f[DOMAIN].free(name)
            case Global(module, path):
                return lambda f: f[DOMAIN].read_global(module, path)
            case Format(parts):
                return self.text(parts)

    def display(
        self, kind: str, items: Sequence[Atom | Star], keys: Sequence[Atom | None]
    ) -> Code:
        given = self.values(items)
        if kind == "tuple":
            return given
        if kind == "list":
            return lambda f: list(given(f))
        if kind == "set":
            return lambda f: f[DOMAIN].set(given(f))
        places = [None if key is None else self.place(key) for key in keys]

        def table(f: Frame) -> dict[Any, Any]:
            found: dict[Any, Any] = {}
            for place, value in zip(places, given(f), strict=True):
                found.update(value if place is None else {f[place]: value})
            return found

        return table

    def update(self, rhs: Update) -> Code:
        obj, value, adds = self.place(rhs.obj), self.place(rhs.value), rhs.adds
        steps = [
            (step, self.values(step.args), self.named(step.kwargs),
             self.place(Const(step.function))) for step in rhs.steps]

        def run(f: Frame) -> Any:
            path = tuple(
                (step.kind, step.name, args(f), named(f), f[function])
                for step, args, named, function in steps)
            return f[DOMAIN].update(f[obj], path, f[value], adds)

        return run

    def text(self, parts: Sequence[str | tuple[Atom, int, Atom]]) -> Code:
        places = [part if isinstance(part, str) else (
            self.place(part[0]), part[1], self.place(part[2])) for part in parts]
        return lambda f: f[DOMAIN].format(*(
            part if isinstance(part, str) else (f[part[0]], part[1], f[part[2]])
            for part in places))


def keywords(names: Sequence[str | None], values: Values) -> dict[str, Any]:
    """Return keyword arguments, those under None spread out; none may be given twice."""
    found: dict[str, Any] = {}
    for name, value in zip(names, values, strict=True):
        more: Mapping[str, Any] = value if name is None else {name: value}
        if twice := found.keys() & more.keys():
            raise TypeError(f"got multiple values for keyword argument {min(twice)!r}")
        found.update(more)
    return found
