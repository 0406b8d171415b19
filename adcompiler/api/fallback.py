"""What the compiler refuses and a run resolves is recorded: when, and what the user is told."""

from __future__ import annotations

import os
import sys
import warnings
import weakref
from collections.abc import Callable, Hashable
from typing import Any

from adcompiler.dispatch import Compiled, Specialisations
from adcompiler.dispatch.explain import held_for
from adcompiler.dispatch.targets import Target
from adcompiler.errors import (
    ADError, LargeGradientWarning, LocatedError, RecordedWarning, TooLargeError, TooLongError,
    refused_twice,
)
from adcompiler.ops.registry import REGISTRY
from adcompiler.record.entry import MODES
from adcompiler.runtime import UnfitError
from adcompiler.runtime.kept_bytes import free_bytes
from adcompiler.typed.options import Options
from adcompiler.typed.values import type_of

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def falls_back(options: Options) -> bool:
    """Say whether a refused function may be recorded: unless that is switched off.

    It is for one function by ``fallback="refuse"``, for all by ADCOMPILER_RECORD=0.
    """
    return (
        options.mode in MODES and options.fallback == "record"
        and options.backend not in ("native", "record")
        and os.environ.get("ADCOMPILER_RECORD", "1") != "0"
    )


def is_resolved_by_run(error: ADError) -> bool:
    """Say whether a run tells what the compiler does not know: for each place that it refuses."""
    if isinstance(error, TooLongError):  # which depends on how busy the machine is
        return False
    if isinstance(error, TooLargeError):
        return True
    if isinstance(error, UnfitError):
        return error.again
    return isinstance(error, LocatedError) and bool(error.findings) and all(
        finding.reason.by_run for finding in error.findings)


def may_record(options: Options, error: ADError) -> bool:
    """Say whether calls that the compiler refuses with this error are recorded."""
    return falls_back(options) and is_resolved_by_run(error)


def answer_of(derivative: Any, error: ADError) -> str:
    """Return what calls of a derivative are that does not compile: recorded or refused."""
    asked = getattr(derivative, "may_record", None)  # not of sparse derivatives
    return "recorded" if asked is not None and asked(error) else "refused"


_TOLD: weakref.WeakSet[Any] = weakref.WeakSet()
"""Functions of which the user was told that they are recorded."""


def because(error: ADError) -> str:
    """Return why a function is recorded or refused, in a line: where, and what is met there."""
    first = error.findings[0] if isinstance(error, LocatedError) and error.findings else None
    return f"{first.where}: {first.problem}" if first is not None else (
        str(error).partition("\n")[0])


BY_BACKEND = 'backend="record" asks for it'
"""Why a function is recorded that would not have to be."""


def tell_recorded(target: Target, error: ADError) -> None:
    """Warn at the user's line that a function is recorded, and why; once for each function.

    Where warnings are errors, the refusal is raised.
    """
    if target.function in _TOLD:
        return
    text = (
        f"{target.shown} is recorded in each call, as it does not compile: {because(error)}. That "
        "takes longer, and memory for each operation that runs; `explain()` "
        'tells more, and fallback="refuse" or ADCOMPILER_RECORD=0 refuses it'
    )
    try:
        warnings.warn(text, RecordedWarning, stacklevel=users_level())
    except RecordedWarning:
        raise error from None
    _TOLD.add(target.function)


def users_level() -> int:
    """Return how many frames up the user's code is, for warnings."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and (
        frame.f_code.co_filename.startswith((PACKAGE, "<"))
    ):
        level, frame = level + 1, frame.f_back
    return level


def warn_if_large(s: Specialisations, compiled: Compiled, values: tuple[Any, ...]) -> None:
    """Warn of a gradient that will hold more than half of the memory that is free."""
    if not (compiled.report.get("held") or [""])[0]:
        return
    held, _ = held_for(compiled, s, values)
    free = free_bytes()
    if held is not None and 2 * held > free:
        warnings.warn(
            f"the gradient of {s.target.shown} will hold {held / 1e9:.3g} GB when its sweep "
            f"starts, and {free / 1e9:.3g} GB are free. Run the steps of its loop by "
            "adcompiler.checkpoint_loop(step, state, n), which keeps few of them, or calls of "
            "large functions by adcompiler.checkpoint", LargeGradientWarning,
            stacklevel=users_level())


MAX_KEPT = 2048
"""How many types of arguments are kept with which a function is recorded."""


def recorded_instead(
    target: Target, error: ADError, table: dict[Hashable, ADError], key: Callable[[], Hashable],
    record: Callable[[], Any],
) -> Any:
    """Return what a recording gives in place of what the compiler refuses with an error.

    That it does is told, and kept in the ``table`` of refusals under a key.
    """
    tell_recorded(target, error)
    try:
        found = record()
    except ADError as second:
        raise refused_twice(error, second) from None
    keep_refused(table, key(), error)
    return found


def keep_refused(table: dict[Hashable, ADError], key: Hashable, error: ADError) -> None:
    """Note that a function is recorded for some types; what is oldest goes, as each is found anew.
    """
    while len(table) >= MAX_KEPT:
        del table[next(iter(table))]
    table[key] = error


def types_key(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what tells calls apart of which some may be refused, and others not."""
    return REGISTRY.generation, *map(type_of, values)
