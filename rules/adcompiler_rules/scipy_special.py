"""Rules for ``scipy.special``, by families of functions."""

import scipy.special

from adcompiler.rulekit import facts
from adcompiler_rules import (
    scipy_special_bessel,
    scipy_special_distributions,
    scipy_special_elliptic,
    scipy_special_error,
    scipy_special_gamma,
    scipy_special_logarithms,
    scipy_special_polynomials,
    scipy_special_reductions,
    scipy_special_series as _,  # noqa: F401
)
from adcompiler_rules.scipy_facts import state_facts

FAMILIES = (
    scipy_special_gamma, scipy_special_error, scipy_special_logarithms, scipy_special_bessel,
    scipy_special_elliptic, scipy_special_polynomials, scipy_special_distributions,
    scipy_special_reductions,
)

state_facts("scipy.special")
facts(scipy.special.zeta, output=("out", 2))
