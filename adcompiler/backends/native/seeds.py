"""The native form of a pushforward along many tangents: its loops inside of one over the seeds."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from adcompiler.backends.native.emit.printer import printed
from adcompiler.backends.native.loops import (
    FLOAT, Binary, Body, Element, Expr, Extent, For, Form, Leave, LoopFunction, Make, Name, Number,
    Output, Parameter, Part, Row, Store, When,
)
from adcompiler.backends.native.lower.lowering import Lowering
from adcompiler.backends.native.lower.outside import Outside, given_outside
from adcompiler.backends.native.lower.parameters import limits, parameters_of
from adcompiler.backends.native.ops.singles import refuse_short_floats
from adcompiler.backends.native.passes.buffer_capacity import with_room
from adcompiler.backends.native.passes.seed_axis import SeedAxis
from adcompiler.backends.native.passes.loop_invariants import in_front
from adcompiler.backends.native.passes.table import SEED_BY_SEED, improved
from adcompiler.backends.native.product import (
    HEAD, called, called_first, check_names, has_list, leaves, returned,
)
from adcompiler.backends.native.inner_seed_loops import SeedsTogether, useful
from adcompiler.backends.native.values import Buffer, Declined, Num
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Function, Param
from adcompiler.ir.visit import used
from adcompiler.products.product import Product
from adcompiler.runtime.batches import FEW_SEEDS, MANY_SEEDS
from adcompiler.support.structs import dataclass
from adcompiler.typed.unit import Unit

ZERO = Number(0)
TOGETHER = "SEEDS_TOGETHER"
"""The name under which a module tells from how many seeds on its loops are those of all seeds."""
IMPORTED = ("along_each", "pulled_each", "seeds_first", "seeds_last")
SEEDS_HEAD = f"from adcompiler.runtime.batches import {', '.join(IMPORTED)}\n"


def with_native_seeds(
    text: str, product: Product, unit: Unit, alone: bool = False
) -> tuple[str, str]:
    """Return the text of a pushforward's module with its loops, and the name of what calls them.

    That function takes tangents with a leading axis, and returns the value and derivatives with
    one; None may stand for the value if these are wanted ``alone``. Raises Declined.
    """
    if product.effects != "written" or not product.tangents:
        raise Declined("it has effects", product.functions[0].origin)
    outside = given_outside(product.functions, unit, text, product.tangents)
    functions = outside.functions
    function = functions[0]
    loops = SeedLoops(functions, unit, product.tangents, alone).lowered()
    together, least = None, MANY_SEEDS
    with suppress(Declined):
        all_seeds = SeedsTogether(functions, unit, product.tangents, alone=alone)
        together = all_seeds.lowered(f"{function.name}_loops_together")
        least = FEW_SEEDS if all_seeds.shares else MANY_SEEDS
    names = [param.var.name for param in function.params]
    taken = {function.name, loops.name, outside.reader, *([together.name] if together else [])}
    check_names([*names, *IMPORTED, TOGETHER], taken, function)
    added = printed(loops, f"Compute `{function.name}` for each seed; return False first where "
                           "Python has to.")
    if together:
        added += printed(together, "Compute the same for all seeds at once, which the last axes "
                                   "count.", printed_before=loops)
    count = len(names) - product.tangents
    added += caller(function.name, loops, together, least, names[:count], names[count:], outside)
    head = f"{outside.text}{HEAD}{SEEDS_HEAD}"
    return f"{text.rstrip()}\n\n\n{head}{added}", f"{function.name}_native"


def caller(
    name: str, loops: LoopFunction, together: LoopFunction | None, least: int, names: list[str],
    seeds: list[str], outside: Outside,
) -> str:
    """Return the text of the function that calls the loops, or Python's product for each seed.

    It calls those ``together`` for at ``least`` so many seeds, as the module tells.
    """
    own = outside.without(names)
    given = ", ".join([*own, *seeds])
    primals = "".join(f"{one}, " for one in own)
    tangents = "".join(f"{one}, " for one in seeds)
    otherwise = f"return along_each({name}, ({primals}), ({tangents}))"
    given_all = [*names, *seeds]
    many = called_first(together, given_all, f"len({seeds[0]}) >= {TOGETHER}") if together else ""
    known = f"\n\n{TOGETHER} = {least}" if together else ""
    return f'''{known}

def {name}_native({given}):
    """Return the value, and what `{name}` returns beside it along each of many tangents."""
{outside.line}    if {leaves(loops, given_all, seeds)}:
        {otherwise}
{many}{called(loops, given_all, [otherwise])}
'''


@dataclass(frozen=True)
class Kept:
    """Where the derivatives along all seeds are put, and what is put there for one of them."""

    name: str
    one: Output


class SeedLoops:
    """Lowers the first of some functions, the last parameters of which are tangents."""

    def __init__(
        self, functions: Sequence[Function], unit: Unit, tangents: int, alone: bool = False
    ) -> None:
        self.functions = functions
        self.alone = alone
        self.function = functions[0]
        self.unit = unit
        self.low = Lowering(unit, functions)
        self.first = len(self.function.params) - tangents
        self.count: Expr = ZERO

    def lowered(self) -> LoopFunction:
        """Return the loops. Raises Declined."""
        refuse_short_floats(self.unit, "along many seeds")
        function, low, w = self.function, self.low, self.low.w
        read = set().union(*(used(one.body) for one in self.functions))
        parameters = [
            given for position, param in enumerate(function.params[: self.first])
            if param.var in read
            for given in parameters_of(low, param.var, position, self.unit.type(param.var))
        ]
        seed, each = w.fresh("seed"), Body()
        tangents = self.tangents(Name(seed), each)
        w.body.rows += limits([*parameters, *tangents])
        with w.inside(each):
            low.block(function.body)
            if function.body.diverges:
                raise Declined("it always raises", function.origin)
            outputs, form, kept = self.results(each, [*parameters, *tangents])
            self.keep(Name(seed), kept)
        front, each.rows[:] = self.parted(seed, each, tangents)
        made, filled = with_room(low.tapes.opening, each)
        rows = Body([
            *w.body.rows, *self.empty(kept), *front,
            For(seed, ZERO, self.count, Body([*made, *filled])),
        ])
        return improved(w, LoopFunction(
            f"{function.name}_loops", (*parameters, *tangents), rows, outputs, form,
            tuple(low.told_apart)), SEED_BY_SEED)

    def parted(
        self, seed: str, each: Body, tangents: Sequence[Parameter]
    ) -> tuple[list[Row], list[Row]]:
        """Return the statements that are the same for all seeds, unless there are tapes; the rest.
        """
        if self.low.tapes.opening.rows:
            return [], each.rows
        axis = SeedAxis(self.low.w, self.count, [seed, *(one.name for one in tangents)], ())
        axis.find(each)
        return in_front(axis, each.rows)

    def tangents(self, seed: Name, each: Body) -> list[Parameter]:
        """Return the parameters that are tangents; ``each`` begins with reading those of a seed."""
        low, w = self.low, self.low.w
        found: list[Parameter] = []
        for position, param in enumerate(self.function.params[self.first :], self.first):
            given = self.tangent(param, position)
            found.append(given)
            ndim = (given.ndim or 1) - 1
            length = Extent(given.name, 0)
            if self.count == ZERO:
                self.count = length
                w.write(Leave(Binary("==", length, ZERO)))
            else:
                w.write(Leave(Binary("!=", length, self.count)))
            with w.inside(each):
                if ndim:
                    name = w.fresh(f"{param.var.name}_of_seed")
                    w.write(Part(name, given.name, (seed,)))
                    low.values[param.var] = Buffer(
                        name, FLOAT, tuple(Extent(name, axis) for axis in range(ndim)),
                        borrowed=True)
                else:
                    low.values[param.var] = Num(
                        w.assign(param.var.name, Element(given.name, (seed,))), FLOAT)
        return found

    def tangent(self, param: Param, position: int) -> Parameter:
        """Return a parameter for tangents of all seeds."""
        match type_ := self.unit.type(param.var):
            case t.Scalar("float", dtype, ()) if dtype in (None, FLOAT):
                ndim = 0
            case t.Array(dtype, int(ndim)) if dtype == FLOAT and ndim:
                pass
            case _:
                raise Declined(f"the tangent {param.var.name} is a {type_}")
        return Parameter(self.low.w.fresh(param.var.name), FLOAT, ndim + 1, position)

    def results(
        self, each: Body, parameters: Sequence[Parameter]
    ) -> tuple[tuple[Output, ...], Form, list[Kept]]:
        """Return what is returned, its form, and which of it there is one of for each seed.

        What nothing of it is computed of is left out of ``each``, the statements of a seed.
        """
        low, yields = self.low, self.function.body.yields
        outputs: list[Output] = []
        forms, ends = [], []
        for at, atom in enumerate(yields):
            value, type_ = low.read(atom), self.unit.type(atom)
            alone = self.alone and at == 0
            forms.append(None if alone else returned(low, atom, value, type_, outputs))
            ends.append(len(outputs))
        if len(forms) != 2 or has_list(forms[1]) or low.tapes.heaps:
            raise Declined("its derivative is no number or array", self.function.origin)
        each.rows[:], outputs = useful(each, low, parameters, outputs)
        kept = []
        for at in range(ends[0], ends[1]):
            name, one = low.w.fresh("along"), outputs[at]
            if one.dtype != FLOAT:
                raise Declined("its derivative is no float", self.function.origin)
            kept.append(Kept(name, one))
            outputs[at] = Output(name, FLOAT, (one.ndim or 0) + 1, numpy=True)
        return tuple(outputs), tuple(forms), kept

    def keep(self, seed: Name, kept: list[Kept]) -> None:
        """Write the derivatives along one seed to where those of all go, made for the first one."""
        w = self.low.w
        for one in kept:
            axes = range(one.one.ndim or 0)
            value = one.one.value
            shape = tuple(Extent(str(value), axis) for axis in axes)
            made = Body([Make(one.name, (self.count, *shape), FLOAT)])
            w.write(When(Binary("==", seed, ZERO), made, Body()))
            for axis in axes:
                w.write(Leave(Binary("!=", shape[axis], Extent(one.name, axis + 1))))
            with w.over(shape) as places:
                item = Element(value, places) if isinstance(value, str) else value
                w.write(Store(one.name, (seed, *places), item))

    def empty(self, kept: list[Kept]) -> list[Make]:
        """Return the rows that bind the names of derivatives in front of the loop."""
        return [Make(one.name, (ZERO,) * ((one.one.ndim or 0) + 1), FLOAT) for one in kept]
