"""``global`` and ``nonlocal`` assignments, and closures whose variables change."""

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, value_and_grad, vjp
from tests.language.check import Cases

programs = Cases()
COUNT = 0
TOTAL = 0.0
LAST = None
LIMIT = 3


def counted(x):
    global COUNT
    COUNT += 1
    return x * x


def bump(x):
    global COUNT
    COUNT = COUNT + 2
    return x * COUNT


def counts_in_helpers(x, n):
    y = x
    for _ in range(n):
        y = bump(y)
        if COUNT > 4:
            y = y * x
    return y * COUNT


def recursive_count(x, n):
    global COUNT
    COUNT += 1
    if n == 0:
        return x * COUNT
    return x * recursive_count(x, n - 1)


def keeps_last(x):
    global LAST
    LAST = np.sin(x)
    return x * LAST_SCALE


LAST_SCALE = 3.0


def reads_back(x):
    global TOTAL
    TOTAL = x * x
    return TOTAL * 2.0


def changes_type(x):
    global LIMIT
    if LIMIT > 2:
        LIMIT = None
    return x


def inner_global(x):
    def note(n):
        global COUNT
        COUNT = n

    for i in range(4):
        note(i)
        x = x * COUNT + x
    return x


def call(function, *args, count=0):
    globals()["COUNT"] = count
    result = function(*args)
    return result, COUNT


@pytest.mark.parametrize(
    "function, args",
    [
        (counted, (3.0,)), (bump, (3.0,)), (counts_in_helpers, (1.5, 4)),
        (recursive_count, (1.5, 3)), (inner_global, (1.5,)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_global_is_assigned_as_in_python(function, args):
    wanted, count = call(function, *args)
    (value, gradient), after = call(value_and_grad(function), *args)
    assert (value, after) == (wanted, count)
    (value, pullback), after = call(lambda *a: vjp(function, *a, argnums=0), *args)
    assert (value, after) == (wanted, count)
    assert pullback(1.0) == gradient
    assert after == COUNT, "the pullback assigned the global"
    high, _ = call(function, args[0] + 1e-5, *args[1:])
    low, _ = call(function, args[0] - 1e-5, *args[1:])
    assert abs(gradient - (high - low) / 2e-5) < 1e-6 * (1.0 + abs(gradient))


def test_a_global_keeps_counting():
    derivative = grad(counted)
    globals()["COUNT"] = 0
    assert [derivative(3.0) for _ in range(3)] == [6.0] * 3
    assert COUNT == 3


def test_a_differentiable_value_may_be_left_in_a_global():
    assert value_and_grad(keeps_last)(2.0) == (6.0, 3.0)
    assert np.sin(2.0) == LAST


def test_the_store_reads_as_it_was_written():
    module = counted.__module__
    assert f"{module}.COUNT = COUNT + 1" in grad(counted).source_for(2.0)


@pytest.mark.parametrize("function", [reads_back, changes_type])
def test_what_would_lose_a_derivative_or_a_type_is_refused(function):
    with pytest.raises(UnsupportedError) as caught:
        grad(function)(2.0)
    assert {finding.anchor for finding in caught.value.findings} == {"global-nonlocal"}
    assert LIMIT == 3


# -- nonlocal --------------------------------------------------------------------------------------


@programs(1.3, 4, argnums=(0,))
def counter(x, n):
    count = 0

    def square(t):
        nonlocal count
        count += 1
        return t * t * count

    y = x
    for _ in range(n):
        y = square(y) * 0.5
    return y + count * x


@programs(1.3, np.array([0.5, 1.5, 2.0]))
def accumulator(x, v):
    total, largest = 0.0, v[0]

    def add(t, *, weight=1.0):
        nonlocal total, largest
        if t > largest:
            largest = t
            return
        total = total + weight * t

    for t in v:
        add(t * x)
        add(x, weight=t)
    return total * largest


@programs(1.3)
def states_of_states(x):
    level = x

    def step():
        nonlocal level
        level = level * x
        return level

    def steps(n):
        for _ in range(n):
            step()
        return level + 1.0

    def outer():
        def inner():
            nonlocal level
            level = level + x

        inner()
        steps(2)

    y = steps(2)
    outer()
    return y * level * step()


@programs(1.3, 4, argnums=(0,))
def recursive_state(x, n):
    calls, total = 0, 0.0

    def descend(t, depth):
        nonlocal calls, total
        calls += 1
        total = total + t
        if depth == 0:
            return t
        return descend(t * x, depth - 1) + calls

    return descend(x, n) * total + calls * x


@programs(1.3)
def states_in_expressions(x):
    n = 0

    def following():
        nonlocal n
        n += 1
        return n * x

    values = [following() for _ in range(3)]
    y = following() if x > 0.0 else 0.0
    z = sum(following() for _ in range(2))
    while following() < 9.0 * x:
        y = y * x
    return sum(values) * y + z * n


@programs(1.3, 3, argnums=(0,))
def states_in_branches(x, n):
    scale = 1.0

    def grow(t):
        nonlocal scale
        if t > 1.5:
            scale = scale * t
        return scale

    y = x
    for i in range(n):
        if i % 2 == 0:
            y = y + grow(y)
        else:
            grow(0.0)
    return y * scale


# -- variables that are assigned after the closure was made ---------------------------------------


@programs(1.3)
def rebound(x):
    k = 2.0

    def scaled(t):
        return k * t

    first = scaled(x)
    k = x
    second = scaled(x)
    k = second * x
    return first * second + scaled(x)


@programs(1.3, 4, argnums=(0,))
def rebound_in_a_loop(x, n):
    k = x

    def scaled(t, power=2):
        return k * t**power

    twice = lambda t: scaled(scaled(t))  # noqa: E731
    total = 0.0
    for _ in range(n):
        total = total + twice(x)
        k = k * 0.5
    return total


@programs(1.3)
def defined_later(x):
    def scaled(t):
        return factor * helper(t)

    factor = x * x

    def helper(t):
        return t + factor

    return scaled(x) * scaled(2.0)


@programs(1.3)
def passed_on_after_the_last_assignment(x):
    k = 1.0

    def scaled(t):
        return k * t

    def apply(f, t):
        return f(f(t))

    k = x * x
    return apply(scaled, x)


@pytest.mark.parametrize("case", programs, ids=str)
def test_program(case):
    programs.check(case)


def passes_state(x):
    n = 0.0

    def add(t):
        nonlocal n
        n = n + t
        return n

    return sum(map(add, [x, x]))


def keeps_a_closure(x):
    k = 2.0

    def scaled(t):
        return k * t

    kept = [scaled]
    k = x
    return kept[0](x)


def chosen_closure(x):
    k = 2.0
    if x > 0.0:
        def scaled(t):
            return k * t
    else:
        def scaled(t):
            return k + t
    k = x
    return scaled(x)


@pytest.mark.parametrize(
    "function, anchor",
    [
        (passes_state, "global-nonlocal"), (keeps_a_closure, "closure-rebinding"),
        (chosen_closure, "closure-rebinding"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_closures_that_are_kept_while_their_variables_change_are_refused(function, anchor):
    with pytest.raises(UnsupportedError) as caught:
        grad(function)(2.0)
    assert anchor in {finding.anchor for finding in caught.value.findings}


def test_nonlocal_of_a_function_that_is_not_compiled_is_refused():
    n = 0

    def counting(x):
        nonlocal n
        n += 1
        return x * x

    with pytest.raises(UnsupportedError, match="belongs to a function outside"):
        grad(counting)(2.0)
    assert n == 0
