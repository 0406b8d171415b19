"""Rules for SciPy's solvers of matrix equations: the adjoint of each is an equation of its kind."""

import numpy as np
import scipy.linalg

from adcompiler.rulekit import alias, call, rrule
from adcompiler.runtime.adjoints.shaping import like
from adcompiler_rules.scipy.samples import complex_normal, positive, regular


def adjoint(a):
    """Return the conjugate transpose of matrices."""
    return np.conj(np.swapaxes(a, -1, -2))


def of_kind(a, dy):
    """Return ``a``, complex if ``dy`` is: SciPy does not take both in one of these equations."""
    return np.asarray(a, np.result_type(np.asarray(a), np.asarray(dy)))


@rrule(scipy.linalg.solve_sylvester, domain=lambda rng: [
    call(positive(rng, 3, 3), positive(rng, 2, 2), rng.normal(size=(3, 2))),
    call(regular(rng, 2, 2) + 1j * rng.normal(size=(2, 2)), regular(rng, 2, 2),
         complex_normal(rng, 2, 2)),
])
def solve_sylvester(a: np.ndarray, b: np.ndarray, q):
    """``a y + y b = q``: ``dq`` solves ``a^H dq + dq b^H = dy``, and the equation moves by
    ``da y + y db``.
    """
    if np.ndim(a) != 2 or np.ndim(b) != 2 or np.ndim(q) != 2:
        raise NotImplementedError("scipy.linalg.solve_sylvester has a rule for single matrices")
    y = scipy.linalg.solve_sylvester(a, b, q)

    def solve_sylvester_pullback(dy):
        dq = scipy.linalg.solve_sylvester(of_kind(adjoint(a), dy), of_kind(adjoint(b), dy), dy)
        return like(-dq @ adjoint(y), a), like(-adjoint(y) @ dq, b), like(dq, q)

    return y, solve_sylvester_pullback


@rrule(scipy.linalg.solve_continuous_lyapunov, domain=lambda rng: [
    call(positive(rng, 3, 3), rng.normal(size=(3, 3))),
    call(regular(rng, 2, 2) + 1j * rng.normal(size=(2, 2)), complex_normal(rng, 2, 2)),
])
def solve_continuous_lyapunov(a: np.ndarray, q: np.ndarray):
    """``a y + y a^H = q``: ``dq`` solves ``a^H dq + dq a = dy``."""
    if np.ndim(a) < 2 or np.ndim(q) < 2:
        raise NotImplementedError("scipy.linalg.solve_continuous_lyapunov has a rule for matrices")
    y = scipy.linalg.solve_continuous_lyapunov(a, q)

    def solve_continuous_lyapunov_pullback(dy):
        dq = scipy.linalg.solve_continuous_lyapunov(of_kind(adjoint(a), dy), dy)
        return like(-dq @ adjoint(y) - adjoint(dq) @ y, a), like(dq, q)

    return y, solve_continuous_lyapunov_pullback


if scipy.linalg.solve_lyapunov is not scipy.linalg.solve_continuous_lyapunov:
    alias(scipy.linalg.solve_lyapunov, scipy.linalg.solve_continuous_lyapunov)


@rrule(scipy.linalg.solve_discrete_lyapunov, wrt=("a", "q"), domain=lambda rng: [
    call(0.3 * rng.normal(size=(3, 3)), rng.normal(size=(3, 3))),
    call(0.1 * positive(rng, 3, 3), rng.normal(size=(3, 3)), method="bilinear"),
    call(0.3 * complex_normal(rng, 2, 2), complex_normal(rng, 2, 2)),
])
def solve_discrete_lyapunov(a: np.ndarray, q, method=None):
    """``y - a y a^H = q``: ``dq`` solves ``dq - a^H dq a = dy``."""
    if np.ndim(a) < 2 or np.ndim(q) < 2:
        raise NotImplementedError("scipy.linalg.solve_discrete_lyapunov has a rule for matrices")
    y = scipy.linalg.solve_discrete_lyapunov(a, q, method=method)

    def solve_discrete_lyapunov_pullback(dy):
        dq = scipy.linalg.solve_discrete_lyapunov(of_kind(adjoint(a), dy), dy, method=method)
        da = dq @ a @ adjoint(y) + adjoint(dq) @ a @ y
        return like(da, a), like(dq, q)

    return y, solve_discrete_lyapunov_pullback


def samples_of_riccati(rng):
    """Return systems, costs, and the other two matrices of the general equations."""
    a, b = rng.normal(size=(3, 3)), rng.normal(size=(3, 2))
    q, r = np.diag([2, 3, 4]), np.diag([1, 2])
    e, s = np.eye(3) + 0.2 * rng.normal(size=(3, 3)), 0.2 * rng.normal(size=(3, 2))
    return [call(a, b, q, r), call(a, b, q, r, s=s), call(a, b, q, r, e), call(a, b, q, r, e, s)]


def within(e, half):
    """Return ``e^-1 half e^-H``."""
    return scipy.linalg.solve(e, adjoint(scipy.linalg.solve(e, adjoint(half))))


@rrule(scipy.linalg.solve_continuous_are, wrt=("a", "b", "q", "r", "e", "s"),
       domain=samples_of_riccati)
def solve_continuous_are(
    a: np.ndarray, b: np.ndarray, q: np.ndarray, r: np.ndarray, e=None, s=None, balanced=True
):
    """``a^H y e + e^H y a - (e^H y b + s) k + q = 0``, at its stabilising solution.

    With ``k = r^-1 (b^H y e + s^H)`` and ``c = a - b k`` the equation moves by ``c^H dy e + dq``,
    ``e^H y (da - db k) + c^H y de - ds k`` and ``k^H dr k``, and the conjugate transposes of what
    is not Hermitian: cotangents are those of moves that keep ``q`` and ``r`` so.
    """
    if min(np.ndim(a), np.ndim(b), np.ndim(q), np.ndim(r)) < 2:
        raise NotImplementedError("scipy.linalg.solve_continuous_are has a rule for matrices")
    y = scipy.linalg.solve_continuous_are(a, b, q, r, e, s, balanced)

    def solve_continuous_are_pullback(dy):
        moved = adjoint(b) @ y if e is None else adjoint(b) @ y @ e
        k = scipy.linalg.solve(r, moved if s is None else moved + adjoint(s))
        closed = a - b @ k
        half = 0.5 * (dy + adjoint(dy))
        if e is None:
            z = -scipy.linalg.solve_continuous_lyapunov(closed, half)
            da, de = 2.0 * y @ z, None
        else:
            z = -scipy.linalg.solve_continuous_lyapunov(
                scipy.linalg.solve(e, closed), within(e, half))
            da, de = 2.0 * y @ e @ z, like(2.0 * y @ closed @ z, e)
        dr = k @ z @ adjoint(k)
        ds = None if s is None else like(-2.0 * z @ adjoint(k), s)
        return like(da, a), like(-da @ adjoint(k), b), like(z, q), like(dr, r), de, ds

    return y, solve_continuous_are_pullback


@rrule(scipy.linalg.solve_discrete_are, wrt=("a", "b", "q", "r", "e", "s"),
       domain=samples_of_riccati)
def solve_discrete_are(
    a: np.ndarray, b: np.ndarray, q: np.ndarray, r: np.ndarray, e=None, s=None, balanced=True
):
    """``a^H y a - e^H y e - (a^H y b + s) k + q = 0``.

    With ``k = (r + b^H y b)^-1 (b^H y a + s^H)`` and ``c = a - b k`` the equation moves by
    ``c^H dy c - e^H dy e + dq + k^H dr k``, and by ``c^H y (da - db k) - e^H y de - ds k`` and the
    conjugate transpose of that.
    """
    if min(np.ndim(a), np.ndim(b), np.ndim(q), np.ndim(r)) < 2:
        raise NotImplementedError("scipy.linalg.solve_discrete_are has a rule for matrices")
    y = scipy.linalg.solve_discrete_are(a, b, q, r, e, s, balanced)

    def solve_discrete_are_pullback(dy):
        moved = adjoint(b) @ y @ a
        k = scipy.linalg.solve(
            r + adjoint(b) @ y @ b, moved if s is None else moved + adjoint(s))
        closed = a - b @ k
        half = 0.5 * (dy + adjoint(dy))
        if e is None:
            z, de = scipy.linalg.solve_discrete_lyapunov(closed, half), None
        else:
            z = scipy.linalg.solve_discrete_lyapunov(
                scipy.linalg.solve(e, closed), within(e, half))
            de = like(-2.0 * y @ e @ z, e)
        da, dr = 2.0 * y @ closed @ z, k @ z @ adjoint(k)
        ds = None if s is None else like(-2.0 * z @ adjoint(k), s)
        return like(da, a), like(-da @ adjoint(k), b), like(z, q), like(dr, r), de, ds

    return y, solve_discrete_are_pullback
