"""What the classes of instances decide: checks, data, methods and operators that are replaced."""

import numpy as np
import pytest

from adcompiler import grad
from tests.language.instances import Base, Checked, Linear, Point, linear


def made_with_a_check(x):
    return Checked(x).a * Checked(2.0 * x, limit=5.0).a


def test_a_check_in_post_init_raises_as_in_python():
    with pytest.raises(ValueError, match="too large"):
        grad(made_with_a_check)(3.0)


def test_a_method_that_is_replaced(monkeypatch):
    g = grad(lambda p: p.norm2())
    assert g(Point(3.0, 4.0)) == Point(6.0, 8.0)
    monkeypatch.setattr(Point, "norm2", lambda self: self.x * 10.0)
    assert g(Point(3.0, 4.0)) == Point(10.0, 0.0)


def test_class_data_is_live(monkeypatch):
    g = grad(lambda layer: np.sum(layer.b) * layer.gain)
    assert g(linear()).b.tolist() == [1.5, 1.5]
    monkeypatch.setattr(Base, "gain", 2.0)
    assert g(linear()).b.tolist() == [2.0, 2.0]
    monkeypatch.setattr(Linear, "gain", 4.0, raising=False)
    assert g(linear()).b.tolist() == [4.0, 4.0]


def test_an_operator_that_is_replaced(monkeypatch):
    def f(x):
        return (Point(x, x) + Point(x, 1.0)).x

    g = grad(f)
    assert g(3.0) == 2.0
    monkeypatch.setattr(Point, "__add__", lambda a, b: Point(a.x * b.x, a.y))
    assert g(3.0) == 6.0
