"""Derivatives of functions of complex numbers: holomorphic ones, and of real and imaginary parts.

The cotangent of a complex number ``z = x + iy`` is ``dx + i dy``. For a result ``w = u + iv`` the
pullback gives ``(u_x u_bar + v_x v_bar) + i (u_y u_bar + v_y v_bar)`` for ``w_bar = u_bar +
i v_bar``; for a holomorphic function that is ``conj(f'(z)) w_bar``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.api.grad import vjp
from adcompiler.dispatch.frames import with_users_frames


@with_users_frames
def complex_jacobian(function: Callable[..., Any], z: Any, *args: Any) -> Any:
    """Return the derivatives ``[[u_x, u_y], [v_x, v_y]]`` of ``u + iv = function(x + iy, *args)``.

    Parameters:
        function (callable): A function of a complex number, or, elementwise, of an array.
        z (complex or ndarray): The point.
        args: Further arguments.

    Returns:
        ndarray: An array of floats of shape ``(2, 2, *z.shape)``.

    Raises:
        UnsupportedError, MissingRuleError: For code that cannot be differentiated.
        TypeError: Where the result does not have the shape of ``z``.

    Example:
        >>> from adcompiler import complex_jacobian
        >>> complex_jacobian(lambda z: z * z, 1.0 + 2.0j)
        array([[ 2., -4.],
               [ 4.,  2.]])
    """
    z = np.asarray(z, complex) if np.ndim(z) else complex(z)
    w, pullback = vjp(function, z, *args, argnums=(0,))
    if np.shape(w) != np.shape(z):
        raise TypeError(
            f"complex_jacobian needs an elementwise function: it returned shape {np.shape(w)} for "
            f"an argument of shape {np.shape(z)}"
        )
    seeds = (1.0, 1j) if np.iscomplexobj(w) else (1.0,)
    one = np.ones_like(w) if np.ndim(w) else 1.0
    rows = [np.asarray(pullback(seed * one)[0]) for seed in seeds]
    if len(rows) == 1:
        rows.append(np.zeros_like(rows[0]))
    return np.array([[row.real, row.imag] for row in rows])


@with_users_frames
def holomorphic_derivative(function: Callable[..., Any], z: Any, *args: Any) -> Any:
    """Return ``f'(z)`` of a holomorphic function of a number, or elementwise of an array.

    Parameters:
        function (callable): A function of a complex number or array, of the shape of the result.
        z (complex or ndarray): The point.
        args: Further arguments.

    Returns:
        complex or ndarray: The derivative, in the shape of ``z``.

    Raises:
        UnsupportedError, MissingRuleError: For code that cannot be differentiated.
        ValueError: Where the Cauchy-Riemann equations ``u_x = v_y``, ``u_y = -v_x`` do not hold at
            ``z``, to ``1e-8`` relative: there is no such derivative.

    Example:
        >>> from adcompiler import holomorphic_derivative
        >>> complex(holomorphic_derivative(lambda z: z * z, 1.0 + 2.0j))
        (2+4j)
    """
    (u_x, u_y), (v_x, v_y) = complex_jacobian(function, z, *args)
    size = np.abs(u_x) + np.abs(u_y) + np.abs(v_x) + np.abs(v_y)
    if np.any(np.abs(u_x - v_y) + np.abs(u_y + v_x) > 1e-8 * size):
        name = getattr(function, "__name__", "the function")
        raise ValueError(
            f"{name} is not holomorphic at {z!r}: u_x = {u_x}, v_y = {v_y}, u_y = {u_y}, "
            f"v_x = {v_x}; complex_jacobian gives all four derivatives"
        )
    derivative = u_x + 1j * v_x
    return derivative if np.ndim(z) else complex(derivative)


__all__ = ["complex_jacobian", "holomorphic_derivative"]
