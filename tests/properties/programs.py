"""Random programs in the accepted language, as real source, with arguments to run them on.

``Writer`` writes one function (and its helpers) from a ``random.Random``: a plain one for long
runs, or hypothesis's, whose choices shrink. Values stay of order one and shapes are tracked, so
nearly every program runs. ``features`` says how often each kind of statement comes.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
from tests.properties.attempts import indented
from tests.properties.everyday import Everyday, renamed
from tests.properties.features import COMPOUND, EVERYTHING, WRITE_FREE, WRITING, Weights, drawn
from tests.properties.values import (
    FLOAT, GROWING, NAMES, Arr, Arrays, Callee, Context, Env, Float, Floats, Grid, Growing, Index,
    Ints, Mask, Program, Table, Tup, argument, load,
)


class Writer(Everyday):
    """Writes one random program."""

    def __init__(self, rng: Random, size: int = 5, weights: Weights = WRITE_FREE) -> None:
        super().__init__(rng, size)
        self.writing = weights is not WRITE_FREE
        self.weights = drawn(weights, rng) if self.writing else weights

    # -- statements ----------------------------------------------------------------------------

    def block(
        self, env: Env, size: int, context: Context, depth: int, least: int = 1
    ) -> tuple[list[str], bool]:
        """Write statements into a list; say whether control may pass their end."""
        rows: list[str] = []
        callees = len(self.callees)
        for _ in range(max(least, 1 + self.rng.randrange(size))):
            new, falls = self.statement(env, context, depth)
            rows += new
            if not falls:
                del self.callees[callees:]
                return rows, False
        del self.callees[callees:]
        return rows, True

    def statement(self, env: Env, context: Context, depth: int) -> tuple[list[str], bool]:
        for _ in range(8):
            name = self.kind(context, depth)
            written = getattr(self, name)(env, context, depth)
            if written is None:  # nothing that fits is at hand
                continue
            self.used.add(name)
            return (written, True) if isinstance(written, list) else written
        return self.assign(env, context, depth)

    def kind(self, context: Context, depth: int) -> str:
        """Return the name of the method that writes the next statement."""
        weights = {
            name: weight for name, weight in self.weights.items()
            if (depth > 0 or name not in COMPOUND)
            and (name != "leave" or (context.nested and context.in_loop))
            and (name != "early_return" or (context.nested and context.returns is not None))
        }
        choice = self.rng.randrange(sum(weights.values()))
        for name, weight in weights.items():
            choice -= weight
            if choice < 0:
                return name
        raise AssertionError

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
        types = [Arr((3,)), Arr((2,)), Arr((2, 3)), Arr((3, 3)), Floats(2), Floats(None)]
        if self.writing:
            types += [Arr((4,)), Arr((1,)), Arr((0,)), Arr(()), Arr((2, 2, 3)), Arr((2, 2))]
        return self.pick(types)

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
        condition, value = self.condition(env), self.number(env, 2)
        rows = [f"{flag} = {condition}", f"if {flag}:", f"    {name} = {value}"]
        more, falls = self.statement(env, Context(False, None, True, context.fixed), 0)
        out = self.target(env, FLOAT, context)
        use = f"{out} = {name} * {self.number(env, 1)}"
        if out not in env:
            use = f"{self.pick(self.of_type(env, FLOAT) or [out])} = {name} * 0.5"
            if not self.of_type(env, FLOAT) or use.split(" ")[0] in context.fixed:
                return rows + more, falls
        return [*rows, *more, f"if {flag}:", f"    {use}"], falls

    def early_return(self, env: Env, context: Context, depth: int) -> tuple[list[str], bool]:
        if context.returns == "nothing":
            return ["return"], False
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
        merged = self.merged(ends)
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
        rows, fixed = [f"for {head}:"], {n for n, t in targets.items() if not isinstance(t, Arr)}
        walked = any(name in head for name in self.of_class(env, Growing))
        self.frozen += walked
        written = self.loop_body(rows, [], env, inner, context, depth, surely, fixed)
        self.frozen -= walked
        return written

    def head(self, env: Env) -> tuple[str, Env, bool]:
        i, x, y = self.fresh("i"), self.fresh("x"), self.fresh("x")
        n = self.pick([0, 1, 2, 2, 3, 3]) if self.writing else self.rng.randrange(4)
        options: list[tuple[str, Env, bool]] = [
            (f"{i} in range({n})", {i: Index(n)} if n else {}, n > 0),
            (f"{i} in range(1, {n})", {i: Index(n)} if n > 1 else {}, n > 1),
            (f"{i} in reversed(range({n}))", {i: Index(n)} if n else {}, n > 0),
        ]
        for outer in self.of_class(env, Index) if self.writing else []:
            bound = env[outer].bound
            options += [(f"{i} in range({outer} + 1)", {i: Index(bound)}, True),
                        (f"{i} in range({outer})", {i: Index(bound)}, False),
                        (f"{i} in range({outer}, {bound})", {i: Index(bound)}, True)] * 2
        for name, type_ in env.items():
            match type_:
                case Arr((n,)):
                    options += [
                        (f"{x} in {name}", {x: FLOAT}, n > 0),
                        (f"{i}, {x} in enumerate({name})", {i: Index(n), x: FLOAT}, n > 0),
                        (f"{x} in {name}[1:]", {x: FLOAT}, n > 1),
                        (f"{x}, {y} in zip({name}, {name}[::-1])", {x: FLOAT, y: FLOAT}, n > 0),
                        (f"{i} in range({name}.shape[0])", {i: Index(n)}, n > 0),
                        (f"{i} in range(len({name}) - 1)", {i: Index(n)}, n > 1),
                    ]
                case Arr((n, m)):
                    options += [
                        (f"{x} in {name}", {x: Arr((m,))}, True),
                        (f"{i}, {x} in enumerate({name})", {i: Index(n), x: Arr((m,))}, True),
                    ]
                    if self.writing:
                        options += [
                            (f"{x} in {name}.T", {x: Arr((n,))}, True),
                            (f"{x}, {y} in zip({name}, {name}[::-1])",
                             {x: Arr((m,)), y: Arr((m,))}, True),
                        ]
                case Arrays(shape, n):
                    options += [(f"{x} in {name}", {x: Arr(shape)}, True),
                                (f"{i}, {x} in enumerate({name})",
                                 {i: Index(n), x: Arr(shape)}, True)]
                case Ints(_, bound):
                    options += [(f"{i} in {name}", {i: Index(bound)}, True)] * 2
                case Growing():
                    options += [(f"{x} in {name}", {x: FLOAT}, False),
                                (f"{i}, {x} in enumerate({name})", {x: FLOAT}, False),
                                (f"{x} in reversed({name})", {x: FLOAT}, False)]
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
                case Tup((item, *items)) if item == FLOAT or isinstance(item, Arr):
                    if all(other == item for other in items):
                        options.append((f"{x} in {name}", {x: item}, True))
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
        self.frozen += 1
        rows = self.function(name, names, params, result, inner, min(depth - 1, 1), 2)
        self.frozen -= 1
        self.callees.append(Callee(name, params, result, tuple(names)))
        return rows, True

    def signature(self) -> tuple[tuple[Any, ...], Any]:
        params = tuple(
            self.pick([FLOAT, FLOAT, Arr((3,)), Arr((2, 3))])
            for _ in range(1 + self.rng.randrange(3))
        )
        return params, self.pick([FLOAT, FLOAT, Arr((3,)), Tup((FLOAT, FLOAT))])

    def function(
        self, name: str, names: list[str], params: tuple[Any, ...], result: Any, env: Env,
        depth: int, size: int,
    ) -> list[str]:
        default = " = 0.4" if params[-1] == FLOAT and self.chance(0.2) else ""
        context = Context(False, result, False, set(env) - set(names))
        body, falls = self.block(env, size, context, depth, size // 3 if name == "f" else 1)
        if falls and name == "f" and self.writing:
            body += self.uncalled(body, env, context)
        if falls:
            body.append(f"return {self.result(result, env)}")
        return [f"def {name}({', '.join(names)}{default}):", *indented(body)]

    def result(self, type_: Any, env: Env) -> str:
        """Return a value to return, of as much of what was computed as there is."""
        total = [n for n in self.of_type(env, FLOAT) if not self.chance(0.3)]
        if not self.writing:
            more = f"{' + '.join(total)} + " if type_ == FLOAT and total else ""
            return f"{more}{self.value(type_, env, 2)}"
        total += self.sums(env) or [self.leaf(env)]
        match type_:
            case Arr(shape):
                array = self.array(shape, env, 1)
                known = [p.text for p in self.places(env) if p.shape == shape]
                if known and self.chance(0.5):
                    return str(self.pick(known))
                return f"{array} * ({' + '.join(total)})"
            case Tup((Float(), *items)):
                others = [self.value(t, env, 0) for t in items]
                return f"({', '.join([' + '.join(total), *others])})"
            case Float():
                return " + ".join(total)
        return self.value(type_, env, 1)

    def sums(self, env: Env) -> list[str]:
        """Return numbers that depend on nearly everything in containers and arrays."""
        found = [self.reduced(p, env) for p in self.places(env)]
        for name, type_ in env.items():
            match type_:
                case Growing():
                    found.append(f"sum({name})")
                case Floats(length):
                    weigh = f"sum((k + 1) * item for k, item in enumerate({name}))"
                    found.append(weigh if length else f"sum({name})")
                case Grid(rows):
                    found += [f"sum({name}[{i}])" for i in range(rows)]
                case Tup(items):
                    found += [f"{name}[{i}]" for i, t in enumerate(items) if t == FLOAT]
                case Table(entries):
                    found += [f"{name}[{key!r}]" for key, t in entries if t == FLOAT]
        return [text for text in found if not self.chance(0.1)]

    def helper(self) -> list[str]:
        if self.writing and self.chance(0.7):
            return self.writing_helper()
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
                again, f"{self.number(env, 1)} * {again}",
                f"np.sin({again}) + {self.number(env, 1)}",
                f"{again} - 0.5 * {name}(t, n - 2)",
            ]))
        self.callees.append(Callee(name, (type_, Index(4)), FLOAT))
        return [f"def {name}(t, n):", *indented(rows)]

    def program(self) -> Program:
        """Write a whole program."""
        rows = ["import contextlib", "import math", "", "import numpy as np", "", "SCALE = 0.8", ""]
        body = len(rows)
        least = 1 if self.writing and self.weights["call_procedure"] and self.size > 2 else 0
        for _ in range(max(least, self.rng.randrange(3))):
            rows += ["", *self.helper(), ""]
        types, inactive = self.parameters()
        names = ["x", "v", "m", "d"][: len(types)]
        env: Env = dict(zip(names, types, strict=True)) | inactive
        result = FLOAT if not self.chance(0.2) else self.pick(self.results(types))
        params = (*types, *inactive.values(), None)
        names += inactive
        depth = 2 if self.writing else 3
        main = self.function("f", names, params, result, env, depth, self.size)
        rows += ["", *main]
        if any("change" in row for row in main):
            self.used.add("call_procedure")  # whichever statement calls it
        if any("Box(" in row for row in rows):
            rows[body:body] = ["", "class Box:", "    def __init__(self, level, data):",
                               "        self.level = level", "        self.data = data", ""]
        values = np.random.default_rng(self.rng.randrange(1000))
        args = tuple(argument(t, values) for t in params[:-1])
        if self.writing and self.chance(0.05):
            args = tuple(single(a) for a in args)
        return Program("\n".join(rows) + "\n", args, result == FLOAT, len(types),
                       frozenset(self.used))

    def results(self, types: list[Any]) -> list[Any]:
        """Return types of results besides numbers; often one of an argument, to return that."""
        if self.writing:
            arrays = [t for t in types if isinstance(t, Arr)]
            return [*arrays, Arr((3,)), *(Tup((FLOAT, t)) for t in arrays),
                    *(Tup((FLOAT, t, t)) for t in arrays)]
        return [Arr((3,)), Tup((FLOAT, Arr((3,)))), Floats(2),
                Table((("u", FLOAT), ("w", FLOAT)))]

    def parameters(self) -> tuple[list[Any], Env]:
        """Return the types of the differentiated arguments, and the others by name."""
        if not self.writing:
            options = [FLOAT, Arr((3,)), Arr((2, 3)), Floats(2), Tup((FLOAT, Arr((3,)))),
                       Table((("u", FLOAT), ("w", Arr((2,))))), Tup((FLOAT, FLOAT)), Floats(3),
                       Table((("u", FLOAT), ("w", FLOAT)))]
            return [FLOAT] + [self.pick(options) for _ in range(self.rng.randrange(4))], {}
        arrays = [Arr((3,)), Arr((3,)), Arr((4,)), Arr((2, 3)), Arr((3, 3)), Arr((2, 2)),
                  Arr((1,)), Arr(()), Arr((2, 2, 3)), Arr((0,)), Arr((1, 3))]
        others = [FLOAT, Floats(2), Floats(3), GROWING, Arrays((3,), 2), Grid(2, 2),
                  Tup((FLOAT, Arr((3,)))), Tup((Arr((3,)), Arr((3,)))),
                  Table((("u", FLOAT), ("w", Arr((3,))))), Table((("u", FLOAT), ("w", FLOAT)))]
        types = [FLOAT, self.pick(arrays)]
        types += [self.pick([*arrays, *others]) for _ in range(self.rng.randrange(3))]
        data: Env = {"n": Index(3), "ks": Ints(3, 2), "keep": Mask(3), "data": Arr((3,))}
        return types, {name: type_ for name, type_ in data.items() if self.chance(0.3)}


def single(value: Any) -> Any:
    """Return an argument in single precision."""
    floats = isinstance(value, np.ndarray) and value.dtype == float
    return value.astype(np.float32) if floats else value


def random_program(seed: int, size: int = 5, weights: Weights = WRITE_FREE) -> Program:
    """Return the program of a seed."""
    program = Writer(Random(seed), size, weights).program()
    if weights is EVERYTHING and seed % 3 == 0:
        return replace(program, source=renamed(program.source, Random(seed)))
    return program


__all__ = ["EVERYTHING", "WRITE_FREE", "WRITING", "Program", "Writer", "load", "random_program"]
