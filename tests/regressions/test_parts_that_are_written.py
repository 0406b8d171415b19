"""Derivatives with respect to parts of arguments, or elements of ``*args``, that are written."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from adcompiler import ADError, jvp, vjp


@dataclass
class Plate:
    x: float
    w: np.ndarray


def into_array(x, w):
    w += x
    w[1] = x * x
    return 0.7 * np.sum(w)


def of_all(*args):
    return into_array(*args)


def of_element(*args):
    args[1][0] = args[0] ** 2
    return np.sum(args[1] * args[0])


def of_tuple(p):
    p[1][0] = p[0] ** 2
    return np.sum(p[1])


def of_entry(p):
    p["w"][0] = p["x"] ** 2
    return np.sum(p["w"])


def of_attribute(p):
    p.w[0] = p.x**2
    return np.sum(p.w)


def another_entry(p):
    p["w"] = p["x"] * p["w"]
    return np.sum(p["w"])


def another_attribute(p):
    p.x = p.x**2
    return np.sum(p.w) * p.x


@pytest.mark.parametrize("f", [of_all, of_element])
def test_elements_of_star_arguments(f):
    x, w, x_dot, w_dot = 0.6, np.array([0.3, 0.9]), 1.1, np.array([0.5, 0.6])
    plain, ours, pushed = w.copy(), w.copy(), w.copy()
    wanted = f(x, plain)
    slope = (f(x + 1e-6 * x_dot, w + 1e-6 * w_dot) - f(x - 1e-6 * x_dot, w - 1e-6 * w_dot)) / 2e-6
    value, pullback = vjp(f, x, ours)
    x_bar, w_bar = pullback(1.0)
    assert value == wanted
    np.testing.assert_array_equal(ours, plain)
    np.testing.assert_allclose(x_bar * x_dot + w_bar @ w_dot, slope, rtol=1e-8)
    np.testing.assert_allclose(jvp(f, (x, pushed), (x_dot, w_dot))[1], slope, rtol=1e-8)
    np.testing.assert_array_equal(pushed, plain)


@pytest.mark.parametrize(("f", "make", "names"), [
    (of_tuple, lambda x, w: (x, w), ("p.0", "p.1")),
    (of_entry, lambda x, w: {"x": x, "w": w}, ("p.x", "p.w")),
    (of_attribute, Plate, ("p.x", "p.w")),
])
def test_parts_named_by_a_path(f, make, names):
    w = np.array([1.0, 3.0])
    value, pullback = vjp(f, make(2.0, w), argnums=names)
    assert value == 7.0
    x_bar, w_bar = pullback(1.0)
    assert x_bar == 4.0
    np.testing.assert_array_equal(w_bar, [0.0, 1.0])
    np.testing.assert_array_equal(w, [4.0, 3.0])


@pytest.mark.parametrize(("f", "make"), [
    (another_entry, lambda x, w: {"x": x, "w": w}), (another_attribute, Plate),
])
def test_slots_given_other_values_beside_parts_are_refused(f, make):
    arg = make(2.0, np.array([1.0, 3.0]))
    with pytest.raises(ADError, match="differentiate with respect to all of"):
        vjp(f, arg, argnums=("p.x", "p.w"))
    assert str(arg) == str(make(2.0, np.array([1.0, 3.0])))


def test_a_path_is_a_text():
    with pytest.raises(TypeError, match="named by a text such as"):
        vjp(of_entry, {"x": 2.0, "w": np.ones(2)}, argnums=((0, "x"),))


def test_containers_rebuilt_in_an_arm_hold_what_is_written_there():
    def f(x, m, d):
        d[1] = 1.0
        e = [d, d, d]
        if x < 0.0:
            e[2] = m
            for y in e:
                y += x * x
        return np.sum(e[1]) + np.sum(e[2])

    for x in (-0.7, 0.7):
        plain, ours = np.array([-1.2, 1.3, -1.3]), np.array([-1.2, 1.3, -1.3])
        wanted = f(x, np.ones(3), plain)
        value, pullback = vjp(f, x, np.ones(3), ours)
        assert value == wanted
        np.testing.assert_array_equal(ours, plain)
        x_bar, m_bar, d_bar = pullback(1.0)
        assert np.isclose(x_bar, 18.0 * x if x < 0.0 else 0.0)
        np.testing.assert_array_equal(m_bar, np.full(3, float(x < 0.0)))
        np.testing.assert_array_equal(d_bar, np.array([1.0, 0.0, 1.0]) * (1 if x < 0.0 else 2))


def test_forms_of_lists_need_not_be_restored():
    def f(x, m, d):
        d[1] = 1.0
        e = [d, d]
        if x < 0.0:
            d.sort()
        elif x > 0.5:
            e[1] = m
            for y in e:
                y += x
        return np.sum(e[1] * np.array([1.0, 2.0, 3.0]))

    for x in (-0.7, 0.7, 0.1):
        value, pullback = vjp(f, x, np.ones(3), np.array([-1.2, 1.3, -1.3]))
        assert value == f(x, np.ones(3), np.array([-1.2, 1.3, -1.3]))
        assert np.isclose(pullback(1.0)[0], 6.0 if x > 0.5 else 0.0)
