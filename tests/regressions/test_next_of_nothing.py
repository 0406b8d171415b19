"""``next(iter(...))`` of nothing ends as in Python: by StopIteration, or with the default."""

import pytest

from adcompiler import vjp


def first(x, items):
    return next(iter(items)) * x


def first_of_none(x):
    return next(iter([])) * x


def default_of_none(x):
    return next(iter([]), 2.0) * x


def caught(x):
    try:
        return next(iter([])) * x
    except StopIteration:
        return 3.0 * x


def test_stop_iteration():
    with pytest.raises(StopIteration):
        vjp(first, 2.0, [])
    with pytest.raises(StopIteration):
        vjp(first_of_none, 2.0)


def test_what_is_given_instead():
    assert vjp(default_of_none, 3.0)[0] == 6.0
    value, pullback = vjp(caught, 2.0)
    assert (value, pullback(1.0)) == (6.0, (3.0,))
    value, pullback = vjp(first, 2.0, [5.0])
    assert (value, pullback(1.0)) == (10.0, (5.0, [2.0]))
