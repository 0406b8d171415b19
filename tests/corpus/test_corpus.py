"""Every program of the corpus has the gradient that finite differences give."""

import importlib
from pathlib import Path

import pytest

from tests.corpus.program import check, check_smoothness
from tests.lanes import one_in


def programs():
    """Return the programs of all modules of this package that define ``PROGRAMS``."""
    found = []
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if not path.stem.startswith(("__", "test_")):
            module = importlib.import_module(f"tests.corpus.{path.stem}")
            found.extend(getattr(module, "PROGRAMS", ()))
    return found


PROGRAMS = programs()


@pytest.mark.parametrize("program", one_in(3, PROGRAMS), ids=str)
def test_gradient(program):
    check(program)


@pytest.mark.parametrize("program", one_in(4, PROGRAMS[::4]), ids=str)
def test_finite_differences_agree_with_each_other(program):
    check_smoothness(program)


def test_names_are_distinct():
    names = [str(program) for program in PROGRAMS]
    assert len(set(names)) == len(names), sorted({n for n in names if names.count(n) > 1})
