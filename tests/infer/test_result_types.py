"""Types of results need no more than the tables of what is known of the operands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Const, Star, Var
from adcompiler.runtime.reading import RAISED, attempted
from adcompiler.infer.result_types import ResultTypes
from adcompiler.typed.unit import Unit

VECTOR = t.Array("float64", 1)


def known(**types: t.Type) -> tuple[ResultTypes, dict[str, Var]]:
    """Return what types results of variables of these types, and the variables."""
    unit, variables = Unit(), {name: Var(name) for name in types}
    unit.types.update({variables[name]: type_ for name, type_ in types.items()})
    return ResultTypes(unit), variables


def test_calls_are_typed_by_trying_them() -> None:
    types, v = known(x=VECTOR, n=t.INT, m=t.Array("float64", 2))
    assert types.of_call(np.sin, [v["x"]], {}) == VECTOR
    assert types.of_call(np.sum, [v["m"]], {"axis": Const(0)}) == VECTOR
    assert types.of_call(np.sum, [v["m"]], {"axis": v["n"]}) == VECTOR
    assert types.of_call(np.linalg.inv, [v["x"]], {}) == t.UNKNOWN
    given: list[Any] = [Star(v["x"])]
    assert types.of_call(np.add, given, {}) == t.UNKNOWN


@pytest.mark.parametrize(("index", "wanted"), [
    (Const(0), t.Scalar("float", "float64")), (Const(slice(None)), VECTOR),
    (Const([True, False]), VECTOR), (Const("a"), t.UNKNOWN),
])
def test_subscripts_of_vectors(index: Atom, wanted: t.Type) -> None:
    types, _ = known()
    assert types.of_item(VECTOR, index) == wanted


def test_an_array_of_dozens_of_axes_has_no_stand_in() -> None:
    types, v = known(x=t.Array("float64", 60), i=t.Array("int64", 60))
    assert types.of_call(np.sin, [v["x"]], {}) == t.UNKNOWN
    assert types.of_item(VECTOR, v["i"]) == t.UNKNOWN


class Refusing:
    """Raises whatever is asked of it."""

    def __bool__(self) -> bool:
        raise KeyError("no")


def test_what_others_raise_is_told_from_what_they_return() -> None:
    assert attempted(bool, Refusing()) is RAISED
    assert attempted(dict, function=1) == {"function": 1}
    with pytest.raises(KeyboardInterrupt):
        attempted(interrupted)


def interrupted() -> None:
    raise KeyboardInterrupt
