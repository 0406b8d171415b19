"""The joint product: the gradient, after the value or without it, in one function."""

from __future__ import annotations

from adcompiler.derive.masking import masked, may_be_masked
from adcompiler.derive.primal_and_pullback import Pairs
from adcompiler.derive.reverse.reverser import Reversed, reverse
from adcompiler.errors import ArgumentsError
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Block, Call, Const, Function, Let, Statement, Var
from adcompiler.ir.visit import substitute_block
from adcompiler.products.finish import finished_bars
from adcompiler.products.ownership import given_back_at_end, kept_from_sweep
from adcompiler.products.pair import effects_outside, pair_functions
from adcompiler.products.product import Product, pack, plain_functions
from adcompiler.products.specialised import Typed, all_params
from adcompiler.runtime import seed
from adcompiler.infer.inference import Inference
from adcompiler.typed.builder import Builder
from adcompiler.typed.unit import Unit


def gradient(
    unit: Unit, typed: Typed, with_value: bool, has_aux: bool, single: bool
) -> Product:
    """Return the joint function: the gradient (after the value), in one piece of straight code."""
    s = Inference(unit)
    origin = typed.origin
    body = list(typed.statements)
    output, aux = typed.value, None
    if has_aux:
        check_aux(s, typed.value, typed.shown)
        with s.writing_to(body):
            output = s.item(typed.value, Const(0), origin, "value")
            aux = s.item(typed.value, Const(1), origin, "aux")
    check_scalar(s, output, typed.shown)
    inputs = typed.inputs
    output_bar = cotangent_of_result(unit, output)
    pairs: Pairs = {}
    both = reverse(
        s, Block(tuple(body)), inputs, output, output_bar, pairs, origin, False,
        [*typed.params, *inputs],
    )
    statements = [*typed.entry, *both.forward]
    both.sweep = sweep_masked(unit, both, output_bar, inputs)
    if isinstance(output_bar, Var) and isinstance(unit.type(output), t.Scalar):
        swept = substitute_block(Block(tuple(both.sweep)), {output_bar: Const(1.0)})
        both.sweep = list(swept.statements)
        both.bars = [Const(1.0) if bar == output_bar else bar for bar in both.bars]
    elif isinstance(output_bar, Var):
        call = Call(Const(seed), (both.value(output), Const(typed.shown)))
        statements.append(Let(output_bar, call, origin.reversed()))
    results: list[Atom] = [both.value(output)] if with_value else []
    if aux is not None:
        results.append(both.value(aux))
    with s.writing_to(statements):
        results = kept_from_sweep(s, results, both.forward, both.sweep, origin)
        effects = effects_outside(unit, typed)
        back = [] if effects == "by call" else list(given_back_at_end(s, typed, both, origin))
    statements += both.sweep
    with s.writing_to(statements):
        bars = finished_bars(s, both, inputs, origin)
        statements += back
        yields = [bars[0] if single else pack(s, bars, origin)]
        if with_value:
            yields.insert(0, results[0] if aux is None else pack(s, results, origin))
        else:
            yields += results
    name = f"{typed.function.name}_{'value_and_grad' if with_value else 'grad'}"
    main = Function(name, all_params(unit, typed), Block(tuple(statements), tuple(yields)), origin)
    functions = [main, *pair_functions(unit, pairs)]
    what = "value of `{}` and its gradient" if with_value else "gradient of `{}`"
    names = ", ".join(p.name for p in inputs)
    doc = f"Return the {what.format(typed.function.name)} with respect to {names}."
    return Product([*functions, *plain_functions(functions)], {name: doc}, effects=effects)


def sweep_masked(
    unit: Unit, both: Reversed, seed_bar: Atom, inputs: list[Var]
) -> list[Statement]:
    """Return the sweep, in which cotangents that are 0 stay 0 where that is wanted."""
    if not isinstance(seed_bar, Var):
        return both.sweep
    one = seed_bar if isinstance(unit.type(seed_bar), t.Scalar) else None
    block = masked(unit, Block((*both.forward, *both.sweep)), [seed_bar], inputs, one=one)
    return list(block.statements[len(both.forward) :])


def cotangent_of_result(unit: Unit, output: Atom) -> Atom:
    """Return the cotangent that the sweep starts from: 1.0, or a variable for an array of one.

    Masked code follows it, so that it is a variable there.
    """
    type_ = unit.type(output)
    if isinstance(type_, t.Scalar) and not may_be_masked(unit):
        return Const(1.0)
    output_bar = Var(f"{output.name}_bar" if isinstance(output, Var) else "seed_bar", False)
    unit.types[output_bar] = t.FLOAT if isinstance(type_, t.Scalar) else type_
    unit.shapes[output_bar] = unit.shape(output)
    return output_bar


def check_scalar(s: Builder, output: Atom, name: str) -> None:
    """Refuse results of types that cannot have a gradient, before anything runs.

    Arrays are left to ``seed``, which knows their shape.
    """
    type_ = s.unit.type(output)
    if isinstance(type_, t.Scalar) and type_.kind not in ("float", "int"):
        advice = "return its real part or its absolute value" if type_.kind == "complex" else (
            "return a float"
        )
        raise ArgumentsError(
            f"grad needs a real result, but {name} returns a number of type {type_} and shape (); "
            f"{advice}"
        )
    if isinstance(type_, (t.Text, t.Static, t.Tuple, t.List, t.Dict, t.Range)) or (
        isinstance(type_, t.Object) and type_.fields
    ):
        shown = "None" if type_ == t.Static(None) else f"a value of type {type_}"
        raise ArgumentsError(
            f"grad needs a scalar result, but {name} returns {shown}; return one number, or, with "
            "has_aux=True, a pair of it and other results"
        )


def check_aux(s: Builder, value: Atom, name: str) -> None:
    """Refuse a result that is no pair where ``has_aux`` promises one."""
    type_ = s.unit.type(value)
    if isinstance(type_, t.Unknown) or (isinstance(type_, t.Tuple) and len(type_.items) == 2):
        return
    raise ArgumentsError(
        f"has_aux=True needs a function that returns (value, aux), but {name} returns a value of "
        f"type {type_}"
    )
