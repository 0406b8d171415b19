"""What a subscript picks: whether an update through it can be written as a plain statement."""

from __future__ import annotations

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Call, Const, Pack, unstar
from adcompiler.ops.queries import meaning
from adcompiler.typed.unit import Unit


def is_integer(unit: Unit, index: Atom) -> bool:
    """Say whether a subscript is one integer."""
    type_ = t.as_index(unit.type(index))
    return isinstance(type_, t.Scalar) and type_.kind == "int"


def index_kind(unit: Unit, index: Atom) -> str:
    """Return basic, mask (one boolean array), gather or unknown for a subscript."""
    rhs = unit.definition(index)
    if isinstance(rhs, Pack) and rhs.kind == "tuple":
        kinds = {index_kind(unit, unstar(item)) for item in rhs.items}
        if picks_each_once(unit, rhs):
            return "mask"
        return "basic" if kinds <= {"basic"} else "gather" if kinds <= {
            "basic", "gather"} else "unknown"
    if isinstance(index, Const):
        return "basic" if not isinstance(index.value, (list, bool)) else "unknown"
    match t.as_index(unit.type(index)):
        case t.Scalar("int"):
            return "basic"
        case t.SliceType() | t.Static():
            return "basic"
        case t.Array() as array if array.kind == "bool":
            return "mask"
        case t.Array() as array if array.kind == "int":
            return "gather"
        case t.List(item) if isinstance(item, t.Scalar) and item.kind == "int":
            return "gather"
    return "unknown"


def picks_each_once(unit: Unit, rhs: Pack) -> bool:
    """Say whether index arrays never name an element twice: ``[np.arange(n), j]``."""
    arrays = []
    for item in map(unstar, rhs.items):
        type_ = unit.type(item)
        if not isinstance(type_, t.Array):
            if index_kind(unit, item) != "basic":
                return False
        elif type_.ndim == 1 and type_.kind == "int":
            arrays.append(item)
        else:
            return False
    classes = {unit.shape(a) for a in arrays}
    return len(classes) == 1 and any(is_count(unit, a) for a in arrays)


def is_count(unit: Unit, atom: Atom) -> bool:
    """Say whether ``atom`` is ``np.arange(n)``."""
    made = unit.definition(atom)
    return isinstance(made, Call) and meaning(made) == "arange" and len(made.args) == 1
