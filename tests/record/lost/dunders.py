"""Methods that the interpreter and C code call by themselves."""

from __future__ import annotations

import functools
import math
import operator

import numpy as np

from tests.record.lost import Program

SEEN: list = []


class Number:
    """A number that computes in each of its methods."""

    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        SEEN.append(self.value * other.value)
        return self.value < other.value

    def __add__(self, other):
        return Number(self.value + 2.0 * getattr(other, "value", other))

    def __radd__(self, other):
        return Number(self.value * 3.0 + other)

    def __mul__(self, other):
        return NotImplemented

    def __rmul__(self, other):
        return Number(self.value * other * 2.0)

    def __matmul__(self, other):
        return self.value * other.value ** 2

    def __iadd__(self, other):
        self.value = self.value * other
        return self

    def __neg__(self):
        return Number(-3.0 * self.value)

    def __abs__(self):
        return self.value * self.value

    def __round__(self, digits=0):
        return self.value * 4.0

    def __float__(self):
        return self.value * self.value

    def __index__(self):
        SEEN.append(self.value)
        return 1

    def __bool__(self):
        SEEN.append(self.value * self.value)
        return self.value > 0

    def __len__(self):
        SEEN.append(self.value * 5.0)
        return 2

    def __str__(self):
        SEEN.append(self.value * 7.0)
        return "number"

    def __format__(self, how):
        SEEN.append(self.value * 11.0)
        return how


def drained():
    found = sum(SEEN)
    SEEN.clear()
    return found


def comparison_under_sorted(x):
    ordered = sorted([Number(3.0 * x), Number(x)])
    return drained() + ordered[0].value


def comparison_under_min_and_heap(x):
    import heapq

    heap = [Number(2.0 * x), Number(x)]
    heapq.heapify(heap)
    low = min(Number(x), Number(4.0 * x))
    return drained() + heap[0].value * low.value


def addition_under_sum(x):
    return sum([Number(x), Number(x * x)]).value


def reflected_product(x):
    return (2.0 * Number(x)).value + (np.float64(3.0) * Number(x)).value


def matrix_product_of_numbers(x):
    return Number(x) @ Number(2.0 * x) + abs(Number(x)) + round(Number(x), 1) + (-Number(x)).value


def in_place_sum_in_a_container(x):
    rows = {"a": Number(x)}
    kept = rows["a"]
    rows["a"] += x
    return kept.value + (rows["a"] is kept)


def float_of_an_object(x):
    return float(Number(x)) + math.sin(Number(x)) + math.hypot(Number(x), 1.0)


def array_of_objects_with_float(x):
    return np.sum(np.array([Number(x), Number(2.0 * x)], dtype=float))


def stored_object_with_float(x):
    y = np.zeros(2)
    y[0] = Number(x)
    y[1:] = [Number(2.0 * x)]
    return np.sum(y)


def index_of_an_object(a):
    row = [0.0, 2.0]
    y = a * a
    y[Number(a[0])] = row[Number(a[1])] * a[2]
    return np.sum(y) + drained()


def truth_of_an_object(x):
    kept = [k for k in (Number(x), Number(-x)) if k]
    both = all([Number(x), Number(2.0 * x)])
    return drained() * len(kept) * both + (not Number(x)) + (Number(x) and 1.0) + drained()


def length_of_an_object(x):
    return len(Number(x)) * x + drained()


def text_of_an_object(x):
    f"{Number(x)!s:>3} {Number(x):>8}"
    "%s" % Number(x)
    print(Number(x), end="", file=Sink())
    return drained()


class Sink:
    def write(self, text):
        SEEN.append(2.0 * len(text))


class Key:
    def __init__(self, name, x):
        self.name, self.x = name, x

    def __hash__(self):
        SEEN.append(self.x * 2.0)
        return hash(self.name)

    def __eq__(self, other):
        SEEN.append(self.x * other.x)
        return self.name == other.name


def hash_and_equality_in_a_dict(x):
    table = {Key("a", x): 1.0}
    found = table[Key("a", 3.0 * x)]
    return found * drained()


def equality_in_a_list(x):
    row = [Key("a", x), Key("b", 2.0 * x)]
    place = row.index(Key("b", 5.0))
    inside = Key("b", 7.0) in row
    return place * inside * drained()


class Table(dict):
    def __missing__(self, key):
        value = self[key] = self["x"] * key
        return value


def missing_in_a_dict(x):
    table = Table(x=x)
    return table[3] + table[3] + "%(x).1f %(x)s".count("x") + operator.getitem(table, 4)


class Row:
    """A sequence of the old kind: it is iterated by its items."""

    def __init__(self, x):
        self.x = x

    def __getitem__(self, k):
        if k >= 3:
            raise IndexError
        return self.x * k * k


def iteration_by_items(x):
    return sum(Row(x)) + list(Row(x))[2] + max(Row(x)) + (4.0 * x in Row(x))


class Counting:
    def __init__(self, x, n):
        self.x, self.n = x, n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        self.x *= self.x
        return self.x


def iterator_consumed_by_c(x):
    return sum(Counting(x, 2)) + np.fromiter(Counting(x, 1), float)[0] + [*Counting(x, 1)][0]


def iterator_unpacked(x):
    p, *rest = Counting(x, 3)
    return p * rest[0] + dict(zip("ab", Counting(x, 2)))["b"] + tuple(Counting(x, 1))[0]


class Proxy:
    def __init__(self, target):
        object.__setattr__(self, "_target", target)

    def __getattr__(self, name):
        return getattr(object.__getattribute__(self, "_target"), name)

    def __setattr__(self, name, value):
        setattr(self._target, name, value * 2.0)


def proxy_of_an_object(x):
    number = Number(x)
    proxy = Proxy(number)
    proxy.value = x * x
    return number.value + proxy.value + proxy.__float__()


class Clamped:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner):
        return 1.5 if instance is None else getattr(instance, self.name) * 2.0

    def __set__(self, instance, value):
        setattr(instance, self.name, min(value, 1.0))


class Body:
    mass = Clamped()

    def __init__(self, mass):
        self.mass = mass


def descriptor(x):
    body = Body(x)
    body.mass *= 1.1
    return body.mass + Body(4.0 * x).mass + Body.mass


class Registry(type):
    def __call__(cls, *args):
        made = super().__call__(*[one * 2.0 for one in args])
        made.extra = args[0]
        return made

    def __getitem__(cls, k):
        return cls(k).value


class Registered(metaclass=Registry):
    def __init__(self, value):
        self.value = value


def metaclass(x):
    made = Registered(x)
    return made.value * made.extra + Registered[x]


class Checked(type):
    def __instancecheck__(cls, one):
        SEEN.append(one * one)
        return True


class Positive(metaclass=Checked):
    pass


def instance_check(x):
    inside = isinstance(x, Positive)
    return drained() * inside


@functools.total_ordering
class Ordered:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return self.x == other.x

    def __lt__(self, other):
        self.x = self.x * 2.0
        return self.x < other.x


def total_ordering(x):
    p, q = Ordered(x), Ordered(3.0)
    high = p >= q
    return p.x + q.x * high + (p > q)


class Pair:
    __match_args__ = ("left", "right")

    def __init__(self, x):
        self.x = x

    @property
    def left(self):
        return self.x * self.x

    @property
    def right(self):
        return 2.0 * self.x


def matched_class(x):
    match Pair(x):
        case Pair(left, right=high) if left < high:
            return left * high
        case Pair(left, 1.4):
            return left
    return 0.0


class Managed:
    def __init__(self, x):
        self.x = x

    def __enter__(self):
        self.x = self.x * 2.0
        return self.x

    def __exit__(self, kind, error, trace):
        SEEN.append(self.x * self.x if error is None else error.args[0] * self.x)
        return True


def context_that_swallows(x):
    y = 0.0
    with Managed(x) as doubled:
        y = doubled * 3.0
        raise ValueError(x)
    with Managed(x):
        pass
    return y + drained()


class Finalised:
    def __init__(self, a):
        self.a = a

    def __del__(self):
        self.a[0] *= 3.0


def finaliser(a):
    y = a * a
    Finalised(y)
    return np.sum(y)


class Sub(Number):
    def __init_subclass__(cls, factor=1.0):
        cls.factor = factor

    def __new__(cls, value):
        made = super().__new__(cls)
        made.first = value * cls.factor
        return made


def subclass_made_inside(x):
    class Inner(Sub, factor=x * x):
        shift = x * 2.0

    one = Inner(3.0)
    return one.first + one.shift + Inner.factor


def divmod_of_objects(x):
    class Clock:
        def __divmod__(self, other):
            return x * other, x + other

        def __rpow__(self, other):
            return other ** x

        def __ceil__(self):
            return 3.0 * x

    whole, rest = divmod(Clock(), 2.0)
    return whole * rest + 2.0 ** Clock() + math.ceil(Clock())


A = np.array([0.3, 0.5, 0.7])


def one(name, function, gradient, args=(0.7,), **rest):
    return Program(name, function, args, gradient, reset=SEEN.clear, state=SEEN.copy, **rest)


PROGRAMS = [
    one("__lt__ under sorted", comparison_under_sorted, lambda x: 6.0 * x + 1.0),
    one("__lt__ under min and heapify", comparison_under_min_and_heap, None),
    one("__add__ under sum", addition_under_sum, lambda x: 3.0 + 4.0 * x),
    one("__rmul__", reflected_product, 10.0),
    one("__matmul__, __abs__, __round__, __neg__", matrix_product_of_numbers,
        lambda x: 12.0 * x * x + 2.0 * x + 1.0),
    one("__iadd__ in a container", in_place_sum_in_a_container, lambda x: 2.0 * x),
    one("__float__", float_of_an_object,
        lambda x: 2.0 * x + 2.0 * x * math.cos(x * x) + 2.0 * x ** 3 / math.hypot(x * x, 1.0)),
    one("__float__ under np.array", array_of_objects_with_float, lambda x: 10.0 * x),
    one("__float__ under a store", stored_object_with_float, lambda x: 10.0 * x),
    one("__index__", index_of_an_object,
        lambda a: np.array([2.0 * a[0] + 1.0, 1.0, 2.0 * a[2] + 2.0]), (A,)),
    one("__bool__", truth_of_an_object, None),
    one("__len__", length_of_an_object, 7.0),
    one("__str__ and __format__", text_of_an_object, 32.0),
    one("__hash__ and __eq__ in a dict", hash_and_equality_in_a_dict,
        lambda x: 8.0 + 6.0 * x),
    one("__eq__ in a list", equality_in_a_list, None),
    one("__missing__", missing_in_a_dict, 10.0),
    one("__getitem__ as iteration", iteration_by_items, 13.0, jumps=True),
    one("__next__ under C", iterator_consumed_by_c, lambda x: 6.0 * x + 4.0 * x ** 3),
    one("__next__ under unpacking", iterator_unpacked,
        lambda x: 6.0 * x ** 5 + 4.0 * x ** 3 + 2.0 * x),
    one("__getattr__ of a proxy", proxy_of_an_object, lambda x: 8.0 * x + 16.0 * x ** 3),
    one("a descriptor", descriptor, 4.4, (0.3,)),
    one("__call__ of a metaclass", metaclass, lambda x: 4.0 * x + 2.0),
    one("__instancecheck__", instance_check, lambda x: 2.0 * x),
    one("total_ordering", total_ordering, None),
    one("a match by a class", matched_class, lambda x: 6.0 * x * x),
    one("a context manager swallows", context_that_swallows, lambda x: 6.0 + 12.0 * x),
    one("__del__", finaliser, lambda a: a * [6.0, 2.0, 2.0], (A,)),
    one("__new__ and __init_subclass__", subclass_made_inside, lambda x: 8.0 * x + 2.0),
    one("__divmod__, __rpow__, __ceil__", divmod_of_objects,
        lambda x: 4.0 * x + 4.0 + math.log(2.0) * 2.0 ** x + 3.0),
]
