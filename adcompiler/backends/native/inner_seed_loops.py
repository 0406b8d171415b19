"""Native derivatives along many seeds at once: pushforwards and sweeps with seeds innermost."""

from __future__ import annotations

from collections.abc import Sequence
from adcompiler.backends.native.loops import (
    FLOAT, Assign, Binary, Body, ComplexForm, Element, Expr, Extent, Form, HeldForms, KeyedForm,
    Leave, ListForm, LoopFunction, Make, Name, Number, Output, Parameter, Row, Store, rows_of,
)
from adcompiler.backends.native.lower.lowering import Lowering
from adcompiler.backends.native.lower.parameters import limits, parameters_of
from adcompiler.backends.native.ops.singles import refuse_short_floats
from adcompiler.backends.native.passes.copies import without_copies, without_last_copies
from adcompiler.backends.native.passes.buffer_capacity import with_room, with_rooms_ahead
from adcompiler.backends.native.passes.seed_axis import SeedAxis
from adcompiler.backends.native.passes.table import ALL_SEEDS, improved
from adcompiler.backends.native.passes.unused import Needed, without_unused
from adcompiler.backends.native.product import has_list, returned
from adcompiler.backends.native.values import Buffer, Declined, Num
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Function, Var
from adcompiler.ir.visit import used
from adcompiler.typed.unit import Unit

ZERO = Number(0)
FIRST, LAST = "seeds_first({})", "seeds_last({})"
"""How the axis that counts seeds comes to where loops have it, and back."""


class SeedsTogether:
    """Lowers the first of some functions, of which the last ``seeds`` parameters are tangents.

    With a ``sweep`` the loops go on with that one, as ``lowered`` of a product does; its second
    parameter is the cotangent. If derivatives are wanted ``alone``, None stands for the value.
    ``shares`` tells, once they are written, whether something that takes long is computed once for
    all seeds.
    """

    def __init__(
        self, functions: Sequence[Function], unit: Unit, seeds: int, sweep: Function | None = None,
        alone: bool = False,
    ) -> None:
        self.function, self.sweep, self.alone = functions[0], sweep, alone
        self.read = set().union(*(
            used(one.body) for one in (*functions, *([] if sweep is None else [sweep]))))
        self.shares = False
        self.low = Lowering(unit, functions if sweep is None else [*functions, sweep])
        self.low.arrays.of_seeds = True
        self.unit = unit
        params = list(self.function.params) + ([] if sweep is None else [sweep.params[1]])
        self.first = len(params) - seeds
        self.params = [param.var for param in params]
        self.count: Expr = ZERO
        self.varying: set[str] = set()
        self.kept: set[str] = set()

    def lowered(self, name: str) -> LoopFunction:
        """Return the loops. Raises Declined."""
        refuse_short_floats(self.unit, "along many seeds")
        low, w = self.low, self.low.w
        parameters = [
            given for position, var in enumerate(self.params[: self.first])
            if var in self.read
            for given in parameters_of(low, var, position, self.unit.type(var))
        ]
        seeds = self.params[self.first :]
        parameters += [self.seed(var, at) for at, var in enumerate(seeds, self.first)]
        given = frozenset(self.kept)
        w.body.rows += limits(parameters)
        function, outputs = self.sweep or self.function, list[Output]()
        self.statements()
        forms = [
            None if self.alone and at == 0 else
            returned(low, atom, low.read(atom), self.unit.type(atom), outputs)
            for at, atom in enumerate(function.body.yields)
        ]
        value = 0 if self.sweep is not None else len(leaves_of(forms[0]))
        if any(map(has_list, forms[self.sweep is None :])) or low.tapes.heaps:
            raise Declined("its derivative is no number or array", function.origin)
        w.body.rows[:], outputs[:] = useful(w.body, low, parameters, outputs)
        tapes = [row.name for row in low.tapes.opening.rows if isinstance(row, Make)]
        axis = SeedAxis(w, self.count, self.varying, self.kept, tapes)
        axis.find(w.body)
        given_for_all = [one.name for one in parameters[: len(parameters) - len(seeds)]]
        if any(map(axis.is_output, outputs[:value])) or any(map(axis.is_of_seed, given_for_all)):
            raise Declined("arguments or the value share storage with derivatives",
                           function.origin)
        self.shares = any(map(axis.is_long_for_all, rows_of(w.body)))
        for at in range(value, len(outputs)):
            outputs[at] = self.of_each_seed(outputs[at], axis, outputs[:at])
        opening, filled = with_room(low.tapes.opening, w.body)
        body = axis.rewritten(with_rooms_ahead(Body(opening + filled)), given)
        form = forms[0] if len(forms) == 1 else tuple(forms)
        return improved(w, LoopFunction(
            name, tuple(parameters), body, tuple(outputs), form, tuple(low.told_apart)), ALL_SEEDS)

    def statements(self) -> None:
        """Write the statements of one seed."""
        low, function, sweep = self.low, self.function, self.sweep
        low.block(function.body)
        if function.body.diverges:
            raise Declined("it always raises", function.origin)
        if sweep is not None:
            low.values[sweep.params[0].var] = low.value(function.body.yields[-1])
            low.block(sweep.body)

    def of_each_seed(self, one: Output, axis: SeedAxis, others: Sequence[Output]) -> Output:
        """Return an output with one for each seed; a copy unless nothing else holds it."""
        w = self.low.w
        if one.dtype != FLOAT:
            raise Declined("its derivative is no float", self.function.origin)
        name, ndim = w.fresh("along"), (one.ndim or 0) + 1
        if isinstance(one.value, str):
            if axis.is_of_seed(one.value) and self.is_own(one.value, axis, others):
                return Output(one.value, FLOAT, ndim, numpy=True, part=FIRST)
            shape = tuple(Extent(one.value, at) for at in range(ndim - 1))
            w.write(Make(name, shape, FLOAT))
            with w.over(shape) as places:
                w.write(Store(name, places, Element(one.value, places)))
        else:
            w.write(Assign(name, one.value))
            axis.kept.add(name)
        axis.varying.add(name)
        return Output(name, FLOAT, ndim, numpy=True, part=FIRST)

    def is_own(self, name: str, axis: SeedAxis, others: Sequence[Output]) -> bool:
        """Say whether a buffer is one that was made, and shares storage with no other output."""
        made = any(isinstance(row, Make) and row.name == name for row in rows_of(self.low.w.body))
        names = {other.value for other in others if isinstance(other.value, str)}
        return made and axis.root(name) not in map(axis.root, names)

    def seed(self, var: Var, position: int) -> Parameter:
        """Return a parameter for the tangents, or cotangents, of all seeds."""
        low, w = self.low, self.low.w
        name = w.fresh(var.name)
        value: Num | Buffer
        match type_ := self.unit.type(var):
            case t.Scalar("float", dtype, ()) if dtype in (None, FLOAT):
                ndim, value = 0, Num(Name(name), FLOAT)
                self.kept.add(name)
            case t.Array(dtype, int(ndim)) if dtype == FLOAT and ndim:
                shape = tuple(Extent(name, axis) for axis in range(ndim))
                value = Buffer(name, FLOAT, shape, borrowed=True)
            case _:
                raise Declined(f"the seed {var.name} is a {type_}")
        low.values[var] = value
        self.varying.add(name)
        length = Extent(name, ndim)
        if self.count == ZERO:
            self.count = length
            w.write(Leave(Binary("==", length, ZERO)))
        else:
            w.write(Leave(Binary("!=", length, self.count)))
        return Parameter(name, FLOAT, ndim + 1, position, LAST)


def useful(
    body: Body, low: Lowering, parameters: Sequence[Parameter], outputs: Sequence[Output]
) -> tuple[list[Row], list[Output]]:
    """Return statements and outputs without what nobody reads, and without copies at the end."""
    visible = [one.name for one in parameters]
    found, outputs = without_last_copies(body, visible, outputs)
    found = without_copies(low.w, LoopFunction(
        "", tuple(parameters), found, tuple(outputs), None)).body
    needed = Needed(Body([*low.tapes.opening.rows, *found.rows]), visible, outputs)
    return without_unused(found, needed).rows, list(outputs)


def leaves_of(form: Form) -> list[int]:
    """Return the positions of the outputs in a form."""
    if form is None or isinstance(form, int):
        return [] if form is None else [form]
    if isinstance(form, KeyedForm):
        return [at for _, part in form.parts for at in leaves_of(part)]
    if isinstance(form, ComplexForm):
        return [form.re, form.im]
    if isinstance(form, HeldForms):
        return [form.lengths, *leaves_of(form.item)]
    parts = (form.item,) if isinstance(form, ListForm) else form
    return [at for part in parts for at in leaves_of(part)]
