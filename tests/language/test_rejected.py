"""What is outside the language is refused before anything runs; nothing loses a derivative silently."""

import contextlib
import math
import random
from types import SimpleNamespace

import numpy as np
import pytest

from adcompiler import ADError, MissingRuleError, UnsupportedError, grad, vjp

V = np.array([0.5, -1.5, 2.0])
CALLS = []


def deletes_attribute(x):
    print("ran")
    box = SimpleNamespace(x=x)
    del box.x
    return np.sum(x)


def writes_into_unknown(x):
    print("ran")
    y = np.array(eval_free(x), dtype=object)
    y[0] = x[0]
    return np.sum(x)


def eval_free(x):
    return [x, "text"]


def power_at(x):
    print("ran")
    y = x * 1.0
    np.exp.at(y, [0])
    return np.sum(y)


def shuffles(x):
    print("ran")
    y = list(x)
    random.shuffle(y)
    return y[0]


def writes_in_try(x):
    print("ran")
    y = x * 1.0
    try:
        y[0], y[1] = x[1], math.log(x[0])
    except ValueError:
        pass
    return np.sum(y)


def changes_what_it_runs_over(x):
    print("ran")
    ys = [x[0]]
    for y in ys:
        if len(ys) < 3:
            ys.append(y * y)
    return sum(ys)


def tries(x):
    print("ran")
    y = x
    try:
        with np.errstate(all="ignore"):
            y = x * x
            z = np.linalg.inv(x)
    except ValueError:
        z = y
    return np.sum(z)


def with_block(x):
    print("ran")
    with contextlib.suppress(*(ValueError,)):
        return np.sum(x)


COUNT = 0


def declares_global(x):
    global COUNT
    print("ran")
    COUNT = COUNT + np.sum(x)
    return COUNT * 2.0


def declares_nonlocal(x):
    total = 0.0
    print("ran")

    def add(v):
        nonlocal total
        total = total + v

    list(map(add, x))
    return total


def generator(x):
    print("ran")
    yield x



async def coroutine(x):
    return np.sum(x)


def attribute_write(x):
    print("ran")
    helper.attribute = x
    return np.sum(x)


def helper(x, scale=1.0):
    return x * scale


def set_of_values(x):
    print("ran")
    return sum({x[0], x[1]})


def set_comprehension(x):
    print("ran")
    return sum({v * v for v in x})


def set_call(x):
    print("ran")
    return sum(set([x[0], x[1]]))


def frozenset_call(x):
    print("ran")
    return sum(frozenset([x[0], x[1]]))


def function_of_many(x):
    print("ran")
    functions = [np.sin, np.cos] * 40
    return np.sum(functions[int(x[0])](x))


def rebinds_captured(x):
    print("ran")
    k = 2.0

    def scaled(y):
        return k * y

    kept = [scaled]
    k = 3.0
    return np.sum(kept[0](x))


def undefined_name(x):
    print("ran")
    return np.sum(x) * not_defined_anywhere  # noqa: F821


PROGRAMS = [
    deletes_attribute, writes_into_unknown, power_at, shuffles, writes_in_try,
    changes_what_it_runs_over, tries, with_block, declares_global, declares_nonlocal,
    attribute_write, set_of_values, set_comprehension, set_call,
    frozenset_call, function_of_many, rebinds_captured, undefined_name,
]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_refused_before_anything_runs(function, capsys):
    for derive in (lambda: grad(function)(V), lambda: vjp(function, V)):
        with pytest.raises(ADError) as caught:
            derive()
        assert "test_rejected.py" in str(caught.value)
        assert capsys.readouterr().out == ""


@pytest.mark.parametrize("function", [generator, coroutine], ids=lambda f: f.__name__)
def test_generators_and_coroutines_are_refused(function):
    with pytest.raises(UnsupportedError):
        grad(function)(V)


def all_at_once(x):
    y = x * 1.0
    np.exp.at(y, [0])
    ys = list(x)
    random.shuffle(ys)
    with contextlib.suppress(*(ValueError,)):
        y = x
    return np.sum(x) + len(ys)


def test_everything_is_reported_at_once():
    with pytest.raises(UnsupportedError) as caught:
        grad(all_at_once)(V)
    assert len(caught.value.findings) >= 3


def test_a_star_call_of_too_many_fails_as_python_does(capsys):
    def scaled(x, scale=1.0):
        return x * scale

    def f(x):
        print("ran")
        return scaled(*x)

    np.testing.assert_array_equal(grad(f)(np.array([3.0, 2.0])), [2.0, 3.0])
    with pytest.raises(TypeError, match="more or fewer arguments"):
        grad(f)(np.array([3.0, 2.0, 1.0]))
    assert capsys.readouterr().out == "ran\nran\n"


# -- derivatives that could be lost --------------------------------------------------------------


def scale(x, factor=1.0):
    return x * factor


def lost_through_int(x):
    return float(int(x * 10.0)) * x


def test_truncation_has_no_derivative():
    assert grad(lost_through_int)(1.25) == 12.0


def through_text(x):
    return float(str(x)) * x


def through_object(x):
    class_ = type(x)
    return class_(x) * x


def test_text_cuts_the_derivative_or_is_refused():
    try:
        assert grad(through_text)(2.0) == 2.0
    except ADError:
        pass


def test_a_class_of_a_value_is_called():
    assert grad(through_object)(3.0) == 6.0


def order_of(x, axis):
    return np.sum(np.take(x, [0, 1], axis=axis))


def active_in_a_keyword(x):
    return np.sum(np.clip(V, a_min=x, a_max=5.0))


def active_in_where(x):
    return np.sum(np.full(3, fill_value=x) * V)


def active_in_linspace(x):
    return np.sum(np.linspace(start=0.0, stop=x, num=3) ** 2)


def active_as_initial(x):
    return np.sum(V, initial=x) * x


def active_as_start(x):
    return sum([1.0, 2.0], start=x) * x


def active_as_default(x):
    return max([], default=x) * x


def active_as_key(x):
    return {x: 1.0}[x] * x


def active_as_pad_value(x):
    return np.sum(np.pad(V, 1, constant_values=x) ** 2)


def active_as_nan(x):
    return np.sum(np.nan_to_num(np.array([np.nan, 1.0]), nan=x)) * x


def active_in_interp(x):
    return float(np.interp(x, [0.0, 1.0, 2.0], [0.0, 3.0, 5.0]))


def active_in_or(x):
    return ({"a": 2.0} | {"a": x})["a"]


def active_in_get_default(x):
    return {"a": 1.0}.get("b", x) * x


def active_getattr_default(x):
    return getattr(x, "nothing", x) * x


def active_in_sorted_key(x):
    return sorted([x, 2.0 * x, -x], key=lambda v: -v)[0]


def active_in_round_digits(x):
    return round(x, 2) + x


@pytest.mark.parametrize("function", [
    active_in_a_keyword, active_in_where, active_in_linspace, active_as_initial, active_as_start,
    active_as_default, active_as_key, active_as_pad_value, active_as_nan, active_in_interp,
    active_in_or, active_in_get_default, active_getattr_default, active_in_sorted_key,
    active_in_round_digits,
], ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [0.7, 1.3])
def test_a_derivative_is_right_or_refused(function, x):
    step = 1e-6
    if function is active_in_round_digits:
        step = 1e-9
    wanted = (function(x + step) - function(x - step)) / (2 * step)
    try:
        got = grad(function)(x)
    except (UnsupportedError, MissingRuleError):
        return
    assert got == pytest.approx(wanted, rel=1e-4, abs=1e-6)
