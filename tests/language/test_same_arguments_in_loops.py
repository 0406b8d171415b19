"""Arguments that are one array, or overlap, where the name that is written is carried or chosen.

The first iteration writes into the caller's array, later ones into another: whether an argument is
written into is not known when compiling, so that it has to lie apart from the others.
"""

import numpy as np
import pytest

from adcompiler import ADError, grad, hessian, value_and_grad, vjp

START = np.array([0.1, 0.4, 0.7])


def added(x, v):
    for _ in range(2):
        x += v * 0.1
        x = x * 0.5
    return np.sum(x * x)


def stored(x, v):
    i = 0
    while i < 2:
        x[0] = v[1] * 2
        x = x * 0.5
        i += 1
    return np.sum(x * x)


def nested(x, v):
    for _ in range(2):
        for _ in range(2):
            x += v * 0.1
        x = x * 0.5
    return np.sum(x * v)


def chosen(x, v):
    if v[0] > 0.0:
        x = x * 2.0
    x += v
    return np.sum(x * v)


def exchanged(x, v):
    a, b = x, v
    for _ in range(3):
        a += b
        a, b = b * 0.5, a
    return np.sum(a * b)


def by_a_ufunc(x, v):
    for _ in range(2):
        np.add(x, v, out=x)
        x = x * v
    return np.sum(x * v)


def in_a_list(x, v):
    w = [x]
    for _ in range(2):
        w[0] += v
        w = [w[0] * 0.5]
    return np.sum(w[0] * v)


def steps(x, v, n):
    if n == 0:
        return x
    x += v * 0.1
    return steps(x * 0.5, v, n - 1)


def by_recursion(x, v):
    return np.sum(steps(x, v, 2) ** 2)


PROGRAMS = (added, stored, nested, chosen, exchanged, by_a_ufunc, in_a_list, by_recursion)
CALLS = {
    "one array": lambda a: (a, a),
    "overlapping": lambda a: (np.append(a, 0.3)[:3], np.append(a, 0.3)[1:]),
    "views of one": lambda a: (lambda b: (b[:3], b[1:]))(np.append(a, 0.3)),
    "reversed": lambda a: (a, a[::-1]),
    "apart": lambda a: (a, 2 * a),
}


def test_results_are_those_of_the_call_or_it_is_refused():
    for function in PROGRAMS:
        for kind, arguments in CALLS.items():
            value = function(*arguments(START.copy()))
            for derivative in (value_and_grad, vjp):
                args, there = arguments(START.copy()), arguments(START.copy())
                try:
                    if derivative is vjp:
                        function(*there)
                        found, _ = vjp(function, *args)
                    else:
                        found, _ = value_and_grad(function, argnums=(0, 1))(*args)
                except ADError:
                    assert kind not in ("apart", "overlapping"), function.__name__
                    continue
                assert found == pytest.approx(value), (function.__name__, kind)
                for one, other in zip(args, there, strict=True):
                    np.testing.assert_allclose(one, other, err_msg=f"{function.__name__}: {kind}")


def test_gradients_of_separate_arrays():
    h = 1e-6
    for function in PROGRAMS:
        found = grad(function)(START.copy(), 2 * START)
        for k in range(3):
            step = np.eye(3)[k] * h
            ends = [function(START + sign * step, 2 * START) for sign in (1, -1)]
            assert found[k] == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-6, abs=1e-8)


def test_second_derivatives_are_refused_for_one_array():
    for function in (added, chosen, by_recursion):
        array = START.copy()
        with pytest.raises(ADError, match=r"shares? (memory|storage)"):
            hessian(function)(array, array)
        np.testing.assert_array_equal(array, START)
