"""Calls of packages of polynomials and of distributions written with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.real.packages.cases import Case
from tests.record.packages.calls import of_module

X = np.array([0.3, 1.2, 0.7])
here = of_module("polynomials")


def polynomial(a: Any) -> Any:
    import numpoly

    p, q = numpoly.variable(2)
    return a[0] * p * p + a[1] * q + a[2] * p * q + 1.0


def numpoly_power(a: Any) -> Any:
    import numpoly

    return numpoly.power(polynomial(a), 2)(0.3, 0.5)


def numpoly_atleast_2d(a: Any) -> Any:
    import numpoly

    return numpoly.atleast_2d(polynomial(a))(0.3, 0.5)


def numpoly_derivative(a: Any) -> Any:
    import numpoly

    return numpoly.derivative(polynomial(a), "q0")(0.3, 0.5)


def numpoly_moveaxis(a: Any) -> Any:
    import numpoly

    return numpoly.moveaxis(numpoly.outer(polynomial(a) * a, a), 0, 1)(0.3, 0.5)


def numpoly_hessian(a: Any) -> Any:
    import numpoly

    return numpoly.hessian(polynomial(a))(0.3, 0.5)


def numpoly_outer(a: Any) -> Any:
    import numpoly

    return numpoly.outer(polynomial(a) * a, polynomial(a) * a)(0.3, 0.5)


def numpoly_hsplit(a: Any) -> Any:
    import numpoly

    return numpoly.hsplit(polynomial(a) * a, 3)[1](0.3, 0.5)


def numpoly_multiply(a: Any) -> Any:
    import numpoly

    return numpoly.multiply(polynomial(a), a)(0.3, 0.5)


NUMPOLY = tuple(here(f"numpoly_{name}", X) for name in (
    "power", "atleast_2d", "derivative", "moveaxis", "hessian", "outer", "hsplit", "multiply"))


def normal_ppf(mu: float, sigma: float) -> Any:
    import chaospy

    return chaospy.Normal(mu, sigma).ppf(0.3)


def normal_pdf(mu: float, sigma: float) -> Any:
    import chaospy

    return chaospy.Normal(mu, sigma).pdf(0.3)


def normal_cdf(mu: float, sigma: float) -> Any:
    import chaospy

    return chaospy.Normal(mu, sigma).cdf(np.array([0.3, mu]))


def normal_mom(mu: float, sigma: float) -> Any:
    import chaospy

    return chaospy.Normal(mu, sigma).mom([1, 2, 3])


def hyperbolic_secant(scale: float, shift: float) -> Any:
    import chaospy

    return chaospy.HyperbolicSecant(scale, shift).pdf(0.3)


def gamma(shape: float, scale: float) -> Any:
    import chaospy

    return chaospy.Gamma(shape, scale).cdf(0.3)


def clayton(theta: float) -> Any:
    import chaospy

    return chaospy.Clayton(chaospy.Iid(chaospy.Uniform(), 2), theta).pdf([0.3, 0.6])


def log_of_variable(lower: float, upper: float) -> Any:
    import chaospy

    return chaospy.Log(chaospy.Uniform(lower, upper)).pdf(0.3)


CHAOSPY = (
    here("normal_ppf", 0.4, 0.7), here("normal_pdf", 0.4, 0.7), here("normal_cdf", 0.4, 0.7),
    here("normal_mom", 0.4, 0.7), here("hyperbolic_secant", 0.4, 0.7), here("gamma", 1.4, 0.7),
    here("clayton", 1.4), here("log_of_variable", 0.4, 3.0),
)

GROUPS: dict[str, tuple[Case, ...]] = {"numpoly": NUMPOLY, "chaospy": CHAOSPY}
