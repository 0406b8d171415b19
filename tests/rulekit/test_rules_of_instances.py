"""Rules of objects that can be called, and cotangents of their fields."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from adcompiler import ADError, grad, jvp, rrule, vjp


@dataclasses.dataclass
class Affine:
    """A function whose rule gives other numbers than its source, so that it is seen."""

    w: float
    b: float

    def __call__(self, x):
        return self.w * x + self.b


class Scaled:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return self.w * x


class Opaque(Scaled):
    def __call__(self, x):
        return self.w * x


@pytest.fixture(autouse=True)
def rules():
    @rrule(Affine.__call__)
    def affine_rule(self, x):
        def affine_pullback(dy):
            return Affine(5.0 * dy * x, 3.0 * dy), 7.0 * dy
        return self.w * x + self.b, affine_pullback

    @rrule(Scaled.__call__)
    def scaled_rule(self, x):
        def scaled_pullback(dy):
            return SimpleNamespace(w=np.sum(dy * x)), 2.0 * self.w * dy
        return self.w * x, scaled_pullback

    @rrule(Opaque.__call__, wrt=("x",))
    def opaque_rule(self, x):
        def opaque_pullback(dy):
            return self.w * dy
        return self.w * x, opaque_pullback


def test_the_rule_of_an_instance_that_is_differentiated_itself():
    assert grad(Affine(2.0, 1.0))(3.0) == 7.0
    np.testing.assert_array_equal(vjp(Scaled(2.0), np.ones(2))[1](np.ones(2))[0], [4.0, 4.0])


def test_cotangents_of_fields():
    def product(f, x):
        return f(x) * f(2.0 * x) + f.w

    of_fields, dx = grad(product, argnums=(0, 1))(Affine(2.0, 1.0), 3.0)
    assert of_fields == Affine(13.0 * 15.0 + 7.0 * 30.0 + 1.0, 60.0) and dx == 189.0
    _, along = jvp(product, (Affine(2.0, 1.0), 3.0), (Affine(1.0, 0.0), 1.0))
    assert along == 406.0 + 189.0


def test_cotangents_as_namespaces_and_arrays():
    def total(f, x):
        return np.sum(f(x) * x)

    x = np.array([1.0, 2.0])
    of_fields, dx = grad(total, argnums=(0, 1))(Scaled(3.0), x)
    assert of_fields.w == 5.0
    np.testing.assert_array_equal(dx, 2.0 * 3.0 * x + 3.0 * x)


def test_instances_in_loops_and_made_inside():
    def repeated(f, x):
        for _ in range(3):
            x = f(x)
        return x

    of_fields, dx = grad(repeated, argnums=(0, 1))(Affine(2.0, 1.0), 3.0)
    assert dx == 343.0
    assert of_fields == Affine(5.0 * (15.0 + 7.0 * 7.0 + 49.0 * 3.0), 3.0 * 57.0)
    assert grad(lambda w, x: Affine(w, x)(x))(2.0, 3.0) == 15.0


def test_rules_that_give_no_cotangent_of_the_instance():
    opaque = Opaque(2.0)
    assert grad(lambda x: opaque(x))(3.0) == 2.0
    with pytest.raises(ADError):
        grad(lambda f, x: f(x), argnums=(0, 1))(opaque, 3.0)
