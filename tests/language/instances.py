"""Classes of all kinds, of which the tests of instances make some."""

import abc
import functools
import math
from collections import namedtuple
from dataclasses import InitVar, dataclass, field
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

T = TypeVar("T")
V = np.array([1.5, -0.5, 2.0])
W = np.array([[1.0, 2.0, 0.5], [0.25, -1.0, 1.5]])


@dataclass
class Point:
    x: Any
    y: Any

    def norm2(self):
        return self.x * self.x + self.y * self.y

    def dot(self, other):
        return self.x * other.x + self.y * other.y

    @property
    def angle(self):
        return math.atan2(self.y, self.x)

    @classmethod
    def polar(cls, r, phi):
        return cls(r * math.cos(phi), r * math.sin(phi))

    @staticmethod
    def origin():
        return Point(0.0, 0.0)

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Point(self.x - other.x, self.y - other.y)

    def __mul__(self, k):
        if not isinstance(k, (int, float)):
            return NotImplemented
        return Point(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __neg__(self):
        return Point(-self.x, -self.y)

    def __abs__(self):
        return math.hypot(self.x, self.y)

    def __matmul__(self, other):
        return self.dot(other)

    def __getitem__(self, i):
        return self.x if i == 0 else self.y

    def __len__(self):
        return 2

    def __pow__(self, n):
        return Point(self.x**n, self.y**n)

    def __lt__(self, other):
        return self.norm2() < other.norm2()


@dataclass(frozen=True)
class Frozen:
    a: float
    b: Any = 2.0
    tag: str = "frozen"


@dataclass(slots=True)
class Slotted:
    a: float
    b: float = 3.0


@dataclass(frozen=True, slots=True)
class FrozenSlotted:
    a: Any
    p: Any


@dataclass
class Point3(Point):
    z: float = 1.0

    def norm2(self):
        return super().norm2() + self.z * self.z


@dataclass(kw_only=True)
class Configured:
    scale: float = 2.0
    items: list = field(default_factory=list)
    power: int = 2
    count: ClassVar[int] = 5
    derived: float = field(init=False, default=4.0)
    start: InitVar[float] = 0.0

    def value(self, x):
        return self.scale * x**self.power + self.derived * self.count * x


@dataclass
class Checked:
    a: float
    limit: InitVar[float] = 10.0

    def __post_init__(self, limit):
        if self.a > limit:
            raise ValueError("too large")


class Base(abc.ABC):
    gain = 1.5
    activation = staticmethod(np.tanh)
    plain = np.sin

    def __init__(self, w, b):
        self.w = w
        self.b = b

    def __call__(self, x):
        return self.activation(self.forward(x)) * self.gain

    @abc.abstractmethod
    def forward(self, x):
        """Return the result before the activation."""

    def scaled(self, x):
        return self.forward(x) * 2.0

    @property
    def size(self):
        return self.b * 3.0


class Linear(Base):
    shift = 0.25

    def forward(self, x):
        return self.w @ x + self.b

    def scaled(self, x):
        return super().scaled(x) + self.shift * super().size

    @classmethod
    def named(cls):
        return cls.shift

    def with_plain(self, x):
        return self.plain(x) * self.b


class Network:
    def __init__(self, *layers):
        self.layers = layers
        self.name = "network"
        self.count = len(layers)

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def loss(self, x, y):
        return np.mean((self(x) - y) ** 2) + 0.1 * self.count


class WithSlots:
    __slots__ = ("size", "shape", "unset")

    def __init__(self, size, shape):
        self.size = size
        self.shape = shape


class Private:
    __slots__ = ("__a", "b")

    def __init__(self, a, b):
        self.__a, self.b = a, b

    def value(self, x):
        return self.__a * x + sum(self.__a * k for k in (self.b, 2.0))


class Doubling:
    def __get__(self, instance, owner=None):
        return instance.w * 2.0


class WithDescriptor:
    doubled = Doubling()

    def __init__(self, w):
        self.w = w


class MakesUp:
    def __init__(self, w):
        self.w = w

    def __getattr__(self, name):
        return self.w * 2.0


class Cached:
    def __init__(self, a):
        self.a = a

    @functools.cached_property
    def square(self):
        return self.a * self.a

    def total(self, x):
        return self.square * x


class Vector:
    __array_ufunc__ = None

    def __init__(self, data):
        self.data = data

    def __rmul__(self, other):
        return np.sum(other * self.data)

    def __bool__(self):
        return bool(self.data[0] > 0.0)


class Pair(NamedTuple):
    left: Any
    right: Any = 2.0

    def __add__(self, other):
        return Pair(self.left + other.left, self.right + other.right)

    def swapped(self):
        return self._replace(left=self.right, right=self.left)


    @property
    def product(self):
        return self.left * self.right

    @staticmethod
    def twice(x):
        return 2.0 * x

    @classmethod
    def both(cls, x):
        return cls(x, x)


class Wide(Pair):
    factor = 3.0

    def scaled(self):
        return Wide(self.left * self.factor, self.right)


Old = namedtuple("Old", "u v", defaults=(1.5,))


def linear():
    return Linear(W[:, :].copy(), np.array([0.5, -0.25]))
