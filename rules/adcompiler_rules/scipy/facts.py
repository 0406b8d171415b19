"""Facts about SciPy's functions: storage of results, and arrays that are written into."""

from __future__ import annotations

import importlib
from typing import Any

from adcompiler.rulekit import MAY, REGISTRY, Option, Shares, facts
from adcompiler_rules.numpy.facts import named, position, takes
from adcompiler_rules.numpy.types import undecided
from adcompiler_rules.scipy.patterns import state_patterns

SHARING: dict[str, dict[str, Shares]] = {
    "scipy.linalg": {
        "fractional_matrix_power": Shares(MAY, (0,), (Option("t", (1,), None, 1),)),
    },
    "scipy.fft": {
        **{name: Shares(MAY, (0,), (Option("axes", ((), []), None, 2),)) for name in (
            "fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2", "fftn", "ifftn", "rfftn",
            "irfftn", "hfftn", "ihfftn",
        )},
        **{name: Shares(MAY, (0,), (Option("axes", ((), []), None, 3),)) for name in (
            "dctn", "idctn", "dstn", "idstn",
        )},
    },
}
"""Functions whose results may be an argument; those of others have storage of their own."""

WRITTEN: dict[str, tuple[str, ...]] = {
    "label": ("output",), "distance_transform_bf": ("distances", "indices"),
    "distance_transform_cdt": ("distances", "indices"),
    "distance_transform_edt": ("distances", "indices"),
    "ordqz": (), "qz": (), "schur": (),
}
"""Functions that write into arguments in another way than by storing their result there."""
BY_VALUES = {
    "scipy.linalg": (
        "eig", "eigvals", "fractional_matrix_power", "funm", "logm", "signm", "sqrtm",
    ),
}
"""Functions whose results are real or complex as the values of arguments decide."""

OWN_OF_KERNELS = {
    "expm": "expm_adjoint expm_value",
    "integrate": "simpson_weights",
    "interpolate": "grid_slopes",
    "logm": "logm_adjoint power_adjoint",
    "ndimage": "correlate_adjoints along_axis_adjoint edge_adjoint laplace_adjoint "
               "gaussian_laplace_adjoint rank_choices rank_adjoint",
    "signal": "in_full turned folded planar_adjoints planar_product lfilter_adjoints "
              "lfilter_tangent filtfilt_adjoint upfirdn_adjoints",
    "smoothing": "savgol_adjoint sosfiltfilt_adjoint",
    "solvers": "mirrored mirrored_adjoint banded_outer banded_product banded_transpose "
               "permutation_of banded_factor_product cholesky_banded_adjoint toeplitz_adjoint",
    "splines": "spline_weights sampled places_adjoint affine_places",
}
"""Kernels for SciPy, by module, whose results have storage of their own."""

for part, names in OWN_OF_KERNELS.items():
    facts(*named(f"adcompiler_rules.kernels.scipy_{part}", names), shares="none")


def state_facts(module: str) -> None:
    """State what is known of those public functions of a module of SciPy that have rules."""
    place = importlib.import_module(module)
    sharing = SHARING.get(module, {})
    for name in public(place):
        function = getattr(place, name)
        if REGISTRY.is_registered(function) or REGISTRY.is_inactive(function):
            facts(function, shares=sharing.get(name, "none"))
    state_patterns(module)
    state_types(module)


def state_types(module: str) -> None:
    """State of which functions the values of arguments decide whether results are complex."""
    place = importlib.import_module(module)
    for name in BY_VALUES.get(module, ()):
        facts(getattr(place, name), typed_as=undecided)


def state_outputs(module: str) -> None:
    """State which arguments the public functions of a module write into, with a rule or not."""
    place = importlib.import_module(module)
    for name in public(place):
        function = getattr(place, name)
        if name in WRITTEN:
            facts(function, writes=WRITTEN[name])
        elif takes(function, "output"):
            facts(function, output=("output", position(function, "output")))


def public(place: Any) -> list[str]:
    """Return the names of the functions that a module exports."""
    return [
        name for name in place.__all__
        if callable(getattr(place, name)) and not isinstance(getattr(place, name), type)
    ]
