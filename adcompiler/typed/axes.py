"""Axes along which arguments are mapped: ``in_axes`` and ``out_axes`` of ``vmap``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from adcompiler.runtime.records import is_record, state_of


class Keyed(tuple[tuple[Any, Any], ...]):
    """Axes of what a dict or an instance holds, with their keys or names."""


Axes = int | tuple["Axes", ...] | list["Axes"] | Mapping[Any, "Axes"] | Keyed | None
"""An axis, None, or a container of these."""


def axes_as_given(axes: Axes) -> Any:
    """Return axes as values with a hash: an int, None, a tuple of such, or ``Keyed``.

    Raises TypeError for what names no axes.
    """
    if axes is None or (isinstance(axes, (int, np.integer)) and not isinstance(axes, bool)):
        return None if axes is None else int(axes)
    if isinstance(axes, Keyed):
        return axes
    if isinstance(axes, (tuple, list)):
        return tuple(map(axes_as_given, axes))
    if isinstance(axes, dict) or is_record(axes):
        parts = axes if isinstance(axes, dict) else state_of(axes)
        return Keyed((key, axes_as_given(part)) for key, part in parts.items())
    raise TypeError(
        "axes are an int, None, or a container of these in the structure of the value; got "
        f"{axes!r}")


def axes_of_parts(axes: Axes, keys: list[Any], what: str) -> list[Any]:
    """Return the axes of what a container holds under ``keys``, from those of the container.

    Raises ValueError if they are of another structure.
    """
    if not isinstance(axes, tuple):
        return [axes] * len(keys)
    found = dict(axes) if isinstance(axes, Keyed) else dict(enumerate(axes))
    if list(found) != keys and set(found) != set(keys):
        raise ValueError(
            f"the axes of {what} are for {', '.join(map(str, found)) or 'nothing'}; it holds "
            f"{', '.join(map(str, keys)) or 'nothing'}")
    return [found[key] for key in keys]


def axes_of_call(
    in_axes: Axes, count: int, keywords: list[str]
) -> tuple[list[Any], dict[str, Any]]:
    """Return the axes of the arguments of a call; those given by name are mapped over axis 0.

    Raises ValueError if ``in_axes`` is for another number of arguments.
    """
    if not isinstance(in_axes, tuple):
        return [in_axes] * count, dict.fromkeys(keywords, 0)
    if isinstance(in_axes, Keyed) or len(in_axes) != count:
        raise ValueError(
            f"in_axes has {len(in_axes)} entries, one for each argument that is given by position; "
            f"there are {count}")
    return list(in_axes), dict.fromkeys(keywords, 0)


def axis_within(axis: int, ndim: int, what: str) -> int:
    """Return an axis counted from the first; raise ValueError if there is none."""
    if not -ndim <= axis < ndim:
        raise ValueError(f"{what} has {ndim} axes, and none is {axis}")
    return axis % ndim


__all__ = ["Keyed", "axes_as_given", "axes_of_call", "axes_of_parts", "axis_within"]
