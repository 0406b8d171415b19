"""Reading objects that are somebody else's may raise anything: properties, proxies, classes.

The compiler asks of any object that a program names what it is. A proxy outside of its context, or
a class whose ``==`` raises, is no defect of the program, nor of the compiler: its type is unknown.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def unless_it_raises(otherwise: Any) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Return a decorator of functions that read objects: they return ``otherwise`` if that raises.
    """
    def decorate(read: Callable[..., T]) -> Callable[..., T]:
        @functools.wraps(read)
        def reading(*args: Any, **kwargs: Any) -> Any:
            try:
                return read(*args, **kwargs)
            except RecursionError:
                raise
            except Exception:
                return otherwise

        return reading

    return decorate


RAISED: Any = object()
"""What ``attempted`` returns for a call that raises."""


def attempted(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Return what code of a library or of the program returns, ``RAISED`` if it raises anything.

    Nothing of our own belongs into the call: what it raises would not be seen.
    """
    try:
        return function(*args, **kwargs)
    except Exception:
        return RAISED


def is_a(value: Any, kinds: Any) -> bool:
    """Say whether a value is of a class, or of one of several, by its type alone.

    ``isinstance`` also reads ``value.__class__``, which may be a property of a proxy.
    """
    return issubclass(type(value), kinds)
