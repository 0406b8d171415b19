"""What is nan or infinite among finished derivatives is found, whatever holds it."""

import numpy as np
import pytest

from adcompiler.dispatch.finite import is_finite

BAD = (np.nan, np.inf, -np.inf)


@pytest.mark.parametrize("hold", [
    lambda x: x, lambda x: (1.0, x, 2.0), lambda x: (1, np.ones(2), x), lambda x: [0.5, x],
    lambda x: {"a": (1.0, x)}, lambda x: np.array([1.0, x]), lambda x: (np.array([[x], [1.0]]),),
    lambda x: ((1.0, (x,)), 2.0), lambda x: complex(1.0, x), lambda x: (np.float32(x),),
    lambda x: (None, x),
])
def test_finite(hold):
    assert is_finite(hold(0.5))
    assert not any(is_finite(hold(x)) for x in BAD)


def test_what_holds_nothing():
    assert is_finite(()) and is_finite(None) and is_finite((np.arange(3), True, "text"))
    assert is_finite(1e308) and is_finite((1e308, -1e308))
