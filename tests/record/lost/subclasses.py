"""Subclasses of Python's and NumPy's own types, and arrays that are no plain arrays."""

from __future__ import annotations

import cmath
import collections
import enum
import math
import types
import typing

import numpy as np

from tests.record.lost import Program


class Metres(float):
    """A float with a unit, whose operators lose it or not."""

    unit = "m"

    def __add__(self, other):
        return Metres(float(self) + 2.0 * other)

    def doubled(self):
        return Metres(self * 2.0)


class Angle(float):
    def __new__(cls, degrees):
        made = super().__new__(cls, degrees * 3.0)
        made.degrees = degrees
        return made

    def __mul__(self, other):
        return super().__mul__(other) + self.degrees


def float_subclass(x):
    m = Metres(x * x)
    return m.doubled() * x + (m + x) + m.real


def float_subclass_that_scales(x):
    angle = Angle(x)
    return angle * 2.0 + angle.degrees * angle + math.sin(angle)


def float_subclass_under_numpy(x):
    row = np.array([Metres(x), Angle(x)])
    return np.sum(row * row) + np.float64(Metres(x)) * np.add(Metres(x), 1.0)


class Phasor(complex):
    def __abs__(self):
        return super().__abs__() * 2.0


def complex_subclass(x):
    z = Phasor(x, x * x)
    return abs(z) + abs(z * 1j) + (z * z).imag + cmath.phase(z)


class Count(int):
    def __mul__(self, other):
        return other * int(self) * 2.0

    __rmul__ = __mul__


def int_subclass(x):
    return Count(3) * x + x * Count(2) + x ** Count(2)


class Scalar(np.float64):
    def __mul__(self, other):
        return Scalar(np.float64.__mul__(self, other) * 2.0)


def numpy_scalar_subclass(x):
    s = Scalar(x)
    return float(s * s + s.item()) + np.sin(s)


class Quantity(np.ndarray):
    """An array with a unit, carried by ``__array_finalize__``."""

    def __new__(cls, values, unit=1.0):
        made = np.asarray(values).view(cls)
        made.unit = unit
        return made

    def __array_finalize__(self, other):
        self.unit = getattr(other, "unit", 1.0)

    def __mul__(self, other):
        made = super().__mul__(other)
        made.unit = self.unit * getattr(other, "unit", 1.0)
        return made

    def to(self, unit):
        return Quantity(np.asarray(self) * (self.unit / unit), unit)


def array_with_a_unit(a):
    q = Quantity(a, 1000.0)
    area = q * q[1:2]
    return float(np.sum(np.asarray(area.to(1.0)))) * 1e-6 + np.asarray(q[0] * 1.0)


def unit_that_is_active(a):
    q = Quantity(a, a[0] * 2.0)
    return np.asarray(q.to(a[1])).sum()


class Clipping(np.ndarray):
    """Writes are clipped; reads are squared."""

    def __setitem__(self, key, value):
        super().__setitem__(key, np.minimum(value, 1.0))

    def __getitem__(self, key):
        found = super().__getitem__(key)
        return found * found if isinstance(found, float) else found


def array_that_clips(a):
    c = (a * 1.0).view(Clipping)
    c[0] = a[1] * 4.0
    c[1] = a[2]
    return float(c[0] + c[1] * c[2])


def matrix(a):
    m = np.matrix([[a[0], a[1]], [a[2], 1.0]])
    v = np.asmatrix(a[:2]).T
    return (m * v)[0, 0] + (m ** 2)[1, 0] + np.sum(m.A1) + m.I[0, 0] + m[0].sum()


def masked(a):
    m = np.ma.masked_array(a * a, mask=[False, True, False])
    m[2] = a[0]
    total = m.sum() + (m * 2.0).mean()
    return total + m.filled(a[1])[1] + np.ma.masked_less(a, 0.4).sum()


def structured(a):
    rows = np.zeros(3, dtype=[("x", float), ("n", int), ("v", float, (2,))])
    rows["x"] = a
    rows["v"][:, 1] = a * a
    rows[0]["x"] = a[2] * 3.0
    rows[1] = (a[0], 2, (a[0], a[1]))
    one = rows[2]
    one["v"][0] = 5.0 * a[1]
    return np.sum(rows["x"]) + np.sum(rows["v"])


def records(a):
    rows = np.rec.fromarrays([a, a * a], names="x,y")
    rows.x *= 2.0
    rows[0].y = 3.0
    return np.sum(rows.x * rows.y) + rows[1].x


def objects_in_an_array(a):
    row = np.array([a[0], a, None], dtype=object)
    row[2] = a[1] * a[1]
    total = row[0] * row[2] + np.sum(row[1])
    table = a.astype(object)
    return total + np.sum(table * table) + np.dot(table, table) + table.max()


def object_array_of_floats(x):
    row = np.empty(3, dtype=object)
    row[:] = [x, x * x, 2.0]
    return row.sum() + np.prod(row) + (row ** 2)[1] + sum(row.tolist())


class Stack(list):
    def append(self, value):
        super().append(value * 2.0)

    def __getitem__(self, k):
        return super().__getitem__(k) + 1.0

    def total(self):
        return sum(self)


def list_subclass(x):
    stack = Stack([x])
    stack.append(x * x)
    stack += [x]
    return stack[1] * stack[-1] + stack.total() + max(stack)


class Squares(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value * value)


def dict_subclass(x):
    table = Squares(a=x)
    table["b"] = x
    table.update(c=x)
    table.setdefault("d", 3.0 * x)
    return table["a"] + table["b"] * 2.0 + table["c"] * 3.0 + table["d"]


class Scaled(collections.UserDict):
    def __getitem__(self, key):
        return self.data[key] * 5.0


def user_dict(x):
    table = Scaled({"a": x})
    table["b"] = x * x
    return sum(table.values()) + table.get("a") + table.pop("b")


class Vector(typing.NamedTuple):
    x: float
    y: float = 2.0

    def __add__(self, other):
        return Vector(self.x + other[0], self.y * other[1])


def named_tuple(x):
    v = Vector(x) + (x, x)
    w = v._replace(x=v.y * x)
    u = Vector._make([w.x, w.y])
    return u.x * w._asdict()["y"] + sum(u) + (*u, 1.0)[0]


class Triple(tuple):
    def __new__(cls, x):
        return super().__new__(cls, (x, x * x, 3.0))

    def __iter__(self):
        return (v * 2.0 for v in super().__iter__())


def tuple_subclass(x):
    t = Triple(x)
    p, q, _ = t
    return p * q + t[0] + sum(t) + [*t][1] + len(t)


class Shape(float, enum.Enum):
    SMALL = 0.5
    LARGE = 3.0

    def of(self, x):
        return self * x


class Law(enum.Enum):
    SQUARE = enum.member(lambda v: v * v)
    DOUBLE = enum.member(lambda v: 2.0 * v)

    def __call__(self, v):
        return self.value(v)


def enumerations(x):
    return Shape.LARGE.of(x) + Shape(0.5) * x * x + Law.SQUARE(x) + Law["DOUBLE"](x)


def counters(x):
    tally = collections.Counter(a=x, b=2.0)
    tally.update(a=x * x, b=x)
    tally.subtract({"b": 1.0})
    (_, most), _ = tally.most_common(2)
    return most * 3.0 + (tally + tally)["a"] + tally.total()


def chained_maps(x):
    base = {"a": x, "b": 1.0}
    scope = collections.ChainMap({}, base)
    scope["b"] = scope["a"] * x
    child = scope.new_child({"a": 2.0 * x})
    frozen = types.MappingProxyType(base)
    base["a"] = x ** 3
    return child["a"] * child["b"] + frozen["a"]


def merged_dicts(x):
    table = {"a": x} | {"b": x * x}
    table |= [("c", 3.0 * x)]
    moved = collections.OrderedDict(table)
    moved.move_to_end("a")
    _, last = moved.popitem()
    return last * table.pop("c") + sum(dict.fromkeys("pq", table["b"]).values())


def deques(x):
    row = collections.deque([x, 2.0], maxlen=3)
    row.appendleft(x * x)
    row.rotate(1)
    row.append(5.0 * x)
    row.extend([row[0]])
    return row[0] * row[1] * row[2] + row.popleft()


A = np.array([0.3, 0.5, 0.7])
PROGRAMS = [
    Program("a subclass of float", float_subclass, (0.7,), lambda x: 6.0 * x * x + 4.0 * x + 2.0),
    Program("a subclass of float that scales", float_subclass_that_scales, (0.7,),
            lambda x: 7.0 + 6.0 * x + 3.0 * math.cos(3.0 * x)),
    Program("a subclass of float under NumPy", float_subclass_under_numpy, (0.7,)),
    Program("a subclass of complex", complex_subclass, (0.7,)),
    Program("a subclass of int", int_subclass, (0.7,), lambda x: 8.0 + 2.0 * x),
    Program("a subclass of np.float64", numpy_scalar_subclass, (0.7,),
            lambda x: 4.0 * x + 1.0 + math.cos(x)),
    Program("an array with a unit", array_with_a_unit, (A,)),
    Program("a unit that is active", unit_that_is_active, (A,)),
    Program("an array that clips", array_that_clips, (A,), lambda a: np.array(
        [0.0, 0.0, 4.0 * a[2] ** 3])),
    Program("np.matrix", matrix, (A,)),
    Program("masked arrays", masked, (A,)),
    Program("structured arrays", structured, (A,)),
    Program("records", records, (A,)),
    Program("arrays of objects", objects_in_an_array, (A,)),
    Program("arrays of float objects", object_array_of_floats, (0.7,)),
    Program("a subclass of list", list_subclass, (0.7,)),
    Program("a subclass of dict", dict_subclass, (0.7,), lambda x: 7.0 + 4.0 * x),
    Program("UserDict", user_dict, (0.7,), lambda x: 10.0 + 20.0 * x),
    Program("a named tuple", named_tuple, (0.7,)),
    Program("a subclass of tuple", tuple_subclass, (0.7,)),
    Program("enumerations", enumerations, (0.7,), lambda x: 5.0 + 3.0 * x),
    Program("Counter", counters, (0.7,)),
    Program("ChainMap and a proxy of a dict", chained_maps, (0.7,), lambda x: 9.0 * x * x),
    Program("merged dicts", merged_dicts, (0.7,), lambda x: 10.0 * x),
    Program("deques", deques, (0.7,)),
]
