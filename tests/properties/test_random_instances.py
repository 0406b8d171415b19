"""Random programs over instances: made, replaced, added, chosen by branches, carried by loops."""

import linecache
import sys
import types
from random import Random

import pytest
from tests.lanes import one_in
from tests.language.check import check

CLASSES = """\
import math
from dataclasses import dataclass
from typing import Any, NamedTuple


@dataclass
class A:
    x: Any
    y: Any

    def mixed(self, t):
        return self.x * t + math.sin(self.y)

    def grown(self, t):
        return A(self.x * 0.9 + t, self.y + 0.1 * t)

    def __add__(self, other):
        return A(self.x + other.x, self.y * other.y)

    @property
    def z(self):
        return self.x * self.y * 0.5


class B(NamedTuple):
    x: Any
    y: Any

    def mixed(self, t):
        return self.x + t * self.y

    def grown(self, t):
        return self._replace(x=self.y * t)

    def __add__(self, other):
        return B(self.x * 0.5 + other.y, self.y + other.x * 0.3)

    @property
    def z(self):
        return self.x - self.y


"""
RESULTS = ("p.x * q.y + {}", "p", "(p, {{'q': q, 't': t}})", "[p.x, {}]", "p.grown(q.x) + p")


class Writer:
    """Writes a function of an A, a B and a number."""

    def __init__(self, rng):
        self.rng = rng
        self.lines = ["def program(p, q, t):"]
        self.numbers = ["t"]
        self.count = 0

    def program(self):
        self.block(1, self.rng.randrange(2, 7))
        result = self.rng.choice(RESULTS).format(self.number())
        return CLASSES + "\n".join([*self.lines, f"    return {result}", ""])

    def number(self):
        p, a = self.rng.choice("pq"), self.rng.choice(self.numbers)
        return self.rng.choice([f"{p}.x", f"{p}.y", f"{p}.z", f"{p}.mixed({a})", a, "0.7"])

    def block(self, depth, size):
        known = list(self.numbers)
        for _ in range(size):
            self.statement(depth)
        if depth > 1:
            self.numbers = known

    def statement(self, depth):
        p, a, b = self.rng.choice("pq"), self.number(), self.number()
        self.count += 1
        new = f"v{self.count}"
        kind = self.rng.choice(["make", "grow", "add", "name", "list", "shift", "if", "for"])
        if depth > 2 and kind in ("if", "for"):
            kind = "shift"
        text = {
            "make": f"{p} = {'A' if p == 'p' else 'B'}(math.sin({a}), {b} * 0.5)",
            "grow": f"{p} = {p}.grown(math.tanh({a}))", "add": f"{p} = {p} + {p}",
            "name": f"{new} = math.tanh({a} * {b})", "shift": f"t = t * 0.5 + math.cos({a})",
            "list": f"t = t + 0.1 * sum(e.x * e.y for e in [{p}, {p}.grown(0.3)])",
            "if": f"if {a} > {b}:", "for": f"for i in range({self.rng.randrange(4)}):",
        }[kind]
        self.lines.append("    " * depth + text)
        if kind in ("if", "for"):
            self.block(depth + 1, self.rng.randrange(1, 3))
        if kind == "if" and self.rng.random() < 0.5:
            self.lines.append("    " * depth + "else:")
            self.block(depth + 1, self.rng.randrange(1, 3))
        if kind == "name":
            self.numbers.append(new)


@pytest.mark.parametrize("first", one_in(4, range(0, 40, 10)))
def test_random_programs_over_instances(first, monkeypatch):
    for seed in range(first, first + 10):
        rng = Random(seed)
        text = Writer(rng).program()
        name = f"random_instances_{seed}"
        module = types.ModuleType(name)
        monkeypatch.setitem(sys.modules, name, module)
        monkeypatch.setitem(
            linecache.cache, f"{name}.py", (len(text), None, text.splitlines(True), f"{name}.py")
        )
        exec(compile(text, f"{name}.py", "exec"), vars(module))
        a, b, c, d, t = (rng.uniform(-1.0, 1.0) for _ in range(5))
        try:
            check(module.program, module.A(a, b), module.B(c, d), t, tol=2e-5)
        except BaseException as error:
            error.add_note(text[len(CLASSES) :])
            raise
