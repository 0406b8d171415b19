"""The pushforward of a function: one function of primals and tangents, in one piece."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from adcompiler.analyses.purity import Purity
from adcompiler.derive.forward.forwarder import Pushed, first_order, push
from adcompiler.derive.forward.tangents import Tangents, dot, tangent_type
from adcompiler.derive.forward.transposing import forward_only
from adcompiler.derive.masking import masked
from adcompiler.derive.primal_and_pullback import Pushes, as_added
from adcompiler.derive.taylor.rules import SeriesRules
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    NONE, Atom, Block, Call, Const, Function, Item, Let, Origin, Pack, Param, Var,
    unstar,
)
from adcompiler.ir.operators import OF_NUMBERS
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.optimise.dead_code import dead_code
from adcompiler.optimise.passes import optimise
from adcompiler.products.constant_seeds import Parted, parted
from adcompiler.products.finish import (
    finished_bar, is_python_number, of_all_orders, of_many_seeds, own_arrays,
)
from adcompiler.products.ownership import given_back
from adcompiler.products.pair import effects_of
from adcompiler.products.product import Product, plain_functions
from adcompiler.products.specialised import Typed, all_params
from adcompiler.runtime import as_gradient
from adcompiler.infer.calls.binding import at_origin
from adcompiler.infer.calls.callees import unique_name
from adcompiler.infer.inference import Inference
from adcompiler.typed.builder import Builder
from adcompiler.typed.unit import Unit


def pushforward(
    unit: Unit, typed: Typed, batched: bool = False, constant: bool = False, series: bool = False
) -> Product:
    """Return the function of the arguments and their tangents that gives ``(y, y_dot)``.

    If ``batched``, tangents have a leading axis; raises NotBatchable where that cannot be written.
    If they are ``constant`` as well, there are two functions where something is gained by it: see
    ``along_constants``. With ``series`` the axis counts the orders, from 1 on, of the coefficients
    of Taylor series.
    """
    s = Inference(unit)
    name, origin = typed.function.name, typed.origin
    for callee in unit.calls.callees.values():
        if callee.name == name:
            callee.name = unique_name(unit, f"{name}_recursive")
    effects = effects_of(unit, typed)
    back = () if effects == "by call" else given_back(unit, typed)
    body = Block((*typed.statements, *back), (typed.value,))
    duals = {var: dual_parameter(unit, var) for var in typed.inputs}
    pushes: Pushes = {}
    rules = SeriesRules if series else first_order
    pushed = push(s, body, duals, typed.value, pushes, rules=rules)
    statements = [*typed.entry, *pushed.statements]
    with s.writing_to(statements):
        y_dot = finished_dot(s, pushed, origin)
    params = (*all_params(unit, typed), *(Param(var, 1) for var in duals.values()))
    block = masked(
        unit, Block(tuple(statements), (pushed.value, y_dot)), duals.values(), duals)
    block = tidied(block, unit)
    if batched and duals:
        along = of_all_orders if series else of_many_seeds
        block = along(s, block, list(duals.values()), (1,), origin)
        if constant and effects == "written" and not typed.written:
            found = along_constants(unit, typed, block, list(duals.values()), pushes)
            if found is not None:
                return found
    block = owned(block, unit, {param.var for param in params}, origin)
    main = Function(f"{name}_{'taylor' if series else 'pushforward'}", params, block, origin)
    names = ", ".join(var.name for var in duals.values()) or "nothing"
    doc = f"Return the value of `{name}` and its derivative along {names}."
    if series:
        doc = f"Return the value of `{name}` and its Taylor coefficients from those in {names}."
    functions = [main, *push_functions(unit, pushes, series)]
    return Product(
        [*functions, *plain_functions(functions)], {main.name: doc},
        together=tuple(f.name for f in functions), effects=effects, tangents=len(duals),
        writes=bool(typed.written or typed.lost),
    )


def along_constants(
    unit: Unit, typed: Typed, block: Block, duals: list[Var], pushes: Pushes
) -> Product | None:
    """Return a pushforward along tangents that are the same at every point, in two functions.

    The first gives ``y_dot`` (``(y, y_dot)`` unless the value is an array of floats, so that the
    structure is known), which may share storage with constants. It takes the arguments and what
    the second one, ``..._constants``, computes of the arguments and their tangents. That holds for
    other arguments of the same shapes, as long as what is not differentiated is the same. None if
    nothing is gained.
    """
    name, origin = typed.function.name, typed.origin
    value, y_dot = block.yields
    type_ = unit.type(value)
    alone = isinstance(type_, t.Array) and type_.kind == "float"
    if alone:
        block = replace(block, yields=(y_dot,))
    fixed = [
        var for var in typed.params if var not in typed.inputs and is_data(unit.type(var))
    ]
    halves = parted(block, unit, duals, fixed, typed.inputs)
    if halves is None:
        return None
    given = Var("constants", False)
    unit.types[given] = t.UNKNOWN
    constants, opened = packed(unit, halves, given, origin)
    params = all_params(unit, typed)
    rest = replace(halves.rest, statements=(*opened, *halves.rest.statements))
    main = Function(f"{name}_along", (*params, Param(given, 1)), rest, origin)
    first = Function(
        f"{name}_constants", (*params, *(Param(var, 1) for var in duals)), constants, origin
    )
    names = ", ".join(var.name for var in duals)
    docs = {
        main.name: f"Return the derivative of `{name}` along what `{first.name}` was given.",
        first.name: f"Return what the derivative of `{name}` along {names} is computed from.",
    }
    functions = [main, first, *push_functions(unit, pushes)]
    return Product(
        [*functions, *plain_functions(functions)], docs,
        together=tuple(f.name for f in functions), tangents=1,
        constants=(first.name,) if alone else (first.name, "with value"),
    )


def is_data(type_: t.Type) -> bool:
    """Say whether values of this type are numbers, arrays, or tuples of these."""
    if isinstance(type_, t.Tuple):
        return all(map(is_data, type_.items))
    return isinstance(type_, (t.Scalar, t.Array, t.Static))


def packed(
    unit: Unit, halves: Parted, given: Var, origin: Origin
) -> tuple[Block, tuple[Let, ...]]:
    """Return the first half with a tuple as its result, and what opens that, as ``given``."""
    whole = Var("constants", True)
    rhs = Pack("tuple", halves.kept)
    unit.record(whole, rhs, t.UNKNOWN)
    unit.naming.opened[given] = len(halves.kept)
    made = Let(whole, rhs, origin)
    first = Block((*halves.constants.statements, made), (whole,))
    return first, tuple(
        Let(var, Item(given, Const(i)), origin) for i, var in enumerate(halves.kept)
    )


def dual_parameter(unit: Unit, var: Var) -> Var:
    """Return the parameter for the tangent of ``var``."""
    new = Var(dot(var))
    unit.types[new] = tangent_type(unit.type(var))
    unit.shapes[new] = unit.shape(var)
    return new


def finished_dot(s: Builder, pushed: Pushed, origin: Origin) -> Atom:
    """Write the tangent of the result as the user gets it: of its structure and precision."""
    value = pushed.value
    if not isinstance(value, Var):
        return zero_of_constant(s, value.value, origin)
    type_ = s.unit.type(value)
    if isinstance(type_, t.Scalar):
        return finished_number(s, value, pushed.dot or Const(0.0), type_, origin)
    start = len(s.out)
    found = finished_bar(s, value, pushed.dot, set(), set(), origin)
    s.out[start:] = [at_origin(statement, origin) for statement in s.out[start:]]
    if isinstance(found, Var):
        s.unit.naming.names.setdefault(found, dot(value) if not value.temporary else "value_dot")
    return found


def zero_of_constant(s: Builder, value: Any, origin: Origin) -> Atom:
    """Write the tangent of a result that is a literal."""
    if isinstance(value, tuple):
        parts = tuple(zero_of_constant(s, item, origin) for item in value)
        type_ = t.Tuple(tuple(map(s.unit.type, parts)))
        return s.let(Pack("tuple", parts), type_, "value_dot", origin)
    return Const(0.0) if isinstance(s.unit.type(Const(value)), t.Scalar) else NONE


def finished_number(
    s: Builder, value: Atom, d: Atom, type_: t.Scalar, origin: Origin
) -> Atom:
    """Write the tangent of a number as one of its class.

    Where branches meet, a number may be a Python or a NumPy number, whatever its type says.
    """
    found = s.unit.type(d)
    same = isinstance(found, t.Scalar) and found.dtype == type_.dtype and found.kind == type_.kind
    if same and type_.dtype is None and is_python_number(s, value) and is_python_number(s, d):
        return d
    if same and type_.dtype is not None and is_numpy_number(s, value) and is_numpy_number(s, d):
        return d
    return s.let(Call(Const(as_gradient), (d, value)), type_, "value_dot", origin)


def is_numpy_number(s: Builder, atom: Atom) -> bool:
    """Say whether an atom is a NumPy number for sure: an element, or made by NumPy of numbers."""
    match s.unit.definition(atom):
        case Call(Const(function), args) if hashable(function) and function in OF_NUMBERS:
            return any(is_numpy_number(s, unstar(arg)) for arg in args)
        case Call(Const(function)):
            function = REGISTRY.resolve(function)
            name = getattr(function, "__name__", "")
            return isinstance(function, np.ufunc) or getattr(np, name, None) is function
        case Item(obj):
            return isinstance(s.unit.type(obj), t.Array)
    return False


def tidied(block: Block, unit: Unit) -> Block:
    """Return ``block`` optimised; what transposed pullbacks leave undone is dropped before."""
    purity = Purity(unit.type, unit.definition)
    return optimise(forward_only(dead_code(block, purity)), unit)


def owned(block: Block, unit: Unit, foreign: set[Var], origin: Origin) -> Block:
    """Return ``block`` with a tangent of the result that shares storage with nothing else."""
    value, y_dot = block.yields
    others = {*foreign, *({value} if isinstance(value, Var) else ())}
    found = own_arrays(replace(block, yields=(y_dot,)), unit, others, origin)
    return replace(found, yields=(value, *found.yields))


def push_functions(unit: Unit, pushes: Pushes, series: bool = False) -> list[Function]:
    """Return the pushforwards that are called, and those that these call, optimised.

    With ``series`` they are of coefficients; raises NotBatchable where that cannot be written.
    """
    functions: list[Function] = []
    for one in as_added(pushes):
        callee = one.callee.function
        assert callee is not None
        s = Inference(unit)
        params: Sequence[Param] = callee.params
        duals = {
            p.var: dual_parameter(unit, p.var)
            for p, active in zip(params, one.active, strict=True) if active
        }
        (output,) = callee.body.yields
        rules = SeriesRules if series else first_order
        pushed = push(s, callee.body, duals, output, pushes, rules=rules)
        statements = list(pushed.statements)
        with s.writing_to(statements):
            y_dot = pushed.dot or Tangents(s).zero_of(pushed.value, callee.origin)
        params = (*params, *(Param(var, 1) for var in duals.values()))
        if series:
            orders = Var("orders", False)
            unit.types[orders] = t.INT
            params = (*params, Param(orders, 1))
            block = Block(tuple(statements), (pushed.value, y_dot))
            block = tidied(masked(unit, block, duals.values(), duals), unit)
            block = of_all_orders(s, block, list(duals.values()), (1,), callee.origin, orders)
            statements, (value, y_dot) = list(block.statements), block.yields
        else:
            value = pushed.value
        with s.writing_to(statements):
            both = s.let(Pack("tuple", (value, y_dot)), t.UNKNOWN, "both", callee.origin)
        body = Block(tuple(statements), (both,), callee.body.diverges)
        if not series:
            body = tidied(masked(unit, body, duals.values(), duals), unit)
        functions.append(Function(one.pushforward.name, params, body, callee.origin))
    return functions
