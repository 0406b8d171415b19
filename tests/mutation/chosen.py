"""A pytest plugin that runs the tests named in a file, in their order, and no others.

``ADCOMPILER_CHOSEN=FILE python -m pytest -p tests.mutation.chosen FILES``. Names of tests that are
not there are left out.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the chosen tests in their order."""
    found = {item.nodeid: item for item in items}
    names = Path(os.environ["ADCOMPILER_CHOSEN"]).read_text().split("\n")
    items[:] = [found[name] for name in names if name in found]
