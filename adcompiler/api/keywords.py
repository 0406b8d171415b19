"""What operators say of keywords that they do not have."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from adcompiler.errors import suggestion

P = ParamSpec("P")
R = TypeVar("R")
UNEXPECTED = re.compile(r".* got an unexpected keyword argument '(\w+)'")
MEANT = {
    "argnum": "argnums names the arguments",
    "wrt": "argnums names the arguments",
    "holomorphic": "jacobian(f, holomorphic=True) and holomorphic_derivative(f, z) are for those",
    "allow_int": "integers count as floats",
    "create_graph": "derivatives can be differentiated again",
    "reduce_axes": "take the gradient of a sum",
}
"""What to write instead of keywords that other systems have."""


def suggesting(operator: Callable[P, R]) -> Callable[P, R]:
    """Return an operator that says what may have been meant by a keyword that it does not have."""

    @functools.wraps(operator)
    def calling(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return operator(*args, **kwargs)
        except TypeError as error:
            found = UNEXPECTED.match(str(error))
            inside = error.__traceback__ is not None and error.__traceback__.tb_next is not None
            if found is None or inside:
                raise
            name = found[1]
            meant = f"; {MEANT[name]}" if name in MEANT else suggestion(
                name, inspect.signature(operator).parameters)
            raise TypeError(found[0] + meant) from None

    return calling
