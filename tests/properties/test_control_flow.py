"""Nested control flow does what it does in plain Python; see ``control_flow``."""

from __future__ import annotations

import pytest

from tests.lanes import one_in
from tests.properties.control_flow import check


@pytest.mark.parametrize("first", one_in(6, range(0, 60, 10)))
def test_random_control_flow(first: int) -> None:
    assert sum(check(seed) for seed in range(first, first + 10)) > 10

