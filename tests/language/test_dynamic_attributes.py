"""Attributes under computed names: ``setattr``, ``__dict__``, ``__setattr__``, ``__getattr__``."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from adcompiler import grad, hessian, jvp
from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, -1.5, 2.0])


class Named:
    def __init__(self, **values):
        for name, value in values.items():
            setattr(self, name, value)


class Updated:
    def __init__(self, first, **values):
        self.__dict__.update(values)
        self.__dict__["first"] = first


class Watched:
    count = 0

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)
        if name == "p":
            object.__setattr__(self, "count", self.count + 1)


class Doubling:
    def __setattr__(self, name, value):
        self.__dict__[name] = value * 2.0


class Inherited(Doubling):
    def __setattr__(self, name, value):
        super().__setattr__(name, value)


class Table:
    def __init__(self, **entries):
        self.entries = entries

    def __getattr__(self, name):
        return self.__dict__["entries"][name]


class Lazy:
    """Stands for a module, as packages with several backends have."""

    def __getattr__(self, name):
        return getattr(np, name)


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: float
    b: float

    def __post_init__(self):
        object.__setattr__(self, "product", self.a * self.b)


@dataclasses.dataclass
class Pair:
    a: object
    b: object = 2.0


backend = Lazy()


@programs(1.3)
def named(x):
    one = Named(p=x, q=x * x)
    return one.p * one.q


@programs(1.3)
def updated(x):
    one = Updated(x, p=x, q=x * x)
    one.__dict__.update({"q": one.q * x}, r=x)
    return one.p * one.q * one.first + one.__dict__["r"]


@programs(1.3)
def watched(x):
    one = Watched()
    one.p = x
    one.p = one.p * x
    return one.p * one.count


@programs(1.3)
def doubled(x):
    one, two = Doubling(), Inherited()
    one.p = x
    two.p = one.p * x
    return one.p * two.p


@programs(1.3)
def looked_up(x):
    return Table(p=x, q=2.0).p * Table(p=x, q=x).q


@programs(V)
def through_a_backend(x):
    return backend.sum(backend.sin(x) * backend.maximum(x, 0.0))


@programs(1.3)
def set_by_object(x):
    one = Frozen(x, x * x)
    return one.product * one.a


@programs(V)
def as_dict_and_tuple(x):
    one = Pair(x * x, Pair(x, [x, x * 2.0]))
    entries = dataclasses.asdict(one)
    entries["a"][0] = 3.0
    first, (second, rest) = dataclasses.astuple(one)
    second *= 2.0
    return np.sum(one.a * entries["a"] * first * second * rest[1] * entries["b"]["b"][0])


@programs(V)
def an_array_has_no_such_attribute(x):
    y = x * x
    try:
        y.name = "a"
    except AttributeError:
        y = y * 2.0
    return np.sum(y)


@pytest.mark.parametrize("case", programs, ids=str)
def test_derivative(case):
    programs.check(case)


def test_hasattr_asks_getattr():
    def found(x, table):
        return table.p * x if hasattr(table, "p") else x

    assert grad(found)(3.0, Table(p=2.0)) == 2.0


def test_an_array_attribute_raises_as_in_numpy():
    def named_array(x):
        x.name = "a"
        return np.sum(x)

    with pytest.raises(AttributeError, match="no attribute 'name'"):
        grad(named_array)(V)


class Priced:
    def __init__(self, spot: float, volatility: Any = None, price: Any = None) -> None:
        self.spot = float(spot)
        for name in ["call", "put", "delta"]:
            self.__dict__[name] = None
        for name, value in (("scale", 2.0), ("shift", spot)):
            setattr(self, name, value)
        if volatility:
            self.volatility = float(volatility) / 100.0
            [self.call, self.put] = [self.spot * self.volatility, self.volatility**2]
        if price:
            self.put = round(float(price), 6)


@pytest.mark.records
def test_attributes_that_a_loop_over_names_makes() -> None:
    def price(spot: float, volatility: float) -> Any:
        made = Priced(spot, volatility)
        return made.call * made.scale + made.shift

    assert grad(price, argnums=(0, 1))(2.0, 3.0) == pytest.approx((1.06, 0.04))
    assert jvp(price, (2.0, 3.0), (1.0, 1.0))[1] == pytest.approx(1.1)
    assert hessian(price, argnums=(0, 1))(2.0, 3.0) == ((0.0, 0.02), (0.02, 0.0))


def numbers(sequence: Any) -> Any:
    try:
        found = [float(item) for item in sequence]
    except ValueError:
        raise ValueError("one of <{!r}> is no number".format(sequence)) from None
    else:
        return np.asarray(found)


def test_texts_of_values_in_handlers() -> None:
    assert np.array_equal(grad(lambda x: np.sum(numbers(x) ** 2))(np.ones(3)), np.full(3, 2.0))
