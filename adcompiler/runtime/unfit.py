"""What emitted code raises where a value is not what the code was compiled for."""

from __future__ import annotations

from adcompiler.errors import ADError


class UnfitError(ADError, TypeError):
    """The code was not compiled for what a value is.

    ``again`` says that it has had no effects by then: the function may run again.
    """

    again = False


class Unfit(BaseException):
    """The code was not compiled for what a value is here.

    It is no ``Exception``, so that no handler of the program takes it for one of its own. What
    calls emitted code records the function, or raises ``UnfitError`` in its place.
    """
