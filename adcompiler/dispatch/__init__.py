"""From a call to compiled code: argument types select a specialisation, found or compiled once.

Each derivative object gets a ``__call__`` of its own, generated with the signature of the user's
function: the newest specialisations are tried first, by identity tests of the argument types, any
other is looked up by the full key.
"""

from __future__ import annotations

from adcompiler.dispatch.arguments import as_real, part_at
from adcompiler.dispatch.calling import AtPoint
from adcompiler.dispatch.compiled import Compiled
from adcompiler.dispatch.entry import MAX_DIRECT, make_call
from adcompiler.dispatch.finite import NotFinite
from adcompiler.dispatch.specialisations import Specialisations
from adcompiler.dispatch.targets import differentiated_by_default, holds_floats
from adcompiler.typed.options import Options

__all__ = [
    "MAX_DIRECT", "AtPoint", "Compiled", "NotFinite", "Options", "Specialisations", "as_real",
    "differentiated_by_default", "holds_floats", "make_call", "part_at",
]
