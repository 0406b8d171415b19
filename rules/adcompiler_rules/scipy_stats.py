"""Rules for ``scipy.stats``: of methods of its distributions, and of its summaries of samples."""

from adcompiler_rules import (
    scipy_stats_continuous,
    scipy_stats_discrete,
    scipy_stats_summaries,
)

FAMILIES = (scipy_stats_continuous, scipy_stats_discrete, scipy_stats_summaries)
