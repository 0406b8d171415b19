"""Derivatives of what is given by an equation: the implicit function theorem.

If ``F(x, p) = 0`` then ``dx = -(dF/dx)^-1 (dF/dp) dp``, so the cotangent ``g`` of ``x`` is pulled
back by one transposed solve, ``(dF/dx)^T m = g``, and one pullback of ``F``: that of ``-m``. At a
minimum ``F`` is the gradient.

What stands here runs in emitted code. ``f`` is the compiled function (``Halves``), ``rest`` what it
is called with after ``x``.
"""

from __future__ import annotations

import inspect
import warnings

import numpy as np
from scipy import optimize
from scipy.sparse.linalg import LinearOperator, gmres

from adcompiler.runtime.structure import mapped

TOLERANCE_OF_GMRES = "rtol" if "rtol" in inspect.signature(gmres).parameters else "tol"
"""SciPy 1.11 has the other name."""

DENSE = 400
"""Up to this many unknowns the Jacobian is written out; above, GMRES only multiplies with it."""


def root_pullback(f, g, x, operands, rest):
    """Pull back the cotangent of a root: ``f(x, *rest) == 0``.

    ``operands`` may be whether the solver says that it is one, and what it says of that.
    """
    y, pull = f.linearize(x, *rest)
    nothing = (None,) * len(operands)
    if np.ndim(x) == 0 and np.ndim(y) == 0:
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = pull(1.0)[0]
            if g:
                refuse_unsolved(operands, lambda: np.divide(y, slope), x)
            multiplier = np.divide(g, slope).item()
        return (*nothing, *pull(-multiplier)[1:])
    check_square(x, y)
    shape = np.shape(y)

    def multiply(m):
        return np.ravel(pull(m.reshape(shape))[0])

    if np.any(g):
        refuse_unsolved(operands, lambda: newton_step(multiply, np.ravel(y)), x)
    solution = transposed_solution(multiply, np.ravel(g))
    return (*nothing, *pull(-solution.reshape(shape))[1:])


NEAR = 1e-4
"""How far the next step of Newton may lead, relative to the solution, if a solver complains."""


def newton_step(multiply, y):
    """Return what Newton's method would change next, by multiplication with the transpose.

    Of many unknowns it returns two projections of that on random signs, each of the order of its
    Euclidean norm: ``signs @ J^-1 y`` is ``(J^-T signs) @ y``.
    """
    if y.size > DENSE:
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (2, y.size))
        return np.array([transposed_solution(multiply, row) @ y for row in signs])
    return np.linalg.lstsq(np.stack([multiply(unit) for unit in np.eye(y.size)]), y, rcond=None)[0]


def refuse_unsolved(operands, step, x):
    """Raise where a solver has failed and Newton's method would lead elsewhere.

    Solvers complain of tolerances that rounding does not allow, too. ``operands`` may end in how
    far it may lead.
    """
    if not operands or operands[0]:
        return
    size = 1.0 + np.max(np.abs(x), initial=0.0)
    near = operands[2] if len(operands) > 2 else NEAR
    if not np.max(np.abs(step()), initial=0.0) <= near * size:
        raise ValueError(f"the solver has not found a solution, so it has no derivative: "
                         f"{' '.join(str(operands[1]).split())}")


def solved(function, start, **options):
    """Return what ``fsolve`` finds, whether that is a root, and what it says of it."""
    x, _, code, message = optimize.fsolve(function, start, full_output=True, **options)
    if code != 1:
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    return x, code == 1, message


def fixed_point_pullback(f, g, x, operands, rest):
    """Pull back the cotangent of a fixed point: ``f(x, *rest) == x``."""
    y, pull = f.linearize(x, *rest)
    if np.ndim(x) == 0:
        with np.errstate(divide="ignore", invalid="ignore"):
            multiplier = np.divide(g, 1.0 - pull(1.0)[0]).item()
        return pull(multiplier)[1:]
    check_square(x, y)
    shape = np.shape(y)
    solution = transposed_solution(
        lambda m: m - np.ravel(pull(m.reshape(shape))[0]), np.ravel(g)
    )
    return pull(solution.reshape(shape))[1:]


def check_square(x, y):
    """Raise where there are not as many equations as unknowns, or they are complex."""
    if np.size(x) != np.size(y):
        raise ValueError(
            f"{np.size(y)} equations in {np.size(x)} unknowns have no derivative of the solution"
        )
    if np.iscomplexobj(x) or np.iscomplexobj(y):
        raise TypeError("the derivative of a complex solution is only known for one unknown")


def transposed_solution(multiply, g):
    """Return ``m`` with ``multiply(m) == g`` for a linear function of vectors."""
    size = g.size
    if size <= DENSE:
        columns = [multiply(unit) for unit in np.eye(size)]
        return np.linalg.solve(np.stack(columns, axis=1), g) if size else g
    operator = LinearOperator((size, size), matvec=multiply, dtype=float)
    solution, info = gmres(
        operator, g, atol=0.0, restart=100, maxiter=50, **{TOLERANCE_OF_GMRES: 1e-12}
    )
    if info != 0:
        raise np.linalg.LinAlgError("GMRES did not converge in the derivative of the solution")
    return solution


def interior(x, bounds):
    """Return a minimum; raise where it lies at an end of the interval that was searched."""
    if bounds is None:
        return x
    low, high = bounds
    if min(x - low, high - x) <= 1e-5 * (high - low):
        raise ValueError(
            f"the minimum, {x}, lies at an end of the interval {(low, high)}, where its "
            "derivative is not implied by the function"
        )
    return x


AT_BOUND, WEAK = 1e-6, 1e-5
"""How near a bound a minimum is at it, relative to its size, and how small a slope there is 0."""


def active_bounds(x, slope, low, high):
    """Return at which lower and which upper bounds a minimum lies, as two rows.

    Where it lies at a bound, the slope must lead out of the region (strict complementarity), so
    that it stays there when parameters change; ValueError if it does not.
    """
    near = AT_BOUND * (1.0 + np.abs(x))
    at_low, at_high = x - low <= near, high - x <= near
    weak = WEAK * (1.0 + np.max(np.abs(slope), initial=0.0))
    fixed = at_low & at_high
    outward = fixed | (at_low & (slope > weak)) | (at_high & (slope < -weak))
    if np.any((at_low | at_high) & ~outward):
        k = int(np.flatnonzero((at_low | at_high) & ~outward)[0])
        raise ValueError(
            f"the minimum lies at a bound of x[{k}], where its slope is {slope[k]:.3g}: whether it "
            "stays there is not determined, so it has no derivative")
    return np.stack([at_low, at_high & ~at_low])


def scaled(factor, value):
    """Return a multiple of a cotangent of any structure."""
    return mapped(lambda part: factor * part, value)
