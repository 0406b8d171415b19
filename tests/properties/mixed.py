"""Random programs over numbers of mixed kinds: value, classes and exceptions as in plain Python.

    python -m tests.properties.mixed 2000 --seed 7

A program takes a float, an int, a list of ints, floats, bools and NumPy numbers, and a dict. What
it returns, and what it raises, is compared with plain Python's by value *and* by class; where it
returns a float, the gradient by the first argument is compared with differences.
"""

from __future__ import annotations

import argparse
import copy
import linecache
import math
import warnings
from collections import Counter
from random import Random
from typing import Any

import numpy as np

from tests.properties.running import Refusal, refusals

from adcompiler import ADError, value_and_grad, vjp

HEAD = "import math\nimport numpy as np\n\n"
CLASSES = ("int", "float", "bool", "np.float64", "(int, float)", "complex", "str")


class Writer:
    """Writes the source of one program."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.names = ["x", "n"]
        self.functions: list[str] = []
        self.made = 0

    def fresh(self, stem: str) -> str:
        self.made += 1
        return f"{stem}{self.made}"

    def program(self) -> str:
        """Return the source of ``def f(x, n, vs, d)``."""
        if self.rng.random() < 0.3:
            self.helper()
        for _ in range(self.rng.randint(2, 6)):
            self.statement(1, False)
        self.line(1, f"return {self.result()}")
        return HEAD + "def f(x, n, vs, d):\n" + "\n".join(self.lines) + "\n"

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def helper(self) -> None:
        """Write a function inside the program that returns early, or nothing."""
        name, names = self.fresh("g"), self.names
        self.line(1, f"def {name}(a, b):")
        self.names = ["a", "b", "x"]
        self.line(2, f"if {self.test()}:")
        self.line(3, self.rng.choice([f"return {self.number(1)}", "return a", "return b"]))
        self.line(2, f"return {self.number(2)}")
        self.names = names
        self.functions.append(name)

    # -- statements ----------------------------------------------------------------------------

    def statement(self, depth: int, inside: bool) -> None:
        kinds = ["assign"] * 4 + ["augment"] * 2 + ["branch"] * 2 + ["unused", "maybe"]
        if depth < 3:
            kinds += ["entries", "while_", "array", "walrus", "chain"]
            kinds += ["items", "items", "count", "tuple", "list", "attempt", "early"]
        getattr(self, self.rng.choice(kinds))(depth)

    def block(self, depth: int, most: int = 2) -> None:
        before = list(self.names)
        for _ in range(self.rng.randint(1, most)):
            self.statement(depth, True)
        self.names = before

    def assign(self, depth: int) -> None:
        old = [name for name in self.names if name not in ("x", "n")]
        name = self.rng.choice(old) if old and self.rng.random() < 0.4 else self.fresh("y")
        self.line(depth, f"{name} = {self.number(2)}")
        if name not in self.names:
            self.names.append(name)

    def augment(self, depth: int) -> None:
        name = self.rng.choice(self.names)
        self.line(depth, f"{name} {self.rng.choice(['+=', '-=', '*='])} {self.number(1)}")

    def branch(self, depth: int) -> None:
        self.line(depth, f"if {self.test()}:")
        self.block(depth + 1)
        if self.rng.random() < 0.5:
            self.line(depth, "else:")
            self.block(depth + 1)

    def unused(self, depth: int) -> None:
        self.line(depth, self.rng.choice([
            f"{self.number(1)} // {self.number(0)}", f"vs[{self.rng.randint(0, 3)}]", "d['a']",
            f"{self.fresh('z')} = {self.number(2)}", f"math.sqrt({self.number(1)})",
        ]))

    def maybe(self, depth: int) -> None:
        """Bind a name on some ways only, to a number, None or a function, and read it."""
        name = self.fresh("m")
        value = self.rng.choice([self.number(1), "None", "math.sin", self.number(0)])
        self.line(depth, f"if {self.test()}:")
        self.line(depth + 1, f"{name} = {value}")
        if self.rng.random() < 0.5:
            self.line(depth, "else:")
            self.line(depth + 1, f"{name} = {value if value == 'math.sin' else self.number(0)}")
        if value == "None":
            self.line(depth, f"if {name} is not None:")
            self.line(depth + 1, f"x = x * {name}")
        else:
            self.line(depth, f"x = x + {name}{'(x)' if value == 'math.sin' else ''}")

    def items(self, depth: int) -> None:
        item = self.fresh("v")
        self.line(depth, f"for {item} in vs:")
        before = list(self.names)
        self.names = [*self.names, item, item]
        self.block(depth + 1, 3)
        self.names = before

    def count(self, depth: int) -> None:
        item = self.fresh("i")
        self.line(depth, f"for {item} in range({self.rng.choice(['2', '3', 'n', 'len(vs)'])}):")
        before = list(self.names)
        self.names = [*self.names, item]
        self.block(depth + 1)
        self.names = before

    def entries(self, depth: int) -> None:
        key, item = self.fresh("k"), self.fresh("v")
        self.line(depth, f"for {key}, {item} in d.items():")
        self.line(depth + 1, f"x = x * {item} + len({key})")
        before = list(self.names)
        self.names = [*self.names, item]
        self.block(depth + 1, 1)
        self.names = before

    def while_(self, depth: int) -> None:
        name = self.fresh("c")
        self.line(depth, f"{name} = {self.rng.choice(['n', '2', 'len(vs)', '3.5'])}")
        self.line(depth, f"while {name} > 0:")
        step = self.rng.choice(["-= 1", "-= 1.0", "//= 2", f"= {name} - 0.5"])
        self.line(depth + 1, f"{name} {step}")
        if self.rng.random() < 0.3:
            self.line(depth + 1, f"if {self.test()}:")
            self.line(depth + 2, self.rng.choice(["break", "continue", "return", "return x"]))
        self.block(depth + 1, 1)
        self.names.append(name)

    def array(self, depth: int) -> None:
        name = self.fresh("a")
        items = self.rng.choice(["vs", "[x, *vs]", "[n, 2]", "[n, x]"])
        self.line(depth, f"{name} = np.array({items})")
        out = self.fresh("y")
        self.line(depth, f"{out} = " + self.rng.choice([
            f"{name}.sum() * x", f"np.sum({name} * {self.number(0)})", f"len({name})",
            "np.zeros(2 ** abs(n)).sum()", f"({name} // 2).sum()",
            f"float(np.max({name}, initial=0))",
            f"np.full_like({name}, 2.5).sum()", f"np.zeros_like(vs).sum() + {self.number(0)}",
        ]))
        self.names.append(out)

    def walrus(self, depth: int) -> None:
        name, out = self.fresh("w"), self.fresh("y")
        key = self.rng.choice("abc")
        self.line(depth, f"{out} = {self.number(0)}")
        self.line(depth, f"if ({name} := d.get('{key}')) is not None:")
        self.line(depth + 1, f"{out} = {name} * x")
        self.names.append(out)

    def chain(self, depth: int) -> None:
        """Decide by the class of a value, one class after the other."""
        name, out = self.rng.choice(self.names), self.fresh("y")
        classes = self.rng.sample(CLASSES, 3)
        for word, cls in zip(("if", "elif", "elif"), classes, strict=True):
            self.line(depth, f"{word} isinstance({name}, {cls}):")
            self.line(depth + 1, f"{out} = {self.number(1)}")
        self.line(depth, "else:")
        self.line(depth + 1, f"{out} = {self.rng.choice(['None', self.number(0)])}")
        self.line(depth, f"x = x if {out} is None else x + {out}")

    def tuple(self, depth: int) -> None:
        name = self.fresh("t")
        self.line(depth, f"{name} = ()")
        self.line(depth, f"for {(v := self.fresh('v'))} in vs:")
        self.line(depth + 1, f"{name} = {name} + ({v} * x,)")
        self.line(depth, f"x = x + {self.rng.choice(['sum', 'len'])}({name})")

    def list(self, depth: int) -> None:
        name = self.fresh("l")
        self.line(depth, f"{name} = [{self.number(1)} for {self.fresh('v')} in vs]")
        self.line(depth, f"{name}.append({self.number(1)})")
        out = self.fresh("y")
        self.line(depth, f"{out} = {self.rng.choice(['sum', 'max', 'min'])}({name})")
        self.names.append(out)

    def attempt(self, depth: int) -> None:
        name = self.fresh("y")
        self.line(depth, "try:")
        self.line(depth + 1, f"{name} = {self.number(2)}")
        self.line(depth, "except (ZeroDivisionError, ValueError, TypeError):")
        self.line(depth + 1, f"{name} = {self.number(0)}")
        self.names.append(name)

    def early(self, depth: int) -> None:
        loop = self.rng.random() < 0.5
        if loop:
            self.line(depth, f"for {self.fresh('i')} in range({self.rng.choice(['2', 'n'])}):")
            self.line(depth + 1, f"x = x * {self.number(0)}")
        at = depth + loop
        self.line(at, f"if {self.test()}:")
        self.line(at + 1, self.rng.choice([
            "return", "return None", f"return {self.result()}", "return abs", "return (None, 2)",
        ]))

    # -- expressions ---------------------------------------------------------------------------

    def test(self) -> str:
        name = self.rng.choice(self.names)
        return self.rng.choice([
            f"isinstance({name}, {self.rng.choice(CLASSES)})", f"type({name}) is int",
            f"type({name}) is float", f"{name} > {self.rng.choice(['0', '1', 'n'])}", "len(vs) > 2",
            "'a' in d", f"0 < {name} <= 2", f"{name} in (1, 2.0)",
            f"{name} is None", f"{name} == {name} // 1", "n", f"not {name}",
        ])

    def number(self, depth: int) -> str:
        """Return an expression of a number."""
        if depth == 0 or self.rng.random() < 0.25:
            return self.rng.choice([
                *self.names, *self.names, "x", "2", "3", "0.5", "-1", "True", "len(vs)",
            ])
        a, b = self.number(depth - 1), self.number(depth - 1)
        forms = [
            f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} / {b})", f"({a} // {b})",
            f"({a} % {b})", f"({a} ** {self.rng.choice(['2', '3', 'n', '0', '-1'])})",
            f"2 ** {self.rng.choice(['n', '(n - 2)'])}", f"min({a}, {b})", f"max({a}, {b})",
            f"abs({a})", f"round({a})", f"round({a}, 1)", f"int({a})", f"float({a})",
            f"d.get('{self.rng.choice('abc')}', {b})", f"len({text(a)})", f"len(str({a}))",
            f"({a} if {self.test()} else {b})", f"({a} or {b})", f"({a} and {b})",
            f"sum(vs, {self.rng.choice(['0', '0.0', 'x'])})", f"divmod({a}, {b})[0]",
            f"np.float64({a})", f"({a}).real", f"bool({a})", f"math.floor({a})", f"-{a}",
            f"max(vs, default={a})", f"sum({v} for {v} in vs)" if (v := self.fresh("w")) else "",
            f"len({text(a, ':.2f')})", f"hash({self.rng.choice(['1', 'n'])})",
            f"max(({a}, 1), ({b}, 2))[0]", f"sorted([{a}, {b}])[0]", f"len('%s' % ({a},))",
            f"len('%d' % ({a},))", f"{a} * 1j * 1j",
            f"next((w for w in vs if w > {a}), {b})", f"vs[{self.rng.choice(['0', '-1', 'n'])}]",
            f"math.copysign(1, {a})", f"pow({a}, 2)", f"({a} == {b})", f"int({a} > {b})",
            f"(lambda q: q * q)({a})", f"[{a}, {b}][n]", f"({a}, {b})[n > 0]",
            "dict(a=1, **d)['a']" if self.rng.random() < 0.2 else f"{{'a': {a}, **d}}['a']",
        ]
        if self.functions:
            forms += [f"{self.rng.choice(self.functions)}({a}, {b})"] * 3
        return self.rng.choice(forms)

    def result(self) -> str:
        a, b = self.number(2), self.number(1)
        return self.rng.choice([
            a, a, a, f"x * {a}", f"({a}, {b})", f"[{a}, {b}]", f"{text(a)} + {text(b)}",
            f"({a}, None)",
        ])


def text(number: str, form: str = "") -> str:
    """Return an expression of the text of a number, an f-string where quotes allow it."""
    if "'" in number:
        return f"format({number}, '{form.removeprefix(':')}')"
    return f"f'{{{number}{form}}}'"


VALUES = (1, 2.5, 3, 0.5, True, np.float64(1.5), np.int64(2), -1, 0, -0.5)


def arguments(rng: Random) -> tuple[Any, ...]:
    """Return arguments of a program, each time of other kinds."""
    kinds = rng.choice([VALUES, VALUES[:4], (1, 2, 3), (0.5, 1.5, 2.5)])
    vs = [rng.choice(kinds) for _ in range(rng.randint(0, 4))]
    d = {key: rng.choice(VALUES[:6]) for key in "ab" if rng.random() < 0.6}
    return rng.choice([0.75, 1.3, 2.2]), rng.choice([-2, -1, 0, 1, 2, 3]), vs, d


def outcome(f: Any, args: tuple[Any, ...]) -> Any:
    """Return what a call gives: its value, or the class and text of the exception."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return "value", f(*copy.deepcopy(args))
        except ADError:
            raise
        except Exception as error:
            return "raises", type(error), str(error)


def shown(value: Any) -> Any:
    """Return a value with its classes, so that equal ones are of one class throughout."""
    if isinstance(value, (tuple, list)):
        return type(value), [shown(item) for item in value]
    return type(value), repr(value)


class Mismatch(AssertionError):
    """A compiled program gives something else than Python."""


def check(source: str, args: tuple[Any, ...]) -> str:
    """Compare a program with plain Python; return clean, refused or discarded."""
    name = f"<mixed {abs(hash(source))}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space: dict[str, Any] = {"__name__": "mixed"}
    exec(compile(source, name, "exec"), space)
    f = space["f"]
    wanted = outcome(f, args)
    if huge(wanted):
        return "discarded"
    try:
        with refusals():
            got = outcome(lambda *a: vjp(f, *a, argnums=0)[0], args)
    except Refusal as error:
        return f"refused {str(error).split(': ', 1)[-1].splitlines()[0]}"
    if got[0] == "raises" and "power of a negative" in got[2]:
        return "discarded"
    if shown(got) != shown(wanted):
        raise Mismatch(f"value {got!r}, in Python {wanted!r}")
    if wanted[0] == "raises" or type(wanted[1]) not in (float, np.float64) or not math.isfinite(
        wanted[1]
    ):
        return "clean value"
    slopes = [slope(f, args, h) for h in (1e-5, 1e-6)]
    if None in slopes or abs(slopes[0] - slopes[1]) > 1e-4 * (1 + abs(slopes[0])):
        return "clean value"
    kind = outcome(value_and_grad(f), args)
    if kind[0] == "raises":
        raise Mismatch(f"gradient raises {kind[1:]}")
    value, gradient = kind[1]
    if shown(value) != shown(wanted[1]) or not abs(gradient - slopes[1]) <= 1e-3 * (
        1 + abs(slopes[1])
    ):
        raise Mismatch(f"gradient {value!r} {gradient!r}, differences {wanted[1]!r} {slopes[1]!r}")
    return "clean gradient"


def huge(value: Any) -> bool:
    """Say whether a result has numbers too large, or not finite, to be compared."""
    return any(len(word) > 40 for word in repr(value).split()) or "nan" in repr(value) or (
        "inf" in repr(value))


def slope(f: Any, args: tuple[Any, ...], h: float) -> float | None:
    """Return a difference quotient, None where the function is not of one kind nearby."""
    (_, *up), (_, *down) = (outcome(f, (args[0] + s * h, *args[1:])) for s in (1, -1))
    if len(up) != 1 or len(down) != 1 or not all(
        type(v) in (float, np.float64) for v in (up[0], down[0])
    ):
        return None
    return float((up[0] - down[0]) / (2 * h))


def run(programs: int, seed: int, most: int = 10) -> tuple[Counter[str], list[str]]:
    """Check programs; return what happened, and the sources that failed with why."""
    counts: Counter[str] = Counter()
    failures: list[str] = []
    for number in range(programs):
        rng = Random(f"{seed} {number}")
        source = Writer(rng).program()
        for args in [arguments(rng) for _ in range(2)]:
            try:
                counts[check(source, args)] += 1
            except Exception as error:
                counts["failed"] += 1
                why = f"# {type(error).__name__}: {error}"
                failures.append(f"# {seed} {number} {args}\n{why}\n{source}")
        if len(failures) >= most:
            break
    return counts, failures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=10)
    chosen = parser.parse_args()
    counts, failures = run(chosen.programs, chosen.seed, chosen.most)
    print(*failures, sep="\n")
    for kind, count in counts.most_common(30):
        print(f"{count:6d} {kind}")


if __name__ == "__main__":
    main()
