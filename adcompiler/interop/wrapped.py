"""Functions of NumPy as callables of another framework: named, bound and pickled as functions are.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from adcompiler.api.derivative import in_cloudpickle
from adcompiler.cache.keys import unspelled


class Wrapped:
    """A function for another framework, and the options that it was wrapped with."""

    __name__: str

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.options = options

    def __call__(self, *args: Any) -> Any:
        """Return the results, as values of the framework."""
        raise NotImplementedError

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Bind to an instance, as methods do."""
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {getattr(self.function, '__qualname__', self.function)}>"

    def __reduce__(self) -> Any:
        name = getattr(self, "__qualname__", "")
        by_value = self.__module__ == "__main__" and in_cloudpickle()
        if name and not by_value and unspelled(f"{self.__module__}:{name}") is self:
            return name  # pickled by its name, as functions are
        return functools.partial(type(self), **self.options), (self.function,)


__all__ = ["Wrapped"]
