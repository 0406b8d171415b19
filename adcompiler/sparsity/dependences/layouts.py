"""How arrays lie in memory, where the meaning of a program depends on it.

A reshape of an array is a view or a copy, by its layout. Where one of the two is written into, the
compiled code takes it for a view and raises CopiedError if it is none. A pattern at a point does
the same with the values. A global pattern knows of an array only that it is in C order, or not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adcompiler.ops.facts import IN_C, KEPT
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime.adjoints.shaping import laid_out_as, reshape_view
from adcompiler.sparsity.dependences.index_sets import Array, count
from adcompiler.sparsity.dependences.values import Dependent, PathStep, Value
from adcompiler.sparsity.interpreter.run import Run
from adcompiler.sparsity.interpreter.table import ELEMENTWISE, TRANSFERS, Refusal


def is_viewable(array: Dependent) -> bool:
    """Say whether every reshape of an array is known to be a view, or its layout is at hand."""
    return array.value is not None or array.in_c_order or len(array.shape or ()) < 2


def note_layout(
    run: Run, found: Value, transfer: Callable[..., Any], function: Callable[..., Any],
    args: tuple[Dependent | Array, ...], kwargs: Mapping[str, Value]
) -> None:
    """Enter whether the result of a call is in C order."""
    if type(found) is not Dependent:
        return
    known = REGISTRY.facts(function)
    order = known.order
    asked = {x for x in (*args, *kwargs.values()) if isinstance(x, str)} & {"A", "F", "K"}
    if asked:
        found.in_c_order = asked == {"K"} and order is not None and all(
            map(lies_in_c_order, args))
    elif order == IN_C:
        found.in_c_order = True
    elif transfer is TRANSFERS[ELEMENTWISE] or order == KEPT or known.elementwise:
        found.in_c_order = all(map(lies_in_c_order, args))


def lies_in_c_order(arg: Value) -> bool:
    """Say whether an argument is no array, or known to be one in C order."""
    if isinstance(arg, Dependent):
        return arg.in_c_order or len(arg.shape or ()) < 2
    if isinstance(arg, (list, tuple)):
        return True
    return bool(getattr(getattr(arg, "flags", None), "c_contiguous", True))


def places_in(array: Dependent, steps: Sequence[PathStep] = ()) -> Any:
    """Return the positions of the elements of an array, lying in memory as it does.

    Raises Refusal if ``steps`` lead through a reshape that may be a copy.
    """
    assert array.shape is not None
    if not is_viewable(array) and any(step[-1] is reshape_view for step in steps):
        raise refusal()
    places = np.arange(count(array.shape)).reshape(array.shape)
    return places if array.value is None else laid_out_as(places, np.asarray(array.value))


def refusal() -> Refusal:
    """Return the refusal of a reshape that is a view or a copy."""
    return Refusal(
        "a reshape, beside a write, of an array whose layout in memory is not known, so that it "
        "may be a view or a copy", 'a .copy() of the array before, or mode="local"', "aliases",
    )
