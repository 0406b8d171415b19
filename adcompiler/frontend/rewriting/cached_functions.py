"""Functions made in a function under ``lru_cache`` or ``cache``: with a dict of what they gave.

``@cache def f(n): ...`` is a function that asks a dict for ``n``, and puts what it computes there,
which is followed as other dicts are. What arguments that carry a derivative give is computed anew:
equal numbers need not have equal derivatives.
"""

from __future__ import annotations

import copy
from typing import Any

import gast

from adcompiler.frontend.rewriting.source_map import assigned, called, read, unused_name

NAMES = ("lru_cache", "cache")
EFFECTS = (gast.Global, gast.Nonlocal, gast.Delete)


def is_cache(decorator: object) -> bool:
    """Say whether a decorator is ``functools.lru_cache`` or ``cache``, which is known by types."""
    return False


def keeps(may_run_again: bool, *args: Any) -> bool:
    """Say whether what a function gives for arguments is kept: none carries a derivative.

    Where some do, it is run for each call, which it ``may_run_again`` if it has no effects.
    """
    return True


def cached(node: gast.FunctionDef) -> list[gast.stmt] | None:
    """``@lru_cache def f(n): ...``, unless it forgets what it gave, and has effects that tell."""
    decorator, pure = decorator_of(node), has_no_effects(node)
    if decorator is None or not (pure or keeps_all(node.decorator_list[0])):
        return None
    names = [arg.id for arg in (*node.args.posonlyargs, *node.args.args)]
    taken = {n.id for n in gast.walk(node) if isinstance(n, gast.Name)} | {node.name}
    table, key, value, inner = (
        unused_name(f"{node.name}_{part}", taken) for part in ("kept", "key", "value", "computed"))
    computed = copy.deepcopy(node)
    computed.name, computed.decorator_list = inner, []
    computed.args.defaults = []
    given = [read(name) for name in names]
    result = gast.Call(read(inner), given, [])
    keyed = gast.Tuple(given, gast.Load()) if len(given) != 1 else given[0]
    stored = gast.Subscript(read(table), read(key), gast.Store())
    found = gast.Subscript(read(table), read(key), gast.Load())
    asking = copy.deepcopy(node)
    asking.decorator_list = []
    asking.body = [computed, gast.If(
        called(keeps, gast.Constant(pure, None), *copy.deepcopy(given)),
        [
            assigned(key, copy.deepcopy(keyed)),
            gast.If(gast.Compare(
                read(key), [gast.In()], [read(table)]), [gast.Return(found)], []),
            assigned(value, result),
            gast.Assign([stored], read(value), None),
            gast.Return(read(value)),
        ],
        [gast.Return(copy.deepcopy(result))],
    )]
    return [gast.If(
        called(is_cache, copy.deepcopy(decorator)),
        [assigned(table, gast.Dict([], [])), asking], [copy.deepcopy(node)],
    )]


def decorator_of(node: gast.FunctionDef) -> gast.expr | None:
    """Return what a function is decorated with if that may be ``lru_cache`` alone."""
    if len(node.decorator_list) != 1:
        return None
    found = node.decorator_list[0]
    if isinstance(found, gast.Call):
        found = found.func
    last = getattr(found, "id", None) or getattr(found, "attr", None)
    args = node.args
    plain = not (args.vararg or args.kwarg or args.kwonlyargs)
    return found if last in NAMES and plain and (args.args or args.posonlyargs) else None


def keeps_all(decorator: gast.expr) -> bool:
    """Say whether a cache is told to keep all that it is given."""
    if not isinstance(decorator, gast.Call):
        return "cache" in (getattr(decorator, "id", ""), getattr(decorator, "attr", ""))
    sizes = [*decorator.args[:1], *(k.value for k in decorator.keywords if k.arg == "maxsize")]
    return bool(sizes) and isinstance(sizes[0], gast.Constant) and sizes[0].value is None


def has_no_effects(function: gast.FunctionDef) -> bool:
    """Say whether the text of a function does no more than compute: it writes into nothing."""
    for node in gast.walk(function):
        if isinstance(node, EFFECTS) or (
            isinstance(node, gast.Expr) and not isinstance(node.value, gast.Constant)
        ):
            return False
        if isinstance(node, (gast.Subscript, gast.Attribute)) and isinstance(node.ctx, gast.Store):
            return False
    return True
