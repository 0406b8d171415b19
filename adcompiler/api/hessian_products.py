"""Products of Hessians with vectors, which form no Hessian."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from typing import Any

from adcompiler.api.derivative import Derivative
from adcompiler.api.emitted import kept_derivative
from adcompiler.api.fallback import may_record, recorded_instead
from adcompiler.api.hessians import call_types, directional
from adcompiler.api.keywords import first_argument_only
from adcompiler.dispatch import Options
from adcompiler.dispatch.frames import with_users_frames
from adcompiler.dispatch.written import Written
from adcompiler.errors import ADError, TooLongError, UncoveredError, not_one_of
from adcompiler.typed.derivatives import MAKERS
from adcompiler.typed.operators import OPERATORS

_ACCEPTED: weakref.WeakKeyDictionary[Derivative[..., Any], str] = weakref.WeakKeyDictionary()
"""The combination that is taken where the compiler refuses to push a tangent through a gradient."""
_RECORDED: weakref.WeakKeyDictionary[Derivative[..., Any], dict[Hashable, ADError]] = (
    weakref.WeakKeyDictionary())
"""Gradients whose second derivatives the compiler refuses, with the types of arguments."""


@with_users_frames
def hvp(
    function: Callable[..., Any], x: Any, v: Any, *rest: Any, mode: str | None = None,
    backend: str = "python", **kwargs: Any,
) -> Any:
    """Return the Hessian of ``function(x, *rest, **kwargs)`` in ``x`` times ``v``.

    The cost is a small multiple of that of a gradient, whatever the size of ``x``.

    Parameters:
        function (callable): A function that returns a real number.
        x: A number, an array, or a tuple, list, dict or instance of these.
        v: The vector, of the structure and shapes of ``x``.
        rest, kwargs: Further arguments.
        mode (str): ``"fwd_adj"``, which pushes ``v`` through the gradient, ``"adj_adj"``, which
            pulls it back, or ``"adj_fwd"``, the gradient of the derivative along ``v`` (without
            keyword arguments); None is the first of ``"fwd_adj"``, ``"adj_fwd"`` and ``"adj_adj"``
            that the compiler does not refuse.
        backend (str): That of ``grad``.

    Returns:
        The product, of the structure and shapes of ``x``.

    Raises:
        UnsupportedError, MissingRuleError: Before anything runs, for code that cannot be
            differentiated.
        TypeError, ValueError: For a ``v`` that does not fit ``x``, and for other words.

    Example:
        >>> import numpy as np
        >>> from adcompiler import hvp
        >>> hvp(lambda x: np.sum(x**3), np.array([1.0, 2.0]), np.array([1.0, 0.5]))
        array([6., 6.])
    """
    first_argument_only("hvp", function, Written((x, v, *rest), kwargs))
    if mode is None and backend == "record":
        return hvp(function, x, v, *rest, mode="fwd_adj", backend=backend, **kwargs)
    if mode is None:
        gradient = kept_derivative(function, "grad", 0)
        refused: ADError | None = None
        known = _ACCEPTED.get(gradient)
        recorded = _RECORDED.get(gradient, {})
        if recorded and call_types(gradient, Written((x, *rest), kwargs)) in recorded:
            return hvp(function, x, v, *rest, mode="fwd_adj", backend="record", **kwargs)
        for one in dict.fromkeys((known or "fwd_adj", "fwd_adj", "adj_fwd", "adj_adj")):
            if one == "adj_fwd" and kwargs:
                continue
            try:
                product = hvp(function, x, v, *rest, mode=one, backend=backend, **kwargs)
            except (TooLongError, UncoveredError):
                raise
            except ADError as error:
                refused = refused or error
                continue
            if one != "fwd_adj":
                _ACCEPTED[gradient] = one
            return product
        assert refused is not None
        if not may_record(Options("grad", 0, backend=backend), refused):
            raise refused
        return recorded_instead(
            gradient.specialisations.target, refused, _RECORDED.setdefault(gradient, {}),
            lambda: call_types(gradient, Written((x, *rest), kwargs)),
            lambda: hvp(function, x, v, *rest, mode="fwd_adj", backend="record", **kwargs))
    parts = OPERATORS["hvp"].parts
    if mode not in parts or (mode == "adj_fwd" and kwargs):
        raise ValueError(not_one_of("mode", mode, parts))
    if mode == "adj_fwd":
        along = kept_derivative(
            directional(function, (0,)), "grad", "args.0", backend=backend, fallback="refuse")
        return along((x, *rest), (v,))
    gradient = kept_derivative(function, "grad", 0)
    found = kept_derivative(
        gradient, parts[mode].mode, (0,), backend=backend, fallback="refuse")(x, *rest, **kwargs)
    return found(v)[1] if mode == "fwd_adj" else found[1](v)[0]


@with_users_frames
def vhp(function: Callable[..., Any], x: Any, v: Any, *rest: Any, **kwargs: Any) -> Any:
    """Return ``v`` times the Hessian of ``function(x, *rest, **kwargs)`` in ``x``.

    Where second derivatives are continuous it equals ``hvp``; it is computed by reverse mode only.

    Parameters:
        function, x, v, rest, kwargs: As for ``hvp``.

    Returns:
        The product, of the structure and shapes of ``x``.

    Raises:
        UnsupportedError, MissingRuleError, TypeError, ValueError: As ``hvp``.

    Example:
        >>> import numpy as np
        >>> from adcompiler import vhp
        >>> vhp(lambda x: np.sum(x**3), np.array([1.0, 2.0]), np.array([1.0, 0.5]))
        array([6., 6.])
    """
    first_argument_only("vhp", function, Written((x, v, *rest), kwargs))
    return hvp(function, x, v, *rest, mode="adj_adj", **kwargs)


MAKERS.update({hvp: "hvp", vhp: "vhp"})

__all__ = ["hvp", "vhp"]
