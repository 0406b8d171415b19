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
from adcompiler_rules.scipy_facts import state_facts

state_facts("scipy.linalg")
