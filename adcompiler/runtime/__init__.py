"""The only code that emitted modules import: NumPy and nothing else."""

from adcompiler.runtime.broadcasting import (
    StretchedError, keeps_shape, project, same_shape, same_trailing_shape, unbroadcast,
)
from adcompiler.runtime.containers import (
    append, cell_value, check_bound, dict_keys, dict_of, dict_values, drop_last, generated,
    is_mapping, is_sequence, pattern_argument, read_global, repack, same_length, store_global,
    unpack, without_keys,
)
from adcompiler.runtime.indexing import add_at, is_basic, scatter
from adcompiler.runtime.regions import note_value, noted_value, passing_on
from adcompiler.runtime.structure import add, as_gradient, seed, zeros_like

__all__ = [
    "StretchedError", "add", "add_at", "append", "as_gradient", "cell_value", "check_bound",
    "dict_keys", "dict_of", "dict_values", "drop_last", "generated", "is_basic",
    "is_mapping", "is_sequence", "keeps_shape", "note_value", "noted_value", "passing_on",
    "pattern_argument", "project", "read_global", "repack", "same_length", "same_shape",
    "same_trailing_shape", "scatter", "seed", "store_global", "unbroadcast", "unpack",
    "without_keys", "zeros_like",
]
