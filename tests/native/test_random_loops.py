"""Random programs over elements: loops give what Python gives, exceptions too."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from adcompiler import value_and_grad
from adcompiler.errors import UnsupportedError
from tests.lanes import one_in
from tests.native.test_backends_agree import outcome, same, watched
from tests.properties.values import load

OPERATORS = ("+", "-", "*", "+", "*", "/")
UNARY = (
    "math.sin({})", "math.tanh({})", "abs({})", "-({})", "({}) ** 2", "math.sqrt(1.0 + ({}) ** 2)",
    "max({}, 0.25)", "min(s, {})", "np.cos({})", "float({})",
)


class Maker:
    """Writes a function of an array x and a matrix A with a local array u and numbers s, t, k."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.loops: list[str] = []
        self.rows: list[str] = []

    def index(self) -> str:
        """Return a subscript, within bounds mostly."""
        names = [*self.loops, "k % 3"] if self.loops else ["0", "k % 4"]
        name = self.rng.choice(names)
        others = f"{name} - 1", f"-1 - {name}", "2", "-1", f"{name} // 2"
        return self.rng.choice([name, name, *others])

    def number(self, depth: int = 2) -> str:
        """Return an expression of a float."""
        pick = self.rng.random()
        if depth == 0 or pick < 0.35:
            return self.rng.choice([
                f"x[{self.index()}]", f"u[{self.index()}]", "s", "t", "0.5",
                f"A[{self.index()}, {self.index()}]", *self.loops, "k", "np.sum(u)",
                "u[1:] @ x[1:]",
            ])
        if pick < 0.75:
            sign = self.rng.choice(OPERATORS)
            right = self.number(depth - 1)
            right = f"(2.0 + abs({right}))" if sign == "/" and self.rng.random() < 0.8 else right
            return f"({self.number(depth - 1)} {sign} {right})"
        return self.rng.choice(UNARY).format(self.number(depth - 1))

    def test(self) -> str:
        """Return a condition."""
        sign = self.rng.choice(("<", ">", "<=", "!="))
        return f"{self.number(1)} {sign} {self.number(1)}"

    def block(self, pad: str, count: int, depth: int) -> None:
        """Write statements."""
        before = len(self.rows)
        for _ in range(count):
            self.statement(pad, depth)
        if len(self.rows) == before:
            self.rows.append(f"{pad}pass")

    def statement(self, pad: str, depth: int) -> None:
        """Write one statement."""
        kind = self.rng.choice((
            "set", "set", "store", "store", "add", "if", "for", "for", "while", "swap", "count",
            "leave", "rows", "slice",
        ))
        add = self.rows.append
        if kind == "set":
            add(f"{pad}{self.rng.choice('st')} = 0.5 * {self.number()}")
        elif kind == "store":
            add(f"{pad}u[{self.index()}] = 0.5 * {self.number()}")
        elif kind == "add":
            sign = self.rng.choice(("+=", "-=", "*="))
            add(f"{pad}u[{self.index()}] {sign} 0.3 * {self.number(1)}")
        elif kind == "swap":
            add(f"{pad}s, t = t, 0.5 * s + {self.number(1)}")
        elif kind == "count":
            add(f"{pad}k = (k * 5 + 3) % 7")
        elif kind == "rows":
            add(f"{pad}row = A[{self.index()}]")
            add(f"{pad}t = t + 0.1 * row[1] * np.sum(row * u[:4])")
        elif kind == "slice":
            add(f"{pad}u[1:] = 0.5 * u[:-1] + {self.number(1)}")
        elif depth and kind == "if":
            add(f"{pad}if {self.test()}:")
            self.block(pad + "    ", 1, depth - 1)
            if self.rng.random() < 0.6:
                add(f"{pad}else:")
                self.block(pad + "    ", 2, depth - 1)
        elif depth and kind in ("for", "while"):
            self.loop(pad, depth, kind)
        elif kind == "leave" and self.loops and pad != "    ":
            add(f"{pad}if {self.test()}:")
            add(f"{pad}    {self.rng.choice(('break', 'continue', 'return s + t'))}")

    def loop(self, pad: str, depth: int, kind: str) -> None:
        """Write a loop."""
        name = "ijlm"[len(self.loops)]
        if kind == "while":
            self.rows.append(f"{pad}{name} = 0")
            self.rows.append(f"{pad}while {name} < 3 and {self.test()}:")
            self.rows.append(f"{pad}    {name} += 1")
        else:
            over = self.rng.choice((
                "range(4)", "range(1, 4)", "range(3, -1, -1)", "range(0, 4, 2)", "range(k % 3)",
                "range(1, len(x))",
            ))
            self.rows.append(f"{pad}for {name} in {over}:")
        self.loops.append(name)
        self.block(pad + "    ", self.rng.randrange(1, 4), depth - 1)
        self.loops.pop()

    def source(self) -> str:
        """Return the text of a module with a function ``f(x, A)``."""
        self.rows = [
            "import math", "import numpy as np", "", "", "def f(x, A):", "    u = x.copy()",
            "    s, t, k = 1.0, x[0], 2",
        ]
        self.block("    ", 4, 3)
        self.rows.append("    return s + t * np.sum(u)")
        return "\n".join(self.rows) + "\n"


def check(seed: int) -> Any:
    """Check one program, and return whether its loops came to the end, None without loops."""
    function = load(Maker(seed).source())
    rng = np.random.default_rng(seed)
    args = rng.normal(size=4), rng.normal(size=(4, 4))
    python = value_and_grad(function, argnums=(0, 1))
    native = value_and_grad(function, argnums=(0, 1), backend="native")
    try:
        python.compiled_for(*args)
        came = watched(native, *args)
    except UnsupportedError:
        return None
    expected, got = outcome(python, *args), outcome(native, *args)
    assert not [one for one in came if isinstance(one, Exception)], (came, Maker(seed).source())
    if isinstance(expected, tuple) and isinstance(expected[0], float):
        expected, got = (float(expected[0]), expected[1]), (float(got[0]), got[1])
        close = np.isclose(got[0], expected[0], rtol=1e-9, atol=1e-9, equal_nan=True) and all(
            np.allclose(a, b, rtol=1e-8, atol=1e-8, equal_nan=True)
            for a, b in zip(got[1], expected[1], strict=True)
        )
        assert close or not np.isfinite(expected[0]), Maker(seed).source()
        if " @ " not in Maker(seed).source():
            assert same(got, expected), Maker(seed).source()
    else:
        assert same(got, expected), Maker(seed).source()
    return bool(came[0]) if came else None


@pytest.mark.parametrize("first", one_in(2, [0, 500]))
def test_random_loops(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_NATIVE", "plain")
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", "off")
    found = [check(seed) for seed in range(first, first + 10)]
    assert found.count(True) >= 2
