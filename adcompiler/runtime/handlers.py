"""Whether what is logged is written as text and kept by nobody.

A handler, filter, formatter or logger of a class of the user's own is given the values themselves,
and may keep them where a program reads them back.
"""

from __future__ import annotations

import functools
import logging
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

WRITERS = frozenset({"_pytest", "logging", "pytest", "rich", "tqdm"})
"""Packages whose handlers and formatters write text. (Those of pytest keep what tests read.)"""
OF = "of_"
KEEPERS = frozenset({"BufferingHandler", "MemoryHandler", "QueueHandler"})
"""Classes of ``logging.handlers`` that hand on what they are given as it is."""


def logs_are_text() -> None:
    """Stand for: whatever is logged now is written as text."""


def logs_may_be_kept() -> None:
    """Stand for: something keeps what is logged, or may do so."""


class _Logs(type):
    def __getattr__(cls, name: str) -> Callable[[], None]:
        """Return one of the two functions, by what is set up at this moment."""
        if not name.startswith(OF):
            raise AttributeError(name)
        plain = logging.getLogRecordFactory() is logging.LogRecord and all(
            writes(type(part), logger, name.removeprefix(OF))
            for logger, part in parts_of_logging())
        return logs_are_text if plain else logs_may_be_kept


class Logs(metaclass=_Logs):
    """What compiled code that logs values relies on: its attribute ``of_package``."""


def parts_of_logging() -> Iterator[tuple[str, Any]]:
    """Yield all loggers, their filters and handlers, and the filters and formatters of these.

    Each comes behind the name of its logger.
    """
    for logger in (logging.root, *logging.root.manager.loggerDict.values()):
        if isinstance(logger, logging.PlaceHolder):
            continue
        yield logger.name, logger
        for one in (*logger.filters, *logger.handlers):
            yield logger.name, one
            for part in (*getattr(one, "filters", ()), getattr(one, "formatter", None)):
                if part is not None:
                    yield logger.name, part


def writes(cls: type, logger: str, user: str) -> bool:
    """Say whether what is of a class, and set up for a logger, writes text.

    What another installed package than the ``user``'s sets up for its own loggers is none of the
    program's: it is given what is logged below their names.
    """
    package = cls.__module__.partition(".")[0]
    if package in WRITERS:
        return cls.__name__ not in KEEPERS
    return user != package == logger.partition(".")[0] and is_installed(package)


@functools.cache
def is_installed(package: str) -> bool:
    """Say whether a package lies where packages are installed."""
    import sysconfig  # which only this needs

    file = getattr(sys.modules.get(package), "__file__", None) or ""
    places = sysconfig.get_path("purelib"), sysconfig.get_path("platlib")
    return any(file.startswith(place + os.sep) for place in places)


__all__ = ["OF", "Logs", "logs_are_text", "logs_may_be_kept"]
