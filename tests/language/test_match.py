"""``match`` statements: every kind of pattern, with active values in what they capture."""

import dataclasses
import enum
import typing

import numpy as np
import pytest
from tests.language.check import Cases

from adcompiler import UnsupportedError, grad, value_and_grad

programs = Cases()


class Kind(enum.Enum):
    SINE = 1
    SQUARE = 2


class Pair(typing.NamedTuple):
    x: float
    y: float


@dataclasses.dataclass
class Settings:
    power: int
    scale: float


@programs(1.3, 2, argnums=(0,))
@programs(1.3, 3, argnums=(0,))
@programs(1.3, 7, argnums=(0,))
def literals(x, n):
    match n:
        case 2:
            return x * x
        case 3 | 4:
            return x * x * x
        case _:
            return x


@programs(1.3, "sin", argnums=(0,))
@programs(1.3, "cube", argnums=(0,))
def texts(x, name):
    match name:
        case "sin" | "sine":
            y = np.sin(x)
        case other if len(other) == 4:
            y = x**3
    return y


@programs(1.3, Kind.SQUARE, argnums=(0,))
@programs(1.3, Kind.SINE, argnums=(0,))
def values(x, kind):
    match kind:
        case Kind.SINE:
            return np.sin(x)
        case Kind.SQUARE:
            return x * x


@programs((1.5, 2.5))
@programs((1.5, 2.5, 0.5))
@programs((1.5,))
@programs([1.5, 2.5, 0.5, 3.5])
def sequences(v):
    match v:
        case [x]:
            return x * x
        case (x, y):
            return x * y
        case [x, *middle, y]:
            return x * y * sum(middle) + len(middle) * x


@programs([1.5, 2.5, 0.5, 3.5], 4)
@programs([1.5, 2.5, 0.5, 3.5], 2)
def stars(v, n):
    match v[:n]:
        case [*front, x] if x > 3.0:
            return x * sum(front)
        case [x, *rest]:
            return x * x * sum(rest)


@programs(np.array([1.5, 2.5]))
def arrays_are_no_sequences(v):
    match v:
        case [x, y]:
            return x * y
        case _:
            return np.sum(v * v)


@programs({"x": 1.5, "y": 2.5})
@programs({"x": 1.5, "z": 2.5, "w": 0.5})
def mappings(table):
    match table:
        case {"x": x, "y": y}:
            return x * y
        case {"x": x, **rest}:
            return x * sum(rest.values()) + rest["z"] * rest["w"]


@programs(Pair(1.5, 2.5))
def positional(p):
    match p:
        case Pair(x, y=9.5):
            return 3.0 * x
        case Pair(x, y):
            return x * y


@programs(1.5, Settings(2, 3.0), argnums=(0,))
@programs(1.5, Settings(3, 3.0), argnums=(0,))
def instances(x, settings):
    match settings:
        case Settings(power=2, scale=s):
            return s * x * x
        case Settings(p, s):
            return s * x**p


@programs(1.5)
@programs(np.array([1.5, 2.5]))
@programs((1.5, 2.5))
def by_class(v):
    match v:
        case float(x):
            return x * x
        case np.ndarray():
            return np.sum(v * v * v)
        case tuple((a, b)):
            return a * b
        case _:
            return 0.0


@programs((1.5, (2.5, 0.5)))
def nested(v):
    match v:
        case (a, (b, 9.0)):
            return a + b
        case (a, (b, c) as inner) if a * c < 10.0:
            return a * b * c * inner[0]


@programs(("left", 1.5))
@programs(("right", 1.5))
@programs(("other", 1.5))
def alternatives_that_capture(v):
    match v:
        case ("left", x) | ("right", x):
            return x * x
        case (_, x):
            return 3.0 * x


@programs(1.5, 6)
@programs(0.5, 6)
def in_a_loop(x, n):
    total = 0.0
    for i in range(n):
        match i % 3, total > 2.0:
            case 0, _:
                total = total + x
            case 1, True:
                break
            case 1, False:
                continue
            case k, _:
                total = total * x + k
    return total * x


@programs(1.5)
def captures_stay_bound(x):
    y = x
    match (x, 2.0 * x):
        case (a, b) if a < 0.0:
            y = a * b
    return y * a + b


@programs(1.5, None, argnums=(0,))
@programs(1.5, True, argnums=(0,))
@programs(1.5, 1, argnums=(0,))
def singletons(x, flag):
    match flag:
        case None:
            return x
        case True:
            return x * x
        case _:
            return x**3


@programs(3.7, 5, argnums=(0,))
def recursive(x, n):
    match n:
        case 0:
            return 1.0
        case 1:
            return x
        case _:
            return x * recursive(x, n - 2) + np.sin(x)


@programs(1.5, [1, 2.0, "three"], argnums=(0,))
def unknown_types(x, items):
    total = x
    for item in items:
        match item:
            case int(n):
                total = total * (n + 1)
            case float() as f if f > 1.0:
                total = total + x * f
            case str():
                total = total * len(item)
    return total


@pytest.mark.parametrize("case", programs, ids=str)
def test_program(case):
    programs.check(case)


def test_only_the_case_that_fits_is_compiled():
    def chosen(v):
        match v:
            case [x, y]:
                return x * y
            case float():
                return v * v

    source = grad(chosen).source_for(3.0)
    assert "isinstance" not in source
    assert "len" not in source


def test_a_failing_pattern_binds_nothing():
    def kept(v):
        x = 5.0
        match v:
            case [x, 1.0]:
                return x
            case [_, _]:
                return x * v[0]

    assert value_and_grad(kept)([2.0, 3.0]) == (10.0, [5.0, 0.0])


def test_too_many_positional_patterns_are_refused():
    def many(x):
        match (x, [x]):
            case (float(a, b), _):
                return a * b
        return x

    with pytest.raises(UnsupportedError, match=r"float\(\) accepts 0 positional patterns"):
        grad(many)(1.0)
