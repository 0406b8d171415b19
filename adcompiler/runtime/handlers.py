"""Whether what is logged is written as text and kept by nobody.

A handler, filter, formatter or logger of a class of the user's own is given the values themselves,
and may keep them where a program reads them back.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

WRITERS = frozenset({"_pytest", "logging", "pytest", "rich", "tqdm"})
"""Packages whose handlers and formatters write text. (Those of pytest keep what tests read.)"""
KEEPERS = frozenset({"BufferingHandler", "MemoryHandler", "QueueHandler"})
"""Classes of ``logging.handlers`` that hand on what they are given as it is."""


def logs_are_text() -> None:
    """Stand for: whatever is logged now is written as text."""


def logs_may_be_kept() -> None:
    """Stand for: something keeps what is logged, or may do so."""


class _Logs(type):
    @property
    def state(cls) -> Callable[[], None]:
        """One of the two functions, for what is set up at this moment."""
        plain = logging.getLogRecordFactory() is logging.LogRecord and all(
            cls.__module__.partition(".")[0] in WRITERS and cls.__name__ not in KEEPERS
            for cls in map(type, parts_of_logging())
        )
        return logs_are_text if plain else logs_may_be_kept


class Logs(metaclass=_Logs):
    """What compiled code that logs values relies on: its ``state``."""


def parts_of_logging() -> Iterator[Any]:
    """Yield all loggers, their filters and handlers, and the filters and formatters of these."""
    for logger in (logging.root, *logging.root.manager.loggerDict.values()):
        if isinstance(logger, logging.PlaceHolder):
            continue
        yield logger
        yield from logger.filters
        for handler in logger.handlers:
            yield handler
            yield from handler.filters
            if handler.formatter is not None:
                yield handler.formatter


__all__ = ["Logs", "logs_are_text", "logs_may_be_kept"]
