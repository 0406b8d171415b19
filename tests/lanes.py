"""What a run that names no tests leaves out: more examples of what it has examples of.

``pytest`` alone runs the first lane; ``--thorough``, or naming files, runs everything. What only
the second lane holds is more of the same: further programs of the corpus, seeds, rules, for a check
that others stand for in the first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def one_in(every: int, params: Iterable[Any], whole: bool = False) -> list[Any]:
    """Return the values of a parameter, of which one in ``every`` is in the first lane.

    Tuples are of several parameters, unless they are values as a ``whole``.
    """
    return [
        one if k % every == 0 else marked(one, whole) for k, one in enumerate(params)
    ]


def marked(one: Any, whole: bool) -> Any:
    """Return a value, or a tuple of values, of parameters as one of the second lane."""
    if isinstance(one, type(pytest.param())):
        return pytest.param(*one.values, id=one.id, marks=(*one.marks, pytest.mark.thorough))
    values = one if isinstance(one, tuple) and not whole else (one,)
    return pytest.param(*values, marks=pytest.mark.thorough)


def leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take the tests of the second lane out of ``items``, unless they are asked for."""
    if config.option.thorough:
        return
    lanes: tuple[list[pytest.Item], list[pytest.Item]] = ([], [])
    for item in items:
        lanes[item.get_closest_marker("thorough") is not None].append(item)
    items[:], second = lanes
    if second:
        config.hook.pytest_deselected(items=second)
