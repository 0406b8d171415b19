"""Programs over numbers of mixed kinds: value, classes and exceptions as in plain Python.

``python -m tests.properties.mixed N --seed K`` runs others.
"""

import pytest
from tests.lanes import one_in
from tests.properties.mixed import run


@pytest.mark.parametrize("seed", one_in(4, range(4)))
def test_programs_over_numbers_of_mixed_kinds(seed):
    counts, failures = run(30, seed)
    assert not failures, "\n\n".join(failures)
    clean = counts["clean value"] + counts["clean gradient"]
    assert clean >= 45 and counts["clean gradient"] >= 5
