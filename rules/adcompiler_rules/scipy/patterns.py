"""How the elements of what SciPy's functions return depend on those of arguments.

Of a function that stands in none of these lists all results are taken to depend on all numbers that
it is given.
"""

from __future__ import annotations

import importlib
from typing import Any

from adcompiler.rulekit import facts, found_in

LINEAR_IN: dict[str, dict[str, str]] = {
    "scipy.integrate": {"cumulative_trapezoid": "y initial", "simpson": "y"},
    "scipy.linalg": {
        "block_diag": "arrs", "circulant": "c", "convolution_matrix": "a", "diagsvd": "s",
        "hankel": "c r", "leslie": "f s", "matmul_toeplitz": "x", "toeplitz": "c r",
        **dict.fromkeys((
            "cho_solve", "cho_solve_banded", "lu_solve", "solve", "solve_banded", "solve_circulant",
            "solve_toeplitz", "solve_triangular", "solveh_banded",
        ), "b"),
    },
    "scipy.ndimage": {
        **dict.fromkeys(("convolve", "convolve1d", "correlate", "correlate1d"), "input,weights"),
        **dict.fromkeys((
            "gaussian_filter", "gaussian_filter1d", "gaussian_laplace", "laplace", "prewitt",
            "sobel", "uniform_filter", "uniform_filter1d",
        ), "input"),
    },
    "scipy.signal": {
        "convolve": "in1,in2", "correlate": "in1,in2", "detrend": "data", "filtfilt": "x",
        "lfilter": "x zi,b", "savgol_filter": "x", "sosfilt": "x zi", "sosfiltfilt": "x",
        "upfirdn": "x,h",
    },
    "scipy.sparse.linalg": {"expm_multiply": "B", "spsolve": "b"},
}
"""Groups of parameters in which functions are jointly linear."""

ALONG: dict[str, list[tuple[str, tuple[str, Any, str]]]] = {
    "scipy.fft": [
        ("fft ifft rfft irfft hfft ihfft dct idct dst idst", ("axis", -1, "linear")),
        ("fft2 ifft2 rfft2 irfft2 hfft2 ihfft2", ("axes", (-2, -1), "linear")),
        ("fftn ifftn rfftn irfftn hfftn ihfftn dctn idctn dstn idstn", ("axes", None, "linear")),
    ],
    "scipy.special": [("logsumexp softmax log_softmax", ("axis", None, "curved"))],
    "scipy.stats": [
        ("gmean hmean pmean sem moment skew kurtosis zscore", ("axis", 0, "curved")),
    ],
    "scipy.signal": [("hilbert detrend savgol_filter", ("axis", -1, "linear"))],
    "scipy.ndimage": [
        ("correlate1d convolve1d gaussian_filter1d uniform_filter1d", ("axis", -1, "linear")),
        ("maximum_filter1d minimum_filter1d", ("axis", -1, "piecewise")),
    ],
}
"""Along which axes functions work, and how."""

ROUNDED = {
    "scipy.fft": " ".join(names for names, _ in ALONG["scipy.fft"]) + " fht ifht",
    "scipy.signal": "fftconvolve oaconvolve",
}
"""Linear functions whose zeros are zero only up to rounding."""

TRANSFERS: dict[str, dict[str, str]] = {
    "scipy.linalg": {
        "matrix": """
            det expm sinm cosm tanm sinhm coshm tanhm logm sqrtm pinv lu qr svdvals eigvalsh
            eigh
        """,
        "factor": "cholesky", "solve_triangular": "solve_triangular",
        "solve": "solve", "inverse": "inv",
    },
    "scipy.special": {
        "numbers": """
            jvp yvp ivp kvp h1vp h2vp spherical_jn spherical_yn spherical_in spherical_kn
            multigammaln factorial comb perm zeta diric lambertw assoc_laguerre
        """,
    },
}


def state_patterns(module: str) -> None:
    """State what is known of the functions of one module."""
    importlib.import_module(module)

    def named(names: str) -> list[Any]:
        found = (found_in(module, name) for name in names.split())
        return [function for function in found if function is not None]

    for name, groups in LINEAR_IN.get(module, {}).items():
        facts(*named(name), linear_in=groups)
    for names, along in ALONG.get(module, []):
        facts(*named(names), along=along)
    for word, names in TRANSFERS.get(module, {}).items():
        facts(*named(names), transfer=word)
    facts(*named("lu_solve" if module == "scipy.linalg" else ""), axes="columns")
    facts(*named("logsumexp softmax log_softmax" if module == "scipy.special" else ""),
          axes="along all")
    facts(*named(ROUNDED.get(module, "")), rounded=True)
