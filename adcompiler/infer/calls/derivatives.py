"""Derivatives met in the code that is compiled: which function, and with respect to what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adcompiler.ir import types as t
from adcompiler.ir.nodes import UNDEF, Atom, Call, Const, Origin, Rhs, Star, arguments, unstar
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer
from adcompiler.typed.derivatives import MAKERS, ONLY_OUTSIDE, Wanted, holds_floats
from adcompiler.typed.operators import OPERATORS
from adcompiler.typed.unit import Unit


def make_derivative(
    s: Operations, func: Const, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom:
    """Write ``grad(f, ...)``, or the whole of ``vjp(f, x, ...)``."""
    mode = MAKERS[func.value]
    named = dict(kwargs)
    if mode == "forward":
        return push_forward(s, args, named, origin, name)
    if OPERATORS[mode].at_once:
        return at_once(s, mode, args, named, origin, name)
    wanted = options_of(s.unit, mode, args, named)
    if wanted is None:
        return refuse_options(s, origin)
    return s.let(
        Call(func, tuple(args), tuple(kwargs.items())), t.FunctionType(wanted), name, origin, False
    )


def at_once(
    s: Writer, mode: str, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom:
    """Write ``vjp(f, x, ...)``, or another derivative whose maker gets the arguments as well."""
    if not args or isinstance(args[0], Star):
        return refuse_options(s, origin)
    names = OPERATORS[mode].options
    options = {key: known(s.unit, kwargs.pop(key)) for key in names if key in kwargs}
    argnums = options.pop("argnums", None)
    if argnums is None:
        argnums = tuple(range(len(args) - 1))
        options |= {"all": True} if mode == "linearize" else {}
        inside = [holds_floats(s.unit.type(unstar(arg))) for arg in args[1:]]
        if mode == "vjp" and any(inside) and not all(inside):
            return s.reject(
                origin, "vjp() without argnums, of arguments of which some hold no float",
                "name those that are differentiated: vjp(f, x, n, argnums=0)", "higher-order",
            )
    if not usable(argnums) or any(value is ... for value in options.values()):
        return refuse_options(s, origin)
    given = tuple((key, value) for key, value in options.items() if value is not None)
    wanted = Wanted(mode, argnums, False, given)
    return call_derivative(s, wanted, args[0], list(args[1:]), kwargs, origin, name)


def push_forward(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom:
    """Write ``jvp(f, primals, tangents)``: the pushforward, with tangents after the primals."""
    given = dict(zip(("function", "primals", "tangents"), args, strict=False)) | kwargs
    function, primals, tangents = (given.pop(k, None) for k in ("function", "primals", "tangents"))
    argnums = given.pop("argnums", None)
    inputs = None if primals is None else items_of(s, unstar(primals), origin)
    duals = None if tangents is None else items_of(s, unstar(tangents), origin)
    if function is None or inputs is None:
        return refuse_options(s, origin)
    named = tuple(range(len(inputs))) if argnums is None else known(s.unit, argnums)
    if not isinstance(named, tuple) and tangents is not None:
        named, duals = (named,), (unstar(tangents),)
    if not usable(named) or duals is None or len(duals) != len(named):
        return refuse_options(s, origin)
    pairs = [
        (one, dual) for one, dual in zip(named, duals, strict=True)
        if not (isinstance(dual, Const) and dual.value is None)
    ]
    wanted = Wanted("forward", tuple(one for one, _ in pairs))
    return call_derivative(
        s, wanted, unstar(function), list(inputs), given, origin, name,
        [dual for _, dual in pairs],
    )


def items_of(s: Operations, atom: Atom, origin: Origin) -> tuple[Atom, ...] | None:
    """Return the items of a tuple or list, None if their number is not known."""
    elements, type_ = s.unit.elements(atom), s.unit.type(atom)
    if elements is None and isinstance(type_, t.Tuple):
        return tuple(s.item(atom, Const(i), origin, "item") for i in range(len(type_.items)))
    return elements


def call_made(
    s: Operations, made: Call, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom:
    """Write a call of what ``grad(f, ...)`` returned; of ``grad(argnums=...)`` that is ``grad``."""
    assert isinstance(made.func, Const)
    options = {key: value for key, value in made.kwargs if key is not None}
    options.pop("function", None)
    function = primal_of(made)
    if function is None:
        return make_derivative(s, made.func, args, {**options, **kwargs}, origin, name)
    wanted = options_of(s.unit, MAKERS[made.func.value], arguments(made), options)
    assert wanted is not None
    return call_derivative(s, wanted, function, args, kwargs, origin, name)


def options_of(
    unit: Unit, mode: str, args: list[Atom], kwargs: dict[str, Atom]
) -> Wanted | None:
    """Return what ``grad(f, argnums, has_aux=...)`` asks for, None if compiling does not tell."""
    options = {  # what a terminal shows is for calls from outside
        key: value for key, value in kwargs.items() if key not in ("function", "progress")}
    names, none_is_said = OPERATORS[mode].options, OPERATORS[mode].none_is_said
    options.update(zip(names, args[1:], strict=False))
    found = {key: known(unit, unstar(value)) for key, value in options.items()}
    if found.get("out") is not None:
        found["out"] = True
    argnums = found.pop("argnums", found.pop("argnum", 0))
    has_aux = found.pop("has_aux", False)
    if len(args) > len(names) + 1 or not usable(argnums) or not isinstance(has_aux, bool):
        return None
    if any(value is ... for value in found.values()) or not found.keys() <= set(names):
        return None
    given = tuple(
        (key, value) for key, value in found.items() if value is not None or none_is_said)
    return Wanted(mode, argnums, has_aux, given)


def known(unit: Unit, atom: Atom) -> Any:
    """Return the value of an option; an Ellipsis, which none has, where it is not known."""
    if isinstance(atom, Const):
        value = atom.value
    else:
        elements = unit.elements(atom)
        value = ... if elements is None else tuple(known(unit, unstar(e)) for e in elements)
        if value is ... or ... in value:
            return ...
    return tuple(value) if isinstance(value, list) else value


def usable(argnums: Any) -> bool:
    """Say whether ``argnums`` names arguments."""
    several = argnums if isinstance(argnums, tuple) else (argnums,)
    return all(type(one) in (int, str) for one in several)


def refuse_options(s: Writer, origin: Origin) -> Atom:
    """Report options of a derivative that are not literals."""
    return s.reject(
        origin, "which derivative this asks for is not known when compiling",
        "write argnums=, has_aux= and other options as literals", "higher-order",
    )


def call_derivative(
    s: Writer, wanted: Wanted, function: Atom, args: list[Atom], kwargs: dict[str, Atom],
    origin: Origin, name: str, tangents: Sequence[Atom] = (),
) -> Atom:
    """Write the derivative of ``function`` at the arguments: its emitted code, opened."""
    if any(isinstance(arg, Star) for arg in args):
        return s.reject(
            origin, "* of a sequence whose length is not known when compiling",
            "pass the arguments one by one, or the sequence itself", "star-arguments",
        )
    if any(atom is UNDEF for atom in (function, *args, *kwargs.values())):
        return UNDEF
    if s.unit.settings.derive is None:
        return s.reject(
            origin, "a derivative inside of code that is only looked at",
            "write out what it computes", "higher-order",
        )
    result: Atom = s.unit.settings.derive(
        s, wanted, function, args, kwargs, origin, name, tangents
    )
    return result


def derivative_of(value: Any) -> Wanted:
    """Return what a live derivative is."""
    options = value.options
    if isinstance(options, Wanted):
        return options
    argnums = options.argnums
    return Wanted(
        options.mode, tuple(argnums) if isinstance(argnums, list) else argnums, options.has_aux
    )


def parts_of_made(definition: Rhs | None) -> tuple[Atom, ...] | None:
    """Return what a derivative made by the compiled code was made from, None for other values."""
    match definition:
        case Call(Const(value), args, kwargs) if is_maker(value):
            return (*map(unstar, args), *(atom for _, atom in kwargs))
    return None


def primal_of(made: Call) -> Atom | None:
    """Return the function that a call makes a derivative of, None if it makes none."""
    if not (isinstance(made.func, Const) and is_maker(made.func.value)):
        return None
    return dict(made.kwargs).get("function") or (unstar(made.args[0]) if made.args else None)


def refuse_inside(s: Writer, function: Callable[..., Any], origin: Origin) -> Atom:
    """Report a derivative that is for calls from outside only."""
    return s.reject(
        origin, f"{function.__name__}() inside of a function that is compiled",
        ONLY_OUTSIDE[function], "higher-order",
    )


def is_maker(value: Any) -> bool:
    """Say whether a function makes derivatives."""
    try:
        return value in MAKERS
    except TypeError:
        return False


