"""The split pair: the augmented primal, which saves residuals, and the pullback."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adcompiler.analyses.purity import Purity
from adcompiler.derive.masking import masked
from adcompiler.derive.primal_and_pullback import Pairs, as_added
from adcompiler.derive.reverse.cotangents import Cotangents, cotangent_type
from adcompiler.derive.reverse.reverser import reverse
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Block, Const, Function, Item, Let, Origin, Pack, Param, Statement, Var,
)
from adcompiler.ir.visit import defined, definitions, free_variables
from adcompiler.optimise.passes import optimise
from adcompiler.products.finish import finished_bars, of_many_seeds, own_arrays, python_number
from adcompiler.products.ownership import given_back, owned_residuals
from adcompiler.products.product import Product, plain_functions
from adcompiler.products.specialised import Typed, all_params
from adcompiler.infer.calls.callees import unique_name
from adcompiler.infer.inference import Inference
from adcompiler.typed.unit import Unit


def split(unit: Unit, typed: Typed, single: bool, batched: bool = False) -> Product:
    """Return the split pair: the augmented primal, which saves residuals, and the pullback.

    If ``batched``, the pullback takes cotangents with a leading axis; NotBatchable where it cannot.
    """
    pairs: Pairs = {}
    deferred, unit.sweeps.deferred = unit.sweeps.deferred, True
    name = typed.function.name
    for callee in unit.calls.callees.values():
        if callee.name == name:
            callee.name = unique_name(unit, f"{name}_recursive")
    effects = effects_of(unit, typed)
    back = () if effects == "by call" else given_back(unit, typed)
    statements = (*typed.statements, *back)
    primal = Function(
        name, all_params(unit, typed), Block(statements, (typed.value,)), typed.origin
    )
    augmented, pullback, residuals = pair_halves(
        Inference(unit), primal, typed.params, typed.inputs, f"{name}_augmented",
        f"{name}_pullback", pairs, own=True, entry=typed.entry, batched=batched,
    )
    if not single:
        pullback = packed_result(pullback, unit)
    docs = {
        augmented.name: f"Return the value of `{name}` and what its pullback needs.",
        pullback.name: f"Pull a cotangent of the value of `{name}` back to "
        f"{', '.join(var.name for var in typed.inputs)}.",
    }
    functions = [augmented, pullback, *pair_functions(unit, pairs)]
    unit.sweeps.deferred = deferred
    functions += plain_functions(functions)
    return Product(
        functions, docs, residuals, (augmented.name, pullback.name), effects
    )


def effects_of(unit: Unit, typed: Typed) -> str:
    """Tell how arguments get what the function writes into them; report if there is no way."""
    if not typed.lost:
        return "written"
    purity = Purity(unit.type, unit.definition)
    if not purity.has_no_effect(Block(typed.statements)):
        unit.findings.extend(f for _, f in typed.lost if f not in unit.findings)
    return "by call"


def effects_outside(unit: Unit, typed: Typed) -> str:
    """As ``effects_of`` for a function of which the arguments are left as they were."""
    outside = [finding for var, finding in typed.lost if var not in typed.params]
    if not outside:
        return "written"
    of_arguments = len(typed.lost) > len(outside) or any(
        it.var in typed.params for it in typed.written)
    if of_arguments:
        unit.findings.extend(f for f in outside if f not in unit.findings)
    return "written" if of_arguments else effects_of(unit, typed)


def pair_halves(
    s: Inference, primal: Function, params: list[Var], inputs: list[Var], augmented_name: str,
    pullback_name: str, pairs: Pairs, own: bool, entry: Sequence[Statement] = (),
    apart: bool = False, batched: bool = False,
) -> tuple[Function, Function, list[str]]:
    """Return the augmented primal and the pullback of a typed function, optimised together.

    The third result names the values saved. ``params`` are those of ``primal``, ``inputs`` what it
    is differentiated with respect to, which ``entry`` reads unless they are parameters; ``own``
    says that the user gets the cotangents, as gradients, ``apart`` that callers may write into what
    they gave or got.
    """
    unit, origin = s.unit, primal.origin
    at = origin.reversed()
    (output,) = primal.body.yields
    y_bar = Var(f"{output.name}_bar" if isinstance(output, Var) and not output.temporary
                else "value_bar", False)
    unit.types[y_bar] = cotangent_type(unit.type(output))
    unit.shapes[y_bar] = unit.shape(output)
    known = [*params, *inputs]
    both = reverse(s, primal.body, inputs, output, y_bar, pairs, origin, True, known, own or apart)
    with s.writing_to(list(both.sweep)) as sweep:
        bars = finished_bars(s, both, inputs, origin) if own else [
            inner_bar(s, var, g, at) for var, g in zip(inputs, both.bars, strict=True)
        ]
    joint = Block((*entry, *both.forward, *sweep), (both.value(output), *bars))
    joint = masked(unit, optimise(joint, unit, join=False), [y_bar], inputs, is_optimised=True)
    forward, backward = split_at_reverse(joint, y_bar)
    value, *bars = joint.yields
    if batched:
        rest = of_many_seeds(
            s, Block(tuple(backward), tuple(bars)), [y_bar], range(len(bars)), at, forward
        )
        backward, bars = list(rest.statements), list(rest.yields)
    made = definitions(Block(tuple(forward))) | {p.var for p in primal.params}
    saved = [v for v in free_variables(Block(tuple(backward), tuple(bars))) if v in made]
    if own or apart or unit.sweeps.deferred:
        saved, rest = owned_residuals(
            s, saved, forward, Block(tuple(backward), tuple(bars)), primal, value,
            not (own or apart),
        )
        backward, bars = list(rest.statements), list(rest.yields)
    with s.writing_to(forward):
        packed = s.let(Pack("tuple", tuple(saved)), t.UNKNOWN, "saved", origin)
    augmented = Function(
        augmented_name, primal.params, Block(tuple(forward), (value, packed)), origin
    )
    residuals = Var("residuals", False)
    unit.types[residuals] = t.UNKNOWN
    unit.naming.opened[residuals] = len(saved)
    opened = [Let(v, Item(residuals, Const(i)), at) for i, v in enumerate(saved)]
    rest = Block(tuple(backward), tuple(bars))
    if own:
        rest = own_arrays(rest, unit, {*made, y_bar}, origin)
    pullback = Function(
        pullback_name, (Param(residuals, 1), Param(y_bar, 1)),
        replace(rest, statements=(*opened, *rest.statements)), origin,
    )
    return augmented, pullback, [unit.naming.names.get(v, v.name) for v in saved]


def packed_result(pullback: Function, unit: Unit) -> Function:
    """Return a pullback that returns a tuple even of one cotangent."""
    body = pullback.body
    if len(body.yields) != 1:
        return pullback  # emitted as a tuple anyway
    lone = Var("bars", True)
    rhs = Pack("tuple", body.yields)
    unit.record(lone, rhs, t.UNKNOWN)
    let = Let(lone, rhs, pullback.origin.reversed())
    return replace(pullback, body=Block((*body.statements, let), (lone,)))


def inner_bar(s: Inference, var: Var, bar: Atom | None, at: Origin) -> Atom:
    """Write the cotangent of a parameter that only emitted code gets; zero if it is not reached."""
    type_ = s.unit.type(var)
    if bar is None:
        return Cotangents(s).zero_of(var, type_, at)
    return python_number(s, bar, type_, at)


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


def pair_functions(unit: Unit, pairs: Pairs) -> list[Function]:
    """Return the functions of all pairs that are called, and of those that these call."""
    functions: list[Function] = []
    for pair in as_added(pairs):
        callee = pair.callee.function
        assert callee is not None
        params = [p.var for p in callee.params]
        inputs = [var for var, active in zip(params, pair.active, strict=True) if active]
        augmented, pullback, _ = pair_halves(
            Inference(unit), callee, params, inputs, pair.augmented.name, pair.pullback.name,
            pairs, own=False, apart=pair.apart,
        )
        functions += [augmented, pullback]
    return functions
