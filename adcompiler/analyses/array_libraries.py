"""Values of array libraries other than NumPy, told by their classes; nothing is imported for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.ops.qualified_names import root_module
from adcompiler.runtime.reading import unless_it_raises
from adcompiler.runtime.records import is_record, state_of
from adcompiler.runtime.tables import is_table

INSTEAD = {
    "cupy": "cupy.asnumpy(x)", "dask": "x.compute()", "jax": "np.asarray(x)",
    "jaxlib": "np.asarray(x)", "mxnet": "x.asnumpy()", "pandas": "x.to_numpy()",
    "pint": "x.magnitude, in units that are agreed on", "polars": "x.to_numpy()",
    "tensorflow": "x.numpy()", "torch": "x.detach().numpy()", "unyt": "x.value",
    "xarray": "x.to_numpy()",
}
"""What gives the plain numbers of a value ``x``, by the root module of its class."""


PLAIN = frozenset({float, int, str, bool, complex, np.ndarray})
"""Classes of values that are of no such library, and hold none."""


def is_foreign(value: Callable[..., Any]) -> bool:
    """Say whether a function, class or module belongs to such a library."""
    module = getattr(value, "__module__", None) or getattr(value, "__name__", None)
    return isinstance(module, str) and module.partition(".")[0] in INSTEAD


def is_array_of_its_own(cls: type) -> bool:
    """Say whether NumPy hands its functions on to a class, or its numbers lie on a device.

    That is so for the arrays of other libraries, whichever they are (NEP 13 and NEP 18).
    """
    return not issubclass(cls, (np.ndarray, np.generic)) and not is_table(cls) and (
        getattr(cls, "__array_function__", None) is not None
        or hasattr(cls, "__cuda_array_interface__")
    ) and root_module(cls) != "adcompiler"


def computed_elsewhere(function: Callable[..., Any]) -> tuple[str, str] | None:
    """Return what is wrong with a call of a function of such a library, and what to write instead.

    None for a function of none of them.
    """
    library = root_module(function)
    if library not in INSTEAD:
        return None
    return (
        f"this is computed by {library}, whose functions have no rules",
        f"write it with NumPy; or put the call into a function of your own that takes and returns "
        f"NumPy arrays ({INSTEAD[library]}), and register a rule for that",
    )


@unless_it_raises(None)
def foreign_class(
    value: Any, deep: bool = False, tables: bool = True, around: tuple[int, ...] = ()
) -> type | None:
    """Return the class of a value of such a library, or of one in a container; else None.

    With ``deep``, attributes of instances count as well; without ``tables``, those of pandas and
    xarray do not.
    """
    cls = type(value)
    if cls in PLAIN or value is None or id(value) in around:
        return None
    if not isinstance(value, type) and any(map(is_foreign, cls.__mro__)):
        if is_table(cls) and not tables:
            return None
        return None if callable(value) and hasattr(cls, "__get__") else cls
    if is_array_of_its_own(cls):
        return cls
    items: Any = ()
    if isinstance(value, (tuple, list)):
        items = value
    elif isinstance(value, dict):
        items = value.values()
    elif deep and is_record(value):
        items = state_of(value).values()
    around = (*around, id(value))
    return next((c for item in items if (c := foreign_class(item, deep, tables, around))),
                None)


def instead_of(cls: type) -> str:
    """Return what to pass in place of a value of such a class."""
    roots = (base.__module__.partition(".")[0] for base in cls.__mro__)
    return next(
        (INSTEAD[root] for root in roots if root in INSTEAD), "a NumPy array of its numbers")
