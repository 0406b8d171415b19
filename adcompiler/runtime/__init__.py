"""The only code that emitted modules import: NumPy and nothing else."""

from adcompiler.runtime.broadcasting import (
    StretchedError, keeps_shape, project, same_shape, same_trailing_shape, unbroadcast,
)
from adcompiler.runtime.containers import (
    append, cell_value, check_bound, dict_keys, dict_of, dict_values, drop_last, repack,
    same_length, unpack,
)
from adcompiler.runtime.indexing import add_at, is_basic, scatter
from adcompiler.runtime.records import record
from adcompiler.runtime.structure import add, as_gradient, seed, zeros_like

__all__ = [
    "StretchedError", "add", "add_at", "append", "as_gradient", "cell_value", "check_bound",
    "dict_keys", "dict_of", "dict_values", "drop_last", "is_basic", "keeps_shape", "project",
    "record", "repack", "same_length", "same_shape", "same_trailing_shape", "scatter", "seed",
    "unbroadcast", "unpack", "zeros_like",
]
