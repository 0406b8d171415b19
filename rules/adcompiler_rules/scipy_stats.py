"""Rules for ``scipy.stats``: of methods of its distributions, and of its summaries of samples."""

from adcompiler_rules import (
    scipy_stats_continuous,
    scipy_stats_densities,
    scipy_stats_densities_again,
    scipy_stats_discrete,
    scipy_stats_multivariate,
    scipy_stats_samples,
    scipy_stats_summaries,
)
from adcompiler_rules.scipy_facts import state_facts

FAMILIES = (
    scipy_stats_continuous, scipy_stats_densities, scipy_stats_densities_again,
    scipy_stats_discrete, scipy_stats_multivariate, scipy_stats_samples,
    scipy_stats_summaries,
)

state_facts("scipy.stats")
