"""Polynomials that are objects: ``np.poly1d`` and the classes of ``numpy.polynomial``.

An instance that is made in compiled code is one of a class written here, whose methods are opened
as a user's are. They compute what NumPy's do, in the same order. An instance of such a class counts
as one of NumPy's: ``isinstance`` asks for that.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.polynomial import (
    Chebyshev, Hermite, HermiteE, Laguerre, Legendre, Polynomial, chebyshev, hermite, hermite_e,
    laguerre, legendre, polynomial, polyutils,
)

from adcompiler.rulekit import facts
from adcompiler.rulekit.problems import UncoveredError
from adcompiler.runtime.substitutes import STAND_FOR
from adcompiler_rules.numpy.in_python import as_series, coefficients


def is_number(x: Any) -> bool:
    """Say whether an operand is a number, not a polynomial nor an array of coefficients."""
    return isinstance(x, (numbers.Number, np.generic))


# --- np.poly1d ------------------------------------------------------------------------------------


class Poly1d:
    """``np.poly1d``: coefficients from the highest power down."""

    def __init__(self, c_or_r: Any, r: bool = False, variable: Any = None) -> None:
        if isinstance(c_or_r, np.poly1d):
            c_or_r = c_or_r.coeffs
        elif r:
            c_or_r = np.poly(c_or_r)
        self.coeffs = coefficients(c_or_r)
        self.variable = "x" if variable is None else variable

    @property
    def c(self) -> Any:
        """The coefficients."""
        return self.coeffs

    @property
    def coef(self) -> Any:
        """The coefficients."""
        return self.coeffs

    @property
    def coefficients(self) -> Any:
        """The coefficients."""
        return self.coeffs

    @property
    def order(self) -> int:
        """The degree."""
        return len(self.coeffs) - 1

    @property
    def o(self) -> int:
        """The degree."""
        return len(self.coeffs) - 1

    @property
    def roots(self) -> Any:
        """The roots."""
        return np.roots(self.coeffs)

    @property
    def r(self) -> Any:
        """The roots."""
        return np.roots(self.coeffs)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.coeffs if dtype is None else self.coeffs.astype(dtype)

    def __len__(self) -> int:
        return len(self.coeffs) - 1

    def __call__(self, val: Any) -> Any:
        if isinstance(val, np.poly1d):
            y = Poly1d([0.0])
            for k in range(len(self.coeffs)):
                y = y * val + self.coeffs[k]
            return y
        return np.polyval(self.coeffs, val)

    def __getitem__(self, power: int) -> Any:
        place = len(self.coeffs) - 1 - power
        if power > len(self.coeffs) - 1 or power < 0:
            return 0.0
        return self.coeffs[place]

    def __neg__(self) -> Any:
        return Poly1d(-self.coeffs)

    def __pos__(self) -> Any:
        return self

    def __add__(self, other: Any) -> Any:
        return Poly1d(np.polyadd(self.coeffs, given(other)))

    def __radd__(self, other: Any) -> Any:
        return Poly1d(np.polyadd(self.coeffs, given(other)))

    def __sub__(self, other: Any) -> Any:
        return Poly1d(np.polysub(self.coeffs, given(other)))

    def __rsub__(self, other: Any) -> Any:
        return Poly1d(np.polysub(given(other), self.coeffs))

    def __mul__(self, other: Any) -> Any:
        if is_number(other):
            return Poly1d(self.coeffs * other)
        return Poly1d(np.polymul(self.coeffs, given(other)))

    def __rmul__(self, other: Any) -> Any:
        if is_number(other):
            return Poly1d(other * self.coeffs)
        return Poly1d(np.polymul(given(other), self.coeffs))

    def __truediv__(self, other: Any) -> Any:
        if is_number(other):
            return Poly1d(self.coeffs / other)
        quotient, rest = np.polydiv(self.coeffs, given(other))
        return Poly1d(quotient), Poly1d(rest)

    def __pow__(self, val: int) -> Any:
        result = np.ones(1)
        for _ in range(val):
            result = np.polymul(self.coeffs, result)
        return Poly1d(result)

    def deriv(self, m: int = 1) -> Any:
        """Return the derivative of order ``m``."""
        return Poly1d(np.polyder(self.coeffs, m=m))

    def integ(self, m: int = 1, k: Any = 0) -> Any:
        """Return the integral of order ``m``, with constants of integration."""
        return Poly1d(np.polyint(self.coeffs, m=m, k=k))


def given(other: Any) -> Any:
    """Return the coefficients of the other operand, which may be given as they are."""
    return other.coeffs if isinstance(other, np.poly1d) else coefficients(other)


facts(np.poly1d, written_as=Poly1d)
STAND_FOR[Poly1d] = np.poly1d


# --- numpy.polynomial -----------------------------------------------------------------------------


AnySeries: Any = Polynomial.__mro__[1]


class Arithmetic:
    """What the classes of ``numpy.polynomial`` have in common: coefficients, domain and window.

    A class of each kind names the functions of its module.
    """

    stands_for: Any
    ends: Any
    val: Any
    add: Any
    sub: Any
    mul: Any
    div: Any
    pow: Any
    der: Any
    int: Any
    roots_of: Any
    line: Any
    fit_of: Any
    of_roots: Any
    __array_ufunc__ = None

    def __init__(
        self, coef: Any, domain: Any = None, window: Any = None, symbol: str = "x"
    ) -> None:
        self.coef = as_series([coef], False)[0]
        self.domain = np.array(self.ends if domain is None else domain, float)
        self.window = np.array(self.ends if window is None else window, float)
        self.symbol = symbol

    def __len__(self) -> int:
        return len(self.coef)

    def degree(self) -> int:
        """Return the degree."""
        return len(self.coef) - 1

    def mapparms(self) -> Any:
        """Return shift and scale of the map from the domain to the window."""
        return polyutils.mapparms(self.domain, self.window)

    def has_samedomain(self, other: Any) -> bool:
        """Say whether two series have one domain."""
        return bool(np.all(self.domain == other.domain))

    def has_samewindow(self, other: Any) -> bool:
        """Say whether two series have one window."""
        return bool(np.all(self.window == other.window))

    def __call__(self, arg: Any) -> Any:
        if isinstance(arg, AnySeries):
            raise UncoveredError("a series of a series has no derivative, but one of powers")
        return self.val(polyutils.mapdomain(arg, self.domain, self.window), self.coef)

    def of_operand(self, other: Any) -> Any:
        """Return the coefficients of the other operand, which has the same domain and window."""
        if not isinstance(other, AnySeries):
            return other
        if not isinstance(other, self.stands_for):
            raise TypeError("Polynomial types differ")
        if not np.all(self.domain == other.domain):
            raise TypeError("Domains differ")
        if not np.all(self.window == other.window):
            raise TypeError("Windows differ")
        return other.coef

    def made(self, coef: Any) -> Any:
        """Return the series of the same kind with other coefficients."""
        return type(self)(coef, self.domain, self.window)

    def __neg__(self) -> Any:
        return self.made(-self.coef)

    def __pos__(self) -> Any:
        return self

    def __add__(self, other: Any) -> Any:
        return self.made(self.add(self.coef, self.of_operand(other)))

    def __radd__(self, other: Any) -> Any:
        return self.made(self.add(other, self.coef))

    def __sub__(self, other: Any) -> Any:
        return self.made(self.sub(self.coef, self.of_operand(other)))

    def __rsub__(self, other: Any) -> Any:
        return self.made(self.sub(other, self.coef))

    def __mul__(self, other: Any) -> Any:
        return self.made(self.mul(self.coef, self.of_operand(other)))

    def __rmul__(self, other: Any) -> Any:
        return self.made(self.mul(other, self.coef))

    def __truediv__(self, other: Any) -> Any:
        if not is_number(other):
            raise TypeError("unsupported types for true division")
        return self.made(self.coef / other)

    def __floordiv__(self, other: Any) -> Any:
        return self.made(self.div(self.coef, self.of_operand(other))[0])

    def __mod__(self, other: Any) -> Any:
        return self.made(self.div(self.coef, self.of_operand(other))[1])

    def __divmod__(self, other: Any) -> Any:
        quotient, rest = self.div(self.coef, self.of_operand(other))
        return self.made(quotient), self.made(rest)

    def __pow__(self, other: int) -> Any:
        return self.made(self.pow(self.coef, other, maxpower=100))


class Series(Arithmetic):
    """A series, with its derivatives, integrals, roots and parts."""

    def deriv(self, m: int = 1) -> Any:
        """Return the derivative of order ``m``."""
        return self.made(self.der(self.coef, m, self.mapparms()[1]))

    def integ(self, m: int = 1, k: Any = (), lbnd: Any = None) -> Any:
        """Return the integral of order ``m``, with constants of integration, from ``lbnd``."""
        off, scl = self.mapparms()
        start = 0 if lbnd is None else off + scl * lbnd
        return self.made(self.int(self.coef, m, k, start, 1.0 / scl))

    def roots(self) -> Any:
        """Return the roots."""
        return polyutils.mapdomain(self.roots_of(self.coef), self.window, self.domain)

    def trim(self, tol: Any = 0) -> Any:
        """Return the series without small coefficients at the end."""
        return self.made(polyutils.trimcoef(self.coef, tol))

    def truncate(self, size: int) -> Any:
        """Return the series of the first ``size`` coefficients."""
        return self.made(self.coef[: int(size)])

    def cutdeg(self, deg: int) -> Any:
        """Return the series of the coefficients up to a degree."""
        return self.truncate(deg + 1)

    def copy(self) -> Any:
        """Return another series of the same coefficients."""
        return self.made(self.coef)

    def linspace(self, n: int = 100, domain: Any = None) -> Any:
        """Return points and values at them."""
        ends = self.domain if domain is None else domain
        x = np.linspace(ends[0], ends[1], n)
        return x, self(x)


class OfPowers(Series):
    """``Polynomial``."""

    def __call__(self, arg: Any) -> Any:
        if isinstance(arg, AnySeries):
            off, scl = self.mapparms()
            x = off + scl * arg
            y = x * 0 + self.coef[-1]
            for k in range(2, len(self.coef) + 1):
                y = self.coef[-k] + y * x
            return y
        return self.val(polyutils.mapdomain(arg, self.domain, self.window), self.coef)

    def convert(self, domain: Any = None, kind: Any = None, window: Any = None) -> Any:
        """Return the same series of powers, with another domain and window."""
        if kind is not None and not issubclass(kind, Polynomial):
            raise UncoveredError("convert() to another kind of series has no derivative")
        return self(Polynomial.identity(domain, window=window))


class OfChebyshev(Series):
    """``Chebyshev``."""


class OfLegendre(Series):
    """``Legendre``."""


class OfHermite(Series):
    """``Hermite``."""


class OfHermiteE(Series):
    """``HermiteE``."""


class OfLaguerre(Series):
    """``Laguerre``."""


KINDS: tuple[tuple[Any, Any, Any, str], ...] = (
    (Polynomial, OfPowers, polynomial, "poly"), (Chebyshev, OfChebyshev, chebyshev, "cheb"),
    (Legendre, OfLegendre, legendre, "leg"), (Hermite, OfHermite, hermite, "herm"),
    (HermiteE, OfHermiteE, hermite_e, "herme"), (Laguerre, OfLaguerre, laguerre, "lag"),
)
PARTS = {
    "val": "val", "add": "add", "sub": "sub", "mul": "mul", "div": "div", "pow": "pow",
    "der": "der", "int": "int", "roots_of": "roots", "line": "line", "fit_of": "fit",
    "of_roots": "fromroots",
}
"""What the functions of a module are called by its class here."""


def register_makers(cls: Any, kind: Any) -> None:
    """Register the class methods that make series of a kind."""

    def fit(
        x: Any, y: Any, deg: Any, domain: Any = None, rcond: Any = None, full: bool = False,
        w: Any = None, window: Any = None, symbol: str = "x",
    ) -> Any:
        if full:
            raise UncoveredError("a fit with full=True has no derivative")
        ends = polyutils.getdomain(x) if domain is None else domain
        over = kind.ends if window is None else window
        moved = polyutils.mapdomain(x, ends, over)
        return kind(kind.fit_of(moved, y, deg, w=w, rcond=rcond), ends, over)

    def fromroots(roots: Any, domain: Any = (), window: Any = None, symbol: str = "x") -> Any:
        ends = polyutils.getdomain(roots) if domain is None else domain
        ends = kind.ends if len(ends) == 0 else ends
        over = kind.ends if window is None else window
        off, scl = polyutils.mapparms(ends, over)
        return kind(kind.of_roots(off + scl * np.asarray(roots)) / scl ** len(roots), ends, over)

    def identity(domain: Any = None, window: Any = None, symbol: str = "x") -> Any:
        ends = kind.ends if domain is None else domain
        over = kind.ends if window is None else window
        off, scl = polyutils.mapparms(over, ends)
        return kind(kind.line(off, scl), ends, over)

    def basis(deg: int, domain: Any = None, window: Any = None, symbol: str = "x") -> Any:
        return kind([0.0] * int(deg) + [1.0], domain, window)

    facts(cls, written_as=kind)
    facts(cls.fit, written_as=fit)
    facts(cls.fromroots, written_as=fromroots)
    facts(cls.identity, written_as=identity)
    facts(cls.basis, written_as=basis)
    STAND_FOR[kind] = cls


def taken(series: Any) -> Any:
    """Return a series of NumPy's, that was there before, as one of the class written here."""
    if isinstance(series, Polynomial):
        return OfPowers(series.coef, series.domain, series.window)
    if isinstance(series, Chebyshev):
        return OfChebyshev(series.coef, series.domain, series.window)
    if isinstance(series, Legendre):
        return OfLegendre(series.coef, series.domain, series.window)
    if isinstance(series, Hermite):
        return OfHermite(series.coef, series.domain, series.window)
    if isinstance(series, HermiteE):
        return OfHermiteE(series.coef, series.domain, series.window)
    if isinstance(series, Laguerre):
        return OfLaguerre(series.coef, series.domain, series.window)
    raise UncoveredError("this kind of series has no derivative")


def added(series: Any, other: Any) -> Any:
    """``series + other``."""
    return taken(series) + other


def subtracted(series: Any, other: Any) -> Any:
    """``series - other``."""
    return taken(series) - other


def multiplied(series: Any, other: Any) -> Any:
    """``series * other``."""
    return taken(series) * other


def divided(series: Any, other: Any) -> Any:
    """``series / other``."""
    return taken(series) / other


def raised(series: Any, other: Any) -> Any:
    """``series**other``."""
    return taken(series) ** other


def added_to(series: Any, other: Any) -> Any:
    """``other + series``."""
    return other + taken(series)


def subtracted_from(series: Any, other: Any) -> Any:
    """``other - series``."""
    return other - taken(series)


def multiplying(series: Any, other: Any) -> Any:
    """``other * series``."""
    return other * taken(series)


for _cls, _kind, _module, _prefix in KINDS:
    _kind.stands_for = _cls
    _kind.ends = (0.0, 1.0) if _cls is Laguerre else (-1.0, 1.0)
    for _part, _called in PARTS.items():
        setattr(_kind, _part, staticmethod(getattr(_module, f"{_prefix}{_called}")))
    register_makers(_cls, _kind)
for _name, _written in {
    "add": added, "sub": subtracted, "mul": multiplied, "truediv": divided, "pow": raised,
    "radd": added_to, "rsub": subtracted_from, "rmul": multiplying,
}.items():
    facts(getattr(AnySeries, f"__{_name}__"), written_as=_written)
