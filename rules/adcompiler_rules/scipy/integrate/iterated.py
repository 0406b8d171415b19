"""Integrals in two and three variables: ``quad`` of ``quad``, as SciPy computes them.

The estimate of the error is computed by a run of its own, if it is read.
"""

from __future__ import annotations

from typing import Any

from scipy import integrate

from adcompiler.rulekit import facts, function_of, passive, typed
from adcompiler.rulekit.problems import UncoveredError


def end(limit: Any, *outer: Any) -> Any:
    """Return a limit, which may be a function of the outer variables."""
    return limit(*outer) if callable(limit) else limit


def given(limit: Any, outer: Any) -> Any:
    """Return a limit as the library takes it."""
    return function_of(limit, outer, ()) if callable(limit) else limit


def dblquad(
    func: Any, a: Any, b: Any, gfun: Any, hfun: Any, args: Any = (), epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
) -> Any:
    """``scipy.integrate.dblquad``."""
    def across(x: Any) -> Any:
        return integrate.quad(
            lambda y: func(y, x, *args), end(gfun, x), end(hfun, x), epsabs=epsabs, epsrel=epsrel
        )[0]

    value = integrate.quad(across, a, b, epsabs=epsabs, epsrel=epsrel)[0]
    error = passive(
        integrate.dblquad, function_of(func, (0.0, 0.0), args), a, b, given(gfun, (0.0,)),
        given(hfun, (0.0,)), epsabs=epsabs, epsrel=epsrel,
    )
    return value, typed(error[1], 0.0)


def tplquad(
    func: Any, a: Any, b: Any, gfun: Any, hfun: Any, qfun: Any, rfun: Any, args: Any = (),
    epsabs: float = 1.49e-8, epsrel: float = 1.49e-8,
) -> Any:
    """``scipy.integrate.tplquad``."""
    def along(x: Any, y: Any) -> Any:
        return integrate.quad(
            lambda z: func(z, y, x, *args), end(qfun, x, y), end(rfun, x, y), epsabs=epsabs,
            epsrel=epsrel,
        )[0]

    def across(x: Any) -> Any:
        return integrate.quad(
            lambda y: along(x, y), end(gfun, x), end(hfun, x), epsabs=epsabs, epsrel=epsrel
        )[0]

    value = integrate.quad(across, a, b, epsabs=epsabs, epsrel=epsrel)[0]
    error = passive(
        integrate.tplquad, function_of(func, (0.0, 0.0, 0.0), args), a, b, given(gfun, (0.0,)),
        given(hfun, (0.0,)), given(qfun, (0.0, 0.0)), given(rfun, (0.0, 0.0)), epsabs=epsabs,
        epsrel=epsrel,
    )
    return value, typed(error[1], 0.0)


def nquad(
    func: Any, ranges: Any, args: Any = None, opts: Any = None, full_output: bool = False
) -> Any:
    """``scipy.integrate.nquad`` of up to three variables, between limits that are numbers."""
    rest = () if args is None else args if isinstance(args, tuple) else (args,)
    if opts is not None or full_output:
        raise UncoveredError("nquad() is differentiated without opts= and full_output=")
    if any(callable(limits) for limits in ranges):
        raise UncoveredError(
            "nquad() is differentiated between limits that are numbers; dblquad() and tplquad() "
            "take functions"
        )
    if len(ranges) == 1:
        return integrate.quad(func, ranges[0][0], ranges[0][1], rest)
    if len(ranges) == 2:
        (a, b), (c, d) = ranges
        return dblquad(func, c, d, a, b, rest)
    if len(ranges) == 3:
        (a, b), (c, d), (e, f) = ranges
        return tplquad(func, e, f, c, d, a, b, rest)
    raise UncoveredError("nquad() is differentiated in up to three variables")


facts(integrate.dblquad, written_as=dblquad)
facts(integrate.tplquad, written_as=tplquad)
facts(integrate.nquad, written_as=nquad)
