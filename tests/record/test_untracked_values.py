"""Python code that C runs unseen is judged by what it reaches."""

from __future__ import annotations

import abc
import array
import cProfile
import collections.abc
import functools
import itertools
import re
import sys
import weakref
from typing import Any

import numpy as np
import pytest

from adcompiler import grad
from adcompiler.errors import ADError
from adcompiler.runtime.records import is_of_python

STATE: dict[str, Any] = {}


class Unit:
    """A key whose hash and order are methods in Python, of plain attributes."""

    def __init__(self, name: str, power: float) -> None:
        self.name, self.power = name, power

    def __hash__(self) -> int:
        return hash((self.name, self.power))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unit) and (self.name, self.power) == (other.name, other.power)

    @staticmethod
    def __neg__() -> float:
        return -2.0


METRE = Unit("m", 1.0)
FACTORS = {METRE: 3.0, Unit("s", 2.0): 5.0}


def looked_up(x: float) -> Any:
    return x * FACTORS[Unit("m", 1.0)] + x * FACTORS.get(Unit("s", 2.0), 0.0) * (METRE in [METRE])


class Named:
    """A key that is what it is, and holds what is differentiated."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __hash__(self) -> int:
        return hash(id(self))

    def __eq__(self, other: object) -> bool:
        return self is other


def by_identity(x: float) -> Any:
    one, two = Named(x), Named(2.0 * x)
    weights = {one: 3.0, two: 5.0}
    return sum(key.value * weight for key, weight in weights.items())


class Keeping(Named):
    """A key whose hash leaves something behind."""

    def __hash__(self) -> int:
        self.twice = 2.0 * self.value
        return 1


def kept_by_hash(x: float) -> Any:
    key = Keeping(x)
    found = {key: 1.0}
    return key.twice * found[key]


class Reading:
    """A key whose order reads a global."""

    def __lt__(self, other: Any) -> bool:
        STATE["found"] = STATE["x"] * 2.0
        return True


def read_from_a_global(x: float) -> Any:
    STATE["x"] = x
    sorted([Reading(), Reading()])
    return STATE["found"]


class Gone:
    """Something that is not alive any more when its proxy is met."""


class Unbound:
    """As proxies of libraries outside of a request: whatever is asked of it raises."""

    @property
    def __class__(self) -> Any:
        raise RuntimeError("outside of a context")


STRANGE: list[Any] = [weakref.proxy(Gone()), Unbound()]


class Strange:
    """A key whose hash names objects that raise when they are asked of which class they are."""

    def __hash__(self) -> int:
        return len(STRANGE)


def beside_strange_objects(x: float) -> Any:
    return x * {Strange(): 3.0}.get(Strange(), 2.0)


class Held:
    """Something that only weak references refer to."""

    value = 0.0


HELD = Held()
WEAK: list[Any] = [weakref.proxy(HELD)]


class Weak:
    """A key whose hash reaches what is differentiated through a proxy, and keeps it."""

    def __hash__(self) -> int:
        STATE["found"] = WEAK[0].value * 2.0
        return 1


def read_through_a_proxy(x: float) -> Any:
    HELD.value = x
    found = {Weak(): 1.0}
    return STATE["found"] * len(found)


class Shape(abc.ABC):
    """A class that answers which objects are of it."""

    @classmethod
    def __subclasshook__(cls, other: Any) -> Any:
        return True if hasattr(other, "area") else NotImplemented

    @property
    @abc.abstractmethod
    def area(self) -> float:
        """The area."""


class Disc:
    def __init__(self, radius: float) -> None:
        self.radius = radius

    @property
    def area(self) -> float:
        return 3.0 * self.radius ** 2


def asked_of_its_class(x: float) -> Any:
    disc = Disc(x)
    return disc.area if isinstance(disc, (int, Shape)) else 0.0


class Table(collections.abc.Mapping[str, Any]):
    """A mapping whose mixin methods are those of Python."""

    def __init__(self, x: float) -> None:
        self.x = x

    def __getitem__(self, key: str) -> Any:
        return self.x * len(key)

    def __iter__(self) -> Any:
        return iter(("a", "bb"))

    def __len__(self) -> int:
        return 2


def mixed_in(x: float) -> Any:
    table = Table(x)
    return sum(value ** 2 for value in table.values()) + table.get("bb", 0.0)


def started_before(x: float) -> Any:
    return sum(x * item for item in STATE["items"])


def counted() -> Any:
    yield from (1.0, 2.0, 4.0)


def active_before(x: float) -> Any:
    STATE["x"] = x
    return sum(STATE["items"])


def from_the_global() -> Any:
    yield STATE["x"] * 2.0


class Guarded:
    """Attributes by ``object``'s own methods, which run properties."""

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @property
    def width(self) -> float:
        return self._width  # type: ignore[attr-defined,no-any-return]

    @width.setter
    def width(self, value: float) -> None:
        self._width = value * value


def by_objects_own(x: float) -> Any:
    guarded = Guarded()
    guarded.width = x
    return object.__getattribute__(guarded, "width")


class ReadOnly:
    """A property that keeps its value under its own name."""

    @property
    def ratio(self) -> float:
        return self.__dict__["ratio"]  # type: ignore[no-any-return]


def of_read_only(x: float, made: ReadOnly) -> Any:
    return x * made.ratio


class Degrees(float):
    """A number of a derived class, which is made by its own code and has attributes."""

    def __new__(cls, value: float, name: str = "") -> Degrees:
        self = float.__new__(cls, value)
        self.name = name  # type: ignore[attr-defined]
        return self


def of_derived_numbers(x: float) -> Any:
    import math

    return math.radians(Degrees(x, "lat")) * 180.0 + math.hypot(Degrees(x), 0.0)


FOLLOWED = [
    (looked_up, 8.0), (by_identity, 13.0), (asked_of_its_class, 4.2), (mixed_in, 9.0),
    (by_objects_own, 1.4), (of_derived_numbers, np.pi + 1.0),
    (beside_strange_objects, 2.0),
]


def test_what_reaches_no_active_value_may_run_unseen() -> None:
    for function, slope in FOLLOWED:
        found = grad(function, backend="record")(0.7)
        assert np.allclose(found, slope, rtol=1e-12), function.__name__


def test_what_reaches_active_values_and_changes_something_is_refused() -> None:
    for function in (kept_by_hash, read_from_a_global, read_through_a_proxy):
        with pytest.raises(ADError, match="calls unseen"):
            grad(function, backend="record")(0.7)
    STATE.clear()


def test_generators_that_were_started_before() -> None:
    STATE["items"] = counted()
    assert grad(started_before, backend="record")(0.7) == 7.0
    STATE["items"] = from_the_global()
    with pytest.raises(ADError, match="unseen"):
        grad(active_before, backend="record")(0.7)
    STATE.clear()


def test_copies_of_arguments_ask_no_properties() -> None:
    made = ReadOnly()
    made.__dict__["ratio"] = 3.0
    assert grad(of_read_only, backend="record")(0.7, made) == 3.0


class Wrapper:
    """A wrapper as those of ``wrapt``, whose class in C calls a function in Python."""

    _self_binding = "function"
    _self_instance = _self_parent = _self_wrapper = None

    def __call__(self, x: float) -> float:
        return 0.0  # stands for what C does

    def __init__(self, inside: Any, wrapper: Any) -> None:
        self.__wrapped__, self._self_wrapper = inside, wrapper


def tripled(function: Any, instance: Any, args: Any, kwargs: Any) -> Any:
    return function(*args, **kwargs) * 3.0


def squared(x: float) -> float:
    return x * x


class Waiting:
    """A class with a coroutine that nobody calls."""

    def of(self, x: float) -> Any:
        async def waited() -> Any:
            return await x  # type: ignore[misc]

        return x * 2.0 if waited is not None else 0.0


def test_calls_that_others_compiled_or_wrapped() -> None:
    wrapper: Any = Wrapper(squared, tripled)
    assert grad(lambda x: wrapper(x), backend="record")(0.5) == 3.0
    assert grad(lambda x: Waiting().of(x), backend="record")(0.5) == 2.0


def test_what_numba_compiled_is_followed_where_its_text_does_the_same() -> None:
    numba = pytest.importorskip("numba")

    @numba.njit
    def scaled(x: Any, out: Any) -> Any:
        for i in range(x.size):
            out[i] = x[i] * x[i]
        return out.sum()

    @numba.njit
    def counted_by_floats(x: Any) -> Any:
        total = 0.0
        for i in range(np.ceil(2.5)):
            total += x[0] * i
        return total

    @numba.njit
    def first_called_there(n: int) -> int:
        return n + 1

    x = np.array([0.7, 0.4])
    assert grad(lambda v: v[0] * first_called_there(2), backend="record")(x)[0] == 3.0
    found = grad(lambda v: scaled(v, np.zeros(2)), backend="record")(x)
    assert np.allclose(found, 2.0 * x, rtol=1e-15)
    try:
        counted_by_floats(x)
    except Exception:
        return  # this numba does not take it, as Python
    with pytest.raises(ADError, match="numba"):
        grad(lambda v: counted_by_floats(v), backend="record")(x)


def test_classes_that_lie_on_the_heap_may_be_written_in_c() -> None:
    class Own(collections.deque):
        pass

    in_c = (collections.deque, functools.partial, re.Pattern, array.array, type(itertools.count()))
    assert not any(map(is_of_python, in_c)) and is_of_python(Own) and is_of_python(type(Own()))

    def queued(x: Any) -> Any:
        queue = collections.deque([1.0, x[1]])
        queue.append(x[0])
        return queue[1] * 2.0 + sum(queue)

    assert np.array_equal(grad(queued, backend="record")(np.ones(2)), [1.0, 3.0])


def test_where_a_profiler_has_the_place_from_which_calls_are_watched() -> None:
    derivative = grad(looked_up, backend="record")
    sys.setprofile(lambda *_: None)
    try:
        with pytest.raises(ADError, match="profiler"):
            derivative(2.0)
    finally:
        sys.setprofile(None)
    profiler = cProfile.Profile()
    profiler.enable()
    try:
        if sys.version_info >= (3, 12):  # where that of the library stands elsewhere
            assert derivative(2.0) == 8.0
        else:
            with pytest.raises(ADError, match="profiler"):
                derivative(2.0)
    finally:
        profiler.disable()
    assert derivative(2.0) == 8.0
