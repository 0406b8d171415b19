"""Rules for ``scipy.stats``: of methods of its distributions, and of its summaries of samples."""

import adcompiler_rules.scipy.stats.continuous
import adcompiler_rules.scipy.stats.densities_a_to_g
import adcompiler_rules.scipy.stats.densities_h_to_z
import adcompiler_rules.scipy.stats.discrete
import adcompiler_rules.scipy.stats.multivariate
import adcompiler_rules.scipy.stats.samples
import adcompiler_rules.scipy.stats.summaries  # noqa: F401
from adcompiler_rules.scipy.facts import state_facts

state_facts("scipy.stats")
