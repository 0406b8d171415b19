"""Derivatives along many seeds at once: one sweep over arrays with a leading axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adcompiler.api.argnums import Asked, of_call
from adcompiler.api.emitted import kept_derivative
from adcompiler.api.forward import chosen
from adcompiler.dispatch.frames import with_users_frames
from adcompiler.typed.derivatives import ONLY_OUTSIDE


@with_users_frames
def batched_vjp(
    function: Callable[..., Any], *args: Any, argnums: Asked = None, **kwargs: Any
) -> tuple[Any, Callable[[Any], Any]]:
    """Return ``function(*args, **kwargs)`` and a pullback of many cotangents.

    The sweep runs once over arrays of all seeds; for code that cannot be written so, once for each.

    Parameters:
        function, args, argnums, kwargs: As for ``vjp``.

    Returns:
        tuple: The value, and the pullback. As that of ``vjp``, but every array of cotangents that
        it takes has one axis more, in front: ``(seeds, *shape)``, also that of a number. So have
        the cotangents of the arguments that it returns.

    Raises:
        UnsupportedError, MissingRuleError: Before anything runs, for code that cannot be
            differentiated.
        TypeError, ValueError: By the pullback, for cotangents that do not fit the value.

    Example:
        >>> import numpy as np
        >>> from adcompiler import batched_vjp
        >>> value, pullback = batched_vjp(lambda x: x[1:] * x[:-1], np.array([1.0, 2.0, 3.0]))
        >>> pullback(np.eye(2))[0]
        array([[2., 1., 0.],
               [0., 3., 2.]])
    """
    wanted = of_call(... if argnums is None else argnums, args)
    value, pullback = kept_derivative(function, "vjp", wanted, batched=True)(*args, **kwargs)
    return value, pullback


@with_users_frames
def batched_jvp(
    function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *,
    argnums: Asked = None, **kwargs: Any,
) -> tuple[Any, Any]:
    """Return ``function(*primals, **kwargs)`` and its derivatives along many tangents.

    Parameters:
        function, primals, argnums, kwargs: As for ``jvp``.
        tangents (sequence): As for ``jvp``, but every array of tangents has one axis more, in
            front: ``(seeds, *shape)``. None stands for the tangents of a constant argument, but not
            of all.

    Returns:
        tuple: The value, and its derivatives, which have that axis in front too.

    Raises:
        UnsupportedError, MissingRuleError: Before anything runs, for code that cannot be
            differentiated.
        TypeError, ValueError: For tangents that do not fit their arguments, or are all None.

    Example:
        >>> import numpy as np
        >>> from adcompiler import batched_jvp
        >>> batched_jvp(lambda x: x[1:] * x[:-1], (np.array([1.0, 2.0, 3.0]),), (np.eye(3),))[1]
        array([[2., 0.],
               [1., 3.],
               [0., 2.]])
    """
    asked = of_call(argnums, primals)
    several = asked is None or isinstance(asked, tuple)
    wanted, given = chosen(tuple(primals), tuple(tangents) if several else tangents, asked)
    if not given:
        raise TypeError("the tangents are all None: how many there are of each is not known")
    derivative = kept_derivative(function, "forward", wanted, batched=True)
    value, along = derivative(*primals, **kwargs)(*given)
    return value, along


ONLY_OUTSIDE[batched_vjp] = "vjp, and its pullback for one cotangent after the other, or jacobian"
ONLY_OUTSIDE[batched_jvp] = "jvp for one tangent after the other, or jacobian"

__all__ = ["batched_jvp", "batched_vjp"]
