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
from tests.properties.everyday import renamed
from tests.properties.features import EVERYTHING, WRITE_FREE, WRITING, Weights
from tests.properties.statements import Statements
from tests.properties.values import (
    FLOAT, GROWING, Arr, Arrays, Callee, Context, Env, Float, Floats, Grid, Growing, Index,
    Ints, Mask, Program, Table, Tup, argument, load,
)


class Writer(Statements):
    """Writes one random program."""

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
