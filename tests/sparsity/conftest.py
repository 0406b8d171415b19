"""Whatever pattern is found at a point, the values that it is found with are those of Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from adcompiler.rulekit import REGISTRY

from adcompiler.sparsity.dependences.values import Dependent
from adcompiler.sparsity.interpreter.run import Run, primal
from adcompiler.sparsity.interpreter.table import may_vary
from tests.sparsity.check import leaves


UNSET = ("empty", "empty_like")
"""What functions mean that give what happens to lie in memory."""


def comparable(function: Any) -> bool:
    """Whether a function gives the same when it is called again."""
    facts = REGISTRY.facts(function)
    return callable(function) and facts.writes_nothing and facts.means not in UNSET and not (
        may_vary(function))


def has_value(result: Any) -> bool:
    """Whether all of a result is known."""
    if isinstance(result, (list, tuple)):
        return all(map(has_value, result))
    return not isinstance(result, Dependent) or result.value is not None


@pytest.fixture(autouse=True)
def values_at_a_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare the value that each transfer gives at a point with what the function gives."""
    kept = Run.transferred

    def transferred(run: Run, found: Any, function: Any, args: Any, kwargs: Any) -> Any:
        result = kept(run, found, function, args, kwargs)
        if run.local and comparable(function):
            assert has_value(result), f"{function} has no value at a point"
            pairs = zip(leaves(primal(result)), leaves(run.value(function, args, kwargs)),
                        strict=True)
            for value, wanted in pairs:
                np.testing.assert_allclose(value, wanted, 1e-12, 1e-12, err_msg=str(function))
        return result

    monkeypatch.setattr(Run, "transferred", transferred)
