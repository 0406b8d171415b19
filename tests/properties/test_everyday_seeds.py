"""Derivatives of everyday functions along many seeds are those along each, and differences.

``ADCOMPILER_EVERYDAY=600 pytest tests/properties/test_everyday_seeds.py`` takes more functions.
"""

import os

import pytest

from tests.lanes import one_in
from tests.properties.everyday_functions import everyday
from tests.properties.seeds_checking import check
from tests.properties.values import load

COUNT = int(os.environ.get("ADCOMPILER_EVERYDAY", "48"))


@pytest.mark.parametrize("number", one_in(4, range(COUNT)))
def test_many_seeds(number):
    source, args = everyday(number)
    check(load(source), args, number)
