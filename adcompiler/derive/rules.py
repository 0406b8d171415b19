"""Rules opened in place: their primal statements here, their pullback in the reverse sweep."""

from __future__ import annotations

import builtins
import functools
import itertools
import operator
import sys
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, TypeVar

import numpy as np

from adcompiler.analyses.liveness import live_variables
from adcompiler.derive.unsupported_at_run import place_of, saying_where
from adcompiler.derive.reverse.cotangents import cotangent_type, is_none
from adcompiler.derive.slopes import is_steep
from adcompiler.frontend.functions import lower
from adcompiler.frontend.scope import Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    NONE, Atom, Call, Closure, Const, Do, Format, Function, Origin, Pack, Param, Raise, Star, Var,
    unstar,
)
from adcompiler.ir.operators import BY_SIGN
from adcompiler.ops.registry import REGISTRY
from adcompiler.ops.rules import Rule
from adcompiler.rulekit.problems import name_of, rule_error
from adcompiler.runtime import project
from adcompiler.runtime.adjoints.kinks import first_derivative
from adcompiler.runtime.checking import FORWARD, check_cotangent, check_shape, check_value
from adcompiler.infer.calls.binding import (
    at_origin, bind, environment, explain_binding, plain_call, rule_default,
)
from adcompiler.infer.calls.missing import is_about_objects
from adcompiler.infer.inference import Inference
from adcompiler.infer.storage.heap import Heap
from adcompiler.support.structs import dataclass

Written = TypeVar("Written")
PullBack = Callable[[Inference, Atom, Origin], list[tuple[Atom, Atom]]]
"""Given the result's cotangent, returns the arguments' atoms with their cotangents."""


@dataclass(frozen=True, slots=True)
class Applied:
    """A rule applied to a call: the atom of the result, and how to pull its cotangent back."""

    result: Atom
    pull_back: PullBack


def apply_rule(
    s: Inference, rule: Rule, func: Atom, args: list[Any], kwargs: Mapping[str, Atom], name: str,
    temporary: bool, origin: Origin, active: Callable[[Atom], bool],
) -> Applied:
    """Write the augmented primal of a call that follows ``rule``."""
    s.unit.relied.rules_used[rule] = None
    s.unit.sweeps.steep |= is_steep(rule, args)
    apply = apply_partials if rule.definition is None else apply_definition
    applied = apply(s, rule, func, args, kwargs, name, temporary, origin, active)
    operands = [x for x in map(unstar, (*args, *kwargs.values())) if isinstance(x, Var)]
    if s.unit.settings.options.debug:
        place = Const(place_of(origin))
        s.out.append(Do(Call(Const(check_value), (applied.result, place, *operands)), origin))
        return checked(rule, applied, active, place)
    if not is_foreign(rule):
        return applied
    shapes = shapes_of(s, list(filter(active, operands)), origin)
    return checked(rule, applied, active, NONE, shapes)


def is_foreign(rule: Rule, forward: bool = False) -> bool:
    """Say whether a pullback, or ``forward`` rule, is somebody else's; a shape may be wrong."""
    definition = rule.forward if forward else rule.definition
    module = getattr(definition, "__module__", None) or ""
    return definition is not None and module.partition(".")[0] != "adcompiler_rules"


def shapes_of(s: Inference, given: list[Var], origin: Origin) -> dict[Var, Atom]:
    """Return the shapes of arguments that are numbers or arrays, read before the pullback."""
    shapes: dict[Var, Atom] = {}
    for x in given:
        match s.unit.type(x):
            case t.Array(ndim=ndim) if ndim != 0:
                shapes[x] = s.call(Const(np.shape), [x], {}, origin, f"{x.name}_shape")
            case t.Array() | t.Scalar():
                shapes[x] = Const(())
    return shapes


def checked(
    rule: Rule, applied: Applied, active: Callable[[Atom], bool], place: Const,
    shapes: dict[Var, Atom] | None = None,
) -> Applied:
    """Return an applied rule whose cotangents are checked when they have been computed.

    Their ``shapes`` are, or everything about those of active arguments, at a place of the user's.
    """
    said = f"the rule of {name_of(rule.function)}"
    code = getattr(rule.definition or next(filter(callable, rule.partials), None), "__code__", None)
    if code is not None and shapes is None and is_foreign(rule):
        said += f" ({code.co_filename}:{code.co_firstlineno})"

    def pull_back(s: Inference, dy: Atom, at: Origin) -> list[tuple[Atom, Atom]]:
        pairs = applied.pull_back(s, dy, at)
        for x, g in pairs:
            if shapes is None and active(x):
                s.out.append(Do(Call(Const(check_cotangent), (g, x, Const(said), place)), at))
            elif shapes and isinstance(x, Var) and x in shapes:
                write_check(s, g, shapes[x], Const(said), at)
        return pairs

    return Applied(applied.result, pull_back)


def write_check(s: Inference, g: Atom, shape: Atom, place: Atom, at: Origin) -> None:
    """Write a check of the shape of a cotangent, but of numbers for numbers."""
    if g != NONE and not (shape == Const(()) and isinstance(s.unit.type(g), t.Scalar)):
        s.out.append(Do(Call(Const(check_shape), (g, shape, place)), at))


def apply_partials(
    s: Inference, rule: Rule, func: Atom, args: list[Atom], kwargs: Mapping[str, Atom], name: str,
    temporary: bool, origin: Origin, active: Callable[[Atom], bool],
) -> Applied:
    """Apply an elementwise rule given by its partial derivatives."""
    if kwargs or len(args) != len(rule.partials) or any(isinstance(a, Star) for a in args):
        called = getattr(rule.function, "__name__", name)
        if kwargs:
            names = ", ".join(f"`{key}=`" for key in kwargs)
            s.reject(
                origin, f"{called}() with {names} is not supported yet",
                "use the plain call, and np.where to choose between results", "ufunc-out-where",
            )
        else:
            s.reject(
                origin,
                f"{called}() has a rule for {len(rule.partials)} arguments, not {len(args)}",
                "call it with these", "call-arguments",
            )
        return Applied(Const(0.0), lambda *_: [])
    refuse_missing_partials(s, rule, args, active, origin)
    type_ = s.types.of_call(rule.function, args, {})
    result = s.let(Call(func, tuple(args)), type_, name, origin, temporary)

    def pull_back(s: Inference, dy: Atom, at: Origin) -> list[tuple[Atom, Atom]]:
        pairs = []
        start = len(s.out)
        for x, partial in zip(args, rule.partials, strict=True):
            if partial is None or not active(x):
                continue
            value = partial_value(s, rule, partial, args, result, at)
            s.in_rule = True
            if callable(partial):
                value = s.call(Const(np.conj), [value], {}, at, "conj")
            g = once(s, rule, scaled(s, dy, value, at), dy, result, x, at)
            pairs.append((x, s.call(Const(project), [g, x], {}, at, "project")))
        s.out[start:] = [at_origin(statement, at) for statement in s.out[start:]]
        return pairs

    return Applied(result, pull_back)


def refuse_missing_partials(
    s: Inference, rule: Rule, args: list[Atom], active: Callable[[Atom], bool], origin: Origin
) -> None:
    """Report arguments that carry a derivative where the rule has no partial derivative."""
    for position, (x, partial) in enumerate(zip(args, rule.partials, strict=True), start=1):
        if partial is None and active(x):
            function = getattr(rule.function, "__name__", "the function")
            s.reject(
                origin,
                f"{function}() has no derivative with respect to its argument {position}",
                "pass a value there that does not depend on what is differentiated, or register "
                "a rule with this partial derivative", "missing-rule",
            )


def partial_value(
    s: Inference, rule: Rule, partial: Any, args: list[Any], result: Atom, origin: Origin
) -> Atom:
    """Write the value of a partial derivative, which is holomorphic."""
    if not callable(partial):
        return Const(partial)
    if not isinstance(partial, FunctionType):
        s.in_rule = True
        return s.call(Const(partial), list(args), {}, origin, "slope")
    definition = lower(partial)
    values = [*args, result] if len(definition.params) > len(args) else args
    env = dict(zip((p.var for p in definition.params), values, strict=True))
    yields = s.block(definition.body, env, Scope(partial))
    assert yields is not None
    return yields[0]


def once(
    s: Inference, rule: Rule, g: Atom, dy: Atom, result: Atom, x: Atom, origin: Origin
) -> Atom:
    """Return ``dy`` times a partial derivative, which is a convention where a norm is 0.

    So is that of the size of a complex number.
    """
    means = REGISTRY.facts(rule.function).means
    if means == "hypot" or (means == "absolute" and is_complex(s.unit.type(x))):
        return s.call(Const(first_derivative), [g, dy, result], {}, origin, "slope")
    return g


def is_complex(type_: t.Type) -> bool:
    """Say whether values of a type are complex numbers, or arrays of these."""
    return isinstance(type_, t.Scalar | t.Array) and type_.kind == "complex"


def scaled(s: Inference, dy: Atom, partial: Atom, origin: Origin) -> Atom:
    """Write ``dy`` times a partial derivative."""
    if isinstance(partial, Const):
        if partial.value == 1:
            return dy
        if partial.value == -1:
            return s.call(Const(operator.neg), [dy], {}, origin, "negative")
    return s.call(Const(BY_SIGN["*"]), [dy, partial], {}, origin, "product")


def apply_definition(
    s: Inference, rule: Rule, func: Atom, args: list[Atom], kwargs: Mapping[str, Atom], name: str,
    temporary: bool, origin: Origin, active: Callable[[Atom], bool],
) -> Applied:
    """Apply a rule that is written as a function returning ``(y, pullback)``."""
    definition: Any = rule.definition
    function = lower(definition)
    scope = Scope(definition)

    def default(param: Param) -> Atom | None:
        return rule_default(definition, param)

    findings = len(s.unit.findings)
    bound = bind(s, function, args, kwargs, default, origin)
    if bound is None:
        explain_binding(s, rule, findings, origin)
        return Applied(Const(0.0), lambda *_: [])
    by_name = {p.var.name: atom for p, atom in zip(function.params, bound, strict=True)}
    refuse_lost_derivatives(s, rule, by_name, active, origin)
    before = len(s.out)
    storage = Storage(s, function)

    def body() -> tuple[Atom, ...] | None:
        s.unit.calls.active.append(rule)
        yields = s.block(function.body, environment(function, bound, (), Const(None)), scope)
        s.unit.calls.active.pop()
        return yields

    yields = storage.following(body)
    if yields is None or any(isinstance(statement, Raise) for statement in s.out[before:]):
        return refuse_call(s, rule, before, origin)
    parts = s.unit.elements(yields[0])
    if parts is None or len(parts) != 2:
        raise rule_error(
            definition, f"the rule of {name_of(rule.function)} does not return (y, pullback)",
            "return y, pullback: the value, and a function of its cotangent, on every path",
        )
    told = saying_where(definition, s.out[before:], origin)
    s.out[before:] = [at_origin(statement, origin) for statement in told]
    result, pullback = parts
    if s.unit.settings.options.strict_primal and rule.primal_note:
        result = own_primal(s, rule, func, args, kwargs, name, origin) or result
    if isinstance(result, Var) and result.temporary:
        if not temporary:
            s.unit.naming.names.setdefault(result, name)
        elif not hasattr(builtins, name):
            s.unit.naming.hints.setdefault(result, name)

    def pull_back(s: Inference, dy: Atom, at: Origin) -> list[tuple[Atom, Atom]]:
        return pulled_back(s, rule, pullback, dy, by_name, storage, active, at)

    return Applied(result, pull_back)


def pulled_back(
    s: Inference, rule: Rule, pullback: Atom, dy: Atom, by_name: Mapping[str, Atom],
    storage: Storage, active: Callable[[Atom], bool], at: Origin,
) -> list[tuple[Atom, Atom]]:
    """Open the pullback of a rule; return the arguments with their cotangents."""
    start = len(s.out)
    g = storage.following(lambda: s.call(pullback, [dy], {}, at, "pulled"))
    wanted = [by_name[name.lstrip("*")] for name in rule.wrt]
    check_count(s, rule, g, wanted)
    found = []
    for position, x in enumerate(wanted):
        part = g if len(wanted) == 1 else s.item(g, Const(position), at)
        if is_thunk(s, part):
            if not any(map(active, parts_of(s, x))):
                continue
            part = storage.following(functools.partial(s.call, part, [], {}, at, "pulled"))
        found += pairs_of(s, x, part, at)
    told = saying_where(rule.definition, s.out[start:], at)
    s.out[start:] = [at_origin(statement, at) for statement in told]
    return found


def own_primal(
    s: Inference, rule: Rule, func: Atom, args: list[Atom], kwargs: Mapping[str, Atom], name: str,
    origin: Origin,
) -> Atom | None:
    """Write the call of the function that a rule covers; None if nothing is known of its value."""
    type_ = s.types.of_call(rule.function, args, kwargs)
    if isinstance(type_, t.Unknown):
        return None
    return s.let(plain_call(func, args, kwargs), type_, name, origin)


class Storage:
    """Follows the writes of a rule into arrays that it makes, where it makes any.

    Most rules write into nothing: they are opened without a heap, and once more with one where
    that is what was found to be missing.
    """

    def __init__(self, s: Inference, function: Function) -> None:
        self.s = s
        self.function = function
        self.heap: Heap | None = None

    def following(self, write: Callable[[], Written]) -> Written:
        """Return what ``write`` does, done with the heap of this rule if it needs one."""
        s, findings = self.s, len(self.s.unit.findings)
        count = len(s.unit.types)
        if self.heap is None:
            s.lacks_heap = False
            with s.writing_to([]) as out:
                result = write()
            if s.heap is not None or not (s.lacks_heap or len(s.unit.findings) > findings):
                s.out.extend(out)
                return result
            del s.unit.findings[findings:]
            self.heap = Heap(s)
            self.heap.live = live_variables(self.function)
        s.heap = self.heap
        self.heap.foreign = frozenset(itertools.islice(s.unit.types, count))
        try:
            with s.writing_to([]) as out:
                result = write()
        finally:
            s.heap = None
        s.out += [*self.heap.outside.prologue, *out]
        self.heap.outside.prologue.clear()
        return result


def is_thunk(s: Inference, part: Atom) -> bool:
    """Say whether what a pullback returned is a function without parameters that computes it."""
    made = s.unit.definition(part)
    return isinstance(made, Closure) and not made.function.params


def check_count(s: Inference, rule: Rule, g: Atom, wanted: list[Atom]) -> None:
    """Raise RuleError if a pullback is known to return more or fewer cotangents than it must."""
    type_ = s.unit.type(g)
    count = len(type_.items) if isinstance(type_, t.Tuple) else 1
    if len(wanted) == 1:
        wrong = isinstance(type_, t.Tuple) and isinstance(
            s.unit.type(wanted[0]), t.Scalar | t.Array)
    else:
        single = isinstance(type_, t.Scalar | t.Array | t.FunctionType | t.Static)
        wrong = count != len(wanted) and (single or isinstance(type_, t.Tuple))
    if wrong:
        names = [name.lstrip("*") for name in rule.wrt]
        returned = "None" if is_none(g) else f"{count} cotangent{'s' * (count != 1)}"
        returned = f"a tuple of {returned}" if len(wanted) == 1 else returned
        form = ", ".join(f"d{name}" for name in names) or "()"
        raise rule_error(
            rule.definition,
            f"the pullback in the rule of {name_of(rule.function)} returns {returned}, for "
            f"{len(wanted)} argument{'s' * (len(wanted) != 1)}: {', '.join(names) or 'none'}",
            f"`return {form}`, with None for what has no derivative; or name in wrt= what it "
            "returns",
        )


def apply_forward(
    s: Inference, rule: Rule, primals: list[Atom], tangents: list[Atom],
    kwargs: Mapping[str, Atom], origin: Origin,
) -> tuple[Atom, Atom] | None:
    """Write a call by a forward rule; return the atoms of the result and of its tangent."""
    definition: Any = rule.forward
    s.unit.relied.rules_used[rule] = None
    s.unit.sweeps.steep |= is_steep(rule, primals)
    function = lower(definition)
    start = len(s.out)
    packed = [
        s.pack("tuple", tuple(atoms), name, origin)
        for atoms, name in ((primals, "primals"), (tangents, "tangents"))
    ]
    findings = len(s.unit.findings)
    bound = bind(s, function, packed, kwargs, lambda p: rule_default(definition, p), origin)
    if bound is None:
        explain_binding(s, rule, findings, origin)
        return None
    s.unit.calls.active.append(rule)
    yields = s.block(
        function.body, environment(function, bound, (), Const(None)), Scope(definition))
    s.unit.calls.active.pop()
    s.out[start:] = [at_origin(statement, origin) for statement in s.out[start:]]
    parts = None if yields is None else s.unit.elements(yields[0])
    if parts is None or len(parts) != 2:
        raise rule_error(
            definition, f"the forward rule of {name_of(rule.function)} does not return (y, y_dot)",
            "return y, y_dot: the value and its tangent, on every path",
        )
    if is_foreign(rule, forward=True) and isinstance(parts[0], Var):
        place = Const(f"{FORWARD} {name_of(rule.function)}")
        for shape in shapes_of(s, [parts[0]], origin).values():
            write_check(s, parts[1], shape, place, origin)
    return parts[0], parts[1]


def pairs_of(s: Inference, x: Atom, g: Atom, origin: Origin) -> list[tuple[Atom, Atom]]:
    """Return the cotangent of an argument; of each element for a container made for the call."""
    if is_none(g):
        return []
    if isinstance(g, Var) and isinstance(s.unit.type(g), t.Unknown):
        s.unit.types[g] = cotangent_type(s.unit.type(x))
    if isinstance(g, Var) and g not in s.unit.shapes and isinstance(s.unit.type(g), t.Array):
        s.unit.shapes[g] = s.unit.shape(x)  # what a pullback returns has the shape of x
    return [(x, g)]


def refuse_lost_derivatives(
    s: Inference, rule: Rule, by_name: Mapping[str, Atom], active: Callable[[Atom], bool],
    origin: Origin,
) -> None:
    """Report arguments that carry a derivative which the rule does not pass on."""
    wanted = {name.lstrip("*") for name in (*rule.wrt, *rule.templates)}
    for name, atom in by_name.items():
        if name not in wanted and any(map(active, parts_of(s, atom))):
            function, hint = told_of(rule.function)
            s.reject(
                origin, f"{function} has no derivative with respect to its argument `{name}`", hint,
                "call-arguments" if is_about_objects(rule.function) else "missing-rule")


def told_of(function: Callable[..., Any]) -> tuple[str, str]:
    """Return what messages call a function, and what they say to write instead.

    A module of functions that users do not write has both in ``TOLD_OF``.
    """
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    name = getattr(function, "__name__", "the function")
    found: tuple[str, str] = getattr(module, "TOLD_OF", {}).get(name, (
        f"{name}()", "pass a value there that does not depend on what is differentiated, or "
        "register a rule whose wrt= names it"))
    return found


def parts_of(s: Inference, atom: Atom) -> list[Atom]:
    """Return an atom and, where it is a container made in the code, what it was made of."""
    rhs = s.unit.definition(atom)
    if not isinstance(rhs, Pack):
        return [atom]
    return [atom, *(part for item in rhs.items for part in parts_of(s, unstar(item)))]


def refuse_call(s: Inference, rule: Rule, before: int, origin: Origin) -> Applied:
    """Report a call for which the rule does nothing but raise, by what the error says."""
    made = next((s.unit.definition(statement.exception) for statement in s.out[before:]
                 if isinstance(statement, Raise)), None)
    name = getattr(rule.function, "__name__", "the function")
    problem = f"{name}() with these arguments has no derivative"
    if isinstance(made, Call) and len(made.args) == 1:
        problem = text_of(s, unstar(made.args[0])) or problem
    del s.out[before:]
    s.reject(origin, problem, "use other arguments, or register a rule of your own",
             "missing-rule")
    return Applied(Const(0.0), lambda *_: [])


def text_of(s: Inference, message: Atom) -> str:
    """Return a message as far as it is known when compiling: '' or with ``...`` for the rest."""
    if isinstance(message, Const):
        return str(message.value)
    made = s.unit.definition(message)
    return "".join(
        part if isinstance(part, str) else "..." if not isinstance(part[0], Const)
        else repr(part[0].value) if part[1] == ord("r") else str(part[0].value)
        for part in (made.parts if isinstance(made, Format) else ())
    )
