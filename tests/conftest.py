"""Every test run keeps its emitted modules in a directory of its own."""

import os

import pytest


@pytest.fixture(autouse=True, scope="session")
def cache_of_its_own(tmp_path_factory):
    before = os.environ.get("ADCOMPILER_CACHE_DIR")
    os.environ["ADCOMPILER_CACHE_DIR"] = str(tmp_path_factory.mktemp("adcompiler_cache"))
    yield
    if before is None:
        del os.environ["ADCOMPILER_CACHE_DIR"]
    else:
        os.environ["ADCOMPILER_CACHE_DIR"] = before
