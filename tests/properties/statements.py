"""Random statements: assignments, branches, loops, each with what it leaves behind."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.properties.attempts import indented
from tests.properties.everyday import Everyday
from tests.properties.features import COMPOUND, WRITE_FREE, Weights, drawn
from tests.properties.values import (
    FLOAT, NAMES, Arr, Arrays, Context, Env, Floats, Growing, Index,
    Ints, Table, Tup,
)


class Statements(Everyday):
    """Writes the statements of random programs."""

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
            options += self.heads_over(name, type_, i, x, y)
        options.append((f"{x} in ({self.number(env, 1)}, {self.number(env, 1)})", {x: FLOAT}, True))
        options.append((f"{x} in {self.floats(None, env, 1)}", {x: FLOAT}, False))
        return self.pick(options)  # type: ignore[no-any-return]

    def heads_over(
        self, name: str, type_: Any, i: str, x: str, y: str
    ) -> list[tuple[str, Env, bool]]:
        """Return the ways to run over what one name refers to."""
        options: list[tuple[str, Env, bool]] = []
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
        return options

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
