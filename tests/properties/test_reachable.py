"""Random programs whose state is reached by globals, cells, classes and arguments; see there."""

from __future__ import annotations

import os
from collections import Counter

from tests.properties.reachable import outcome

COUNT = int(os.environ.get("ADCOMPILER_REACHABLE", 12))


def test_random_state() -> None:
    counts = Counter(outcome(seed) for seed in range(90000, 90000 + COUNT))
    assert counts["clean"] >= 1, counts
