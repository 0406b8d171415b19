"""Instances of classes: as arguments that are differentiated, made inside, as results."""

import copy
import functools
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Generic

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, value_and_grad, vjp
from tests.language.check import Cases
from tests.language.instances import (
    Cached, Checked, Configured, Frozen, FrozenSlotted, Linear, MakesUp, Network, Old, Pair,
    Point, Point3, Private, Slotted, T, V, W, Wide, WithDescriptor, WithSlots, linear,
)

programs = Cases()


# -- attributes --------------------------------------------------------------------------------------


@programs(Point(1.5, 2.5))
def fields(p):
    return p.x * p.y + p.x


@programs(Point(1.5, 2.5), Point(-0.5, 1.0))
def methods_and_properties(p, q):
    return p.norm2() * q.x + p.dot(q) + p.angle + q.angle * p.y


@programs(Point(V, 2.5))
def array_field(p):
    return np.sum(p.x * p.y) + p.norm2()[0]


@programs(Point(V, {"a": 1.5, "b": [2.5, 3.5]}))
def nested_containers(p):
    return np.sum(p.x) * p.y["a"] + p.y["b"][0] * p.y["b"][1]


@programs(Point(Point(1.5, 2.5), Point(3.5, 4.5)))
def nested_instances(p):
    return p.x.norm2() * p.y.x + p.y.dot(p.x)


@programs([Point(1.5, 2.5), Point(0.5, -1.0)], 2.0)
def list_of_instances(points, k):
    total = 0.0
    for p in points:
        total = total + p.norm2() * k
    return total + points[0].x * points[1].y


@programs({"p": Point(1.5, 2.5), "k": 2.0})
def instance_in_a_dict(d):
    return d["p"].norm2() * d["k"] + d["p"].x


@programs((Point(1.5, 2.5), (3.0, Frozen(0.5))))
def instance_in_a_tuple(pair):
    p, (k, f) = pair
    return p.norm2() * k + f.a * f.b


@programs(Frozen(1.5))
def frozen(f):
    return f.a**2 * f.b if f.tag == "frozen" else f.a


@programs(Slotted(1.5))
def slotted(s):
    return s.a * s.b + s.a


@programs(FrozenSlotted(1.5, Slotted(2.5, 0.5)))
def slots_in_slots(s):
    return s.a * s.p.a + s.p.b * s.p.a


@programs(WithSlots(1.5, 2.5))
def attributes_named_like_those_of_arrays(s):
    return s.size * s.shape * s.size


def private_value(p, x):
    return p.value(x)


def test_private_attributes():
    bar, x_bar = grad(private_value, argnums=(0, 1))(Private(3.0, 5.0), 7.0)
    assert (bar._Private__a, bar.b, x_bar) == (14.0, 3.0, 3.0)


@programs(Point3(1.5, 2.5, 0.5))
def inherited_dataclass(p):
    return p.norm2() * p.z + p.x


@programs(Configured(scale=1.5, items=[0.5]), 2.0)
def integers_strings_and_class_data_stay(c, x):
    total = c.value(x) + c.items[0]
    for _ in range(c.power):
        total = total + c.scale * x
    return total


@programs(SimpleNamespace(a=1.5, b=V))
def namespace(n):
    return np.sum(n.b * n.a)


@programs(Point(1.5, 2.5))
def attributes_by_getattr(p):
    total = getattr(p, "x") * 2.0  # noqa: B009 (that it is text is the point)
    if hasattr(p, "y"):
        total = total + p.y
    return total + getattr(p, "z", 3.0)


@programs(Point(1.5, 2.5), 3)
def attributes_in_a_loop(p, n):
    total = 0.0
    for i in range(n):
        total = total + p.x * i if i % 2 else total * p.y + p.x
    return total


@programs(Point(1.5, 2.5), Point(0.5, 1.0))
def instance_chosen_by_a_branch(p, q):
    r = p if p.x > q.x else q
    return r.x * r.y + p.y


@programs(Point(1.5, 2.5))
def branches_that_use_attributes(p):
    if p.x > 1.0:
        y = p.y * p.x
    else:
        y = p.x
    return y * p.x


@programs(Point(1.5, 2.5))
def closure_over_an_instance(p):
    def inner(t):
        return p.x * t + p.y

    return inner(2.0) * inner(p.x)


@programs(Point(1.5, 2.5))
def bound_method_as_a_value(p):
    f = p.dot
    return f(p) + sum(map(p.__class__(2.0, p.x).dot, [p, Point(1.0, p.y)]))


@programs(Point(1.5, 2.5))
def comparison_of_instances(p):
    return p.x if p < Point(5.0, p.y) else p.y


@programs(Network(linear(), Linear(W[:, :2].copy(), np.zeros(2))), V, np.ones(2))
def network(net, x, y):
    return net.loss(x, y)


# -- made inside -------------------------------------------------------------------------------------


@programs(1.5, 2.5)
def made_from_positions_and_names(x, y):
    p = Point(x, y=x * y)
    return p.x * p.y + p.norm2()


@programs(1.5)
def made_with_defaults(x):
    return Frozen(x).b * Frozen(x, x).b * Slotted(a=x).b * Slotted(x).a


@programs(1.5)
def made_with_factories_and_class_variables(x):
    c = Configured(scale=x)
    d = Configured(scale=2.0, items=[x, x * x], power=3, start=x)
    return c.value(x) + d.value(x) + len(c.items) + sum(d.items) + c.derived


@programs(1.5)
def made_with_a_check(x):
    return Checked(x).a * Checked(2.0 * x, limit=5.0).a


@programs(1.5, 0.5)
def made_by_class_methods(r, phi):
    p = Point.polar(r, phi)
    return p.x + p.y * 2.0 + Point.origin().x


@programs(1.5, 2.5)
def operators(x, y):
    p, q = Point(x, y), Point(y, 1.0)
    r = 2.0 * p + q * x - (-q)
    r += p
    return abs(r) + p @ q + r[0] * p[1] + len(r) * x + (p**2).x


@programs(1.5, 2.5)
def made_in_branches(x, y):
    p = Point(x, y) if x > 0.0 else Point(y, x)
    return p.x * p.x * p.y


@programs(1.5, 3)
def carried_through_a_loop(x, n):
    p = Point(x, 1.0)
    for _ in range(n):
        p = Point(p.x * 0.5 + p.y, p.y * x)
    return p.x * p.y


@programs(1.5)
def collected_in_a_list(x):
    points = [Point(x * k, k + 0.5) for k in range(3)]
    return sum(p.norm2() for p in points) + points[1].x


@programs(1.5)
def replaced_fields(x):
    p = replace(Point3(x, 2.0), z=x * x)
    return replace(p, y=x).norm2() + p.y


@programs(1.5)
def namespaces(x):
    n = SimpleNamespace(a=x, b=SimpleNamespace(c=x * x))
    return n.a * n.b.c


@dataclass
class Box(Generic[T]):
    content: T

    def get(self):
        return self.content


@programs(1.5)
def generic_classes(x):
    return Box(x).get() * Box[float](x * x).content


@programs(Point(1.5, 2.5))
def copies(p):
    q = copy.copy(p)
    return q.x * p.y + copy.copy(Point(q.y, 1.0)).norm2()


@programs(1.5)
def functions_in_fields(x):
    p = Point(lambda t: t * x, np.sin)
    return p.x(2.0) + p.y(x)


@programs(1.5)
def cached_property_of_an_instance_made_here(x):
    c = Point(x, 2.0)
    return c.angle + Holder(x).square


@dataclass
class Holder:
    a: float

    @functools.cached_property
    def square(self):
        return self.a * self.a


@programs(1.5, 2.5)
def namedtuples(x, y):
    p = Pair(x) + Pair(right=y, left=x * y)
    q = p.swapped()
    return q.left * q.right + p._asdict()["left"] + Old(x).v * Old(x, v=y).v


@programs(1.5, Wide(2.0, 3.0))
def members_of_namedtuple_classes(x, wide):
    p = Pair.both(x)
    return p.product * p.twice(x) + wide.scaled().left * wide.product + Wide(x, x).product


@programs(Pair(1.5, V), Old(2.0))
def namedtuple_arguments(p, old):
    return np.sum(p.right) * p.left + old.u * old.v


# -- results -----------------------------------------------------------------------------------------


@programs(1.5, 2.5)
def instance_as_result(x, y):
    return Point(x * y, Frozen(x, y * y))


@programs(Point(1.5, V))
def argument_as_result(p):
    return p


@programs(Point(1.5, V))
def dict_with_instances_as_result(p):
    return {"p": Point(p.y, p.x * 2.0), "list": [p.x, p.x * p.x], "n": 3.0}


@programs(1.5)
def slots_as_result(x):
    return Slotted(x * x, b=x), FrozenSlotted(x, Slotted(x))


@pytest.mark.parametrize("case", programs, ids=str)
def test_gradient(case):
    programs.check(case)


# -- what a gradient is ------------------------------------------------------------------------------


def test_a_gradient_is_an_instance_of_the_same_class():
    assert grad(fields)(Point(3.0, 4.0)) == Point(5.0, 3.0)
    assert grad(frozen)(Frozen(3.0)) == Frozen(12.0, 9.0, None)
    assert grad(slotted)(Slotted(3.0)) == Slotted(4.0, 3.0)
    assert grad(inherited_dataclass)(Point3(1.0, 2.0, 3.0)) == Point3(7.0, 12.0, 32.0)
    assert grad(lambda n: n.a * n.b)(SimpleNamespace(a=2.0, b=3.0)) == SimpleNamespace(a=3.0, b=2.0)


def test_a_gradient_is_made_without_running_the_class():
    c = Checked(1.0)
    c.a = 100.0
    gradient = grad(lambda c: 1000.0 * c.a)(c)
    assert type(gradient) is Checked and gradient.a == 1000.0


def test_what_carries_no_derivative_is_none():
    gradient = grad(network)(Network(linear()), V, np.zeros(2))
    assert gradient.name is None and gradient.count is None
    assert type(gradient.layers) is tuple and type(gradient.layers[0]) is Linear
    assert gradient.layers[0].w.shape == (2, 3)
    unused = grad(lambda c: c.scale * 2.0)(Configured(items=[1.0, 2], scale=3.0))
    assert unused.items == [0.0, None] and unused.power is None and unused.derived is None


def test_arrays_of_a_gradient_belong_to_it():
    p = Point(np.ones(2), np.ones(2))
    gradient = grad(lambda p: np.sum(p.x + p.y))(p)
    assert not np.shares_memory(gradient.x, gradient.y)
    gradient.x[0] = 5.0
    assert p.x[0] == 1.0


def test_bound_methods_and_their_objects():
    layer = linear()

    class Loss:
        def __init__(self, k):
            self.k = k

        def __call__(self, x):
            return self.k * x * x

        def value(self, x):
            return self.k * x

    loss = Loss(3.0)
    assert grad(loss.value)(2.0) == 3.0
    assert grad(loss.value, argnums="self")(2.0).k == 2.0
    both = grad(loss.value, argnums=("self", "x"))(2.0)
    assert both[0].k == 2.0 and both[1] == 3.0
    assert grad(loss.value, argnums="self.k")(2.0) == 2.0
    assert grad(Loss.value)(loss, 2.0).k == 2.0
    assert grad(loss, argnums="self.k")(2.0) == 4.0
    assert value_and_grad(lambda m, x: np.sum(m(x)))(layer, V)[1].b.shape == (2,)


def test_annotations_of_classes_give_types():
    @grad
    def f(p: Annotated, q: float) -> float:
        return p.a * p.inner.b + q

    assert "record(a=p.inner.b, inner=record(b=p.a))" in f.source and "project" not in f.source
    assert f(Annotated(2.0, AnnotatedInner(3.0)), 1.0) == Annotated(3.0, AnnotatedInner(2.0))


@dataclass
class AnnotatedInner:
    b: float


@dataclass
class Annotated:
    a: float
    inner: AnnotatedInner


def test_each_structure_is_compiled_for_itself():
    g = grad(fields)
    for _ in range(2):
        assert g(Point(3.0, 4.0)) == Point(5.0, 3.0)
        assert g(Point(np.float32(3.0), 4.0)) == Point(5.0, 3.0)
        assert g(Point3(3.0, 4.0)) == Point3(5.0, 3.0, 0.0)
        assert g(SimpleNamespace(x=3.0, y=4.0)) == SimpleNamespace(x=5.0, y=3.0)


# -- what is refused ---------------------------------------------------------------------------------


class Cyclic:
    def __init__(self, a):
        self.a = a
        self.me = self


class ListLike(list):
    def __init__(self, items, scale):
        super().__init__(items)
        self.scale = scale


@pytest.mark.parametrize("function, argument, message", [
    (lambda c: c.a, Cyclic(1.0), "respect to c, which contains itself"),
    (lambda c: c.x * c.y, Point(1, 2), "a Point without a float among its attributes"),
])
def test_arguments_that_have_no_gradient(function, argument, message):
    with pytest.raises(TypeError, match=message):
        grad(function)(argument)


def test_a_cached_property_that_is_cached():
    c = Cached(3.0)
    with pytest.raises(UnsupportedError, match="attribute `square` of an argument is not known"):
        grad(Cached.total)(c, 2.0)
    assert c.square == 9.0
    with pytest.raises(UnsupportedError, match="cached_property has kept does not follow"):
        grad(Cached.total)(c, 2.0)
    assert grad(Cached.total, argnums="x")(c, 2.0) == 9.0


def test_attributes_that_the_class_makes_up_and_those_of_the_dict():
    assert grad(lambda p: p.made_up * p.w)(MakesUp(1.5)).w == 6.0
    assert grad(lambda p: p.__dict__["x"] ** 2 * p.y)(Point(3.0, 2.0)) == Point(12.0, 9.0)


@pytest.mark.parametrize("function, argument", [
    (lambda x: x.scale * 2.0, ListLike([1.0], 3.0)),
    (lambda p: np.sum(p), Point(1.0, 2.0)),
    (lambda p: float(p) * 2.0, Point(1.0, 2.0)),
    (lambda p: sum(v for v in p), Point(1.0, 2.0)),
    (lambda p: p.doubled * 2.0, WithDescriptor(1.0)),
    (lambda p: object.__getattribute__(p, "x") * 2.0, Point(1.0, 2.0)),
])
def test_uses_of_instances_that_are_not_followed(function, argument):
    with pytest.raises(UnsupportedError):
        grad(function)(argument)


def test_a_class_whose_init_assigns():
    def f(x):
        return Cached(x * x).a * x

    assert grad(f)(3.0) == 27.0
    assert grad(lambda x: x * Cached(2.0).a)(1.0) == 2.0


def test_a_result_that_is_an_instance_has_no_gradient():
    with pytest.raises(TypeError, match=r"returns a value of type Point\("):
        grad(instance_as_result)(1.0, 2.0)


def test_vjp_of_an_instance():
    value, pullback = vjp(argument_as_result, Point(1.5, V))
    assert value.x == 1.5
    (bar,) = pullback(Point(2.0, V))
    assert bar.x == 2.0 and np.array_equal(bar.y, V) and bar.y is not V
