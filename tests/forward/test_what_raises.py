"""A jvp raises what the function raises, though nobody reads the value that was to be computed."""

import pytest

from adcompiler import jvp


def item_unused(x, items):
    items[3]
    return x * x


def quotient_unused(x, items):
    y = x / (items[0] - 1.0)  # noqa: F841
    return x * x


@pytest.mark.parametrize(("function", "error"), [
    (item_unused, IndexError), (quotient_unused, ZeroDivisionError),
])
def test_unused_value_that_raises(function, error):
    with pytest.raises(error):
        function(1.5, [1.0])
    with pytest.raises(error):
        jvp(function, (1.5, [1.0]), (1.0, [0.0]))


def test_unused_value_that_does_not_raise():
    items = [2.0, 3.0, 4.0, 5.0]
    assert jvp(quotient_unused, (1.5, items), (1.0, [0.0] * 4)) == (2.25, 3.0)
    assert jvp(item_unused, (1.5, items), (1.0, [0.0] * 4)) == (2.25, 3.0)
