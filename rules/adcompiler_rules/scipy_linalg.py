"""All rules for ``scipy.linalg``: importing this module registers them."""

import adcompiler_rules.scipy.linalg.blas
import adcompiler_rules.scipy.linalg.decompositions
import adcompiler_rules.scipy.linalg.eigenvalues
import adcompiler_rules.scipy.linalg.adjoints
import adcompiler_rules.scipy.linalg.matrix_equations
import adcompiler_rules.scipy.linalg.matrix_functions
import adcompiler_rules.scipy.linalg.solvers
import adcompiler_rules.scipy.linalg.special_matrices
import adcompiler_rules.scipy.linalg.structured_systems  # noqa: F401
import scipy.linalg

from adcompiler.rulekit import Recurrence, facts
from adcompiler_rules.kernels.array_series import det_series
from adcompiler_rules.scipy.facts import state_facts

state_facts("scipy.linalg")
facts(scipy.linalg.det, recurrence=Recurrence(det_series, first="array"))
