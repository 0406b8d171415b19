"""All rules for ``scipy.linalg``: importing this module registers them."""

import adcompiler_rules.scipy_blas
import adcompiler_rules.scipy_decompositions
import adcompiler_rules.scipy_eigenvalues
import adcompiler_rules.scipy_linalg_adjoints
import adcompiler_rules.scipy_matrix_equations
import adcompiler_rules.scipy_matrix_functions
import adcompiler_rules.scipy_solvers
import adcompiler_rules.scipy_special_matrices
import adcompiler_rules.scipy_structured_systems  # noqa: F401
import scipy.linalg

from adcompiler.rulekit import Recurrence, facts
from adcompiler.runtime.series.algebra import det_series
from adcompiler_rules.scipy_facts import state_facts

state_facts("scipy.linalg")
facts(scipy.linalg.det, recurrence=Recurrence(det_series, first="array"))
