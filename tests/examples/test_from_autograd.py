"""The programs of ``examples/from_autograd.py``: gradients by differences, and by autograd."""

from __future__ import annotations

import importlib.util
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adcompiler import value_and_grad
from adcompiler.testing import check_grads

FILE = Path(__file__).resolve().parents[2] / "examples" / "from_autograd.py"


def loaded() -> types.ModuleType:
    """Return the example as a module."""
    spec = importlib.util.spec_from_file_location("from_autograd", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXAMPLE = loaded()
CASES = pytest.mark.parametrize(
    ("function", "args"), EXAMPLE.CASES.items(), ids=[f.__name__ for f in EXAMPLE.CASES])


def flat(value: Any) -> list[np.ndarray]:
    """Return the arrays in dicts, lists and tuples, in order."""
    if isinstance(value, dict):
        return [array for key in sorted(value) for array in flat(value[key])]
    if isinstance(value, list | tuple):
        return [array for item in value for array in flat(item)]
    return [np.asarray(value)]


@CASES
def test_gradients_are_those_of_differences(function: Any, args: tuple[Any, ...]) -> None:
    first, rest = args[0], args[1:]
    if isinstance(first, list):  # of which differences are not taken
        first = tuple(first)
    check_grads(lambda x: function(x, *rest), (first,), order=1)


@CASES
def test_gradients_are_those_of_autograd(function: Any, args: tuple[Any, ...]) -> None:
    autograd = pytest.importorskip("autograd")
    text = FILE.read_text(encoding="utf-8")
    ported = text.replace("import numpy as np", "import autograd.numpy as np")
    assert ported != text
    namespace: dict[str, Any] = {"__name__": "as_published"}
    exec(compile(ported, "as_published.py", "exec"), namespace)
    theirs = autograd.value_and_grad(namespace[function.__name__])(*args)
    ours = value_and_grad(function)(*args)
    for mine, other in zip(flat(ours), flat(theirs), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-12)


def test_newtons_method_finds_the_minimum() -> None:
    np.testing.assert_allclose(EXAMPLE.newton_cg(np.array([-1.2, 1.0])), [1.0, 1.0], rtol=1e-9)
