"""Reports calls whose reverse is not known, or that may write what is being differentiated."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any

from adcompiler.analyses.activity import varied_variables
from adcompiler.analyses.purity import CHECKS, READERS, WRITERS, Purity
from adcompiler.derive.rules import is_foreign
from adcompiler.errors import Finding
from adcompiler.frontend.sources.places import is_users
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Call, Const, Do, Let, Origin, Rhs, Star, Var, unstar,
)
from adcompiler.ir.visit import walk
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime import note_value, noted_value, own, store_global, told
from adcompiler.runtime.records import is_opaque_class, is_record_class
from adcompiler.runtime.unknown_calls import call_on_copies
from adcompiler.infer.calls.constructors import assigning_line
from adcompiler.infer.calls.libraries import is_standard
from adcompiler.infer.calls.missing import may_fill, may_write, missing_rule
from adcompiler.infer.calls.sparse_matrices import refuse_whole
from adcompiler.infer.calls.telling import may_keep_told
from adcompiler.infer.inference import Inference
from adcompiler.infer.lost_types import (
    called, may_keep, missing_of_unknown, possible_class, with_rule_for_caller,
)
from adcompiler.support.signatures import signature as signature_of
from adcompiler.typed.callee import Callee

MUTABLE = (t.Array, t.List, t.Dict, t.Object, t.Unknown)
"""Types of values that a function may write into."""


def report_missing(
    s: Inference, target: Var, operands: Iterable[Atom], shown: str, function: Any,
    args: Sequence[Any], keywords: Mapping[str, Any], origin: Origin,
) -> None:
    """Report a missing rule; not again for what is made of a result that lacks one."""
    unit = s.unit
    consequence = any(operand in unit.lost for operand in operands)
    unit.lost.add(target)
    if consequence:
        return
    if function in (set, frozenset):
        reject_set(s, origin)
        return
    if refuse_whole(s, function, origin):
        return
    store = assigning_line(function) if isinstance(function, type) else None
    if store is not None:
        s.reject(
            origin, f"{shown} assigns attributes of the new instance ({store}), which is not "
            "supported yet", "make the class a dataclass or a NamedTuple, which are supported",
            "array-writes",
        )
        return
    obstacle = unit.calls.opaque.get(function) if isinstance(function, FunctionType) else None
    if function is None:
        found = missing_of_unknown(unit, shown, next(iter(operands)), origin)
    else:
        found = missing_rule(origin, shown, function, len(args), keywords, obstacle)
    report_at(s, found, origin, target)


def report_call_without_rule(
    s: Inference, target: Var, rhs: Call, function: Callable[..., Any] | None,
    args: Sequence[Atom | Star], active: Collection[Var], origin: Origin,
) -> None:
    """Report a call through which a derivative would have to go, unless it is known to be zero."""
    if function is not None and REGISTRY.inactive(function) is not None:
        return
    if fills_buffer(active, rhs):
        shown = called(origin) if function is None else getattr(function, "__name__", target.name)
        report_at(s, may_fill(origin, shown, function), origin, target)
        return
    named = {key: value for key, value in rhs.kwargs if key is not None}
    known = {key: value.value for key, value in named.items() if isinstance(value, Const)}
    shown = f"{getattr(function, '__name__', None) or target.name}()"
    operands = (rhs.func, *map(unstar, args), *named.values())
    report_missing(s, target, operands, shown, function, args, known, origin)


def report_at(s: Inference, found: Finding, origin: Origin, target: Var | None = None) -> None:
    """Record a finding about what defines ``target``, with the calls that lead to its place."""
    known = s.unit.places
    places = known[target] if target in known else next(
        (found for found in known.values() if found[-1] == replace(origin, via=None)), ())
    found = with_rule_for_caller(found, places)
    calls = [place.call for place in reversed(places[:-1]) if is_users(place.file)]
    if not calls and origin.via is not None:
        calls = [origin.via.call]
    s.report(replace(found, callers=tuple(dict.fromkeys(calls))))


def reject_set(s: Inference, origin: Origin) -> None:
    """Report a set that is made of numbers."""
    s.reject(
        origin, "a set of numbers has no derivative where two of them are equal",
        "use a list or a tuple", "set-displays",
    )


def reject_instances(s: Inference, active: Collection[Var], rhs: Call, origin: Origin) -> None:
    """Report an instance that is differentiated and given to a function that is not opened."""
    if isinstance(rhs.func, Const) and (rhs.func.value is own or has_rule_for_all(s, rhs)):
        return
    for atom in (*map(unstar, rhs.args), *(atom for _, atom in rhs.kwargs)):
        type_ = s.unit.type(atom)
        if not isinstance(atom, Var) or atom not in active:
            continue
        reject_opaque(s, atom, origin)
        if isinstance(type_, t.Object) and is_record_class(type_.cls):
            function = rhs.func.value if isinstance(rhs.func, Const) else None
            shown = getattr(function, "__name__", "a function")
            s.reject(
                origin, f"{shown}() is given an instance of {type_.cls.__name__}, which is "
                "differentiated; how it uses the attributes is not known",
                "pass the attributes that it needs", "attributes",
            )


def reject_opaque(s: Inference, atom: Atom, origin: Origin) -> None:
    """Report a value that is differentiated, if it is of a class whose items are not followed.

    So is one that may be of a class with operators of its own.
    """
    type_ = s.unit.type(atom)
    reject_possible_instance(s, atom, origin)
    if not isinstance(type_, t.Object) or not is_opaque_class(type_.cls):
        return
    cls = type_.cls
    s.reject(
        origin, f"a {cls.__name__} is differentiated here, and what it holds is not followed",
        "pass a list, a tuple, a dict or an array: `list(x)`, `np.asarray(x)`", "argument-types",
    )


def reject_possible_instance(s: Inference, atom: Atom, origin: Origin, name: str = "") -> None:
    """Report a value that may be an instance whose class says what an operation does with it.

    The operation is a function or operator, or reads the attribute of a ``name``.
    """
    possible = possible_class(s.unit, atom, name)
    if possible is not None:
        own = f"`{name}`" if name else "operators"
        s.reject(
            origin, f"this may be an instance of {possible.__name__}, which has {own} of its own, "
            "or something else", "use one class on every path", "attributes", unknown=atom)


def has_rule_for_all(s: Inference, rhs: Call) -> bool:
    """Say whether a rule gives a cotangent for every instance that a function is given.

    The rules of this project mean numbers and arrays; who wrote another one knows its arguments.
    """
    assert isinstance(rhs.func, Const)
    rule = REGISTRY.find(rhs.func.value)
    if rule is None or rule.definition is None or rhs.kwargs or not is_foreign(rule):
        return False
    names = list(signature_of(rule.definition).parameters)[: len(rhs.args)]
    return len(names) == len(rhs.args) and all(
        name in rule.wrt for name, arg in zip(names, rhs.args, strict=True)
        if isinstance(s.unit.type(unstar(arg)), t.Object)
    )


def check_unseen(
    s: Inference, varied: Collection[Atom], rhs: Rhs, origin: Origin, target: Var | None = None
) -> None:
    """Report a call that may write a differentiable value where its reverse is not seen.

    The result is not used for the derivative. The function is unknown, so it might write what
    it gets into an array or container that it also gets.
    """
    unit = s.unit
    if not isinstance(rhs, Call):
        return
    operands = (*map(unstar, rhs.args), *(atom for _, atom in rhs.kwargs))
    given = [atom for atom in operands if atom in varied]
    if not given:
        return
    if not isinstance(rhs.func, Const):
        check_unseen_method(s, rhs.func, origin, target)
        return
    function = rhs.func.value
    if function is call_on_copies:
        inner = unstar(rhs.args[0])
        if not isinstance(inner, Const):
            check_unseen_method(s, inner, origin, target)
            return
        function = inner.value
    if function is told:
        if may_keep_told(s.unit, unstar(rhs.args[0]), given):
            s.reject(
                origin, "what is told here of a differentiated value may be kept as it is, and be "
                "read back: by a handler, filter or formatter of logging, a warning or a logger of "
                "a class that is not known", "tell text: an f-string, `str(x)`", "array-writes")
        return
    if function is store_global:
        check_store(s, varied, rhs, origin)
        return
    if function in (note_value, noted_value):
        return  # what is active of it is refused where it is read
    if function in WRITERS or function in CHECKS or function in READERS:
        return
    if isinstance(function, Callee):
        check_callee(s, function, [unstar(arg) in varied for arg in rhs.args], origin)
        return
    if not any(isinstance(unit.type(atom), MUTABLE) for atom in operands):
        return
    if isinstance(function, FunctionType) and (
        function in unit.calls.harmless
        or (is_standard(function) and not any(keeps_values(unit.type(a)) for a in operands))
    ):
        return  # those that write into arrays and containers are refused by name
    if isinstance(getattr(function, "__self__", None), str):
        return  # a method of a text
    if isinstance(function, type) or REGISTRY.inactive(function) is not None or (
        Purity(unit.type, unit.definition).is_pure(rhs)
    ) or REGISTRY.facts(function).writes_nothing:
        return
    shown = getattr(function, "__name__", "the function")
    report_at(s, may_write(origin, f"{shown}()", function), origin, target)


def keeps_values(type_: t.Type) -> bool:
    """Say whether values of a type may be objects in which a method keeps what it is given."""
    return isinstance(type_, t.Unknown) or (
        isinstance(type_, t.Object) and not t.is_constant_class(type_.cls))


def check_callee(s: Inference, callee: Callee, given: list[bool], origin: Origin) -> None:
    """Do as ``check_unseen`` for what a function calls that is compiled on its own.

    ``given`` says which of its arguments may carry a derivative.
    """
    key = callee, tuple(given)
    if callee.function is None or key in s.unit.sweeps.checked:
        return
    s.unit.sweeps.checked.add(key)
    function = callee.function
    inputs = [p.var for p, varies in zip(function.params, given, strict=True) if varies]
    varied = varied_variables(function.body, inputs, s.unit.type)
    for statement in walk(function.body):
        if isinstance(statement, (Let, Do)):
            check_unseen(s, varied, statement.rhs, origin)


def fills_buffer(active: Collection[Var], rhs: Call) -> bool:
    """Say whether a function of which nothing is known gets an array that is not differentiated."""
    if not isinstance(rhs.func, Const) or rhs.func.value is not call_on_copies:
        return False
    _, stored, _, *args = map(unstar, rhs.args)
    given: dict[Any, Atom] = {**dict(enumerate(args)), **dict(rhs.kwargs)}
    return isinstance(stored, Const) and any(given[place] not in active for place in stored.value)


def check_unseen_method(
    s: Inference, func: Atom, origin: Origin, target: Var | None
) -> None:
    """Report the call of a method that may keep a differentiable value in its object."""
    method = s.unit.definition(func)
    if not isinstance(method, Attribute):
        return
    if isinstance(s.unit.type(method.obj), (t.Unknown, t.Object)):
        report_at(s, may_keep(s.unit, method, origin), origin, target)


def check_store(s: Inference, varied: Collection[Atom], rhs: Call, origin: Origin) -> None:
    """Report a differentiable value that is stored in a global variable and read back."""
    for key, stores in s.unit.globals.stores.items():
        if any(where == origin for _, where in stores) and unstar(rhs.args[2]) in varied and (
            key in s.unit.globals.reads.values()
        ):
            s.reject(
                origin, f"the global `{key[1]}` gets a differentiable value, and is read too",
                "keep the value in a local variable, and assign the global at the end",
                "global-nonlocal",
            )


def refuse_detached_writes(s: Inference, varied: frozenset[Var]) -> None:
    """Report writes inside ``with no_grad()`` into storage that carries a derivative."""
    for before, origin in s.unit.writes.detached_writes:
        if before in varied:
            s.reject(
                origin, "a write inside `with no_grad()` into an array or container that carries a "
                "derivative", "make a new one, or write outside of the block what is computed "
                "inside of it", "no-grad",
            )
