"""The code of a derivative for the values at hand: the masked form, where it is wanted."""

from __future__ import annotations

from typing import Any

import pytest

from adcompiler.dispatch.compiled import Compiled
from adcompiler.errors import InternalError


def compiled(masked: Any) -> Compiled:
    parts: dict[str, Any] = dict.fromkeys(
        field for field in Compiled.__dataclass_fields__ if field not in (
            "captured", "run", "uses", "bound", "masked"))
    return Compiled(**parts, masked=masked)


def raises(error: Exception) -> Any:
    def masked(*values: Any) -> None:
        raise error

    return masked


def test_the_masked_form_is_taken_where_there_is_one() -> None:
    other = compiled(None)
    assert compiled(lambda x: other if x > 1.0 else None).run_for((2.0,)) is other
    plain = compiled(lambda x: other if x > 1.0 else None)
    assert plain.run_for((0.5,)) is plain
    assert other.run_for((2.0,)) is other


def test_an_error_of_the_user_is_left_to_the_call() -> None:
    plain = compiled(raises(ZeroDivisionError()))
    assert plain.run_for((2.0,)) is plain


def test_an_internal_error_is_not_hidden() -> None:
    with pytest.raises(InternalError, match="broken"):
        compiled(raises(InternalError("broken"))).run_for((2.0,))
