"""A variable that is None on one way and a number on another one."""

from __future__ import annotations

from typing import Any

import pytest

from adcompiler import grad
from tests.native.test_backends_agree import outcome, same

pytestmark = pytest.mark.usefixtures("plain_loops")


def added(x, n):
    y = None
    if n > 3:
        y = x * 2.0
    return x + y


def asked(x, n):
    y = None
    if n > 3:
        y = x * x
    return x if y is None else x * y


@pytest.mark.parametrize("function", [added, asked])
@pytest.mark.parametrize("n", [2, 5])
def test_none_is_no_zero(function: Any, n: int) -> None:
    wanted = outcome(grad(function), 1.5, n)
    assert same(outcome(grad(function, backend="auto"), 1.5, n), wanted)
    if function is added:
        assert same(outcome(grad(function, backend="native"), 1.5, n), wanted)
        assert (wanted[0] is TypeError) if n == 2 else (wanted == 3.0)
