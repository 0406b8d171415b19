"""NumPy functions whose results carry no derivative: shapes, predicates, indices, constants."""

from __future__ import annotations

import numpy as np

try:
    from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple
except ImportError:  # NumPy 1
    from numpy.core.multiarray import normalize_axis_index  # type: ignore[no-redef]
    from numpy.core.numeric import normalize_axis_tuple  # type: ignore[no-redef]

from adcompiler.rulekit import alias, non_differentiable

SHAPES_AND_TYPES = """
    shape ndim size result_type can_cast promote_types min_scalar_type common_type broadcast_shapes
    iterable isscalar isfortran isdtype issubdtype iscomplexobj isrealobj shares_memory
    may_share_memory typename finfo iinfo
"""
PREDICATES = """
    isclose allclose array_equal array_equiv iscomplex isreal isneginf isposinf isin any all
    count_nonzero
"""
INDICES = """
    argmax argmin nanargmax nanargmin argsort argpartition argwhere lexsort nonzero flatnonzero
    searchsorted digitize indices diag_indices diag_indices_from tril_indices
    tril_indices_from triu_indices triu_indices_from mask_indices unravel_index ravel_multi_index
    ndindex
"""
CONSTANTS = """
    zeros ones empty zeros_like ones_like empty_like eye identity tri bartlett blackman hamming
    hanning
"""
ROUNDING = """
    around round fix
"""
TEXT = """
    array2string array_repr array_str format_float_positional format_float_scientific base_repr
    binary_repr
"""
IMPURE = """
    set_printoptions seterr seterrcall setbufsize save savez savez_compressed savetxt load loadtxt
    fromfile genfromtxt
"""
READING_STATE = """
    get_printoptions geterr geterrcall getbufsize errstate printoptions
"""


def numpy_functions(names: str) -> list[object]:
    """Return those of the named NumPy functions that this NumPy has."""
    return [getattr(np, name) for name in names.split() if hasattr(np, name)]


for group in (SHAPES_AND_TYPES, PREDICATES, INDICES, CONSTANTS, ROUNDING, TEXT):
    non_differentiable(*numpy_functions(group))
for group in (IMPURE, READING_STATE):
    non_differentiable(*numpy_functions(group), pure=False)

for name in ("shape", "ndim", "size", "any", "all", "argmax", "argmin", "argsort", "argpartition",
             "nonzero", "searchsorted", "round"):
    alias(getattr(np.ndarray, name), getattr(np, name))

non_differentiable(
    np.linalg.matrix_rank, np.einsum_path, np.mintypecode, np.packbits, np.unpackbits,
    np.is_busday, np.busday_count, np.busday_offset, np.datetime_as_string, np.datetime_data,
    np.get_include, np.ndarray.tobytes, np.ndarray.dumps, normalize_axis_index,
    normalize_axis_tuple,
)
