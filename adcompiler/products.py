"""The functions a user asks for, put together from the two halves of a reversed function."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from adcompiler.analyses.purity import ALLOCATORS
from adcompiler.frontend.scope import Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Attribute, Block, Call, Const, Function, Item, Let, Origin, Pack, Param,
    Statement, Var, unstar,
)
from adcompiler.ir.visit import defined, definitions, direct_uses, free_variables, walk
from adcompiler.optimise.passes import optimise
from adcompiler.rulekit.registry import REGISTRY
from adcompiler.runtime import add_at, as_gradient, project, seed, unbroadcast
from adcompiler.runtime.gathering import permute_adjoint, take_adjoint, take_along_axis_adjoint
from adcompiler.transforms.cotangents import Cotangents, cotangent_type
from adcompiler.transforms.in_place import rebound
from adcompiler.transforms.reverse import Pair, Reversed, reverse
from adcompiler.transforms.specialise import Specialiser
from adcompiler.transforms.unit import Callee, Unit


@dataclass(eq=False)
class Typed:
    """The specialised function before differentiation."""

    function: Function
    params: list[Var]
    statements: tuple[Statement, ...]
    value: Atom
    origin: Origin

    @property
    def shown(self) -> str:
        """What messages call the function."""
        return "the lambda" if self.function.name == "lambda_" else self.function.name

    def functions(self, unit: Unit) -> list[Function]:
        """Return the function in its specialised form, then those it calls by name."""
        params = tuple(Param(var, 1) for var in self.params)
        body = Block(self.statements, (self.value,))
        callees = [c.function for c in unit.callees.values() if c.function is not None]
        return [Function(self.function.name, params, body, self.origin), *callees]


@dataclass(eq=False)
class Product:
    """The emitted functions, main one first, with what ``explain`` reports.

    ``together`` lists those that were optimised with their other half before the two were parted.
    """

    functions: list[Function]
    docs: dict[str, str] = field(default_factory=dict)
    residuals: list[str] = field(default_factory=list)
    together: tuple[str, ...] = ()


def optimised(product: Product, unit: Unit) -> Product:
    """Return ``product`` with its functions optimised, each by itself."""
    functions = [
        function if function.name in product.together
        else replace(function, body=optimise(function.body, unit))
        for function in product.functions
    ]
    main = functions[0]
    if main.name not in product.together and main.name in product.docs:
        foreign = {param.var for param in main.params}
        functions[0] = replace(main, body=own_arrays(main.body, unit, foreign, main.origin))
    return replace(product, functions=with_called(functions, unit))


def own_arrays(block: Block, unit: Unit, foreign: set[Var], origin: Origin) -> Block:
    """Return ``block`` with copies of arrays it yields that are not its own, or yielded twice.

    Optimisation may have found that a gradient equals an argument (``foreign``), a saved value or
    another gradient; the user, who may write into one, must get arrays that nobody else holds.
    """
    made = {st.target: st.rhs for st in block.statements if isinstance(st, Let)}
    given: set[Var] = set()
    statements = list(block.statements)
    at = origin.reversed()

    def own(atom: Any) -> Any:
        rhs = made.get(atom) if isinstance(atom, Var) else None
        if isinstance(rhs, Pack) and rhs.kind == "tuple":
            items = tuple(map(own, rhs.items))
            if all(a is b for a, b in zip(items, rhs.items, strict=True)):
                return atom
            packed = Var(atom.name, True)
            unit.record(packed, Pack("tuple", items), unit.type(atom))
            statements[:] = [st for st in statements if not (
                isinstance(st, Let) and st.target is atom)]
            statements.append(Let(packed, Pack("tuple", items), at))
            return packed
        type_ = unit.type(atom) if isinstance(atom, Var) else None
        if not isinstance(type_, t.Array) or type_.kind not in ("float", "complex"):
            return atom
        root = root_of_view(atom, made)
        if root not in foreign and root not in given:
            given.add(root)
            return atom
        copied = Var(atom.name, True)
        unit.record(copied, Call(Const(np.copy), (atom,)), type_)
        statements.append(Let(copied, Call(Const(np.copy), (atom,)), at))
        return copied

    yields = tuple(map(own, block.yields))
    return replace(block, statements=tuple(statements), yields=yields)


def root_of_view(var: Var, made: Mapping[Var, Any]) -> Var:
    """Return the array whose storage ``var`` may share."""
    while True:
        rhs = made.get(var)
        inner: Any = None
        if isinstance(rhs, Call) and isinstance(rhs.func, Const) and rhs.args:
            inner = unstar(rhs.args[0]) if _among(rhs.func.value, VIEWS) else None
        elif isinstance(rhs, Call):
            method = made.get(rhs.func) if isinstance(rhs.func, Var) else None
            if isinstance(method, Attribute) and method.name not in FRESH_METHODS:
                inner = method.obj
        elif isinstance(rhs, (Item, Attribute)):
            inner = rhs.obj
        if not isinstance(inner, Var):
            return var
        var = inner


def _among(function: Any, functions: frozenset[Any]) -> bool:
    try:
        return function in functions
    except TypeError:
        return False


VIEWS: frozenset[Any] = frozenset({
    unbroadcast, np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.rollaxis,
    np.expand_dims, np.squeeze, np.broadcast_to, np.flip, np.fliplr, np.flipud, np.rot90,
    np.diagonal, np.real, np.imag, np.asarray, np.asanyarray, np.ascontiguousarray, np.atleast_1d,
    np.atleast_2d, np.atleast_3d, np.einsum, np.split, project,
})
"""Functions whose result may share the storage of their first argument."""

FRESH_METHODS = frozenset({"copy", "astype", "sum", "mean", "dot", "cumsum", "repeat", "take"})


def with_called(functions: list[Function], unit: Unit) -> list[Function]:
    """Return ``functions`` and, after them, the functions that they call without a derivative."""
    every = list(functions)
    found: set[Callee] = set()
    for function in every:  # which grows
        for statement in walk(function.body):
            rhs = getattr(statement, "rhs", None)
            callee = rhs.func.value if isinstance(rhs, Call) and isinstance(rhs.func, Const) else None
            if isinstance(callee, Callee) and callee not in found:
                found.add(callee)
                called = callee.function
                assert called is not None
                body = optimise(called.body, unit)
                every.append(replace(called, name=callee.name, body=body))
    return every


def specialise(
    unit: Unit, function: Function, python_function: Any, types: list[t.Type], path: Any = ()
) -> Typed:
    """Specialise a Python function's IR on the types of its parameters."""
    s = Specialiser(unit)
    params: list[Var] = []
    env: dict[Var, Atom] = {}
    for param, type_ in zip(function.params, types, strict=True):
        var = Var(param.var.name)
        unit.types[var] = type_
        params.append(var)
        env[param.var] = Const(type_.value) if isinstance(type_, t.Static) else var
        if isinstance(type_, t.Static):
            unit.static(type_.value, (("argument", param.var.name),))
    unit.active_calls.append(python_function)
    with s.writing_to([]) as out:
        yields = s.block(function.body, env, Scope(python_function, path))
    unit.active_calls.pop()
    value = UNDEF if yields is None else yields[0]
    return Typed(function, params, rebound(s, out, (value,)), value, function.origin)


def gradient(
    unit: Unit, typed: Typed, wrt: list[int], with_value: bool, has_aux: bool, single: bool
) -> Product:
    """Return the joint function: the gradient (after the value), in one piece of straight code."""
    s = Specialiser(unit)
    origin = typed.origin
    body = list(typed.statements)
    output, aux = typed.value, None
    if has_aux:
        check_aux(s, typed.value, typed.shown)
        with s.writing_to(body):
            output = s.item(typed.value, Const(0), origin, "value")
            aux = s.item(typed.value, Const(1), origin, "aux")
    check_scalar(s, output, typed.shown)
    inputs = [typed.params[i] for i in wrt]
    type_ = unit.type(output)
    seed_atom: Atom = Const(1.0)
    if not isinstance(type_, t.Scalar):
        seed_atom = Var("seed_bar" if not isinstance(output, Var) else f"{output.name}_bar", False)
        unit.types[seed_atom] = type_
        unit.shapes[seed_atom] = unit.shape_class(output)
    pairs: dict[Any, Pair] = {}
    both = reverse(s, Block(tuple(body)), inputs, output, seed_atom, pairs, origin, False, typed.params)
    statements = list(both.forward)
    if isinstance(seed_atom, Var):
        call = Call(Const(seed), (both.value, Const(typed.shown)))
        statements.append(Let(seed_atom, call, origin.reversed()))
    statements += both.sweep
    with s.writing_to(statements):
        bars = finished_bars(s, both, inputs, origin)
    grads: Atom = bars[0] if single else s_pack(s, statements, bars, origin)
    yields: list[Atom] = []
    if with_value:
        yields.append(both.value if aux is None else s_pack(
            s, statements, [both.value, aux_value(both, aux)], origin))
    yields.append(grads)
    if aux is not None and not with_value:
        yields.append(aux_value(both, aux))
    flattened = flatten_yields(statements, yields, unit)
    name = f"{typed.function.name}_{'value_and_grad' if with_value else 'grad'}"
    names = ", ".join(p.name for p in inputs)
    doc = (
        f"Return the value of `{typed.function.name}` and its gradient with respect to {names}."
        if with_value else f"Return the gradient of `{typed.function.name}` with respect to {names}."
    )
    main = Function(name, all_params(unit, typed), Block(tuple(statements), flattened), origin)
    functions = [main, *pair_functions(unit, pairs)]
    return Product([*functions, *plain_functions(functions)], {name: doc})


def aux_value(both: Reversed, aux: Atom) -> Atom:
    """Return the auxiliary output, which carries no derivative."""
    return aux


def flatten_yields(statements: list[Statement], yields: list[Atom], unit: Unit) -> tuple[Atom, ...]:
    return tuple(yields)


def s_pack(s: Specialiser, statements: list[Statement], atoms: list[Atom], origin: Origin) -> Atom:
    """Write a tuple of results."""
    var = Var("gradients", True)
    s.unit.record(var, Pack("tuple", tuple(atoms)), t.UNKNOWN)
    statements.append(Let(var, Pack("tuple", tuple(atoms)), origin.reversed()))
    return var


def all_params(unit: Unit, typed: Typed) -> tuple[Param, ...]:
    """Return the parameters of an emitted function: the user's, then captured variables."""
    return tuple(Param(v, 1) for v in (*typed.params, *unit.captured.values()))


def check_scalar(s: Specialiser, output: Atom, name: str) -> None:
    """Refuse results of types that cannot have a gradient, before anything runs.

    Arrays are left to ``seed``, which knows their shape.
    """
    type_ = s.unit.type(output)
    if isinstance(type_, t.Scalar) and type_.kind not in ("float", "int"):
        advice = "return its real part or its absolute value" if type_.kind == "complex" else (
            "return a float"
        )
        raise TypeError(
            f"grad needs a real result, but {name} returns a number of type {type_} and shape (); "
            f"{advice}"
        )
    if isinstance(type_, (t.Text, t.Static, t.Tuple, t.List, t.Dict, t.Range)):
        shown = "None" if type_ == t.Static(None) else f"a value of type {type_}"
        raise TypeError(
            f"grad needs a scalar result, but {name} returns {shown}; return one number, or, with "
            "has_aux=True, a pair of it and other results"
        )


def check_aux(s: Specialiser, value: Atom, name: str) -> None:
    """Refuse a result that is no pair where ``has_aux`` promises one."""
    type_ = s.unit.type(value)
    if isinstance(type_, t.Unknown) or (isinstance(type_, t.Tuple) and len(type_.items) == 2):
        return
    raise TypeError(
        f"has_aux=True needs a function that returns (value, aux), but {name} returns a value of "
        f"type {type_}"
    )


def finished_bars(
    s: Specialiser, both: Reversed, inputs: list[Var], origin: Origin
) -> list[Atom]:
    """Write what makes cotangents gradients: zeros for None, precision, arrays of their own."""
    at = origin.reversed()
    given: set[Atom] = set()
    bars: list[Atom] = []
    for var, bar in zip(inputs, both.bars, strict=True):
        type_ = s.unit.type(var)
        done = finished_bar(s, var, type_, bar, given, both.owned, at)
        if isinstance(done, Var):
            s.unit.names.setdefault(done, f"{var.name}_bar")
        given.add(done)
        bars.append(done)
    return bars


def python_number(s: Specialiser, bar: Atom, type_: t.Type, at: Origin) -> Atom:
    """Write a cotangent as a Python number if it is a NumPy one and its value is not."""
    found = s.unit.type(bar)
    if not isinstance(type_, t.Scalar) or not isinstance(found, t.Scalar):
        return bar
    if type_.dtype is not None or found.dtype is None:
        return bar
    kind = complex if type_.kind == "complex" else float
    return s.call(Const(kind), [bar], {}, at, "bar")


def finished_bar(
    s: Specialiser, var: Var, type_: t.Type, bar: Atom | None, given: set[Atom],
    owned: set[Atom], at: Origin,
) -> Atom:
    if isinstance(type_, t.Scalar):
        if bar is None:
            bar = Const(0.0)
        if type_.dtype is None and isinstance(s.unit.type(bar), t.Scalar):
            return python_number(s, bar, type_, at)
    elif isinstance(type_, t.Array) and type_.ndim and type_.kind in ("float", "complex"):
        if bar is None:
            return s.let(Call(Const(np.zeros_like), (var,)), type_, f"{var.name}_bar", at)
        root = storage_root(s, bar)
        if type_.ndim and s.unit.type(bar) == type_ and root not in given and (
            bar in owned or owns_storage(s, root)
        ):
            given.add(root)
            return bar
        if s.unit.type(bar) == type_ and s.unit.shape_class(bar) == s.unit.shape_class(var):
            return s.let(Call(Const(np.copy), (bar,)), type_, f"{var.name}_bar", at)
    return s.let(Call(Const(as_gradient), (bar or NONE, var)), type_, f"{var.name}_bar", at)


def storage_root(s: Specialiser, bar: Atom) -> Atom:
    """Return the array that ``unbroadcast`` may have returned as it was given."""
    rhs = s.unit.definition(bar)
    while isinstance(rhs, Call) and isinstance(rhs.func, Const) and rhs.func.value in (
        unbroadcast, np.reshape
    ):
        bar = unstar(rhs.args[0])
        rhs = s.unit.definition(bar)
    return bar


def owns_storage(s: Specialiser, bar: Atom) -> bool:
    """Say whether an array was made by the sweep and nobody else refers to it."""
    rhs = s.unit.definition(bar)
    if isinstance(rhs, Call) and isinstance(rhs.func, Var):
        method = s.unit.definition(rhs.func)
        return isinstance(method, Attribute) and method.name in ("sum", "copy", "astype")
    if not isinstance(rhs, Call) or not isinstance(rhs.func, Const):
        return False
    function = REGISTRY.resolve(rhs.func.value)
    rule = REGISTRY.find(function)
    return function in ALLOCATORS or function is add_at or function in FRESH or (
        rule is not None and rule.elementwise
    )


FRESH = frozenset({
    operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.matmul,
    operator.pow, np.sum, np.dot, np.outer, np.where, np.concatenate, np.stack, np.roll, np.take,
    np.cumsum, np.diff, np.repeat, np.tile, np.kron, np.linalg.solve, np.linalg.inv, np.full,
    take_adjoint, take_along_axis_adjoint, permute_adjoint,
})


def split(
    unit: Unit, typed: Typed, wrt: list[int], single: bool
) -> Product:
    """Return the split pair: the augmented primal, which saves residuals, and the pullback."""
    s = Specialiser(unit)
    pairs: dict[Any, Pair] = {}
    name = typed.function.name
    for callee in unit.callees.values():
        if callee.name == name:
            callee.name = f"{name}_recursive"
    body = Block(typed.statements)
    params = all_params(unit, typed)
    augmented, pullback, residuals = pair_halves(
        s, body, typed.params, wrt, typed.value, params, f"{name}_augmented", f"{name}_pullback",
        pairs, typed.origin, single, own=True,
    )
    docs = {
        augmented.name: f"Return the value of `{name}` and what its pullback needs.",
        pullback.name: f"Pull a cotangent of the value of `{name}` back to "
        f"{', '.join(typed.params[i].name for i in wrt)}.",
    }
    functions = [augmented, pullback, *pair_functions(unit, pairs)]
    functions += plain_functions(functions)
    return Product(functions, docs, residuals, (augmented.name, pullback.name))


def pair_halves(
    s: Specialiser, body: Block, params: list[Var], wrt: list[int], output: Atom,
    signature: tuple[Param, ...], augmented_name: str, pullback_name: str, pairs: dict[Any, Pair],
    origin: Origin, single: bool, own: bool,
) -> tuple[Function, Function, list[str]]:
    """Return the augmented primal and the pullback of a typed function, optimised together."""
    unit = s.unit
    inputs = [params[i] for i in wrt]
    y_bar = Var(f"{output.name}_bar" if isinstance(output, Var) and not output.temporary
                else "value_bar", False)
    unit.types[y_bar] = cotangent_type(unit.type(output))
    unit.shapes[y_bar] = unit.shape_class(output)
    both = reverse(s, body, inputs, output, y_bar, pairs, origin, True, params)
    sweep = list(both.sweep)
    at = origin.reversed()
    with s.writing_to(sweep):
        bars: list[Atom] = finished_bars(s, both, inputs, origin) if own else [
            inner_zero(s, v, at) if b is None else python_number(s, b, unit.type(v), at)
            for v, b in zip(inputs, both.bars, strict=True)
        ]
    joint = Block((*both.forward, *sweep), (both.value, *bars))
    joint = optimise(joint, unit, join=False)
    forward, backward = split_at_reverse(joint, y_bar)
    value, *bars = joint.yields
    made = definitions(Block(tuple(forward))) | {p.var for p in signature}
    saved = [v for v in free_variables(Block(tuple(backward), tuple(bars))) if v in made]
    residuals = Var("residuals", False)
    unit.types[residuals] = t.UNKNOWN
    unit.opened[residuals] = len(saved)
    packed = Var("saved", True)
    unit.record(packed, Pack("tuple", tuple(saved)), t.UNKNOWN)
    augmented = Function(
        augmented_name, signature,
        Block((*forward, Let(packed, Pack("tuple", tuple(saved)), origin)), (value, packed)),
        origin,
    )
    opened = [Let(v, Item(residuals, Const(i)), at) for i, v in enumerate(saved)]
    if own:
        foreign = {*made, y_bar}
        finished = own_arrays(Block(tuple(backward), tuple(bars)), unit, foreign, origin)
        backward, bars = list(finished.statements), list(finished.yields)
    result: list[Atom] = list(bars)
    pullback = Function(
        pullback_name, (Param(residuals, 1), Param(y_bar, 1)),
        Block((*opened, *backward), tuple(result)), origin,
    )
    if not single and len(result) == 1:
        lone = Var("bars", True)
        unit.record(lone, Pack("tuple", tuple(result)), t.UNKNOWN)
        pullback = Function(
            pullback.name, pullback.params, Block(
                (*opened, *backward, Let(lone, Pack("tuple", tuple(result)), at)), (lone,)), origin
        )
    return augmented, pullback, [unit.names.get(v, v.name) for v in saved]


def inner_zero(s: Specialiser, var: Var, at: Origin) -> Atom:
    """Return the zero cotangent of a parameter that a pullback does not reach."""
    return Cotangents(s).zero_of(var, s.unit.type(var), at)


def split_at_reverse(joint: Block, y_bar: Var) -> tuple[list[Statement], list[Statement]]:
    """Divide the statements of a joint function into its forward pass and its sweep."""
    forward: list[Statement] = []
    backward: list[Statement] = []
    late: set[Var] = {y_bar}
    for statement in joint.statements:
        needs = free_variables(Block((statement,)))
        if statement_is_reverse(statement) or any(v in late for v in needs):
            backward.append(statement)
            late.update(defined(statement))
        else:
            forward.append(statement)
    return forward, backward


def statement_is_reverse(statement: Statement) -> bool:
    """Say whether a statement belongs to the reverse sweep."""
    origin = getattr(statement, "origin", None)
    return origin is not None and origin.reverse


def pair_functions(unit: Unit, pairs: dict[Any, Pair]) -> list[Function]:
    """Return the functions of all pairs that are called, and of those that these call."""
    functions: list[Function] = []
    done: set[Any] = set()
    while len(done) < len(pairs):
        for key, pair in list(pairs.items()):
            if key in done:
                continue
            done.add(key)
            callee = pair.callee.function
            assert callee is not None
            params = [p.var for p in callee.params]
            wrt = [i for i, active in enumerate(pair.active) if active]
            augmented, pullback, _ = pair_halves(
                Specialiser(unit), callee.body, params, wrt, callee.body.yields[0], callee.params,
                pair.augmented.name, pair.pullback.name, pairs, callee.origin, True, own=False,
            )
            functions += [augmented, pullback]
    return functions


def plain_functions(functions: list[Function]) -> list[Function]:
    """Return the functions compiled on their own that are called without a derivative."""
    found: dict[Callee, Function] = {}
    waiting = list(functions)
    while waiting:
        for callee in plain_callees(waiting.pop().body):
            if callee not in found and callee.function is not None:
                f = callee.function
                found[callee] = Function(callee.primal_name, f.params, f.body, f.origin, doc=f.doc)
                waiting.append(found[callee])
    return list(found.values())


def plain_callees(body: Block) -> Iterator[Callee]:
    """Iterate over the functions compiled on their own that ``body`` itself calls."""
    for statement in walk(body):
        for atom in direct_uses(statement):
            if isinstance(atom, Const) and isinstance(atom.value, Callee):
                yield atom.value
