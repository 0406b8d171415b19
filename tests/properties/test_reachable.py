"""Random programs whose state is reached by globals, cells, classes and arguments; see there."""

from __future__ import annotations

import os
from collections import Counter

import pytest
from tests.lanes import one_in
from tests.properties.reachable import outcome

COUNT = int(os.environ.get("ADCOMPILER_REACHABLE", 12))


@pytest.mark.parametrize("first", one_in(3, range(90000, 90000 + COUNT, 4)))
def test_random_state(first: int) -> None:
    counts = Counter(outcome(seed) for seed in range(first, first + 4))
    assert counts["clean"] >= 1, counts
