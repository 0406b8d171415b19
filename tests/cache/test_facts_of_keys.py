"""What is said of functions is text that another process finds as well."""

from __future__ import annotations

import math
import operator
import re

import numpy as np
import pytest

from adcompiler.cache.keys import coverage
from adcompiler.ops.registry import REGISTRY


@pytest.mark.parametrize("function", [
    operator.mul, operator.pow, math.sin, np.exp, np.sqrt, np.tanh, math.log, np.sum,
], ids=lambda function: function.__name__)
def test_no_address_is_in_it(function: object) -> None:
    REGISTRY.stated(function)
    assert not re.search(r"0x[0-9a-f]{6}", coverage(function))


def test_recurrences_count() -> None:
    found = coverage(operator.mul)
    assert "product_series" in found
