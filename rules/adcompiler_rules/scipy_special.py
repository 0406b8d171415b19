"""Rules for ``scipy.special``, by families of functions."""

import adcompiler_rules.scipy.special.bessel
import adcompiler_rules.scipy.special.distributions
import adcompiler_rules.scipy.special.elliptic
import adcompiler_rules.scipy.special.error
import adcompiler_rules.scipy.special.gamma
import adcompiler_rules.scipy.special.logarithms
import adcompiler_rules.scipy.special.polynomials
import adcompiler_rules.scipy.special.reductions
import adcompiler_rules.scipy.special.series  # noqa: F401
import scipy.special

from adcompiler.rulekit import facts
from adcompiler_rules.scipy.facts import state_facts

state_facts("scipy.special")
facts(scipy.special.zeta, output=("out", 2))
