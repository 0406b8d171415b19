"""Contexts of ``with`` statements that are instances of classes written in Python.

What ``__enter__`` and ``__exit__`` compute is compiled, as calls of these methods in front of the
block and behind it. If the block raises, ``__exit__`` is called by a handler, which raises again.
"""

from __future__ import annotations

from adcompiler.analyses.purity import Purity
from adcompiler.frontend.scope import Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, NONE, Atom, Attribute, Block, Call, Const, Do, Handler, Let, Raise, Try, Var, With,
)
from adcompiler.runtime import not_swallowed
from adcompiler.runtime.records import is_record_class
from adcompiler.specialise.calls.operator_methods import has_text
from adcompiler.specialise.interface import Env
from adcompiler.specialise.objects import call_raw, find_raw
from adcompiler.specialise.storage.partial_writes import changed_roots
from adcompiler.specialise.writer import Writer


def enters_by_methods(s: Writer, context: Atom) -> bool:
    """Say whether a context is an instance whose methods a derivative may go through."""
    type_ = s.unit.type(context)
    if not isinstance(type_, t.Object) or not is_record_class(type_.cls):
        return False
    made_here = isinstance(s.unit.definition(context), Call) and s.unit.fields(context) is not None
    takes = not type_.fields or any(may_take(field) for _, field in type_.fields)
    if not (takes if made_here else type_.fields and t.may_vary(type_)):
        return False
    found = [find_raw(type_.cls, name) for name in ("__enter__", "__exit__")]
    return all(raw is not None and has_text(raw[1]) for raw in found)


def may_take(type_: t.Type) -> bool:
    """Say whether a value carries a derivative, or a container may be given one."""
    return t.may_vary(type_) or isinstance(type_, (t.List, t.Dict, t.Object))


def written_context(
    s: Writer, node: With, context: Var, env: Env, scope: Scope | None
) -> bool | None:
    """Write a ``with`` as calls of its context's methods; None if these cannot be compiled.

    As for other ``with``, False if control never passes it.
    """
    heap, findings, start = s.heap, len(s.unit.findings), len(s.out)
    if heap is None:
        return None
    before, references = heap.state.copy(), dict(heap.references)
    given = call_method(s, context, "__enter__", [], node)
    plain = nothing_if_raised(s, context, node)
    if plain is None or len(s.unit.findings) > findings:
        del s.unit.findings[findings:], s.out[start:]
        heap.state, heap.references = before, references
        return None
    if node.target is not None:
        env[node.target] = given
    if plain:
        yields = s.block(node.body, env, scope, True)
        passes = yields is not None
        env.update(zip(node.results, yields or (), strict=passes))
    else:
        instance = Var("context")
        env[instance] = context
        passes = s.attempt(guarded(node, instance), env, scope)
    if passes:
        call_method(s, context, "__exit__", [NONE] * 3, node)
    return passes


def call_method(
    s: Writer, context: Atom, name: str, args: list[Atom], node: With
) -> Atom:
    """Write the call of a method of a context."""
    assert s.heap is not None
    instance = s.heap.current(context, node.origin)
    if instance is UNDEF:
        return UNDEF  # reported where it was read
    type_ = s.unit.type(instance)
    assert isinstance(type_, t.Object)
    found = find_raw(type_.cls, name)
    assert found is not None
    return call_raw(s, instance, type_.cls, name, found, list(args), {}, node.origin, name)


def nothing_if_raised(s: Writer, context: Atom, node: With) -> bool | None:
    """Say whether ``__exit__`` does nothing that counts where the block has raised.

    None if a global is written, in ``__enter__`` or ``__exit__``: what raises would undo that.
    Findings are left where it cannot be compiled.
    """
    heap = s.heap
    assert heap is not None
    references = dict(heap.references)
    with s.writing_to([]) as out, s.region_of_heap() as state, s.may_not_run():
        unknown: list[Atom] = []
        for name in ("kind", "error", "traceback"):
            var = Var(name)
            s.unit.types[var] = t.UNKNOWN
            unknown.append(var)
        result = call_method(s, context, "__exit__", unknown, node)
        ended = state()
    heap.references = references
    assert ended is not None
    if any(root in ended.latest for root in heap.outside_roots()):
        return None
    return (
        isinstance(result, Const) and not result.value and not changed_roots(heap, ended)
        and Purity(s.unit.type, s.unit.definition).has_no_effect(Block(tuple(out)))
    )


def guarded(node: With, context: Var) -> Try:
    """Return the block of a ``with`` as a ``try``, whose handler leaves the context."""
    error, kind, traceback, leave, result = (
        Var(name) for name in ("error", "kind", "traceback", "leave", "swallowed")
    )
    handler = Block((
        Let(kind, Call(Const(type), (error,)), node.origin),
        Let(traceback, Attribute(error, "__traceback__"), node.origin),
        Let(leave, Attribute(context, "__exit__"), node.origin),
        Let(result, Call(leave, (kind, error, traceback)), node.origin),
        Do(Call(Const(not_swallowed), (result, error)), node.origin),
        Raise(NONE, NONE, node.origin),
    ), (), True)
    return Try(
        node.body, (Handler(Const(BaseException), error, handler),), node.results, node.origin
    )
