"""What users see of exceptions: their own line, and of refusals no frames of the compiler."""

from __future__ import annotations

import functools
import linecache
import os
import re
import sys
import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar

from adcompiler.cache.modules import EMITTED
from adcompiler.dispatch.shapes_told import shapes_told
from adcompiler.errors import LocatedError, SourceNotFoundError
from adcompiler.frontend.sources.places import PSEUDO, is_users
from adcompiler.ir.atoms import Origin

P = ParamSpec("P")
R = TypeVar("R")
FORWARD = "adcompiler_forward_"
"""How the names of modules start that call a function of a library for the user."""
FORWARDED = PSEUDO + FORWARD
ORIGIN = re.compile(r" *# (?:reverse of )?(\S+:|.+, line )(\d+)(?:  (.*))?$")
"""A comment of emitted code that tells where the lines below come from."""
OF_SHAPES = re.compile("shape|dimension|broadcast|mismatch|size|aligned")
"""What NumPy says where shapes do not fit."""


def tell(error: Exception, function: Callable[..., Any] | None) -> None:
    """Give an exception what the user should see of it, before it is raised again.

    A refusal loses the frames of the compiler, unless ADCOMPILER_TRACEBACK is ``full``. What
    emitted code raised has a note of the line of the user's that it stands for; ``function`` is
    the user's.
    """
    if isinstance(error, (LocatedError, SourceNotFoundError)):
        if isinstance(error, LocatedError):
            name_the_call(error)
        if os.environ.get("ADCOMPILER_TRACEBACK") != "full":
            error.__suppress_context__ = error.__cause__ is None
            error.__traceback__ = None
        return
    note = note_of(error, getattr(function, "__code__", None))
    if note and note not in getattr(error, "__notes__", ()):
        error.add_note(note)


def name_the_call(error: LocatedError) -> None:
    """Put the user's call in the place of what was written to call a function of a library.

    Such a function is differentiated itself, so that no line of the user's calls it.
    """
    if not any(one.file.startswith(FORWARDED) or any(
        caller.startswith(FORWARDED) for caller in one.callers) for one in error.findings):
        return
    call = users_call()
    if call is not None:
        LocatedError.__init__(error, [
            replace(
                call.finding(one.problem, one.hint, one.anchor)
                if one.file.startswith(FORWARDED) else one,
                callers=tuple(call.call if caller.startswith(FORWARDED) else caller
                              for caller in one.callers),
            ) for one in error.findings
        ])


def users_call() -> Origin | None:
    """Return the place of the call that the user's code is in; None if its text is not there."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return None
    code = frame.f_code
    at = list(code.co_positions())[frame.f_lasti // 2]
    line, end, first, last = at[0] or frame.f_lineno, at[1], at[2] or 0, at[3]
    text = linecache.getline(code.co_filename, line).rstrip()
    if not text.strip():
        return None
    width = last - first if last is not None and end == line else len(text) - first
    return Origin(code.co_filename, line, first, text, width=max(width, 1))


def note_of(error: Exception, code: types.CodeType | None) -> str:
    """Return the user's line at which emitted code raised an error; empty where none did."""
    traceback, at = error.__traceback__, None
    while traceback is not None:
        if str(traceback.tb_frame.f_globals.get("__name__")).startswith(EMITTED):
            at = traceback
        traceback = traceback.tb_next
    if at is None:
        return ""
    depth = 1000
    for text in reversed(linecache.getlines(at.tb_frame.f_code.co_filename)[: at.tb_lineno]):
        indent = len(text) - len(text.lstrip())
        found = ORIGIN.match(text)
        if found and indent <= depth:
            known = str(error).startswith((f"{found[1]}{found[2]}:", f"{found[1]}{found[2]}, "))
            if known or found[1].startswith(FORWARDED):
                return ""
            place, line = shown(found, code)
            is_forward = "reverse of" not in found[0]
            shapes = shapes_told(at.tb_frame, line, code) if (
                is_forward and isinstance(error, ValueError) and OF_SHAPES.search(str(error))
            ) else ""
            told = [f"  in the derivative of what is at\n  {place}", line, shapes]
            return "\n    ".join(filter(None, told))
        if text.strip():
            depth = min(depth, indent)
    return ""


def shown(comment: re.Match[str], code: types.CodeType | None) -> tuple[str, str]:
    """Return the place that a comment tells, as tracebacks write it if its file is known, and the
    line there."""
    name, line, text = comment[1].removesuffix(":"), int(comment[2]), comment[3]
    place = f"{comment[1]}{line}"
    if code is not None and name == os.path.basename(code.co_filename):
        place = f'File "{code.co_filename}", line {line}'
        text = text or linecache.getline(code.co_filename, line).strip()
    return place, text or ""


def with_users_frames(call: Callable[P, R]) -> Callable[P, R]:
    """Return a function whose refusals have no frames of the compiler."""

    @functools.wraps(call)
    def calling(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return call(*args, **kwargs)
        except (LocatedError, SourceNotFoundError) as error:
            tell(error, None)
            raise

    return calling
