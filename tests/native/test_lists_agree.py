"""Programs over lists: loops give what Python gives, exceptions too; compiled loops as well."""

from __future__ import annotations

import copy
import random
from typing import Any
from types import BuiltinFunctionType

import numpy as np
import pytest

from adcompiler import value_and_grad
from adcompiler.errors import UnsupportedError
from tests.lanes import one_in
from tests.native.list_programs import (
    PROGRAMS, VALUES, by_quaternion, chosen, either, exchanged, grows, grows_and_shrinks, horner,
    nested, pairs, polygon, prefix, replaced, unpacks,
)
from tests.native.test_backends_agree import outcome, watched
from tests.native.test_backends_agree import same as same_bits
from tests.properties.values import load

named = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)


def same(a: Any, b: Any) -> bool:
    """Say whether two outcomes are the same, bit by bit, in lists too."""
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return same_bits(a, b)


@named
def test_value_and_gradient_are_the_same(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_NATIVE", "plain")
    args = PROGRAMS[program]
    kept = copy.deepcopy(args)
    native = value_and_grad(program, backend="native")
    came = watched(native, *args)
    assert same(native(*args), value_and_grad(program)(*copy.deepcopy(kept)))
    assert came == [True]
    assert same(args, kept)


@pytest.mark.parametrize(("program", "args"), [
    (grows, (0.7, 0)), (grows_and_shrinks, (0.9, 0)), (grows_and_shrinks, (0.9, 1)),
    (prefix, (VALUES, 6)), (prefix, (VALUES, -7)), (prefix, (VALUES, -1)), (exchanged, ([],)),
    (exchanged, ([1.0],)), (replaced, (VALUES, 0)), (pairs, (0.3, 0)), (polygon, ([(1.0, 2.0)],)),
    (chosen, ([], [])), (chosen, (VALUES, [1, 1])), (chosen, (VALUES, [2**70, 2, 3, 4, 5])),
    (chosen, (VALUES, [2**62, 2**62, 2**62, 4, 5])), (horner, ([], 0.5)), (either, ([], 2)),
    (either, ([], 0)), (either, (VALUES, 0)), (nested, ([], 2)), (unpacks, ([1.0, 2.0, 3.0],)),
    (chosen, ([float("nan"), 1.0, 0.5], [2, 2, 2])), (by_quaternion, ((0.0,) * 4, [1.0])),
    (prefix, ([1.0, 2.0, -3.0, 2.0, 2.0], 2)), (prefix, ([1, 2, 3], 2)), (prefix, ([1, 2.5], 2)),
])
def test_other_arguments_and_what_goes_wrong(
    program: Any, args: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADCOMPILER_NATIVE", "plain")
    expected = outcome(value_and_grad(program), *copy.deepcopy(args))
    try:
        got = outcome(value_and_grad(program, backend="native"), *args)
    except UnsupportedError as error:
        assert {finding.anchor for finding in error.findings} == {"native"}
        return
    if isinstance(expected, tuple) and isinstance(expected[0], type):
        assert got == expected
    else:
        assert got[0] == expected[0] or got[0] != got[0]
        assert same(got[1:], expected[1:])


class Maker:
    """Writes a function of a list x and a number s, with local lists u and v."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.rows = ["def f(x, s):", "    u, v, t = [s, 0.5], list(x), 0.0"]
        self.loops: list[str] = []

    def index(self) -> str:
        """Return a subscript, within bounds mostly."""
        return self.rng.choice(["-1", "0", "1", "-2", *self.loops, *self.loops])

    def number(self, depth: int = 2) -> str:
        """Return an expression of a float."""
        pick, rng = self.rng.random(), self.rng
        if depth == 0 or pick < 0.5:
            name = rng.choice("uvx")
            return rng.choice([
                f"{name}[{self.index()}]", f"{name}[{self.index()}]", "s", "t", f"sum({name})",
                f"max({name})", f"len({name})", "0.75", *self.loops,
            ])
        sign = rng.choice("+-*")
        return f"({self.number(depth - 1)} {sign} {self.number(depth - 1)})"

    def block(self, pad: str, count: int, depth: int) -> None:
        """Write statements."""
        rng = self.rng
        for _ in range(count):
            kind = rng.randrange(14 if depth else 10)
            name, other = rng.sample("uv", 2)
            if kind < 2:
                self.rows.append(f"{pad}{name}.append(0.5 * {self.number()})")
            elif kind == 2:
                self.rows.append(f"{pad}{name}[{self.index()}] = 0.25 * {self.number()}")
            elif kind == 3:
                self.rows.append(f"{pad}t = 0.5 * t + {self.number()}")
            elif kind == 4:
                self.rows.append(f"{pad}t += {name}.pop({rng.choice(['', '0', '-1'])})")
            elif kind == 5:
                self.rows.append(f"{pad}{name} = {rng.choice([f'{other}[1:]', f'{other}[:]'])}")
            elif kind == 6:
                self.rows.append(f"{pad}{name} = [0.5 * e for e in {other}]")
            elif kind == 7:
                self.rows.append(f"{pad}u, v = v, u")
            elif kind == 8:
                self.rows.append(f"{pad}{name} = {name} + [{self.number(1)}]")
            elif kind == 9:
                self.rows.append(f"{pad}{name}[{self.index()}] += 0.5 * {self.number(1)}")
            elif kind < 12:
                loop = f"i{len(self.rows)}"
                over = rng.choice(["range(3)", f"range(len({name}))", f"enumerate({other})"])
                head = f"{loop}, e" if over[0] == "e" else loop
                self.rows.append(f"{pad}for {head} in {over}:")
                self.loops.append(loop)
                self.block(f"{pad}    ", 2, depth - 1)
                self.loops.pop()
            else:
                self.rows.append(f"{pad}if {self.number(1)} < {self.number(1)}:")
                self.block(f"{pad}    ", 2, depth - 1)
                self.rows.append(f"{pad}else:")
                self.block(f"{pad}    ", 1, depth - 1)

    def program(self) -> Any:
        """Return the function."""
        self.block("    ", 5, 2)
        self.rows.append("    return t + sum(u) + v[0] * u[-1]")
        return load("\n".join(self.rows))


def agrees(seed: int) -> bool:
    """Check a random program; return whether loops came to their end."""
    program = Maker(seed).program()
    args = [0.5, -1.25, 2.0], 0.75
    native = value_and_grad(program, argnums=(0, 1), backend="native")
    try:
        came = watched(native, *args)
    except UnsupportedError:
        return False
    expected = outcome(value_and_grad(program, argnums=(0, 1)), *args)
    got = outcome(native, *args)
    if isinstance(expected, tuple) and isinstance(expected[0], type):
        assert got == expected, seed
    else:
        assert got[0] == expected[0] or got[0] != got[0], seed
        assert same(got[1], expected[1]), seed
    return came == [True]


@pytest.mark.parametrize("first", one_in(3, [0, 20, 40]))
def test_random_programs(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_NATIVE", "plain")
    assert sum(agrees(seed) for seed in range(first, first + 20)) >= 3


@pytest.mark.parametrize(
    "program", one_in(3, [grows_and_shrinks, polygon, chosen]),
    ids=lambda program: program.__name__,
)
@pytest.mark.usefixtures("machine_code")
def test_compiled_loops_give_what_python_gives(program: Any) -> None:
    args = PROGRAMS[program]
    native = value_and_grad(program, backend="native")
    value, gradient = native(*args)
    expected = value_and_grad(program)(*args)
    assert np.isclose(value, expected[0], rtol=1e-14)
    assert np.allclose(gradient, expected[1], rtol=1e-14)
    found = native.compiled_for(*args).__globals__[f"{program.__name__}_value_and_grad_loops"]
    assert isinstance(found, BuiltinFunctionType)
