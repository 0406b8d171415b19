"""Where a value of unknown type comes from: what messages about it name, and what they advise.

A type that is not known spreads: what is read of the value, and what is computed of it, is of
unknown type too. What can be changed is where it began, which may lie in another function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from adcompiler.errors import Cause, Finding
from adcompiler.frontend.sources.places import is_users
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, Atom, Attribute, Call, Const, Item, Origin, Pack, Rhs, Update, Var, unstar,
)
from adcompiler.ops.pure_calls import READING
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.runtime.draws import NUMPYS, undifferentiated
from adcompiler.runtime.records import has_operators, is_record_class
from adcompiler.runtime.unknown_calls import call_on_copies
from adcompiler.infer.calls.libraries import installed, standard
from adcompiler.infer.calls.missing import spelling
from adcompiler.support.structs import dataclass
from adcompiler.typed.unit import Unit

SEEN = "make it where its type can be seen"
OF_ONE_CLASS = "call it on values of one class, or of a list whose items can be seen"
"""What is advised where it is not known where the type was lost."""
FROM_OUTSIDE = "make it outside of the function and pass it as an argument, whose type is known"
PLAIN = "use an array of numbers, without `dtype=object` and without fields, or a list"
ONE_TYPE = "make it of one type on every path: a list of what there is, in place of None"
ONE_TYPE_INSIDE = (
    "put values of one type into it; a tuple, or a dict with fixed keys, tells them apart"
)
SET_BY_NAME = "of which the name is not known when compiling"
IN_PLACE_OF = "do without it: use lists, dicts, arrays, or classes written in Python"


@dataclass(frozen=True, slots=True)
class Root:
    """The first value of unknown type on the way to another: where, what it is, what to do."""

    origin: Origin
    problem: str
    hint: str


def explained(unit: Unit, finding: Finding, atom: Atom) -> Finding:
    """Return a finding about a value of unknown type that tells where the type was lost."""
    root = root_of(unit, atom) if is_lost(unit, atom) else None
    if root is None:
        return finding
    at = root.origin
    cause = Cause(at.file, at.line, at.column, at.text, root.problem, at.width)
    if (at.file, at.line, at.column) == (finding.file, finding.line, finding.column):
        cause = replace(cause, text="")
    more = "" if finding.hint in (SEEN, OF_ONE_CLASS) else f"; or {finding.hint}"
    return replace(finding, hint=root.hint + more, cause=cause)


def following(unit: Unit, name: str, finding: Finding) -> Finding:
    """Return a finding that an attribute is not there, as a consequence of one that it is set."""
    for other in unit.findings:
        if f"attribute `{name}`" in other.problem or SET_BY_NAME in other.problem:
            return replace(finding, cause=Cause(
                other.file, other.line, other.column, other.text, other.problem, other.width))
    return finding


def which_function(unit: Unit, func: Atom, origin: Origin) -> Finding:
    """Return the finding that it depends on data which function is called."""
    finding = origin.finding(
        "which function is called here depends on data",
        "use if and elif with one call in each branch, so that each call names its function",
        "unknown-callable",
    )
    atom: Atom | None = func
    seen: set[Atom] = set()
    while isinstance(atom, Var) and atom not in seen:
        seen.add(atom)
        rhs, of_list = unit.definition(atom), isinstance(unit.type(atom), t.List)
        at, _ = users_place(unit.places.get(atom, ()))
        if of_list and rhs is None and at is not None and unit.arms.get(atom):
            cause = Cause(at.file, at.line, at.column, at.text,
                          "the functions in a list are made here, one by one in a loop", at.width)
            return replace(finding, cause=cause, hint=(
                "put what they are made of into the list, and make each one where it is called"))
        arms = unit.arms.get(atom, ()) if rhs is None else (getattr(rhs, "obj", None),)
        atom = next((arm for arm in arms if arm and holds_functions(unit, arm)), None)
    if is_lookup(unit.definition(func)):
        hint = f"pass the function itself in place of its name; or {finding.hint}"
        return replace(finding, hint=hint)
    return finding


def is_lookup(rhs: Rhs | None) -> bool:
    """Say whether a value is looked up by a name that is known only when running."""
    return isinstance(rhs, Call) and isinstance(rhs.func, Const) and (
        hashable(rhs.func.value) and rhs.func.value in READING
    )


def holds_functions(unit: Unit, atom: Atom) -> bool:
    """Say whether a value is a function of the program, or a list or tuple of some."""
    type_ = unit.type(atom)
    return t.holds_function(type_.item if isinstance(type_, t.List) else type_)


def missing_of_unknown(unit: Unit, shown: str, func: Atom, origin: Origin) -> Finding:
    """Return the finding that a differentiable value goes through a call of ``func``, or a read.

    It is not known what that is: a method of something, or a value that was made somewhere.
    """
    made = unit.definition(func)
    if isinstance(made, Attribute) and is_generator(unit, made.obj):
        return origin.finding(*undifferentiated(made.name), anchor="random-draws")
    if isinstance(made, Attribute):
        shown, func = f"`.{made.name}()`", made.obj
        if not is_lost(unit, func):
            return origin.finding(
                f"{shown} of {one(unit, func)} has no rule, and no Python source that could be "
                "compiled", "say what its derivative is: call "
                f"`adcompiler.external({called(origin)}, vjp=...)` in its place, or register a "
                "rule for a function of your own that makes this call", "missing-rule",
            )
    problem = f"{shown} has no rule, and its owner is of a type that is not known when compiling"
    if made is None and not shown.startswith("the attribute"):
        problem = f"which function {expression(origin)} calls is not known when compiling"
    instead = "put this into a function of your own, and register a rule for that"
    found = origin.finding(problem, instead, "missing-rule")
    return explained(unit, replace(found, behind="unknown-callable"), func)


def is_generator(unit: Unit, atom: Atom) -> bool:
    """Say whether a value is a random generator of NumPy."""
    type_ = unit.type(atom)
    return isinstance(type_, t.Object) and type_.cls in NUMPYS


def may_keep(unit: Unit, method: Attribute, origin: Origin) -> Finding:
    """Return the finding that a method may keep a differentiable value in its object."""
    if is_generator(unit, method.obj):
        return origin.finding(*undifferentiated(method.name), anchor="random-draws")
    shown = f"`.{method.name}()`"
    if not is_lost(unit, method.obj):
        return origin.finding(
            f"{shown} of {one(unit, method.obj)} may keep the value in it",
            "use functions that return new values", "array-writes",
        )
    return explained(unit, origin.finding(
        f"{shown} may keep the value in an object of a type that is not known when compiling",
        "use functions that return new values", "array-writes",
    ), method.obj)


def with_rule_for_caller(finding: Finding, places: Sequence[Origin]) -> Finding:
    """Return a finding in the text of a library with the advice to have a rule for what calls it.
    """
    at, is_last = users_place(places)
    if at is None or is_last:
        return finding
    other = f"a rule for what {expression(at)} calls"
    lines = "\n" in finding.hint  # those of a rule
    more = f"\n      # or register {other}" if lines else f"; or register {other}"
    return replace(finding, hint=finding.hint + more)


def users_place(places: Sequence[Origin]) -> tuple[Origin | None, bool]:
    """Return the innermost place in the user's code, and whether that is the last of ``places``."""
    libraries = (*standard(), *installed())
    for at in reversed(places):
        if is_users(at.file) and not at.file.startswith(libraries):
            return at, at is places[-1]
    return None, False


def root_of(unit: Unit, atom: Atom) -> Root | None:
    """Return where the type of a value was lost; None if that is not known."""
    seen: set[Atom] = set()
    while isinstance(atom, Var) and atom not in seen:
        seen.add(atom)
        before = step_back(unit, atom)
        if before is None:
            return described(unit, atom)
        atom = before
    return None


def possible_class(unit: Unit, atom: Atom, name: str = "") -> type | None:
    """Return a class in Python of which a value of unknown type may be an instance.

    It has an attribute of this name, or operators of its own. It is the class of an arm of a
    branch, of a round of a loop or of an item of a display.
    """
    seen: set[Atom] = set()
    after: list[Atom | None] = [atom] if is_lost(unit, atom) else []
    while after:
        value = after.pop()
        if not isinstance(value, Var) or value in seen:
            continue
        seen.add(value)
        type_ = unit.type(value)
        if isinstance(type_, t.Object) and is_record_class(type_.cls) and (
            hasattr(type_.cls, name) if name else has_operators(type_.cls)
        ):
            return type_.cls
        match unit.definition(value):
            case None:
                after.extend(unit.arms.get(value, ()))
            case Item(obj) | Update(obj):
                after.append(obj)
            case Pack(items=items):
                after.extend(map(unstar, items))
            case Call(Const(), args):
                after.extend(arg for arg in map(unstar, args) if isinstance(
                    unit.type(arg), (t.Dict, t.List, t.Tuple)))
    return None


def is_lost(unit: Unit, atom: Atom) -> bool:
    """Say whether nothing is known of the type of a value, or of the items of a list."""
    type_ = unit.type(atom) if isinstance(atom, Var) else None
    return isinstance(type_, t.Unknown) or (
        isinstance(type_, t.List) and isinstance(type_.item, t.Unknown)
    )


def step_back(unit: Unit, var: Var) -> Atom | None:
    """Return the value of unknown type that ``var`` was made of; None if it is the first one."""
    rhs = unit.definition(var)
    match rhs:
        case None:
            return first_lost(unit, unit.arms.get(var, ()))
        case Attribute(obj) | Item(obj) | Update(obj):
            return first_lost(unit, [obj])
        case Pack(items=items):
            return first_lost(unit, list(map(unstar, items)))
        case Call(Var() as func):
            owner = unit.definition(func)
            return first_lost(unit, [owner.obj if isinstance(owner, Attribute) else func])
        case Call(Const(function), args, kwargs) if follows_types(function):
            return first_lost(unit, [*map(unstar, args), *(atom for _, atom in kwargs)])
    return None


def first_lost(unit: Unit, atoms: Sequence[Atom]) -> Atom | None:
    """Return the first of some values of which the type is not known."""
    return next((atom for atom in atoms if is_lost(unit, atom)), None)


def follows_types(function: Callable[..., Any]) -> bool:
    """Say whether the type of a result would be known if those of the arguments were."""
    if not hashable(function) or function is call_on_copies:
        return False
    return (
        REGISTRY.has_rules(function) or REGISTRY.inactive(function) is not None
        or REGISTRY.facts(function).may_be_tried
    )


def described(unit: Unit, var: Var) -> Root | None:
    """Return what is said of the first value of unknown type."""
    origin, is_last = users_place(unit.places.get(var, ()))
    if origin is None:
        return None
    if not is_last:
        return Root(origin, f"nothing is known of what {expression(origin)} gives", FROM_OUTSIDE)
    rhs = unit.definition(var)
    match rhs:
        case None:
            return of_several(unit, var, origin)
        case Item(Var() as pair) if is_call_on_copies(unit.definition(pair)):
            return described(unit, pair)
        case Pack(kind):
            inside = kinds(unit, [unstar(item) for item in rhs.items])
            return Root(
                origin, f"this {kind} holds values of several types, {inside}", ONE_TYPE_INSIDE)
        case Call(Const(function), args) if function is call_on_copies:
            return of_call(unit, unstar(args[0]), origin)
        case Call(func):
            return of_call(unit, func, origin)
        case Item(obj):
            return of_part(unit, obj, "an item of {}", origin)
        case Attribute(obj, name):
            return of_part(unit, obj, f"the attribute `{name}` of {{}}", origin)
    return None


def expression(origin: Origin) -> str:
    """Return the expression at a place, as far as it stands on one line."""
    return f"`{origin.text[origin.column : origin.column + origin.width]}`"


def called(origin: Origin) -> str:
    """Return what is called by the expression at a place."""
    return expression(origin).strip("`").partition("(")[0]


def is_call_on_copies(rhs: Rhs | None) -> bool:
    return isinstance(rhs, Call) and isinstance(rhs.func, Const) and (
        rhs.func.value is call_on_copies
    )


def of_call(unit: Unit, func: Atom, origin: Origin) -> Root:
    """Return what is said of the result of a call."""
    if isinstance(func, Const):
        name = f"{spelling(func.value)}()"
        if isinstance(func.value, type):
            return Root(origin, f"nothing is known of what {name} makes",
                        IN_PLACE_OF)
        if isinstance(func.value, np.ufunc) or name.startswith("numpy."):
            return Root(origin, f"what {name} returns here is no array of numbers", PLAIN)
        return Root(origin, f"nothing is known of what {name} returns", FROM_OUTSIDE)
    owner = unit.definition(func)
    if isinstance(owner, Attribute):
        return Root(
            origin, f"nothing is known of what `.{owner.name}()` of {one(unit, owner.obj)} returns",
            FROM_OUTSIDE,
        )
    return Root(origin, "nothing is known of what this call returns", FROM_OUTSIDE)


def of_part(unit: Unit, obj: Atom, words: str, origin: Origin) -> Root:
    """Return what is said of a part of a value of known type."""
    type_ = unit.type(obj)
    container = isinstance(type_, (t.List, t.Dict, t.Tuple))
    return Root(
        origin, words.format(one(unit, obj)) + " is of a type that is not known",
        ONE_TYPE_INSIDE if container else FROM_OUTSIDE,
    )


def of_several(unit: Unit, var: Var, origin: Origin) -> Root:
    """Return what is said of what is no expression: a parameter, a variable of several types."""
    arms = unit.arms.get(var, ())
    if not arms and isinstance(unit.type(var), t.List):
        return Root(
            origin, f"the argument `{var.name}` holds values of several types", ONE_TYPE_INSIDE)
    if not arms:
        return Root(origin, f"nothing is known of the class of `{var.name}`", IN_PLACE_OF)
    if len(arms) == 1:
        return Root(
            origin, f"nothing is known of what {one(unit, arms[0])} gives here", IN_PLACE_OF)
    return Root(origin, f"`{var.name}` is {kinds(unit, arms)} here, as the case may be", ONE_TYPE)


def kinds(unit: Unit, atoms: Sequence[Atom]) -> str:
    """Return what values are, each kind once."""
    found = list(dict.fromkeys(one(unit, atom) for atom in atoms if atom is not UNDEF))
    return " or ".join(filter(None, (", ".join(found[:-1]), found[-1]))) if found else "anything"


def one(unit: Unit, atom: Atom) -> str:
    """Return what a value is, in words."""
    match unit.type(atom):
        case t.Static(None):
            return "None"
        case t.Static(value):
            return f"`{getattr(value, '__name__', value)}`"
        case t.Scalar(kind, dtype):
            return article(dtype or kind)
        case t.Array():
            return "an array"
        case t.List():
            return "a list"
        case t.Tuple(_, cls):
            return article(cls.__name__)
        case t.Dict():
            return "a dict"
        case t.Object(cls):
            return article(cls.__name__)
        case t.TEXT:
            return "a str"
    return "something else"


def article(name: str) -> str:
    return f"an {name}" if name[:1].lower() in "aeiou" else f"a {name}"
