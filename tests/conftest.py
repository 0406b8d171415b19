"""Every test run keeps its emitted modules in a place of its own, and draws the same examples.

The verifier runs after each stage and pass of what is compiled, unless ``ADCOMPILER_VERIFY`` is set
to nothing. Types are strict, so that what is refused stays refused, unless a test is marked
``observes``.
"""

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "repeatable", derandomize=True, database=None, deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")

os.environ.setdefault("ADCOMPILER_VERIFY", "1")


@pytest.fixture(autouse=True, scope="session")
def cache_of_its_own(tmp_path_factory):
    before = os.environ.get("ADCOMPILER_CACHE_DIR")
    os.environ["ADCOMPILER_CACHE_DIR"] = str(tmp_path_factory.mktemp("adcompiler_cache"))
    yield
    if before is None:
        del os.environ["ADCOMPILER_CACHE_DIR"]
    else:
        os.environ["ADCOMPILER_CACHE_DIR"] = before


@pytest.fixture(autouse=True)
def types_are_strict(request, monkeypatch):
    observes = request.node.get_closest_marker("observes") is not None
    monkeypatch.setenv("ADCOMPILER_STRICT_TYPES", "0" if observes else "1")
