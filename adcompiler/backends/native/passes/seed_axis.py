"""Loops of one seed as loops of many: what seeds decide gets an axis more, behind all others.

What no seed decides (the function itself, its tape, tests, subscripts) is computed once. Each run
of statements of which the results differ from seed to seed goes into a loop over the seeds, the
innermost one: neighbouring numbers of a buffer are what its iterations read and write, so that
compilers make vectors of it. Each seed's numbers are computed in the order of the loops of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from adcompiler.backends.native.loops import (
    FLOAT, Apply, Assign, Binary, Bind, Body, Break, Choose, Element, Expr, Extent, Flat, For,
    Forever, Leave, Make, Name, Note, Number, Output, Part, Reserve, Row, Spread, Store, Turn,
    Unary, Use, View, When, blocks_in, children, rows_of,
)
from adcompiler.backends.native.reading import bound_by, exprs_of, is_costly, read_by
from adcompiler.backends.native.rewriting import with_blocks, with_children
from adcompiler.backends.native.values import Declined
from adcompiler.backends.native.writer import Writer

ZERO, ONE = Number(0), Number(1)
ARITHMETIC = ("+", "-", "*", "/")
MOST = 1 << 24
"""Longer tapes are not kept for all seeds at once."""
NOT_FLOATS = ("int", "isfinite", "isnan", "isinf")


class SeedAxis:
    """Rewrites statements of one seed; ``count`` is how many seeds there are.

    ``varying`` are the names of numbers, and the roots of buffers, that differ from seed to seed;
    at first those given, of which the numbers in ``kept`` are buffers with an element for each
    seed. Buffers that may share storage have one root. ``tapes`` of all seeds are given up where
    they would be longer than ``MOST``. Raises Declined where a seed decides which statements run.
    """

    def __init__(
        self, w: Writer, count: Expr, varying: Iterable[str], kept: Iterable[str],
        tapes: Iterable[str] = (),
    ) -> None:
        self.w = w
        self.count = count
        self.varying = set(varying)
        self.kept = set(kept)
        self.tapes = set(tapes)
        self.storage: dict[str, str] = {}
        self.made_whole: set[str] = set()
        self.groups: list[For] = []

    def rewritten(self, body: Body, given: Iterable[str]) -> Body:
        """Return the statements of many seeds; numbers in ``given`` are buffers already."""
        self.find(body)
        for row in rows_of(body):
            self.check(row)
        found = self.regrouped(body)
        self.keep_shared(found)
        for group in self.groups:
            self.write_group(group)
        made = sorted(self.kept - self.made_whole - set(given))
        return Body([*(Make(name, (self.count,), FLOAT) for name in made), *found.rows])

    def root(self, name: str) -> str:
        """Return the name that stands for all buffers that may share storage with this one."""
        while name in self.storage:
            name = self.storage[name]
        return name

    # -- what seeds decide ---------------------------------------------------------------------

    def is_of_seed(self, name: str) -> bool:
        """Say whether a number or a buffer differs from seed to seed."""
        return self.root(name) in self.varying

    def varies(self, expr: Expr) -> bool:
        """Say whether an expression does."""
        return any(map(self.is_of_seed, values_in(expr)))

    def is_output(self, one: Output) -> bool:
        """Say whether an output does."""
        return self.is_of_seed(one.value) if isinstance(one.value, str) else self.varies(one.value)

    def is_long_for_all(self, row: Row) -> bool:
        """Say whether a statement takes long, and is the same for all seeds."""
        match row:
            case Use(name):
                return not self.is_of_seed(name)
            case Assign(name, value) | Store(name, _, value):
                return not self.is_of_seed(name) and is_costly(value)
        return False

    def find(self, body: Body) -> None:
        """Add to ``varying`` all that is computed of what is in it."""
        for row in rows_of(body):
            if isinstance(row, (Bind, Part, Turn, View)):
                of = row.buffer.buffer if isinstance(row.buffer, Flat) else row.buffer
                if self.root(of) != self.root(row.name):
                    self.storage[self.root(row.name)] = self.root(of)
        self.varying = set(map(self.root, self.varying))
        before = -1
        while before < len(self.varying):
            before = len(self.varying)
            for row in rows_of(body):
                match row:
                    case Assign(name, value) | Store(name, _, value) if self.varies(value):
                        self.varying.add(self.root(name))
                    case Make(name, _, _, fill) if fill is not None and self.varies(fill):
                        self.varying.add(self.root(name))
                    case Use(name, _, args) if any(map(self.is_argument, args)):
                        self.varying.add(self.root(name))

    def is_argument(self, arg: Expr | Flat | str) -> bool:
        """Say whether an argument of a helper differs from seed to seed."""
        if isinstance(arg, (str, Flat)):
            return self.is_of_seed(arg if isinstance(arg, str) else arg.buffer)
        return self.varies(arg)

    def check(self, row: Row) -> None:
        """Refuse a statement that seeds decide, unless it computes a float."""
        match row:
            case Assign(name, value):
                fine = not self.is_of_seed(name) or is_float(value)
                indices = indices_in(value)
            case Store(_, places, value):
                fine, indices = True, [*places, *indices_in(value)]
            case Make(name, shape, dtype):
                fine = not self.is_of_seed(name) or dtype == FLOAT
                indices = list(shape)
            case Use(name, helper, args):
                fine = not self.is_of_seed(name) or (
                    helper in HELPERS and any(map(self.is_argument, args)))
                indices = [arg for arg in args if not isinstance(arg, (str, Flat))]
            case Spread():
                fine, indices = False, []
            case _:
                fine, indices = True, exprs_of(row)
        if not fine or any(map(self.varies, indices)):
            raise Declined("seeds decide more than floats")

    # -- loops over seeds ----------------------------------------------------------------------

    def regrouped(self, body: Body) -> Body:
        """Return statements with loops over seeds around runs of those that differ by seed.

        What does not differ goes in front of such a run, unless one of them reads what it changes.
        """
        rows: list[Row] = []
        group: list[Row] = []

        def close() -> None:
            idle = all(isinstance(row, Note) for row in group)
            rows.extend(group if idle else [self.loop_over_seeds(Body(group[:]))])
            group.clear()

        for row in body.rows:
            if isinstance(row, Note):
                (group or rows).append(row)
            elif isinstance(row, (Assign, Store)) and self.is_of_seed(target_of(row)):
                group.append(row)
            else:
                if group and self.touches(row, group):
                    close()
                rows += self.outside(row)
        close()
        return Body(rows)

    def touches(self, row: Row, group: list[Row]) -> bool:
        """Say whether a statement has to stay behind some that differ by seed."""
        inside = list(rows_of(Body([row])))
        if any(map(self.reads_seeds, inside)):
            return True
        bound = {name for one in inside if (name := bound_by(one)) is not None}
        stored = {self.root(one.buffer) for one in inside if isinstance(one, Store)}
        met = {name for one in group for name in (*read_by(one), bound_by(one)) if name}
        return bool(met & bound) or bool(stored.intersection(map(self.root, met)))

    def reads_seeds(self, row: Row) -> bool:
        """Say whether a statement may read or write what differs by seed, or ends a loop."""
        match row:
            case Assign(name) | Store(name):
                return self.is_of_seed(name)
            case Make(fill=fill):
                return fill is not None and self.varies(fill)
            case View(buffer=Flat()) | Use() | Reserve() | Break() | Forever():
                return True
        return False

    def outside(self, row: Row) -> list[Row]:
        """Return a statement that stands outside of loops over seeds, as it is for many."""
        match row:
            case When() | For() | Forever():
                return [with_blocks(row, self.regrouped)]
            case Make(name, shape, _, fill) if self.is_of_seed(name):
                if fill is None or not self.varies(fill):
                    limits = [self.limit(shape[0])] if name in self.tapes else []
                    return [*limits, replace(row, shape=(*shape, self.count))]
                return [replace(row, shape=(*shape, self.count), fill=None),
                        self.filled(name, shape, fill)]
            case Turn(name, _, axes) if self.is_of_seed(name):
                return [replace(row, axes=(*axes, len(axes)))]
            case View(name, buffer, start, shape) if self.is_of_seed(name):
                of = buffer if isinstance(buffer, Flat) else Flat(buffer)
                return [View(name, of, times(start, self.count), (*shape, self.count))]
            case Reserve(buffer, size, ahead) if self.is_of_seed(buffer):
                given = (buffer, size, ZERO if ahead is None else ahead)
                longer = Body([self.limit(size), Use(buffer, "reserved_of_each", given)])
                return [When(Binary("<", Extent(buffer, 0), size), longer, Body())]
            case Use(name, helper) if self.is_of_seed(name):
                return HELPERS[helper](self, row)
        return [row]

    def limit(self, length: Expr) -> Row:
        """Return a test of whether a tape of so many numbers for each seed is too long."""
        return Leave(Binary(">", Binary("*", length, self.count), Number(MOST)))

    def filled(self, name: str, shape: tuple[Expr, ...], fill: Expr) -> Row:
        """Return loops that fill a buffer with what differs by seed."""
        places = [self.w.fresh(f"at_{letter}") for letter, _ in zip("ijklmn", shape, strict=False)]
        rows = Body([Store(name, tuple(map(Name, places)), fill)])
        loop = self.loop_over_seeds(rows)
        for place, length in reversed(list(zip(places, shape, strict=True))):
            loop = For(place, ZERO, length, Body([loop]))
        return loop

    def loop_over_seeds(self, rows: Body) -> For:
        """Return a loop over the seeds around statements."""
        loop = For(self.w.fresh("seed"), ZERO, self.count, rows)
        self.groups.append(loop)
        return loop

    # -- the numbers of a seed -----------------------------------------------------------------

    def keep_shared(self, body: Body) -> None:
        """Add to ``kept`` the numbers that are not assigned and read in one iteration alone."""
        numbers = {id(loop): i for i, loop in enumerate(self.groups)}
        homes: dict[str, int] = {}

        def visit(body: Body, home: int) -> None:
            for row in body.rows:
                read = {name for expr in exprs_of(row) for name in numbers_in(expr)}
                for name in filter(self.is_of_seed, read):
                    if home < 0 or homes.get(name) != home:
                        self.kept.add(name)
                if isinstance(row, Assign) and homes.setdefault(row.name, home) != home:
                    self.kept.add(row.name)
                for block in blocks_in(row):
                    visit(block, numbers.get(id(row), home))

        visit(body, -1)

    def write_group(self, group: For) -> None:
        """Write the statements of a loop over seeds with the elements of that seed."""
        rows = group.body.rows
        for i, row in enumerate(rows):
            match row:
                case Assign(name, value):
                    value = self.of_seed(value, group.name)
                    rows[i] = Assign(name, value) if name not in self.kept else Store(
                        name, (Name(group.name),), value)
                case Store(_, places, value):
                    rows[i] = replace(row, indices=(*places, Name(group.name)),
                                      value=self.of_seed(value, group.name))

    def of_seed(self, expr: Expr, seed: str) -> Expr:
        """Return an expression of the numbers of one seed."""
        match expr:
            case Name(name) if name in self.kept:
                return Element(name, (Name(seed),))
            case Element(buffer, indices) if self.is_of_seed(buffer):
                return Element(buffer, (*indices, Name(seed)))
            case Element():
                return expr
        return with_children(expr, lambda inner: self.of_seed(inner, seed))


def target_of(row: Assign | Store) -> str:
    """Return the number that a statement assigns, or the buffer that it writes into."""
    return row.name if isinstance(row, Assign) else row.buffer


def values_in(expr: Expr) -> Iterator[str]:
    """Yield the names of numbers, and of the buffers of elements, in an expression."""
    match expr:
        case Name(name):
            yield name
        case Element(buffer):
            yield buffer
    for one in children(expr):
        yield from values_in(one)


def numbers_in(expr: Expr) -> Iterator[str]:
    """Yield the names of numbers in an expression."""
    if isinstance(expr, Name):
        yield expr.name
    for one in children(expr):
        yield from numbers_in(one)


def indices_in(expr: Expr) -> list[Expr]:
    """Return the subscripts in an expression."""
    found = list(expr.indices) if isinstance(expr, Element) else []
    for one in children(expr):
        found += indices_in(one)
    return found


def is_float(expr: Expr) -> bool:
    """Say whether an expression is of a float, if the numbers in it are."""
    match expr:
        case Binary(sign):
            return sign in ARITHMETIC
        case Unary(sign, operand):
            return sign == "-" and is_float(operand)
        case Apply(function):
            return function not in NOT_FLOATS
        case Choose(_, then, orelse):
            return is_float(then) and is_float(orelse)
        case Number(value):
            return not isinstance(value, bool)
    return True


def times(a: Expr, b: Expr) -> Expr:
    """Return a product of integers."""
    return b if a == ONE else a if ZERO in (a,) else Binary("*", a, b)


# -- helpers of many seeds ------------------------------------------------------------------------


def product_of_each(axis: SeedAxis, row: Use) -> list[Row]:
    """Return a product for each seed: one product of matrices if seeds decide one factor only."""
    w, count = axis.w, axis.count
    a, b = row.args
    assert isinstance(a, str) and isinstance(b, str)
    flat, product = w.fresh(f"{b}_flat"), w.fresh(f"{row.name}_flat")
    if axis.is_of_seed(a):
        if row.helper == "row_times" and not axis.is_of_seed(b):
            return [Turn(flat, b, (1, 0)), Use(row.name, "matrix_product", (flat, a))]
        return products_of_each(axis, row, a, b)
    if row.helper == "matrix_times":
        return [replace(row, helper="matrix_product")]
    columns = Extent(b, 1)
    shape = (columns,) if row.helper == "row_times" else (Extent(a, 0), columns)
    return [
        View(flat, Flat(b), ZERO, (Extent(b, 0), times(columns, count))),
        Use(product, row.helper, (a, flat)),
        View(row.name, Flat(product), ZERO, (*shape, count)),
    ]


def products_of_each(axis: SeedAxis, row: Use, a: str, b: str) -> list[Row]:
    """Return a product of factors of which the first one, or both, differ by seed."""
    w, count = axis.w, axis.count
    left, right, product = (w.fresh(f"{name}_of_each") for name in (a, b, row.name))
    each = (count,) if axis.is_of_seed(b) else ()
    of_row = row.helper == "row_times"
    rows: Expr = ONE if of_row else Extent(a, 0)
    inner: Expr = Extent(a, 0 if of_row else 1)
    columns: Expr = ONE if row.helper == "matrix_times" else Extent(b, 1)
    helper = "products_of_each" if each else "left_products_of_each"
    shape = (*(() if of_row else (rows,)), *(() if columns == ONE else (columns,)))
    return [
        View(left, Flat(a), ZERO, (rows, inner, count)),
        View(right, Flat(b), ZERO, (inner, columns, *each)),
        Use(product, helper, (left, right)),
        View(row.name, Flat(product), ZERO, (*shape, count)),
    ]


def sum_of_each(axis: SeedAxis, row: Use) -> list[Row]:
    """Return the sums of all elements, as a buffer with one for each seed."""
    axis.kept.add(row.name)
    axis.made_whole.add(row.name)
    return [Use(row.name, "sums_of_each", (*row.args, axis.count))]


def sums_of_each_along(axis: SeedAxis, row: Use) -> list[Row]:
    """Return sums along axes, one of each for each seed."""
    flat = axis.w.fresh(f"{row.name}_flat")
    values, outer, count, inner = row.args
    assert not isinstance(outer, (str, Flat)) and not isinstance(inner, (str, Flat))
    return [
        Use(flat, row.helper, (values, outer, count, times(inner, axis.count))),
        View(row.name, Flat(flat), ZERO, (times(outer, inner), axis.count)),
    ]


HELPERS = {
    "matrix_product": product_of_each, "matrix_times": product_of_each,
    "row_times": product_of_each, "total_sum": sum_of_each, "sums_along": sums_of_each_along,
}
"""What stands for a helper that is given what differs by seed."""
