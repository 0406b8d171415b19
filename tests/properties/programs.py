"""Random programs in the accepted language, as real source, with arguments to run them on.

``Writer`` writes one function (and its helpers) from a ``random.Random``: a plain one for long
runs, or hypothesis's, whose choices shrink. Simple choices come first in every list for that
reason. Values stay of order one and shapes are tracked, so nearly every program runs.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Float:
    """A float, or a NumPy float."""


@dataclass(frozen=True)
class Index:
    """An int from 0 to ``bound - 1``."""

    bound: int


@dataclass(frozen=True)
class Arr:
    """An array of floats."""

    shape: tuple[int, ...]


@dataclass(frozen=True)
class Floats:
    """A list of ``length`` floats; of unknown length if that is None."""

    length: int | None


@dataclass(frozen=True)
class Tup:
    """A tuple."""

    items: tuple[Any, ...]


@dataclass(frozen=True)
class Table:
    """A dict with text keys."""

    entries: tuple[tuple[str, Any], ...]


FLOAT = Float()
SHAPES = [(3,), (2,), (2, 3), (3, 3), (1,)]
NAMES = "a b c e g h p q r s u w y z".split()
Env = dict[str, Any]


@dataclass(frozen=True)
class Program:
    """The source of a module whose function ``f`` is to be differentiated at ``args``."""

    source: str
    args: tuple[Any, ...]
    scalar: bool = True

    def function(self) -> Callable[..., Any]:
        """Return ``f``, made from source that tools can find."""
        return load(self.source)

    def __repr__(self) -> str:
        return f"{self.source}\nARGS = {self.args!r}\n"


_loaded = [0]


def load(source: str) -> Callable[..., Any]:
    """Run ``source`` as a module of its own and return its function ``f``."""
    _loaded[0] += 1
    name = f"<random program {_loaded[0]}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace: dict[str, Any] = {"__name__": f"random_program_{_loaded[0]}"}
    exec(compile(source, name, "exec"), namespace)
    found = namespace["f"]
    assert callable(found)
    return found


@dataclass
class Callee:
    """A function that may be called: its parameters' types and its result's."""

    name: str
    params: tuple[Any, ...]
    result: Any
    keywords: tuple[str, ...] = ()


@dataclass
class Context:
    """What a block may do: leave a loop, return, and which names it may not assign."""

    in_loop: bool = False
    returns: Any = None
    nested: bool = False
    fixed: set[str] = field(default_factory=set)


class Writer:
    """Writes one random program."""

    def __init__(self, rng: Random, size: int = 5) -> None:
        self.rng = rng
        self.size = size
        self.callees: list[Callee] = []
        self.count = 0
        self.in_helper = False

    # -- choices -------------------------------------------------------------------------------

    def chance(self, probability: float) -> bool:
        return self.rng.randrange(100) >= 100 - int(100 * probability)

    def pick(self, options: Any) -> Any:
        options = list(options)
        return options[self.rng.randrange(len(options))]

    def constant(self) -> str:
        return self.pick(["0.5", "1.0", "2.0", "0.3", "-0.7", "1.3", "0.9", "SCALE", "2", "-1"])

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    @staticmethod
    def of_type(env: Env, type_: Any) -> list[str]:
        return [name for name, found in env.items() if found == type_]

    def of_class(self, env: Env, cls: type) -> list[str]:
        return [name for name, found in env.items() if isinstance(found, cls)]

    def value(self, type_: Any, env: Env, depth: int) -> str:
        """Return an expression of a type."""
        match type_:
            case Float():
                return self.number(env, depth)
            case Arr(shape):
                return self.array(shape, env, depth)
            case Floats(length):
                return self.floats(length, env, depth)
            case Tup(items):
                known = self.of_type(env, type_)
                if known and self.chance(0.3):
                    return str(self.pick(known))
                inner = [self.value(i, env, depth - 1) for i in items]
                return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"
            case Table(entries):
                known = self.of_type(env, type_)
                if known and self.chance(0.3):
                    return str(self.pick(known))
                return "{" + ", ".join(
                    f"{key!r}: {self.value(t, env, depth - 1)}" for key, t in entries) + "}"
            case Index(bound):
                return str(self.rng.randrange(bound))
        raise AssertionError(type_)

    # -- numbers -------------------------------------------------------------------------------

    def number(self, env: Env, depth: int) -> str:
        if depth <= 0 or self.chance(0.15):
            return self.leaf(env)
        return str(self.pick([
            self.binary, self.binary, self.unary, self.reduction, self.unary, self.product_of_arrays,
            self.called, self.chosen, self.over_list, self.leaf_of, self.called,
        ])(env, depth - 1))

    def leaf_of(self, env: Env, depth: int) -> str:
        return self.leaf(env)

    def leaf(self, env: Env) -> str:
        options = [str(name) for name in self.of_type(env, FLOAT)] * 2
        for name, type_ in env.items():
            match type_:
                case Arr(shape):
                    options.append(f"{name}[{self.subscript(shape, env)}]")
                case Floats(length) if length:
                    options.append(f"{name}[{self.position(length, env)}]")
                case Tup(items):
                    options += [f"{name}[{i}]" for i, t in enumerate(items) if t == FLOAT]
                case Table(entries):
                    options += [f"{name}[{k!r}]" for k, t in entries if t == FLOAT]
        if not options or self.chance(0.15):
            return self.constant()
        return str(self.pick(options))

    def position(self, length: int, env: Env) -> str:
        options = ["0", "-1", str(length - 1)]
        options += [n for n, t in env.items() if isinstance(t, Index) and t.bound <= length]
        options += [f"{n} - 1" for n, t in env.items() if isinstance(t, Index) and t.bound <= length]
        return str(self.pick(options))

    def subscript(self, shape: tuple[int, ...], env: Env) -> str:
        return ", ".join(self.position(n, env) for n in shape)

    def binary(self, env: Env, depth: int) -> str:
        x, y = self.number(env, depth), self.number(env, depth)
        return str(self.pick([
            f"({x} + {y})", f"{x} * {y}", f"({x} - {y})", f"({x}) / (1.5 + ({y}) ** 2)",
            f"max({x}, {y} + 0.01)", f"math.hypot({x}, 1.0 + ({y}) ** 2)",
        ]))

    def unary(self, env: Env, depth: int) -> str:
        x = self.number(env, depth)
        return str(self.pick([
            f"np.sin({x})", f"math.tanh({x})", f"-({x})", f"({x}) ** 2", f"math.cos({x})",
            f"math.exp(0.3 * np.sin({x}))", f"math.sqrt(1.0 + ({x}) ** 2)", f"abs({x})",
            f"np.tanh({x}) ** 3", f"np.log(1.5 + ({x}) ** 2)", f"float({x})",
        ]))

    def reduction(self, env: Env, depth: int) -> str:
        shape = self.pick(SHAPES)
        x = self.array(shape, env, depth)
        return str(self.pick([
            f"np.sum({x})", f"({x}).sum()", f"np.mean({x})", f"np.sum(np.sin({x}) ** 2)",
            f"np.prod(1.0 + 0.3 * np.tanh({x}))", f"np.max({x})",
            f"({x})[{', '.join('0' * len(shape))}]",
        ]))

    def product_of_arrays(self, env: Env, depth: int) -> str:
        shape = self.pick([(3,), (2,)])
        x, y = self.array(shape, env, depth), self.array(shape, env, depth)
        return str(self.pick([f"({x}) @ ({y})", f"np.dot({x}, {y})", f"np.sum(({x}) * ({y}))"]))

    def chosen(self, env: Env, depth: int) -> str:
        x, y = self.number(env, depth), self.number(env, depth)
        options = [f"({x} if {self.condition(env)} else {y})"]
        options.append(f"({x} or {y})")
        options.append(f"float(np.where({self.condition(env, plain=True)}, {x}, {y}))")
        return str(self.pick(options))

    def over_list(self, env: Env, depth: int) -> str:
        known = [n for n, t in env.items() if isinstance(t, Floats)]
        if known and self.chance(0.4):
            return f"sum({self.pick(known)})"
        if self.chance(0.3):
            source, bound = self.iterated(env)
            inner = {**env, "k": bound}
            return f"sum({self.element(inner, depth)} for k in {source})"
        return f"sum({self.floats(None, env, depth)})"

    def called(self, env: Env, depth: int) -> str:
        return self.call(FLOAT, env, depth) or self.unary(env, depth)

    def call(self, result: Any, env: Env, depth: int) -> str:
        usable = [c for c in self.callees if c.result == result]
        if not usable:
            return ""
        callee = self.pick(usable)
        words: list[str] = []
        for position, type_ in enumerate(callee.params):
            value = self.value(type_, env, min(depth, 1))
            keyword = position < len(callee.keywords) and (
                any("=" in w[:3] for w in words) or self.chance(0.2)
            )
            if keyword or any(w.startswith(tuple(k + "=" for k in callee.keywords)) for w in words):
                words.append(f"{callee.keywords[position]}={value}")
            else:
                words.append(value)
        return f"{callee.name}({', '.join(words)})"

    # -- conditions ----------------------------------------------------------------------------

    def condition(self, env: Env, plain: bool = False) -> str:
        bound = self.pick(["0.4", "0.1", "-0.2", "0.8", "1.1"])
        options = [f"{self.leaf(env)} > {bound}", f"{self.number(env, 1)} < {bound}"]
        if plain:
            return str(self.pick(options))
        options.append(f"-1.3 < {self.leaf(env)} <= {bound}")
        options.append(f"not {self.leaf(env)} > {bound}")
        options.append(f"{self.leaf(env)} > {bound} and {self.leaf(env)} < 0.9")
        options.append(f"{self.leaf(env)} > {bound} or {self.leaf(env)} < -0.3")
        for name in self.of_class(env, Index):
            options += [f"{name} == 1", f"{name} % 2 == 0", f"{name} > 0"]
        for name in self.of_class(env, Floats):
            options += [f"len({name}) > 1", name]
        return str(self.pick(options))

    # -- arrays --------------------------------------------------------------------------------

    def array(self, shape: tuple[int, ...], env: Env, depth: int) -> str:
        known = self.of_type(env, Arr(shape))
        if depth <= 0 or (known and self.chance(0.3)):
            if known:
                return str(self.pick(known))
            return self.made(shape, env, 0)
        methods = [self.array_unary, self.array_binary, self.reshaped, self.made, self.array_binary,
                   self.array_called]
        return str(self.pick(methods)(shape, env, depth - 1))

    def array_called(self, shape: tuple[int, ...], env: Env, depth: int) -> str:
        return self.call(Arr(shape), env, depth) or self.array_unary(shape, env, depth)

    def array_unary(self, shape: tuple[int, ...], env: Env, depth: int) -> str:
        x = self.array(shape, env, depth)
        return str(self.pick([
            f"np.sin({x})", f"-({x})", f"np.tanh({x})", f"({x}) ** 2", f"np.exp(0.3 * np.sin({x}))",
            f"np.sqrt(1.0 + ({x}) ** 2)", f"np.cos({x}) ** 3", f"({x})[::-1]", f"np.abs({x})",
            f"np.cumsum({x}, axis=0)", f"np.maximum({x}, 0.05)",
            f"({x}) / np.sum(1.0 + ({x}) ** 2, axis=-1, keepdims=True)", f"({x}).copy()",
        ]))

    def array_binary(self, shape: tuple[int, ...], env: Env, depth: int) -> str:
        x = self.array(shape, env, depth)
        others = [self.array(shape, env, depth), self.number(env, depth)]
        if len(shape) == 2:
            others.append(self.array(shape[1:], env, depth))
            others.append(f"({self.array((shape[0],), env, depth)})[:, None]")
        y = self.pick(others)
        return str(self.pick([
            f"({x} + {y})", f"({x}) * ({y})", f"({x} - {y})", f"({x}) / (1.5 + ({y}) ** 2)",
            f"np.where(({x}) > 0.35, {x}, {y})", f"({y} - {x})",
        ]))

    def made(self, shape: tuple[int, ...], env: Env, depth: int) -> str:
        if len(shape) == 2:
            rows = [self.array(shape[1:], env, depth - 1) for _ in range(shape[0])]
            x = self.array((shape[0],), env, depth - 1)
            y = self.array((shape[1],), env, depth - 1)
            return str(self.pick([
                f"np.stack([{', '.join(rows)}])", f"np.outer({x}, {y})",
                f"({x})[:, None] * ({y})[None, :]", f"np.array([{', '.join(rows)}])",
                f"np.zeros({shape}) + {self.number(env, depth)}",
            ]))
        items = [self.number(env, depth) for _ in range(shape[0])]
        options = [f"np.array([{', '.join(items)}])", f"np.full({shape}, {items[0]})",
                   f"np.linspace(0.2, 0.8, {shape[0]}) * {items[0]}"]
        source, bound = self.iterated(env, shape[0])
        element = self.element({**env, "k": bound}, depth)
        options.append(f"np.array([{element} for k in {source}])")
        if shape == (3,):
            options.append(f"np.concatenate([{self.array((2,), env, depth - 1)}, np.array([{items[0]}])])")
        return str(self.pick(options))

    def reshaped(self, shape: tuple[int, ...], env: Env, depth: int) -> str:
        options: list[str] = []
        inner = depth - 1
        if len(shape) == 1:
            n = shape[0]
            longer = self.array((n + 1,), env, inner) if n < 3 else None
            if longer:
                options += [f"({longer})[1:]", f"({longer})[:-1]"]
            if n in (2, 3):
                tall = self.array((n, 3), env, inner)
                options += [f"np.sum({tall}, axis=1)", f"({tall})[:, {self.position(3, env)}]",
                            f"({tall}) @ ({self.array((3,), env, inner)})", f"({tall}).mean(axis=1)"]
            if n == 3:
                wide = self.array((2, 3), env, inner)
                options += [f"({wide})[{self.position(2, env)}]", f"np.sum({wide}, axis=0)",
                            f"({self.array((2,), env, inner)}) @ ({wide})",
                            f"({self.array((3,), env, inner)})[[0, 2, 1]]"]
            if n == 1:
                options.append(f"np.sum({self.array((2, 3), env, inner)}).reshape(1)")
        else:
            m, n = shape
            options += [f"({self.array((m, 3), env, inner)}) @ ({self.array((3, n), env, inner)})"]
            if m == n:
                options.append(f"({self.array(shape, env, inner)}).T")
            options.append(f"np.reshape({self.array(shape, env, inner)}, ({m * n},)).reshape({m}, {n})")
            options.append(f"({self.array(shape, env, inner)})[:, ::-1]")
        return str(self.pick(options)) if options else self.made(shape, env, depth)

    # -- lists ---------------------------------------------------------------------------------

    def iterated(self, env: Env, length: int | None = None) -> tuple[str, Any]:
        """Return something to iterate over, and the type of its items."""
        options: list[tuple[str, Any]] = [(f"range({length or 2})", Index(length or 2))]
        for name, type_ in env.items():
            match type_:
                case Arr((n,)) if length in (n, None):
                    options += [(name, FLOAT), (name, FLOAT)]
                case Arr((n, m)) if length in (n, None):
                    options.append((name, Arr((m,))))
                case Floats(n) if length is None or n == length:
                    options += [(name, FLOAT), (name, FLOAT)]
                case Tup(items) if length in (len(items), None) and set(items) == {FLOAT}:
                    options.append((name, FLOAT))
                case Table(entries) if length in (len(entries), None) and (
                    {t for _, t in entries} == {FLOAT}
                ):
                    options.append((f"{name}.values()", FLOAT))
        return self.pick(options)  # type: ignore[no-any-return]

    def element(self, env: Env, depth: int) -> str:
        """Return a number that uses ``k``, the item of a comprehension."""
        match env["k"]:
            case Float():
                return str(self.pick([f"np.sin(k) * {self.number(env, depth)}", "k * k", "k"]))
            case Index():
                return f"(k + 1) * {self.number(env, min(depth, 1))}"
            case Arr():
                return str(self.pick(["np.sum(k)", f"np.sum(np.sin(k)) * {self.leaf(env)}", "k @ k"]))
        return self.number(env, depth)

    def floats(self, length: int | None, env: Env, depth: int) -> str:
        known = [n for n, t in env.items() if isinstance(t, Floats) and length in (t.length, None)]
        if known and self.chance(0.3):
            return str(self.pick(known))
        if length is None and self.chance(0.3):
            source, item = self.iterated(env)
            inner = {**env, "k": item}
            return f"[{self.element(inner, depth)} for k in {source} if {self.condition(inner)}]"
        if self.chance(0.5):
            source, item = self.iterated(env, length)
            return f"[{self.element({**env, 'k': item}, depth)} for k in {source}]"
        items = [self.number(env, depth - 1) for _ in range(2 if length is None else length)]
        return f"[{', '.join(items)}]"

    # -- statements ----------------------------------------------------------------------------

    def block(self, env: Env, size: int, context: Context, depth: int) -> tuple[list[str], bool]:
        """Write statements into a list; say whether control may pass their end."""
        rows: list[str] = []
        callees = len(self.callees)
        for _ in range(1 + self.rng.randrange(size)):
            new, falls = self.statement(env, context, depth)
            rows += new
            if not falls:
                del self.callees[callees:]
                return rows, False
        del self.callees[callees:]
        return rows, True

    def statement(self, env: Env, context: Context, depth: int) -> tuple[list[str], bool]:
        simple = [self.assign, self.assign, self.assign, self.augment, self.unpack, self.swap,
                  self.pack, self.walrus, self.retype, self.assertion]
        compound = [self.branch, self.for_loop, self.for_loop, self.while_loop, self.branch,
                    self.closure, self.maybe]
        leaving = []
        if context.nested and context.in_loop:
            leaving += [self.leave] * 2
        if context.nested and context.returns is not None:
            leaving.append(self.early_return)
        options: list[Any] = simple + (compound if depth > 0 else []) + leaving
        return self.pick(options)(env, context, depth)  # type: ignore[no-any-return]

    def target(self, env: Env, type_: Any, context: Context, new: float = 0.3) -> str:
        """Return a name to assign a value of ``type_`` to."""
        known = [n for n in self.of_type(env, type_) if n not in context.fixed]
        free = [n for n in NAMES if n not in env and n not in context.fixed]
        if (known and not self.chance(new)) or not free:
            return str(self.pick(known)) if known else self.fresh("n")
        return str(free[self.rng.randrange(min(4, len(free)))])

    def some_type(self) -> Any:
        if self.chance(0.6):
            return FLOAT
        return self.pick([Arr((3,)), Arr((2,)), Arr((2, 3)), Arr((3, 3)), Floats(2), Floats(None)])

    def bounded(self, type_: Any, expression: str) -> str:
        if type_ == FLOAT and self.chance(0.6):
            return str(self.pick([f"np.sin({expression})", f"math.tanh({expression})"]))
        if isinstance(type_, Arr) and self.chance(0.6):
            return f"np.tanh({expression})"
        return expression

    def assign(self, env: Env, context: Context, depth: int) -> tuple[list[str], bool]:
        type_ = self.some_type()
        expression = self.bounded(type_, self.value(type_, env, 2))
        name = self.target(env, type_, context)
        env[name] = type_
        return [f"{name} = {expression}"], True

    def retype(self, env: Env, context: Context, depth: int) -> tuple[list[str], bool]:
        """Give a name a value of another kind, in straight code only."""
        names = [n for n in env if n not in context.fixed]
        if context.nested or not names or len(self.of_type(env, FLOAT)) < 2:
            return self.assign(env, context, depth)
        name, type_ = self.pick(names), self.some_type()
        row = f"{name} = {self.bounded(type_, self.value(type_, env, 2))}"
        env[name] = type_
        return [row], True

    def augment(self, env: Env, context: Context, depth: int) -> tuple[list[str], bool]:
        names = [n for n in self.of_type(env, FLOAT) if n not in context.fixed]
        if not names:
            return self.assign(env, context, depth)
        name = self.pick(names)
        change = f"np.sin({self.number(env, 2)})"
        return [f"{name} {self.pick(['+=', '-=', '*='])} {change}"], True

    def unpack(self, env: Env, context: Context, depth: int) -> tuple[list[str], bool]:
        free = [n for n in NAMES if n not in env and n not in context.fixed]
        if len(free) < 3:
            return self.assign(env, context, depth)
        start = self.rng.randrange(min(3, len(free) - 2))
        one, two = free[start : start + 2]
        sources: list[tuple[str, list[Any]]] = [
            (f"{self.number(env, 2)}, {self.number(env, 1)}", [FLOAT, FLOAT]),
            (self.array((2,), env, 1), [FLOAT, FLOAT]),
            (self.array((2, 3), env, 1), [Arr((3,)), Arr((3,))]),
            (f"({self.number(env, 1)}, {self.array((2,), env, 1)})", [FLOAT, Arr((2,))]),
        ]
        for name, type_ in env.items():
            if type_ == Floats(2):
                sources.append((name, [FLOAT, FLOAT]))
            if isinstance(type_, Tup) and len(type_.items) == 2:
                sources.append((name, list(type_.items)))
        source, types = self.pick(sources)
        if self.chance(0.2):
            three_items = self.value(self.pick([Arr((3,)), Floats(3)]), env, 1)
            env.update({one: FLOAT, two: Floats(2)})
            return [f"{one}, *{two} = {three_items}"], True
        env.update(zip((one, two), types, strict=True))
        return [f"{one}, {two} = {source}"], True

    def swap(self, env: Env, context: Context, depth: int) -> tuple[list[str], bool]:
        type_ = self.pick([FLOAT, Arr((3,))])
        names = [n for n in self.of_type(env, type_) if n not in context.fixed]
        if len(names) < 2:
            return self.assign(env, context, depth)
        one = self.pick(names)
        two = self.pick([n for n in names if n != one])
        if self.chance(0.5):
            return [f"{one}, {two} = {two}, {one}"], True
        return [f"{one}, {two} = {two}, {self.bounded(type_, self.value(type_, env, 1))}"], True

    def pack(self, env: Env, context: Context, depth: int) -> tuple[list[str], bool]:
        type_ = self.pick([
            Tup((FLOAT, FLOAT)), Tup((FLOAT, Arr((3,)))), Table((("u", FLOAT), ("w", FLOAT))),
            Table((("u", FLOAT), ("w", Arr((3,))))), Tup((FLOAT, Tup((FLOAT, Arr((2,)))))),
        ])
        name = self.target(env, type_, context)
        row = f"{name} = {self.value(type_, env, 2)}"
        env[name] = type_
        return [row], True

    def walrus(self, env: Env, context: Context, depth: int) -> tuple[list[str], bool]:
        free = [n for n in NAMES if n not in env and n not in context.fixed]
        if len(free) < 2:
            return self.assign(env, context, depth)
        inner, outer = free[:2]
        expression = self.number(env, 1)
        env[inner] = FLOAT
        row = f"{outer} = ({inner} := {expression}) * {self.number(env, 1)}"
        env[outer] = FLOAT
        return [row], True

    def assertion(self, env: Env, context: Context, depth: int) -> tuple[list[str], bool]:
        x = self.leaf(env)
        return [f'assert {x} == {x}, f"{{{x}}} is not a number"'], True

    def maybe(self, env: Env, context: Context, depth: int) -> tuple[list[str], bool]:
        """A variable that is assigned only where a flag says so, and read only there."""
        flag, name = self.fresh("flag"), self.fresh("part")
        rows = [f"{flag} = {self.condition(env)}", f"if {flag}:", f"    {name} = {self.number(env, 2)}"]
        more, falls = self.statement(env, Context(False, None, True, context.fixed), 0)
        out = self.target(env, FLOAT, context)
        use = f"{out} = {name} * {self.number(env, 1)}"
        if out not in env:
            use = f"{self.pick(self.of_type(env, FLOAT) or [out])} = {name} * 0.5"
            if not self.of_type(env, FLOAT) or use.split(" ")[0] in context.fixed:
                return rows + more, falls
        return [*rows, *more, f"if {flag}:", f"    {use}"], falls

    def early_return(self, env: Env, context: Context, depth: int) -> tuple[list[str], bool]:
        return [f"return {self.value(context.returns, env, 2)}"], False

    def leave(self, env: Env, context: Context, depth: int) -> tuple[list[str], bool]:
        return [self.pick(["break", "continue"])], False

    def branch(self, env: Env, context: Context, depth: int) -> tuple[list[str], bool]:
        inside = Context(context.in_loop, context.returns, True, context.fixed)
        arms = 1 + self.rng.randrange(3)
        rows: list[str] = []
        ends: list[Env] = []
        for index in range(arms):
            word = "if" if index == 0 else "elif"
            rows.append(f"{word} {self.condition(env)}:")
            self.arm(rows, ends, env, inside, depth)
        if self.chance(0.5):
            rows.append("else:")
            self.arm(rows, ends, env, inside, depth)
        else:
            ends.append(dict(env))
        if not ends:
            return rows, False
        merged = {n: t for n, t in ends[0].items() if all(e.get(n) == t for e in ends)}
        env.clear()
        env.update(merged)
        return rows, True

    def arm(
        self, rows: list[str], ends: list[Env], env: Env, context: Context, depth: int
    ) -> None:
        inner = dict(env)
        body, falls = self.block(inner, 2, context, depth - 1)
        rows += indented(body)
        if falls:
            ends.append(inner)

    # -- loops ---------------------------------------------------------------------------------

    def for_loop(self, env: Env, context: Context, depth: int) -> tuple[list[str], bool]:
        head, targets, surely = self.head(env)
        inner = {**env, **targets}
        return self.loop_body([f"for {head}:"], [], env, inner, context, depth, surely, set(targets))

    def head(self, env: Env) -> tuple[str, Env, bool]:
        i, x, y = self.fresh("i"), self.fresh("x"), self.fresh("x")
        n = self.rng.randrange(4)
        options: list[tuple[str, Env, bool]] = [
            (f"{i} in range({n})", {i: Index(n)} if n else {}, n > 0),
            (f"{i} in range(1, {n})", {i: Index(n)} if n > 1 else {}, n > 1),
            (f"{i} in reversed(range({n}))", {i: Index(n)} if n else {}, n > 0),
        ]
        for name, type_ in env.items():
            match type_:
                case Arr((n,)):
                    options += [
                        (f"{x} in {name}", {x: FLOAT}, True),
                        (f"{i}, {x} in enumerate({name})", {i: Index(n), x: FLOAT}, True),
                        (f"{x} in {name}[1:]", {x: FLOAT}, n > 1),
                        (f"{x}, {y} in zip({name}, {name}[::-1])", {x: FLOAT, y: FLOAT}, True),
                        (f"{i} in range({name}.shape[0])", {i: Index(n)}, True),
                        (f"{i} in range(len({name}) - 1)", {i: Index(n)}, n > 1),
                    ]
                case Arr((n, m)):
                    options += [
                        (f"{x} in {name}", {x: Arr((m,))}, True),
                        (f"{i}, {x} in enumerate({name})", {i: Index(n), x: Arr((m,))}, True),
                    ]
                case Floats(length):
                    sure = bool(length)
                    options += [
                        (f"{x} in {name}", {x: FLOAT}, sure),
                        (f"{i}, {x} in enumerate({name})", {x: FLOAT}, sure),
                        (f"{x}, {y} in zip({name}, {name})", {x: FLOAT, y: FLOAT}, sure),
                        (f"{i}, ({x}, {y}) in enumerate(zip({name}, {name}[1:]))",
                         {x: FLOAT, y: FLOAT}, False),
                        (f"{x} in reversed({name})", {x: FLOAT}, sure),
                    ]
                case Tup(items) if set(items) == {FLOAT}:
                    options.append((f"{x} in {name}", {x: FLOAT}, True))
                case Table(entries) if {t for _, t in entries} == {FLOAT}:
                    options.append((f"_, {x} in {name}.items()", {x: FLOAT}, True))
        options.append((f"{x} in ({self.number(env, 1)}, {self.number(env, 1)})", {x: FLOAT}, True))
        options.append((f"{x} in {self.floats(None, env, 1)}", {x: FLOAT}, False))
        return self.pick(options)  # type: ignore[no-any-return]

    def while_loop(self, env: Env, context: Context, depth: int) -> tuple[list[str], bool]:
        k, n = self.fresh("k"), self.rng.randrange(4)
        before = [f"{k} = 0"]
        if self.chance(0.2):
            start = [f"    {k} += 1", f"    if {k} > {n}:", "        break"]
            head, surely = ["while True:", *start], False
        else:
            extra = f" and {self.condition(env, plain=True)}" if self.chance(0.4) else ""
            head, surely = [f"while {k} < {n}{extra}:", f"    {k} += 1"], n > 0 and not extra
        inner = dict(env)
        return self.loop_body([*before, *head], ["while"], env, inner, context, depth, surely, {k})

    def loop_body(
        self, head: list[str], kind: list[str], env: Env, inner: Env, context: Context, depth: int,
        surely: bool, fixed: set[str],
    ) -> tuple[list[str], bool]:
        inside = Context(True, context.returns, True, context.fixed | fixed)
        body: list[str] = []
        known: Env | None = None
        callees = len(self.callees)
        for _ in range(1 + self.rng.randrange(3)):
            rows, falls = self.statement(inner, inside, depth - 1)
            body += rows
            leaves = any(word in row for row in rows for word in ("break", "continue", "return"))
            if leaves and known is None:
                known = dict(env)
            if not falls:
                break
        del self.callees[callees:]
        context.fixed |= inside.fixed - fixed
        rows = [*head, *indented(body)]
        after = {n: t for n, t in (known or inner).items() if n not in fixed or not kind}
        if self.chance(0.2):
            other = dict(env)
            rows.append("else:")
            orelse, falls = self.block(
                other, 2, Context(context.in_loop, context.returns, True, context.fixed), depth - 1)
            rows += indented(orelse)
            surely = False
        if surely:
            env.update({n: t for n, t in after.items() if n not in env})
        return rows, True

    # -- functions -----------------------------------------------------------------------------

    def closure(self, env: Env, context: Context, depth: int) -> tuple[list[str], bool]:
        """A lambda or nested function; the names it may capture stay as they are from here on."""
        name = self.fresh("fn")
        context.fixed.update(env)
        if self.chance(0.5):
            inner = {**env, "t": FLOAT}
            row = f"{name} = lambda t: {self.number(inner, 2)}"
            self.callees.append(Callee(name, (FLOAT,), FLOAT))
            return [row], True
        params, result = self.signature()
        names = ["t", "o", "l"][: len(params)]
        inner = {**env, **dict(zip(names, params, strict=True))}
        rows = self.function(name, names, params, result, inner, min(depth - 1, 1), 2)
        self.callees.append(Callee(name, params, result, tuple(names)))
        return rows, True

    def signature(self) -> tuple[tuple[Any, ...], Any]:
        params = tuple(
            self.pick([FLOAT, FLOAT, Arr((3,)), Arr((2, 3))]) for _ in range(1 + self.rng.randrange(3))
        )
        return params, self.pick([FLOAT, FLOAT, Arr((3,)), Tup((FLOAT, FLOAT))])

    def function(
        self, name: str, names: list[str], params: tuple[Any, ...], result: Any, env: Env, depth: int,
        size: int,
    ) -> list[str]:
        default = " = 0.4" if params[-1] == FLOAT and self.chance(0.2) else ""
        context = Context(False, result, False, set(env) - set(names))
        body, falls = self.block(env, size, context, depth)
        if falls:
            total = [n for n in self.of_type(env, FLOAT) if not self.chance(0.3)]
            more = f"{' + '.join(total)} + " if result == FLOAT and total else ""
            body.append(f"return {more}{self.value(result, env, 2)}")
        return [f"def {name}({', '.join(names)}{default}):", *indented(body)]

    def helper(self) -> list[str]:
        name = self.fresh("helper")
        if self.chance(0.3):
            return self.recursive(name)
        params, result = self.signature()
        names = ["t", "o", "l"][: len(params)]
        env: Env = dict(zip(names, params, strict=True))
        rows = self.function(name, names, params, result, env, 2, 3)
        self.callees.append(Callee(name, params, result, tuple(names)))
        return rows

    def recursive(self, name: str) -> list[str]:
        type_ = self.pick([FLOAT, Arr((3,))])
        env: Env = {"t": type_}
        rows = ["if n <= 0:", f"    return {self.value(FLOAT, env, 2)}"]
        more, falls = self.block(env, 2, Context(False, FLOAT, False), 1)
        rows += more
        if falls:
            again = f"{name}({self.bounded(type_, self.value(type_, env, 1))}, n - 1)"
            rows.append("return " + self.pick([
                again, f"{self.number(env, 1)} * {again}", f"np.sin({again}) + {self.number(env, 1)}",
                f"{again} - 0.5 * {name}(t, n - 2)",
            ]))
        self.callees.append(Callee(name, (type_, Index(4)), FLOAT))
        return [f"def {name}(t, n):", *indented(rows)]

    def program(self) -> Program:
        """Write a whole program."""
        rows = ["import math", "", "import numpy as np", "", "SCALE = 0.8", ""]
        for _ in range(self.rng.randrange(3)):
            rows += ["", *self.helper(), ""]
        types = [FLOAT] + [
            self.pick([FLOAT, Arr((3,)), Arr((2, 3)), Floats(2), Tup((FLOAT, Arr((3,)))),
                       Table((("u", FLOAT), ("w", Arr((2,))))), Tup((FLOAT, FLOAT)), Floats(3),
                       Table((("u", FLOAT), ("w", FLOAT)))])
            for _ in range(self.rng.randrange(4))
        ]
        names = ["x", "v", "m", "d"][: len(types)]
        env: Env = dict(zip(names, types, strict=True))
        result = FLOAT if not self.chance(0.2) else self.pick(
            [Arr((3,)), Tup((FLOAT, Arr((3,)))), Floats(2), Table((("u", FLOAT), ("w", FLOAT)))])
        rows += ["", *self.function("f", names, (*types, None), result, env, 3, self.size)]
        values = np.random.default_rng(self.rng.randrange(1000))
        args = tuple(argument(t, values) for t in types)
        return Program("\n".join(rows) + "\n", args, result == FLOAT)


def argument(type_: Any, rng: np.random.Generator) -> Any:
    """Return a value of a type, away from zero."""

    def number() -> float:
        return round(float(rng.uniform(0.2, 1.4) * rng.choice([1, 1, -1])), 3)

    match type_:
        case Arr(shape):
            return np.array([number() for _ in range(int(np.prod(shape)))]).reshape(shape)
        case Floats(length):
            return [number() for _ in range(length or 2)]
        case Tup(items):
            return tuple(argument(i, rng) for i in items)
        case Table(entries):
            return {key: argument(t, rng) for key, t in entries}
    return number()


def indented(rows: list[str]) -> list[str]:
    """Return rows one level deeper."""
    return ["    " + row for row in rows]


def random_program(seed: int, size: int = 5) -> Program:
    """Return the program of a seed."""
    return Writer(Random(seed), size).program()
