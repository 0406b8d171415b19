"""Other spellings of functions: followed to what has the rule, and never round."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adcompiler import grad
from adcompiler.rulekit import REGISTRY, alias


def first(x: Any) -> Any:
    raise AssertionError("it is spelled otherwise")


def second(x: Any) -> Any:
    raise AssertionError("it is spelled otherwise")


def test_an_alias_of_an_alias_is_followed() -> None:
    alias(second, np.tanh)
    alias(first, second)
    assert REGISTRY.resolve(first) is np.tanh


@pytest.mark.parametrize("pair", [(first, first), (second, first), (np.tanh, first)])
def test_what_would_be_an_alias_of_itself_is_refused(pair: tuple[Any, Any]) -> None:
    alias(second, np.tanh)
    alias(first, second)
    with pytest.raises(ValueError, match="another spelling of itself"):
        alias(*pair)
    assert REGISTRY.resolve(first) is np.tanh


def test_names_that_are_one_function_are_no_aliases() -> None:
    row_stack = getattr(np, "row_stack", np.vstack)
    assert REGISTRY.resolve(row_stack) is np.vstack
    assert grad(lambda x: np.sum(np.vstack((x, 2.0 * x)) ** 2))(np.ones(2)).tolist() == [10.0, 10.0]
