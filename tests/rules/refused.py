"""Rules whose derivatives of other kinds than the first in reverse mode are refused, by name.

``tests/forward/test_rules.py`` and ``tests/rules/test_second_order.py`` check that these are
refused and that all the others are not; ``docs/functions.md`` is made from them.
"""

FORWARD = frozenset({
    "scipy.interpolate._rgi.RegularGridInterpolator.__call__",
    "scipy.linalg._decomp_cholesky.cho_solve_banded",
    "scipy.linalg._decomp_cholesky.cholesky_banded",
})
"""Refused in forward mode on their first sample."""

TWICE = frozenset({
    "cmath.sqrt",
    "scipy.interpolate._polyint._Interpolator1D.__call__",
    "scipy.interpolate._rgi.RegularGridInterpolator.__call__",
    "scipy.linalg._decomp_cholesky.cho_solve_banded",
    "scipy.linalg._decomp_cholesky.cholesky_banded",
    "scipy.linalg._matfuncs.expm",
    "scipy.linalg._matfuncs.fractional_matrix_power",
    "scipy.linalg._matfuncs.logm",
    "scipy.linalg._special_matrices.block_diag",
    "scipy.signal._signaltools.lfilter",
    "scipy.signal._signaltools.sosfilt",
    "scipy.special.agm",
    "scipy.special.chndtr",
    "scipy.special.chndtrinc",
    "scipy.special.chndtrix",
    "scipy.special.ellipe",
    "scipy.special.ellipeinc",
    "scipy.special.ellipj",
    "scipy.special.ellipk",
    "scipy.special.ellipkinc",
    "scipy.special.ellipkm1",
    "scipy.special.elliprc",
    "scipy.special.elliprf",
    "scipy.special.elliprg",
    "scipy.special.eval_sh_jacobi",
    "scipy.special.jve",
    "scipy.special.modstruve",
    "scipy.special.struve",
    "scipy.special.yve",
})
"""With a pullback whose derivative is refused, on the first sample with real arguments."""

UNTRIED = frozenset({
    "complex.conjugate",
    "ndarray.T",
    "ndarray.mT",
})
"""Without a sample of real arguments around which the pullback is smooth."""
