"""A C function given to SciPy as a LowLevelCallable: integrated in C, differentiated by Leibniz.

``quad`` calls the C library's ``erf`` without passing through Python. The derivative of the
integral with respect to its limits is the integrand there, which is all that the adjoint needs.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import math

from scipy import LowLevelCallable, integrate

from adcompiler import ExternalFunction, grad

libm = ctypes.CDLL(ctypes.util.find_library("m"))
libm.erf.restype = ctypes.c_double
libm.erf.argtypes = [ctypes.c_double]
INTEGRAND = LowLevelCallable(libm.erf)


class IntegralOfErf(ExternalFunction):
    """The integral of the error function between two limits."""

    returns = 0.0

    def forward(self, a: float, b: float) -> float:
        """Return the integral, by a call that stays in C."""
        self.limits = a, b
        return integrate.quad(INTEGRAND, a, b)[0]

    def adjoint(self, y_bar: float) -> tuple[float, float]:
        """Return the cotangents of both limits."""
        a, b = self.limits
        return -y_bar * libm.erf(a), y_bar * libm.erf(b)


integral_of_erf = IntegralOfErf()


def area(a: float, width: float) -> float:
    """Return the square of the area under the error function from ``a`` to ``a + width**2``."""
    return integral_of_erf(a, a + width * width) ** 2


def closed(a: float, b: float) -> float:
    """Return the integral in closed form."""
    return sum(
        sign * (x * math.erf(x) + math.exp(-x * x) / math.sqrt(math.pi))
        for sign, x in ((-1.0, a), (1.0, b))
    )


def main() -> list[tuple[float, float]]:
    """Print and return pairs of compiled derivatives and their closed forms."""
    a, width = 0.2, 1.1
    b = a + width * width
    compiled = grad(area, argnums=(0, 1))(a, width)
    total = 2.0 * closed(a, b)
    exact = (total * (math.erf(b) - math.erf(a)), total * math.erf(b) * 2.0 * width)
    for name, slope, wanted in zip(("a", "width"), compiled, exact, strict=True):
        print(f"d area / d {name:5}   {slope:.14f}   closed form {wanted:.14f}")
    return list(zip(compiled, exact, strict=True))


if __name__ == "__main__":
    main()
