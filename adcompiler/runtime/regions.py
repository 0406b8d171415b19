"""What ``try`` and ``with`` of emitted code take with them."""

from __future__ import annotations

from typing import Any


def note_value(place: list[Any], value: Any) -> None:
    """Note the value that a variable has got, for handlers of exceptions."""
    place[0] = value


def noted_value(place: list[Any]) -> Any:
    """Return the value that a variable had when an exception was raised."""
    return place[0]


class passing_on:
    """A context manager like another one, which must not swallow exceptions.

    The code after a ``with`` block counts on the block having been completed. Raises RuntimeError
    if the other context manager swallows an exception.
    """

    def __init__(self, manager: Any) -> None:
        self.manager = manager
        self.exit = type(manager).__exit__
        self.enter = type(manager).__enter__

    def __enter__(self) -> Any:
        return self.enter(self.manager)

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if self.exit(self.manager, kind, error, traceback) and kind is not None:
            raise RuntimeError(
                f"{type(self.manager).__name__} swallowed an exception inside a function that is "
                "differentiated; write try and except instead"
            ) from error
