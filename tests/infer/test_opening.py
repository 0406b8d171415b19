"""Functions of libraries are tried on arrays that they cannot write into."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from adcompiler.ir.nodes import Const
from adcompiler.infer.calls.opening import takes_read_only
from adcompiler.infer.result_types import ResultTypes


def reads(x: Any, shift: Any = 0.0) -> Any:
    return x + shift


def writes(x: Any, shift: Any = 0.0) -> Any:
    x[0] = shift
    return x


def writes_option(x: Any, shift: Any) -> Any:
    shift += x
    return shift


def raises(x: Any, shift: Any = 0.0) -> Any:
    raise KeyError("nothing of this shape")


@pytest.mark.parametrize(
    ("function", "wanted"),
    [(reads, True), (writes, False), (writes_option, False), (raises, False)],
    ids=lambda part: getattr(part, "__name__", ""),
)
def test_what_writes_or_raises_takes_no_read_only_arrays(function: Any, wanted: bool) -> None:
    types = cast(ResultTypes, SimpleNamespace(stand_in=lambda atom, n: atom.value))
    x, shift = np.ones(3), np.zeros(3)
    assert takes_read_only(types, function, [Const(x)], {"shift": Const(shift)}) is wanted
    assert x.tolist() == [1.0] * 3
    assert shift.tolist() == [0.0] * 3
