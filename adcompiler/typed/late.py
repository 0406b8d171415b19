"""Fields that tell whether an attribute of an instance has been assigned yet."""

from __future__ import annotations

from adcompiler.ir import types as t

SUFFIX = "_is_assigned_"


def named_flag(name: str) -> str:
    """Return the name of the field that tells whether an attribute has been assigned."""
    return name + SUFFIX


def flag_of(type_: t.Object, name: str) -> str | None:
    """Return that name if an attribute of an instance need not be there, None if it is.

    Cotangents and tangents of instances have no boolean field of that name.
    """
    flag = named_flag(name)
    return flag if type_.field(flag) == t.BOOL else None


def has_flags(type_: t.Object) -> bool:
    """Say whether attributes of an instance need not be there."""
    return any(name.endswith(SUFFIX) for name, _ in type_.fields)
