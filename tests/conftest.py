"""Every test run keeps its emitted modules in a place of its own, and draws the same examples.

The verifier runs after each stage of what is compiled, unless ``ADCOMPILER_VERIFY`` is set to
nothing, and after each pass if it is 1. Nothing is recorded, so that what is refused stays refused,
unless a test is marked ``records``. A run that names no tests is that of the first lane,
``tests/lanes.py``.
"""

import gc
import linecache
import os
import sys

import pytest
from hypothesis import HealthCheck, settings

from tests.lanes import leave_out
from tests.measured import Measured

settings.register_profile(
    "repeatable", derandomize=True, database=None, deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")

os.environ.setdefault("ADCOMPILER_VERIFY", "stages")
os.environ.setdefault("ADCOMPILER_BUDGET", "200000,120")  # verifying takes time, and so do others
os.environ.setdefault("ADCOMPILER_RECORD", "0")  # what is refused stays refused
os.environ.setdefault("ADCOMPILER_QUIET", "1")  # with the verifier, much takes longer

gc.set_threshold(20_000, 20, 20)  # compilers make much and drop it without cycles


def pytest_addoption(parser):
    parser.addoption(
        "--lane", default="", choices=("first", "second", "both"),
        help="run the tests of these lanes: the first, or both of what is named",
    )
    parser.addoption(
        "--engine", choices=("python", "record"), default="python",
        help="what derivatives come from: compiled Python, or recordings",
    )
    parser.addoption(
        "--slice", default="", metavar="K/N", help="of the second lane run the Kth of N parts",
    )
    parser.addoption(
        "--measured", action="store_true", help="measure what a sample of the tests reaches",
    )
    parser.addoption(
        "--measured-only", action="store_true", help="run no others than the tests of that sample",
    )
    parser.addoption(
        "--measured-source", default="adcompiler", metavar="PACKAGE", help="the package measured",
    )


def pytest_configure(config):
    if not config.option.lane:
        named = config.args_source == pytest.Config.ArgsSource.ARGS
        config.option.lane = "both" if named else "first"
    if config.option.engine == "record":
        from tests.engine import record_all

        record_all()
    if config.option.measured or config.option.measured_only:
        config.pluginmanager.register(Measured(config))


def pytest_collection_modifyitems(config, items):
    leave_out(config, items)
    for item in items:
        if item.get_closest_marker("records") is not None:
            item.add_marker(pytest.mark.filterwarnings(
                "ignore::adcompiler.errors.RecordedWarning"))


@pytest.fixture(autouse=True, scope="session")
def cache_of_its_own(tmp_path_factory):
    """One for all processes of a run: what one test has compiled, another one reads.

    ``ADCOMPILER_TESTS_CACHE`` names a directory that later runs read, too.
    """
    before = os.environ.get("ADCOMPILER_CACHE_DIR")
    place = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        place = place.parent
    kept = os.environ.get("ADCOMPILER_TESTS_CACHE", "")
    os.environ["ADCOMPILER_CACHE_DIR"] = os.path.abspath(kept) if kept else str(
        place / "adcompiler_cache")
    yield
    if before is None:
        del os.environ["ADCOMPILER_CACHE_DIR"]
    else:
        os.environ["ADCOMPILER_CACHE_DIR"] = before


@pytest.fixture(autouse=True)
def paths_of_modules_are_kept():
    """The command line finds modules beside the file that it is given, as Python does."""
    before = sys.path[:]
    yield
    sys.path[:] = before


@pytest.fixture(autouse=True)
def refused_stays_refused(request, monkeypatch):
    records = request.node.get_closest_marker("records") is not None
    monkeypatch.setenv("ADCOMPILER_RECORD", str(int(records)))


@pytest.fixture(autouse=True)
def _texts_stay():
    """Give back the texts of made-up files that a test clears, which others registered."""
    kept = dict(linecache.cache)
    yield
    for name, entry in kept.items():
        linecache.cache.setdefault(name, entry)
