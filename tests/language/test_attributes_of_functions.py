"""Attributes that are given to a function which is made inside."""

import pytest

from adcompiler import UnsupportedError, grad


def test_an_attribute_is_read_and_decides():
    def f(x):
        def inner(t):
            return t * x

        before = 2.0 if getattr(inner, "marked", False) else 1.0
        inner.marked = True
        after = 3.0 if getattr(inner, "marked", False) else 1.0
        return before * inner(x) + after * x

    assert grad(f, fallback="refuse")(1.5) == 2 * 1.5 + 3.0


def test_what_another_function_reads():
    def chosen(function, x):
        return function(x) if function.kind == "plain" else -function(x)

    def f(x):
        def inner(t):
            return t * t * x

        inner.kind = "other"
        return chosen(inner, x)

    assert grad(f, fallback="refuse")(2.0) == -12.0


def twice(x):
    def inner(t):
        return t * x

    inner.k = True
    inner.k = False
    return inner(x) if inner.k else x


def made_again(x):
    held = [x]

    def inner(t):
        return t * held[0]

    inner.k = True
    held[0] = held[0] * x
    return inner(x) if getattr(inner, "k", False) else x


def in_a_loop(x):
    def inner(t):
        return t * x

    total = 0.0
    for i in range(3):
        if getattr(inner, "k", False):
            total = total + x * i
        inner.k = True
    return total


def test_an_attribute_that_an_iteration_gives_a_function_is_seen_by_the_next():
    assert grad(in_a_loop, fallback="refuse")(2.0) == 3.0
    assert grad(in_a_loop, backend="record")(2.0) == 3.0


@pytest.mark.parametrize(("f", "expected"), [(twice, 1.0), (made_again, 12.0)])
def test_where_attributes_change_or_functions_are_made_again_a_run_tells(f, expected):
    with pytest.raises(UnsupportedError, match="attribute"):
        grad(f, fallback="refuse")(2.0)
    assert grad(f, backend="record")(2.0) == expected
