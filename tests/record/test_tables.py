"""Operands of every form, and methods that are called unseen: right when recorded, or refused."""

from __future__ import annotations

import importlib.util
import math
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adcompiler import ADError, value_and_grad
from tests.lanes import one_in
from tests.record import contexts, operands

A = np.array([0.3, 0.5, 0.9])
STEP = 1e-6


def functions(path: Path, text: str, names: dict[str, str]) -> Iterator[tuple[str, Any]]:
    """Yield what each function of a module is, and the function."""
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, what in names.items():
        yield what, getattr(module, name)


def fault(function: Callable[[Any], float], backend: str = "record") -> str:
    """Return what is wrong with a derivative, if anything; a function that raises has none."""
    try:
        value = float(np.real(function(A.copy())))
        slopes = [(function(A + step) - function(A - step)) / (2.0 * STEP)
                  for step in STEP * np.eye(3)]
    except Exception:
        return ""
    try:
        got, gradient = value_and_grad(function, backend=backend)(A.copy())
    except ADError:
        return ""
    except Exception as error:
        return f"raw: {type(error).__name__}: {error}"
    if not math.isclose(got, value, rel_tol=1e-5):
        return f"value {got}, not {value}"
    if not np.allclose(gradient, slopes, rtol=1e-3, atol=2e-4):
        return f"gradient {gradient}, not {np.round(slopes, 4)}"
    return ""


@pytest.mark.parametrize(("table", "start"), one_in(
    5, [(table, start) for table in (operands, contexts) for start in range(10)]))
def test_no_derivative_is_lost(tmp_path: Path, table: Any, start: int) -> None:
    text, names = table.module(10, start)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong = [f"{what}: {found}" for what, function in functions(
            tmp_path / f"{table.__name__.rpartition('.')[2]}_{start}.py", text, names)
            if (found := fault(function))]
    assert not wrong, "\n".join(wrong)
