"""The functions a user asks for, put together from the two halves of a reversed function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from adcompiler.analyses.liveness import live_variables
from adcompiler.analyses.once import reused_variables
from adcompiler.analyses.purity import Purity
from adcompiler.analyses.storage import Sharing, is_mutable, written_operand
from adcompiler.derive.pairs import Pairs, as_added
from adcompiler.derive.reverse.cotangents import Cotangents, cotangent_type
from adcompiler.derive.reverse.reverser import reverse
from adcompiler.errors import ArgumentsError, Finding
from adcompiler.frontend.scope import Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, Atom, Block, Call, Const, Do, Function, Global, If, Item, Let, Loop, Origin, Pack, Param,
    Statement, Try, Var, With,
)
from adcompiler.ir.visit import (
    arms_of, defined, definitions, direct_uses, free_variables, substitute_block, walk,
)
from adcompiler.optimise.passes import optimise
from adcompiler.products.finish import finished_bars, of_many_seeds, own_arrays, python_number
from adcompiler.runtime import apart, give_back, paired, seed
from adcompiler.runtime import own as own_copy
from adcompiler.specialise.evaluator import Specialiser
from adcompiler.specialise.global_state import checked_stores, with_reads_in_order
from adcompiler.specialise.objects import open_parts
from adcompiler.specialise.parts import Steps, separate
from adcompiler.specialise.storage.checked_repeats import with_repeats_checked
from adcompiler.specialise.storage.heap import Heap
from adcompiler.specialise.storage.in_place import rebound
from adcompiler.specialise.storage.layouts import with_layouts_kept
from adcompiler.typed.unit import Callee, Path, Unit


@dataclass(frozen=True)
class Written:
    """What belongs to the caller and is written into, with what becomes of it.

    ``copies`` tells what the program worked on in place of what a container holds.
    """

    var: Var
    final: Atom
    copies: Var | None = None


@dataclass(eq=False)
class Typed:
    """The specialised function before differentiation.

    ``inputs`` are the variables that it is differentiated with respect to: parameters, or parts of
    parameters that ``entry`` reads. ``written`` are the arguments, captured variables and globals
    that it writes into, with what it makes of them.
    """

    function: Function
    params: list[Var]
    statements: tuple[Statement, ...]
    value: Atom
    origin: Origin
    inputs: list[Var] = field(default_factory=list)
    entry: list[Statement] = field(default_factory=list)
    written: list[Written] = field(default_factory=list)
    lost: list[Finding] = field(default_factory=list)

    def containers_written(self, unit: Unit) -> tuple[int, ...]:
        """Return the positions of the parameters that are containers and are written into."""
        written = {it.var for it in self.written if it.copies is None}
        return tuple(
            i for i, var in enumerate(self.params)
            if var in written and not isinstance(unit.type(var), t.Array)
        )

    @property
    def shown(self) -> str:
        """What messages call the function."""
        return "the lambda" if self.function.name == "lambda_" else self.function.name

    def functions(self, unit: Unit) -> list[Function]:
        """Return the function in its specialised form, then those it calls by name."""
        body = Block((*self.entry, *self.statements), (self.value,))
        main = Function(self.function.name, all_params(unit, self), body, self.origin)
        return [main, *(c.function for c in unit.callees.values() if c.function is not None)]


@dataclass(eq=False)
class Product:
    """The emitted functions, main one first, with what ``explain`` reports.

    ``together`` lists those that were optimised with their other half before the two were parted.
    ``effects`` is ``by call`` where the user's function has to be called for what it does to its
    arguments. ``tangents`` counts the parameters of the main function that come after the user's.
    ``constants`` names the function that computes what the main one takes of constant seeds, and
    tells whether that gives the value too.
    """

    functions: list[Function]
    docs: dict[str, str] = field(default_factory=dict)
    residuals: list[str] = field(default_factory=list)
    together: tuple[str, ...] = ()
    effects: str = "written"
    tangents: int = 0
    constants: tuple[str, ...] = ()


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
    return replace(product, functions=functions)


def specialise(
    unit: Unit, function: Function, python_function: Any, types: list[t.Type],
    path: Path | None = (), wrt: Sequence[int] = (), parts: Sequence[Steps] = (),
    same: Sequence[tuple[int, int]] = (), copied: Sequence[int] = (),
) -> Typed:
    """Specialise a Python function's IR on the types of its parameters.

    ``wrt`` are the positions of those that will be differentiated, ``parts`` the steps that lead to
    a part of each. ``same`` pairs parameters with earlier ones that are the same object; ``copied``
    are those to be copied at the start.
    """
    s = Specialiser(unit)
    heap = s.heap = Heap(s)
    heap.live = live_variables(function)
    params: list[Var] = []
    env: dict[Var, Atom] = {}
    for param, type_ in zip(function.params, types, strict=True):
        var = Var(param.var.name)
        unit.types[var] = type_
        params.append(var)
        env[param.var] = Const(type_.value) if isinstance(type_, t.Static) else var
        if isinstance(type_, t.Static):
            unit.static(type_.value, (("argument", param.var.name),))
    for later, earlier in same:
        env[function.params[later].var] = env[function.params[earlier].var]
    unit.reused |= reused_variables(function)
    unit.active_calls.append(python_function)
    with s.writing_to([]) as out:
        first = [dict(same).get(i, i) for i in wrt]
        chosen = [i if first.count(k) > 1 else k for i, k in zip(wrt, first, strict=True)]
        inputs, entry = find_inputs(s, function, params, env, list(zip(
            chosen, parts or [()] * len(wrt), strict=True)))
        copies = copied_params(s, function, params, env, copied)
        yields = s.block(function.body, env, Scope(python_function, path))
    unit.active_calls.pop()
    checked_stores(s)
    for callee in unit.callees.values():
        if callee.function is not None:
            body = with_layouts_kept(unit, with_reads_in_order(unit, callee.function.body))
            body = with_repeats_checked(unit, body)
            callee.function = replace(callee.function, body=body)
    for var in params:
        if var in heap.state.latest:
            with s.writing_to(out):
                heap.bring_up_to_date(var, function.origin)
    value = UNDEF if yields is None else yields[0]
    in_place_of = {var: copy for var, (copy, _) in copies.items()}
    finals = heap.written(params, in_place_of)
    changed = {var for var, _ in finals}
    check = kept_apart(s, heap, params, dict(same), changed, function.origin)
    statements = rebound(s, [*heap.prologue, *check, *out], (value,))
    body = with_layouts_kept(unit, with_reads_in_order(unit, Block(statements, (value,))))
    body = with_repeats_checked(unit, body, changed)
    written = [Written(var, final, copies.get(var, (None, None))[1]) for var, final in finals]
    lost = lost_effects(s, heap, params, in_place_of, function.origin)
    return Typed(
        function, params, body.statements, value, function.origin, inputs, entry, written, lost
    )


def copied_params(
    s: Specialiser, function: Function, params: list[Var], env: dict[Var, Atom],
    positions: Sequence[int],
) -> dict[Var, tuple[Var, Var]]:
    """Copy containers that are written into; return the copies, and what they are copies of."""
    copies: dict[Var, tuple[Var, Var]] = {}
    for i in positions:
        var, name = params[i], function.params[i].var
        if env[name] is not var:
            continue
        type_, origin = s.unit.type(var), function.origin
        copy = s.let(Call(Const(own_copy), (var,)), type_, var.name, origin, False)
        pairs = s.let(
            Call(Const(paired), (var, copy)), t.UNKNOWN, f"{var.name}_copies", origin
        )
        assert s.heap is not None
        s.heap.forget(pairs)
        s.heap.state.exclusive[copy] = True
        s.heap.callers.add(copy)
        env[name] = copy
        copies[var] = (copy, pairs)
    return copies


def kept_apart(
    s: Specialiser, heap: Heap, params: list[Var], same: dict[int, int], changed: set[Var],
    origin: Origin,
) -> Iterator[Statement]:
    """Yield the check that what is written into shares no storage with anything else."""
    everything = [*params, *s.unit.captured.values(), *heap.globals.values()]
    there = [
        var for i, var in enumerate(everything)
        if i not in same and is_mutable(s.unit.type(var))
        and not isinstance(s.unit.type(var), t.Unknown)
    ]
    written = tuple(i for i, var in enumerate(there) if var in changed)
    several = len(there) > 1 or any(
        not isinstance(s.unit.type(there[i]), t.Array) for i in written
    )
    if written and several:
        names = Const(tuple(var.name for var in there))
        places = Const(tuple(params.index(var) if var in params else -1 for var in there))
        yield Do(Call(Const(apart), (names, places, Const(written), *there)), origin)


def lost_effects(
    s: Specialiser, heap: Heap, params: list[Var], copies: Mapping[Var, Var], origin: Origin
) -> list[Finding]:
    """Return why it is left open whether what belongs to the caller is written into.

    ``copies`` are what the code works on in place of parameters.
    """
    found = []
    for var in (*params, *s.unit.captured.values(), *heap.globals.values()):
        root = copies.get(var, var)
        if heap.may_write(root):
            where, other = heap.state.lost[root]
            found.append(where.finding(
                f"whether this writes into `{var.name}`, which `{other.name}` may share "
                "storage with, is not known when compiling",
                "use a copy where it is given another name", "aliases",
            ))
        elif root is not var and root in heap.copies:
            found.append(origin.finding(
                f"what `{var.name}` holds is written into when it may be held elsewhere too: "
                "whether the caller's own objects see it is not known when compiling",
                "use a copy where it is given another name", "aliases",
            ))
    return found


def find_inputs(
    s: Specialiser, function: Function, params: list[Var], env: dict[Var, Atom],
    wanted: list[tuple[int, Steps]],
) -> tuple[list[Var], list[Statement]]:
    """Write how the parameters start; return the variables to differentiate with respect to.

    The second result reads those that are parts of parameters.
    """
    entry: list[Statement] = []
    inputs: dict[int, Var] = {}
    for i, var in enumerate(params):
        steps = [(path, number) for number, (j, path) in enumerate(wanted) if j == i]
        if steps and steps[0][0]:
            made = separate(s, var, steps, entry, inputs, function.origin)
            env[function.params[i].var] = made
        elif steps:
            inputs[steps[0][1]] = var
            open_parts(s, var, function.origin)
    return [inputs[number] for number in range(len(wanted))], entry


# -- the joint product ------------------------------------------------------------------------


def gradient(
    unit: Unit, typed: Typed, with_value: bool, has_aux: bool, single: bool
) -> Product:
    """Return the joint function: the gradient (after the value), in one piece of straight code."""
    s = Specialiser(unit)
    origin = typed.origin
    body = [*typed.statements, *given_back(typed, typed.params)]
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
    if isinstance(output_bar, Var):
        call = Call(Const(seed), (both.value, Const(typed.shown)))
        statements.append(Let(output_bar, call, origin.reversed()))
    results: list[Atom] = [both.value] if with_value else []
    if aux is not None:
        results.append(both.renamed.get(aux, aux) if isinstance(aux, Var) else aux)
    with s.writing_to(statements):
        results = kept_from_sweep(s, results, both.forward, both.sweep, origin)
    statements += both.sweep
    with s.writing_to(statements):
        bars = finished_bars(s, both, inputs, origin)
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
    return Product([*functions, *plain_functions(functions)], {name: doc})


def kept_from_sweep(
    s: Specialiser, results: list[Atom], forward: list[Statement], sweep: list[Statement],
    origin: Origin,
) -> list[Atom]:
    """Write copies of those results whose storage the sweep puts back as it was; return all."""
    written = [
        old for st in walk(Block(tuple(sweep)))
        if isinstance(st, Let) and (old := written_operand(st.rhs)) is not None
    ]
    if not written:
        return results
    shared = shared_storage(Block((*forward, *sweep)), s.unit)
    storage = {atom for old in written for atom in storage_of(old, shared)}
    return [
        copied(s, result, origin) if isinstance(result, Var) and is_mutable(s.unit.type(result))
        and storage_of(result, shared) & storage else result for result in results
    ]


def copied(s: Specialiser, var: Var, origin: Origin) -> Var:
    """Write a copy of an array, or of a container and the arrays in it."""
    unit = s.unit
    plain = isinstance(unit.type(var), t.Array) and var not in unit.unsure
    function = np.copy if plain else own_copy
    copy = s.let(Call(Const(function), (var,)), unit.type(var), var.name, origin, False)
    if isinstance(unit.type(var), t.Array):
        unit.shapes[copy] = unit.shape_class(var)
    return copy


def cotangent_of_result(unit: Unit, output: Atom) -> Atom:
    """Return the cotangent that the sweep starts from: 1.0, or a variable for an array of one."""
    type_ = unit.type(output)
    if isinstance(type_, t.Scalar):
        return Const(1.0)
    output_bar = Var(f"{output.name}_bar" if isinstance(output, Var) else "seed_bar", False)
    unit.types[output_bar] = type_
    unit.shapes[output_bar] = unit.shape_class(output)
    return output_bar


def pack(s: Specialiser, atoms: list[Atom], origin: Origin) -> Atom:
    """Write a tuple of results."""
    return s.let(Pack("tuple", tuple(atoms)), t.UNKNOWN, "gradients", origin.reversed())


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


def check_aux(s: Specialiser, value: Atom, name: str) -> None:
    """Refuse a result that is no pair where ``has_aux`` promises one."""
    type_ = s.unit.type(value)
    if isinstance(type_, t.Unknown) or (isinstance(type_, t.Tuple) and len(type_.items) == 2):
        return
    raise ArgumentsError(
        f"has_aux=True needs a function that returns (value, aux), but {name} returns a value of "
        f"type {type_}"
    )


# -- the split pair ---------------------------------------------------------------------------


def split(unit: Unit, typed: Typed, single: bool, batched: bool = False) -> Product:
    """Return the split pair: the augmented primal, which saves residuals, and the pullback.

    If ``batched``, the pullback takes cotangents with a leading axis; NotBatchable where it cannot.
    """
    pairs: Pairs = {}
    deferred, unit.deferred = unit.deferred, True
    name = typed.function.name
    for callee in unit.callees.values():
        if callee.name == name:
            callee.name = f"{name}_recursive"
    effects = effects_of(unit, typed)
    back = given_back(typed, typed.params if effects == "by call" else ())
    statements = (*typed.statements, *back)
    primal = Function(
        name, all_params(unit, typed), Block(statements, (typed.value,)), typed.origin
    )
    augmented, pullback, residuals = pair_halves(
        Specialiser(unit), primal, typed.params, typed.inputs, f"{name}_augmented",
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
    unit.deferred = deferred
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
        unit.findings.extend(f for f in typed.lost if f not in unit.findings)
    return "by call"


def given_back(typed: Typed, kept: Iterable[Var]) -> Iterator[Statement]:
    """Yield what writes into the caller's storage, other than that of ``kept``."""
    kept = set(kept)
    for it in typed.written:
        if it.var not in kept:
            copies = () if it.copies is None else (it.copies,)
            yield Do(Call(Const(give_back), (it.var, it.final, *copies)), typed.origin)


def pair_halves(
    s: Specialiser, primal: Function, params: list[Var], inputs: list[Var], augmented_name: str,
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
    unit.shapes[y_bar] = unit.shape_class(output)
    known = [*params, *inputs]
    both = reverse(s, primal.body, inputs, output, y_bar, pairs, origin, True, known, own or apart)
    with s.writing_to(list(both.sweep)) as sweep:
        bars = finished_bars(s, both, inputs, origin) if own else [
            inner_bar(s, var, g, at) for var, g in zip(inputs, both.bars, strict=True)
        ]
    joint = optimise(
        Block((*entry, *both.forward, *sweep), (both.value, *bars)), unit, join=False
    )
    forward, backward = split_at_reverse(joint, y_bar)
    value, *bars = joint.yields
    if batched:
        rest = of_many_seeds(
            s, Block(tuple(backward), tuple(bars)), [y_bar], range(len(bars)), at, forward
        )
        backward, bars = list(rest.statements), list(rest.yields)
    made = definitions(Block(tuple(forward))) | {p.var for p in primal.params}
    saved = [v for v in free_variables(Block(tuple(backward), tuple(bars))) if v in made]
    if own or apart:
        saved, rest = owned_residuals(
            s, saved, forward, Block(tuple(backward), tuple(bars)), primal, value
        )
        backward, bars = list(rest.statements), list(rest.yields)
    with s.writing_to(forward):
        packed = s.let(Pack("tuple", tuple(saved)), t.UNKNOWN, "saved", origin)
    augmented = Function(
        augmented_name, primal.params, Block(tuple(forward), (value, packed)), origin
    )
    residuals = Var("residuals", False)
    unit.types[residuals] = t.UNKNOWN
    unit.opened[residuals] = len(saved)
    opened = [Let(v, Item(residuals, Const(i)), at) for i, v in enumerate(saved)]
    rest = Block(tuple(backward), tuple(bars))
    if own:
        rest = own_arrays(rest, unit, {*made, y_bar}, origin)
    pullback = Function(
        pullback_name, (Param(residuals, 1), Param(y_bar, 1)),
        replace(rest, statements=(*opened, *rest.statements)), origin,
    )
    return augmented, pullback, [unit.names.get(v, v.name) for v in saved]


def owned_residuals(
    s: Specialiser, saved: list[Var], forward: list[Statement], backward: Block,
    primal: Function, value: Atom,
) -> tuple[list[Var], Block]:
    """Save copies of what the caller also holds: it may be changed before the pullback is called.

    Returns what is saved, and the pullback's statements that read that.
    """
    unit = s.unit
    shared = shared_storage(Block(tuple(forward)), unit)
    foreign: set[Atom] = {p.var for p in primal.params}
    foreign |= {
        st.target for st in walk(Block(tuple(forward)))
        if isinstance(st, Let) and isinstance(st.rhs, Global)
    }

    foreign |= {root for root in storage_of(value, shared) if is_mutable(unit.type(root))}
    copies: dict[Var, Atom] = {}
    with s.writing_to([]) as out:
        for var in saved:
            if holds_arrays(unit.type(var)) and storage_of(var, shared) & foreign:
                copies[var] = copied(s, var, primal.origin)
    end = next((i for i, st in enumerate(forward) if gives_back(st)), len(forward))
    forward[end:end] = out
    return [copies.get(v, v) for v in saved], substitute_block(backward, copies)  # type: ignore[misc]


def storage_of(var: Atom, shared: Mapping[Atom, list[Atom]]) -> set[Atom]:
    """Return what a value may share storage with, itself included; see ``shared_storage``."""
    found: set[Atom] = set()
    waiting = [var]
    while waiting:
        atom = waiting.pop()
        if atom not in found:
            found.add(atom)
            waiting += shared.get(atom, ())
    return found


def shared_storage(block: Block, unit: Unit) -> dict[Atom, list[Atom]]:
    """Return, for each variable, the atoms whose storage its value may share or hold."""
    shared: dict[Atom, list[Atom]] = {}

    def note(pairs: Iterable[tuple[Var, Atom]]) -> None:
        for var, atom in pairs:
            if is_mutable(unit.type(atom)):
                shared.setdefault(var, []).append(atom)

    sharing = Sharing(unit.type, unit.definition)
    for statement in walk(block):
        match statement:
            case Let(target, rhs, _):
                note((target, atom) for atom, _ in sharing.of(target, rhs))
            case If(results=results) | With(results=results) | Try(results=results):
                for arm in arms_of(statement):
                    note(zip(results, arm.yields, strict=False))
            case Loop():
                note(zip(statement.items, statement.iterables, strict=False))
                note(zip(statement.params, statement.inits, strict=False))
                note(zip(statement.params, statement.next_values(), strict=False))
                note(zip(statement.results, statement.params, strict=False))
                note(zip(statement.collects, statement.collected(), strict=False))
    return shared


def holds_arrays(type_: t.Type) -> bool:
    """Say whether a value of this type may be an array, or a container of such.

    What functions compiled on their own save for their pullbacks is of unknown type.
    """
    match type_:
        case t.Array() | t.Unknown():
            return True
        case t.Tuple(items):
            return any(map(holds_arrays, items))
        case t.Dict(_, items):
            return True
        case t.List():
            return True
    return False


def gives_back(statement: Statement) -> bool:
    """Say whether a statement writes into what belongs to the caller."""
    return isinstance(statement, Do) and isinstance(statement.rhs, Call) and isinstance(
        statement.rhs.func, Const) and statement.rhs.func.value is give_back


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


def inner_bar(s: Specialiser, var: Var, bar: Atom | None, at: Origin) -> Atom:
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


# -- called functions -------------------------------------------------------------------------


def pair_functions(unit: Unit, pairs: Pairs) -> list[Function]:
    """Return the functions of all pairs that are called, and of those that these call."""
    functions: list[Function] = []
    for pair in as_added(pairs):
        callee = pair.callee.function
        assert callee is not None
        params = [p.var for p in callee.params]
        inputs = [var for var, active in zip(params, pair.active, strict=True) if active]
        augmented, pullback, _ = pair_halves(
            Specialiser(unit), callee, params, inputs, pair.augmented.name, pair.pullback.name,
            pairs, own=False, apart=pair.apart,
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
