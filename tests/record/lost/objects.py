"""Copies, data classes, attributes, and objects of a user's own framework."""

from __future__ import annotations

import abc
import copy
import dataclasses
import functools
import math
import types
import typing
import weakref

import numpy as np

from tests.record.lost import Program


@dataclasses.dataclass
class Layer:
    w: float
    scale: float = 2.0
    rows: list = dataclasses.field(default_factory=list)
    area: float = dataclasses.field(init=False)
    bias: dataclasses.InitVar[float] = 0.0

    def __post_init__(self, bias):
        self.area = self.w * self.scale + bias


def data_class(x):
    layer = Layer(x, rows=[x * x], bias=x)
    other = dataclasses.replace(layer, scale=x, bias=1.0)
    return layer.area * other.area + dataclasses.asdict(layer)["rows"][0] + dataclasses.astuple(
        other)[0] + sum(getattr(layer, f.name) for f in dataclasses.fields(layer)[:2])


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Point:
    x: float
    y: float = 1.0

    def __post_init__(self):
        object.__setattr__(self, "y", self.y * self.x)


def frozen_data_class(x):
    p, q = Point(x), Point(2.0 * x, y=x)
    low = min(q, p)
    return low.y + q.y * 3.0 + (p < q) + max([p, q]).x


def frozen_instance_as_a_key(x):
    table = {Point(x): x * 5.0}
    return table[Point(x)] * hash(Point(x)).bit_count() ** 0


def copies(a):
    state = {"a": a, "rows": [a, a * a], "x": float(a[0])}
    shallow, deep = copy.copy(state), copy.deepcopy(state)
    a *= 2.0
    return np.sum(shallow["rows"][0] * deep["a"]) + deep["x"] * shallow["x"] + np.sum(
        deep["rows"][1]) + (deep["rows"][0] is deep["a"])


class Frozen:
    def __init__(self, x, a):
        self.x, self.a = x, a

    def __copy__(self):
        return Frozen(self.x * 3.0, self.a)

    def __deepcopy__(self, memo):
        return Frozen(self.x * 5.0, copy.deepcopy(self.a, memo))

    def __getstate__(self):
        return {"x": self.x * 7.0, "a": self.a}

    def __setstate__(self, state):
        self.__dict__.update(state, extra=state["x"] * 2.0)


def copies_by_methods(a):
    one = Frozen(a[0], a)
    p, q = copy.copy(one), copy.deepcopy(one)
    p.a[1] = a[2] * 2.0
    return p.x * q.x + np.sum(p.a * q.a)


def pickled_by_methods(a):
    import pickle

    one = pickle.loads(pickle.dumps(Frozen(float(a[0]), a * a)))
    return one.x + one.extra + np.sum(one.a)


def names_of_attributes(x):
    thing = types.SimpleNamespace(**{"a": x, "b": x * x})
    setattr(thing, "c", thing.a * thing.b)
    vars(thing)["d"] = 2.0 * x
    thing.__dict__.update(e=x)
    del thing.a
    return sum(vars(thing).values()) + getattr(thing, "a", 3.0 * x) + hasattr(thing, "a")


class Slotted:
    __slots__ = ("__weakref__", "_x", "y")

    def __init__(self, x):
        self._x = x

    @property
    def x(self):
        return self._x * 2.0

    @x.setter
    def x(self, value):
        self._x = value * self.x

    @x.deleter
    def x(self):
        self.y = self._x * 10.0


def properties_and_slots(x):
    one = Slotted(x)
    one.x = x
    one.x += 1.0
    del one.x
    return one.x + one.y + Slotted.x.fget(one) + Slotted._x.__get__(one)


class Hidden:
    def __init__(self, x):
        self.__x = x
        self.log = []

    def __getattribute__(self, name):
        found = super().__getattribute__(name)
        return found * 2.0 if name == "level" else found

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name == "level":
            self.log.append(value * self.__x)

    def __delattr__(self, name):
        self.log.append(getattr(self, name))
        super().__delattr__(name)


def attribute_hooks(x):
    one = Hidden(x)
    one.level = x * x
    one.level += 1.0
    del one.level
    return sum(one.log) + one._Hidden__x


class Base(abc.ABC):
    factor = 2.0

    @classmethod
    def make(cls, x):
        made = cls.__new__(cls)
        made.x = x * cls.factor
        return made

    @staticmethod
    def bend(v):
        return v * v

    @abc.abstractmethod
    def value(self):
        return self.x * 3.0

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.factor = Base.factor * len(cls.__name__)


class Mixin:
    def value(self):
        return super().value() * self.x


class Leaf(Mixin, Base):
    def value(self):
        total = super().value()
        return total + __class__.bend(self.x)


class Wood(Leaf):
    factor = 3.0

    def value(self):
        return Base.value(self) + super(Leaf, self).value()


def cooperative_inheritance(x):
    return Leaf.make(x).value() + Wood.make(x).value() + Wood.bend(x)


def class_made_by_type(x):
    made = type("Made", (Base,), {"value": lambda self: self.x * x, "shift": x * x})
    one = made.make(x)
    one.__class__ = type("Other", (made,), {"value": lambda self: self.x * 3.0})
    return one.value() + made.value(one) + made.shift


def class_body_that_computes(x):
    class Config:
        level = x * 2.0
        rows = [k * 2.0 for k in (level, x)]
        if level > 1.0:
            bonus = level * level

        def scaled(self, k=level):
            return k * self.level

    Config.level *= x
    return Config().scaled() + sum(Config.rows) + Config.bonus


def methods_bound_at_run_time(x):
    one = Slotted(x)
    two = types.SimpleNamespace(k=x * x)
    two.scale = types.MethodType(lambda self, v: self.k * v, two)
    bound = two.scale
    two.k = 3.0 * x
    Slotted.__init__.__get__(one)(x * 5.0)
    return bound(x) + one.x + one.__class__(x).x


class Converter:
    @functools.singledispatchmethod
    def of(self, v):
        return v * 2.0

    @of.register
    def _(self, v: list):
        return sum(map(self.of, v))

    @of.register(np.ndarray)
    def _array(self, v):
        return np.sum(v * v)


@functools.singledispatch
def measure(v):
    return v * 5.0


@measure.register(tuple)
def _(v):
    return measure(v[0]) * measure(v[1])


def single_dispatch(a):
    return Converter().of([a[0], [a[1], a]]) + measure((a[0], a[2]))


class Parameter:
    """A field of a table, as an object-relational mapper has."""

    def __init__(self, default=None, check=float):
        self.default, self.check = default, check

    def __set_name__(self, owner, name):
        self.name = name
        owner.__dict__.get("_fields", None)
        owner.fields = {**getattr(owner, "fields", {}), name: self}

    def __get__(self, instance, owner=None):
        return self if instance is None else instance.__dict__.get(self.name, self.default)

    def __set__(self, instance, value):
        instance.__dict__[self.name] = self.check(value)
        for watch in instance.watchers:
            watch(self.name, value)


class Record:
    rate = Parameter(0.1)
    size = Parameter(1.0, lambda v: v * 2.0)

    def __init__(self, **values):
        self.watchers = []
        self.history = []
        self.watchers.append(lambda name, value: self.history.append((name, value)))
        for name, value in values.items():
            if name not in type(self).fields:
                raise TypeError(name)
            setattr(self, name, value)


def table_of_parameters(x):
    record = Record(rate=x, size=x * x)
    record.size *= record.rate
    return record.rate * record.size + sum(v for _, v in record.history) + len(Record.fields)


class Dimension(typing.NamedTuple):
    length: int
    time: int = 0


class Unit:
    registry: typing.ClassVar[dict] = {}

    def __init__(self, name, factor, dimension):
        self.name, self.factor, self.dimension = name, factor, dimension
        self.registry[name] = self

    def __rmul__(self, value):
        return Amount(value, self)


class Amount:
    def __init__(self, value, unit):
        self.value, self.unit = value, unit

    def to(self, name):
        target = Unit.registry[name]
        if target.dimension != self.unit.dimension:
            raise ValueError(f"{self.value} {self.unit.name} is no {name}")
        return Amount(self.value * self.unit.factor / target.factor, target)

    def __add__(self, other):
        return Amount(self.value + other.to(self.unit.name).value, self.unit)

    def __eq__(self, other):
        return self.to("m").value == other.to("m").value

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.value, dtype)


for _name, _factor in (("m", 1.0), ("km", 1000.0), ("mile", 1609.344)):
    Unit(_name, _factor, Dimension(1))


def units(x):
    length = x * Unit.registry["km"] + (x * x) * Unit.registry["mile"]
    try:
        length.to("parsec")
    except KeyError as error:
        name = str(error.args[0])
    return length.to("m").value + (name == "parsec") + np.sqrt(length) + np.sum(
        np.asarray(length) * np.ones(2))


def weak_references(a):
    y = a * a
    seen = []
    one = Slotted(y)
    weakref.finalize(one, lambda: seen.append(y[0] * 2.0))
    back = weakref.ref(one, lambda ref: seen.append(y[1] * 3.0))
    kept = back()._x
    del one
    return sum(seen) + np.sum(kept)


def check_array(values, *, minimum=None, dtype=float, copy=False, names=()):
    """Validate as packages do, returning an array that may be the caller's."""
    if isinstance(values, (list, tuple)):
        values = np.asarray([float(v) for v in values], dtype=dtype)
    elif not hasattr(values, "__array__"):
        raise TypeError(f"{type(values).__name__} is no array: {values!r}")
    values = np.array(values, dtype=dtype, copy=copy or None, ndmin=1, order="C")
    if not np.isfinite(values).all() or (minimum is not None and (values < minimum).any()):
        raise ValueError("{} has {:.3f}".format(names or "array", float(values.min())))
    return np.ascontiguousarray(values)


def validated(a):
    same = check_array(a, minimum=0.0)
    same[0] = same[0] * 2.0
    cast = check_array([a[0], np.float64(a[1])], copy=True)
    try:
        check_array(-a, minimum=0.0)
    except ValueError as error:
        length = len(str(error))
    return np.sum(a * a) + np.sum(cast) * math.floor(length / length)


A = np.array([0.3, 0.5, 0.7])
PROGRAMS = [
    Program("a data class", data_class, (0.7,)),
    Program("a frozen data class", frozen_data_class, (0.7,), lambda x: 1.0 + 12.0 * x + 2.0),
    Program("a frozen instance as a key", frozen_instance_as_a_key, (0.7,), 5.0,
            no_derivative=True),
    Program("copy and deepcopy", copies, (A,), lambda a: 6.0 * a + [2.0 * a[0], 0.0, 0.0]),
    Program("__copy__ and __deepcopy__", copies_by_methods, (A,)),
    Program("__getstate__ under pickle", pickled_by_methods, (A,),
            lambda a: 2.0 * a + [21.0, 0.0, 0.0], no_derivative=True),
    Program("SimpleNamespace and vars", names_of_attributes, (0.7,),
            lambda x: 2.0 * x + 3.0 * x * x + 6.0),
    Program("properties and slots", properties_and_slots, (0.7,)),
    Program("attribute hooks", attribute_hooks, (0.7,)),
    Program("cooperative inheritance", cooperative_inheritance, (0.7,)),
    Program("a class made by type", class_made_by_type, (0.7,)),
    Program("a class body computes", class_body_that_computes, (0.7,)),
    Program("methods bound at run time", methods_bound_at_run_time, (0.7,),
            lambda x: 6.0 * x + 12.0),
    Program("singledispatch", single_dispatch, (A,)),
    Program("a table of parameters", table_of_parameters, (0.7,)),
    Program("units", units, (0.7,), step=1e-5),
    Program("weak references", weak_references, (A,), lambda a: 2.0 * a * [3.0, 4.0, 1.0]),
    Program("validation", validated, (A,), lambda a: 2.0 * a * [4.0, 1.0, 1.0] + [2.0, 1.0, 0.0]),
]
