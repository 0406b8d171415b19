"""The folds of calls that are given functions: checkpoints, and what replacements are made of.

``adcompiler.rulekit.functionals`` says what these calls mean.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from adcompiler.prelude.replacements import checkpointed
from adcompiler.frontend.rewriting.cached_functions import is_cache, keeps
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Call, Const, Origin, Pack, Star, Var, constants, unstar,
)
from adcompiler.ops.registry import hashable
from adcompiler.rulekit.functionals import (
    count_of_parameters, function_of, implied, steady, typed,
)
from adcompiler.runtime import functionals, unpack
from adcompiler.runtime.checkpoints import NO_STATE, checkpoint, following, recomputed
from adcompiler.runtime.external import (
    ExternalFunction, Wrapped, call_external, external_by_jac, external_by_vjp,
    external_of_three_by_vjp, external_of_two_by_vjp,
)
from adcompiler.runtime.substitutes import CACHES
from adcompiler.infer.calls.callees import MAX_WIDENING, write_call
from adcompiler.infer.calls.functionals import (
    compile_given, name_of, takes_exactly, users_line,
)
from adcompiler.infer.folds.table import Kwargs, folds
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer
from adcompiler.typed.derivatives import Wanted
from adcompiler.typed.values import type_of

# -- caches ----------------------------------------------------------------------------------------


@folds(is_cache)
def fold_is_cache(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Atom:
    return Const(isinstance(args[0], Const) and hashable(args[0].value) and (
        args[0].value in CACHES))


@folds(keeps)
def fold_keeps(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Atom:
    """Say whether arguments of a function under ``lru_cache`` carry no derivative."""
    may_run_again, *given = args
    assert isinstance(may_run_again, Const)
    kept = not any(t.may_vary(s.unit.type(one)) for one in given)
    if not kept and not may_run_again.value:
        s.reject(
            origin, "a function under a cache is given what carries a derivative, and writes: how "
            "often it runs for that is not known when compiling",
            "give it integers, or leave out the cache", "unknown-calls",
        )
    return Const(kept)


# -- checkpoints -----------------------------------------------------------------------------------


@folds(checkpoint)
def fold_checkpoint(
    s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str
) -> Atom:
    """Write a call of a checkpoint, or a function as one."""
    if len(args) == 1 and not kwargs:
        return s.call(Const(checkpointed), args, {}, origin, name)
    return fold_recomputed(s, args, kwargs, origin, name)


@folds(recomputed)
def fold_recomputed(
    s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str
) -> Atom:
    """Write the call of a function that the sweep runs again, rather than have it save anything."""
    origin = users_line(s.unit, origin)
    f, *rest = args
    found = compile_given(s, f, (), rest, kwargs, origin)
    if found is None:
        return UNDEF
    callee, kept = found
    callee.again = True
    return write_call(s, callee, kept, origin, name)


# -- external functions ----------------------------------------------------------------------------


@folds(ExternalFunction.__call__, call_external)
def fold_external(
    s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str
) -> Atom:
    """Write a call of an external function, with the type that it promises."""
    if kwargs:
        return s.reject(
            origin, "an external function is called with keyword arguments",
            "pass all arguments by position", "call-arguments",
        )
    type_ = s.unit.type(args[0])
    function: Any = call_external
    external, *given = args
    buffer, filled = None, []
    if isinstance(type_, t.Object) and fills_buffer(type_):
        *given, buffer = given
        filled = [s.call(Const(np.full_like), [buffer, Const(np.nan)], {}, origin, "filled")]
    args = [external, *given, *filled]
    types = tuple(map(s.unit.type, filled))
    taken = s.let(Pack("tuple", tuple(filled)), t.Tuple(types), "filled", origin)
    if s.unit.derivatives.around and not (isinstance(type_, t.Object) and is_linear(type_)):
        found = derivative_that_is_compiled(s, external, type_, len(given), origin)
        if found is None:
            return s.reject(
                users_line(s.unit, origin),
                "the second derivative of this external function is not known",
                "give its derivative as Python that can be compiled: vjp= or jac= of `external`, "
                "or a method `adjoint_at(self, y_bar, *x)`; or, if the function is "
                "linear, say so: `linear = True`", "higher-order",
            )
        function, args = found[0], [external, found[1], taken, *given]
    returns: t.Type = t.UNKNOWN
    if isinstance(type_, t.Object):
        returns = type_.field("returns") or type_of(getattr(type_.cls, "returns", None))
    returns = t.UNKNOWN if returns == t.NONE_TYPE else returns
    if buffer is not None:
        returns = s.unit.type(buffer)
    value = s.let(Call(Const(function), tuple(args)), returns, name, origin)
    if buffer is None:
        return value
    s.call(Const(operator.setitem), [buffer, Const(Ellipsis), value], {}, origin, "ignored")
    return NONE


def fills_buffer(type_: t.Object) -> bool:
    """Say whether an external function is said to fill its last argument."""
    own = type_.field("fills")
    return own is not None or getattr(type_.cls, "fills", False) is True


BY_VJP = (external_by_vjp, external_of_two_by_vjp, external_of_three_by_vjp)


def derivative_that_is_compiled(
    s: Operations, function: Atom, type_: t.Type, count: int, origin: Origin
) -> tuple[Any, Atom] | None:
    """Return a function with a rule, and what that calls: the derivative of an external function.

    The function has ``count`` arguments. None if the derivative is not given in Python.
    """
    if not isinstance(type_, t.Object):
        return None
    by_vjp = BY_VJP[count - 1] if 0 < count <= len(BY_VJP) else None
    if hasattr(type_.cls, "adjoint_at"):
        return by_vjp and (by_vjp, s.attribute(function, "adjoint_at", origin))
    for form, called in (("vjp", by_vjp), ("jac", external_by_jac)):
        if called is not None and issubclass(type_.cls, Wrapped) and is_callable(type_.field(form)):
            return called, s.attribute(function, form, origin)
    return None


def is_callable(type_: t.Type | None) -> bool:
    """Say whether a derivative that is given is a function, or an external one."""
    if isinstance(type_, t.Object):
        return issubclass(type_.cls, ExternalFunction)
    return isinstance(type_, t.Static) and type_ != t.NONE_TYPE


def is_linear(type_: t.Object) -> bool:
    """Say whether an external function is said to be linear, by its class or by itself."""
    return type_.field("linear") is None and getattr(type_.cls, "linear", False) is True


# -- what replacements are written with ------------------------------------------------------------


@folds(function_of)
def fold_function_of(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom:
    """Write a compiled function as a value that a library calls."""
    f, variables, rest = args
    likes = items_of(s, variables, origin)
    more = arguments_of(s, f, len(likes), rest, origin)
    found = None if more is None else compile_given(s, f, likes, more, {}, origin)
    if found is None:
        return UNDEF
    callee, kept = found
    call = Call(Const(functionals.closed), (Const(callee), *kept))
    return s.let(call, t.UNKNOWN, name_of(s.unit, f), origin)


@folds(implied)
def fold_implied(
    s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str
) -> Atom:
    """Write a value that has its derivative from what it satisfies."""
    pull, f, variables, rest, value = args
    around, settings = s.unit.derivatives.around, s.unit.settings
    most = kwargs.get("most")
    within = not isinstance(most, Const) or around < most.value
    if "followed" in kwargs and within and (around or settings.tangents) and not settings.endless:
        given = [f, value, rest, kwargs.get("operands", Const(())), Const(around + 1)]
        followed: Atom = s.call(kwargs["followed"], given, {}, origin, name)
        type_ = s.unit.type(value)
        if isinstance(followed, Var) and s.unit.type(followed) == t.UNKNOWN and (
            isinstance(type_, t.Array)
        ):
            s.unit.types[followed] = type_
        return followed
    likes = items_of(s, variables, origin)
    more = arguments_of(s, f, len(likes), rest, origin)
    found = None if more is None else compile_given(s, f, likes, more, {}, origin)
    if found is None:
        return UNDEF
    callee, kept = found
    operands = items_of(s, kwargs.get("operands", Const(())), origin)
    active = tuple(a.value for a in items_of(s, kwargs.get("active", Const(())), origin))
    call = Call(Const(functionals.implied), (
        value, pull, Const(active or (True,) * len(likes)), Const(len(operands)), Const(callee),
        *operands, *kept,
    ))
    result = s.let(call, s.unit.type(value), name, origin)
    s.unit.shapes[result] = s.unit.shape(value)
    return result


@folds(typed)
def fold_typed(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Atom:
    """Enter the type of a value that is known to the writer of a replacement.

    That of an array is in the text: it is read again where a derivative is differentiated.
    """
    value: Atom = args[0]
    type_ = s.unit.type(args[1])
    if isinstance(type_, t.Array):
        form = [Const(type_.dtype), Const(type_.ndim)]
        return s.call(Const(functionals.array_of), [value, *form], {}, origin, name)
    if isinstance(value, Var):
        s.unit.types[value] = type_
    return value


@folds(count_of_parameters)
def fold_count_of_parameters(
    s: Writer, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom:
    """Write how many arguments a function takes, where it takes exactly so many."""
    return Const(takes_exactly(s.unit, args[0]) or 0)


@folds(functionals.array_of)
def fold_array_of(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Atom:
    """Write an array of which the type is known."""
    type_ = t.Array(*constants(args[1:]) or ())
    return s.let(Call(Const(functionals.array_of), tuple(args)), type_, name, origin)


@folds(following)
def fold_following(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Atom:
    """Write the state that a step returned, which is not None."""
    state: Atom = args[0]
    if s.unit.type(state) != t.NONE_TYPE:
        return state
    return s.reject(origin, *NO_STATE, "argument-types")


@folds(steady)
def fold_steady(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Atom:
    """Write the start of an iteration as of the type that a step has: a float for an int."""
    f, *more = args
    state: Atom = more.pop(0)
    before = wanted = after = s.unit.type(state)
    like: Atom = state
    for _ in range(MAX_WIDENING):
        found = compile_given(s, f, [like, *more], [], {}, origin)
        if found is None:
            return UNDEF
        after = found[0].result
        if t.join(wanted, after) == wanted:
            break
        wanted = t.join(wanted, after)
        like = Var("state")
        s.unit.types[like] = wanted
    if wanted == before:
        return state
    if isinstance(before, t.Scalar) and isinstance(wanted, t.Scalar):
        kind: Any = {"float": float, "complex": complex}.get(wanted.kind, float)
        function = kind if wanted.dtype is None else np.dtype(wanted.dtype).type
        return s.call(Const(function), [state], {}, origin, name)
    return s.reject(
        users_line(s.unit, origin), f"a step makes a state of type {after} of one of type {before}",
        "start from a state of the type that a step returns", "run-again",
    )


@folds(functionals.hessian_product)
def fold_hessian_product(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom:
    """Write the gradient of a derivative along tangents: a part for each argument, or None."""
    primal, wanted, along, tangents, operands = args
    assert isinstance(wanted, Const) and isinstance(along, Const)
    assert s.unit.settings.derive is not None
    atoms, duals = items_of(s, operands, origin), items_of(s, tangents, origin)
    places = range(len(duals)) if along.value is None else along.value
    given = [(i, d) for i, d in zip(places, duals, strict=True) if s.unit.type(d) != t.NONE_TYPE]
    asked = Wanted(
        "hessian_product", wanted.value, False, (("along", tuple(i for i, _ in given)),))
    bars: Atom = s.unit.settings.derive(
        s, asked, primal, atoms, {}, origin, name, [d for _, d in given])
    if bars is UNDEF:
        return UNDEF
    parts = [
        s.item(bars, Const(wanted.value.index(i)), origin) if i in wanted.value else Const(None)
        for i in range(len(atoms))
    ]
    packed: Atom = s.pack("tuple", tuple(parts), name, origin)
    return packed


@folds(functionals.chosen)
def fold_chosen(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Atom:
    """Write the parts of a tuple that are wanted."""
    parts, places = args
    assert isinstance(places, Const)
    if parts is UNDEF:
        return UNDEF
    single = isinstance(places.value, int)
    several = (places.value,) if single else places.value
    found: list[Atom] = [s.item(parts, Const(i), origin) for i in several]
    return found[0] if single else s.pack("tuple", tuple(found), name, origin)


def arguments_of(
    s: Operations, f: Atom, variables: int, rest: Atom, origin: Origin
) -> list[Any] | None:
    """Return the further arguments of a function, which ``rest`` holds; None, reported, if unknown.

    Of ``tuple(k)`` and ``(*k,)`` there are as many as the function takes.
    """
    if isinstance(rest, Const) or s.unit.elements(rest) is not None or (
        isinstance(s.unit.type(rest), t.Tuple)
    ):
        return items_of(s, rest, origin)
    match s.unit.definition(rest):
        case Pack("tuple" | "list", items):
            parts = list(items)
        case Call(Const(type() as made), (inner,), ()) if issubclass(made, (tuple, list)):
            parts = [inner if isinstance(inner, Star) else Star(inner)]
        case _:
            parts = [Star(rest)]
    stars = [i for i, part in enumerate(parts) if isinstance(part, Star)]
    count = takes_exactly(s.unit, f)
    if count is None or len(stars) != 1 or not isinstance(
        s.unit.type(unstar(parts[stars[0]])), (t.Array, t.List, t.Tuple)
    ):
        s.reject(
            users_line(s.unit, origin),
            "how many arguments this gives the function is not known when compiling",
            "write them out, args=(k[0], k[1]), or give one array, args=(k,)",
            "call-arguments",
        )
        return None
    place = stars[0]
    many = Const(count - variables - len(parts) + 1)
    whole = s.call(Const(unpack), [unstar(parts[place]), many, Const(-1)], {}, origin, "given")
    parts[place : place + 1] = [s.item(whole, Const(i), origin) for i in range(many.value)]
    return parts


def items_of(s: Operations, atom: Atom, origin: Origin) -> list[Any]:
    """Return the items of a tuple that is written out, or known when compiling."""
    if isinstance(atom, Const):
        return [Const(value) for value in atom.value]
    elements = s.unit.elements(atom)
    if elements is not None:
        return list(elements)
    type_ = s.unit.type(atom)
    assert isinstance(type_, t.Tuple), type_
    return [s.item(atom, Const(i), origin) for i in range(len(type_.items))]
