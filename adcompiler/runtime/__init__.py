"""What emitted modules import of the compiler: it needs NumPy and nothing else."""

from adcompiler.runtime.adjoints.broadcasting import (
    StretchedError, keeps_shape, project, same_extent, same_shape, same_trailing_shape,
    unbroadcast,
)
from adcompiler.runtime.adjoints.elementwise import stays_real
from adcompiler.runtime.adjoints.indexing import (
    accumulate, add_at, give_back, handed_out, is_basic, last_written, own, paired, scatter,
)
from adcompiler.runtime.aliases import AliasedError, apart, holds_once
from adcompiler.runtime.containers import (
    Unassigned, append, cell_value, check_assigned, check_bound, check_count,
    check_items, check_keywords, check_lasts, check_support, check_position, check_rebinds,
    choose, dict_keys,
    dict_of, dict_values,
    drop_last, entry,
    generated, is_mapping, is_sequence, not_callable, pattern_argument, positions, put_entry,
    read_global, repack, same_kind, same_length, store_global, unpack, without_keys,
)
from adcompiler.runtime.records import record
from adcompiler.runtime.regions import (
    called, evaluated, no_grad, note_value, noted_value, passing_on,
    stop_gradient, told,
)
from adcompiler.runtime.structure import (
    add, as_cotangent, as_gradient, seed, unit_vectors, zeros_like,
)
from adcompiler.runtime.tangents import as_tangent
from adcompiler.runtime.tapes import as_rows
from adcompiler.runtime.unfit import Unfit, UnfitError

__all__ = [
    "AliasedError", "StretchedError", "Unassigned", "Unfit", "UnfitError", "accumulate",
    "add", "add_at", "apart", "append", "as_cotangent", "as_gradient", "as_rows", "as_tangent",
    "called",
    "cell_value", "check_assigned", "check_bound", "check_count",
    "check_items", "check_keywords", "check_lasts", "check_position",
    "check_rebinds", "check_support", "choose", "dict_keys", "dict_of", "dict_values",
    "drop_last",
    "entry", "evaluated", "generated", "give_back", "handed_out", "holds_once", "is_basic",
    "is_mapping",
    "is_sequence", "keeps_shape", "last_written", "no_grad", "not_callable",
    "note_value", "noted_value", "own", "paired", "passing_on", "pattern_argument", "positions",
    "project",
    "put_entry", "read_global", "record", "repack", "same_extent", "same_kind", "same_length",
    "same_shape", "same_trailing_shape", "scatter", "seed", "stays_real", "stop_gradient",
    "store_global", "told", "unbroadcast", "unit_vectors", "unpack", "without_keys", "zeros_like",
]
