"""Lists, dicts and tuples that hold arrays, in branches and loops; see ``holders``."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.lanes import one_in
from tests.properties.holders import outcome, source_of
from tests.properties.test_random_programs import PROGRAMS


@pytest.mark.parametrize("first", one_in(3, range(0, max(PROGRAMS // 2, 10), 10)))
def test_random_holders(first: int) -> None:
    counts = Counter(outcome(source_of(seed)) for seed in range(first, first + 10))
    assert counts["clean"] >= 1
