"""Code that is compiled in the place of a function is no library's, wherever it is installed."""

import json
import types
from pathlib import Path

import numpy as np
import pytest

from adcompiler.prelude.dicts import setdefault
from adcompiler.infer.calls.libraries import is_library


def at(function, place):
    """Return the function as if its file lay in another directory."""
    code = function.__code__.replace(co_filename=f"{place}/replacements.py")
    moved = types.FunctionType(code, function.__globals__, function.__name__)
    moved.__module__ = function.__module__
    return moved


@pytest.mark.parametrize("package", [np, json], ids=["installed", "standard"])
def test_own_code_beside_libraries(package):
    place = str(Path(package.__file__).parents[1])
    own, other = at(setdefault, place), at(json.dumps, place)
    assert is_library(other)
    assert not is_library(own)
    assert not is_library(setdefault)
