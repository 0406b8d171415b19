"""Writes in a ``try`` that is left by an exception, or that is refused."""

import math

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, value_and_grad, vjp

V = np.array([0.5, 1.5, 2.0])
W = np.array([0.5, -1.5, 2.0])


def store_of_what_may_raise(x):
    logs = np.zeros(1)
    try:
        logs[0] = math.log(x)
    except ValueError:
        logs[0] += 3*x
    return logs[0]


def fill(a, v):
    a[0] = v[0] * 2.0
    a[1] = math.log(v[1])


def written_by_a_helper(v):
    a = v.copy()
    try:
        fill(a, v)
    except ValueError:
        a[2] *= 3.0
    return np.sum(a * a)


def two_targets(v):
    a = v.copy()
    try:
        a[0], a[5] = v[1], v[2] * v[2]
    except IndexError:
        a[1] *= 2.0
    return np.sum(a * a)


def several_writes_in_a_context(v):
    a = v.copy()
    try:
        with np.errstate(all="raise"):
            a[2] = 1.0
            a[1] = np.sqrt(v[1])
    except FloatingPointError:
        a[2] *= a[0]
    return np.sum(a * a)


def several_writes_in_a_branch_of_a_match(v):
    a = v.copy()
    try:
        match len(v):
            case 3:
                a[1] = math.sqrt(v[1])
                a[2] = 2.0 * math.log(a[1])
            case _:
                a[1] = 1.0
    except ValueError:
        a[2] *= a[0]
    return np.sum(a * a)


def in_place_where_numpy_raises_after_writing(v):
    a = v.copy()
    with np.errstate(all="raise"):
        try:
            a /= np.array([1.0, 0.0, 2.0])
        except FloatingPointError:
            a[np.isinf(a)] = 0.0
    return np.sum(a * a)


def out_where_numpy_raises_after_writing(v):
    a = v.copy()
    with np.errstate(all="raise"):
        try:
            np.log(v, out=a)
        except Exception:
            a[0] *= 2.0
    return np.sum(a * a)


@pytest.mark.parametrize("function", [
    written_by_a_helper, two_targets, several_writes_in_a_context,
    several_writes_in_a_branch_of_a_match, in_place_where_numpy_raises_after_writing,
    out_where_numpy_raises_after_writing,
], ids=lambda function: function.__name__)
def test_what_is_written_in_halves_is_refused(function):
    with pytest.raises(UnsupportedError) as caught:
        grad(function)(V)
    assert {finding.anchor for finding in caught.value.findings} == {"try"}


def fails_in_handler(v):
    try:
        v[0] = v[1] * 2.0
        v[1] = math.log(v[2])
    except ValueError as error:
        v[2] = 1.0
        raise KeyError("again") from error
    return np.sum(v)


def not_caught(v):
    try:
        v[0] = v[1] * 2.0
        v[7] = 1.0
    except ValueError:
        v[2] = 1.0
    return np.sum(v)


def raised_again(v):
    try:
        v[0] = v[1] * 2.0
        v[1] = math.log(v[2])
    except ValueError as error:
        v[2] = len(str(error))
        if v[0] < 100.0:
            raise
    return np.sum(v)


@pytest.mark.parametrize("function", [fails_in_handler, not_caught, raised_again])
def test_what_is_raised_is_what_python_raises(function):
    v = np.array([1.0, 2.0, -3.0])
    with pytest.raises(Exception) as wanted:
        function(v.copy())
    for derive in (grad(function), value_and_grad(function), lambda t: vjp(function, t)):
        given = v.copy()
        with pytest.raises(type(wanted.value)) as caught:
            derive(given)
        assert np.array_equal(given, v)
        assert str(caught.value) == str(wanted.value)
        assert type(caught.value.__cause__) is type(wanted.value.__cause__)
        assert type(caught.value.__context__) is type(wanted.value.__context__)


def test_finally_runs_once_where_its_exception_is_caught_around_it(capsys):
    def counted(v):
        a = v.copy()
        try:
            a[0] *= 2.0
            try:
                a[1] = math.log(v[1])
                a[2] = 1.0
            finally:
                print("finally")
            a[0] *= a[1]
        except ValueError:
            a[2] *= a[0]
        return np.sum(a)

    for v in (V, W):
        _, pullback = vjp(counted, v)
        pullback(1.0)
        assert capsys.readouterr().out == "finally\n"


def test_bodies_that_write_last_stay_one_try():
    assert grad(store_of_what_may_raise).source_for(2.0).count("except ValueError") == 1


def test_long_bodies_are_refused(tmp_path):
    rows = ["import math", "def f(v):", "    a = v * 1.0", "    try:"]
    rows += [f"        a[{k % 3}] *= math.sqrt(v[{k % 2}])" for k in range(70)]
    rows += ["    except ValueError:", "        a[0] = 1.0", "    return a[0]"]
    source = "\n".join(rows) + "\n"
    path = tmp_path / "long_body.py"
    path.write_text(source)
    namespace = {}
    exec(compile(source, str(path), "exec"), namespace)
    with pytest.raises(UnsupportedError, match="is written into in this `try`"):
        grad(namespace["f"])(V)
