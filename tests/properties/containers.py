"""Random lists and dicts that change: append, store, reorder, nest, and become arrays."""

from __future__ import annotations

from typing import Any

from tests.properties.places import Place
from tests.properties.values import (
    FLOAT, GROWING, Arr, Arrays, Boxed, Context, Env, Floats, Grid, Index, Table,
)
from tests.properties.views import Views
from tests.properties.writes import OPERATORS, Rows


class Containers(Views):
    """Each method writes one statement (or a few), or returns None where nothing fits."""

    def at_hand(
        self, env: Env, context: Context, type_: Any
    ) -> tuple[list[str], list[str]]:
        """Return the names of a type, and a statement that makes one if there was none."""
        names = self.of_type(env, type_)
        if names:
            return [], names
        if type_ == GROWING:
            items = [self.number(env, 1) for _ in range(self.rng.randrange(4))]
            text = f"[{', '.join(items)}]"
        else:
            text = self.value(type_, env, 1)
        name = self.name_of(env, context, type_)
        return [f"{name} = {text}"], [name]

    def repeated(self, rows: list[str], env: Env) -> list[str]:
        """Return statements in a loop."""
        arrays = [n for n, t in env.items() if isinstance(t, Arr) and len(t.shape) == 1]
        source = self.pick([f"range({self.rng.randrange(4)})", *arrays])
        return [f"for {self.fresh('_')} in {source}:", *(f"    {row}" for row in rows)]

    # -- lists of numbers ----------------------------------------------------------------------

    def new_list(self, env: Env, context: Context, depth: int) -> Rows:
        if self.chance(0.5):
            items = [self.number(env, 1) for _ in range(self.rng.randrange(4))]
            name = self.name_of(env, context, GROWING)
            return [f"{name} = [{', '.join(items)}]"]
        length = 2 + self.rng.randrange(2)
        items = [self.number(env, 1) for _ in range(length)]
        name = self.name_of(env, context, Floats(length))
        return [f"{name} = [{', '.join(items)}]"]

    def grow(self, env: Env, context: Context, depth: int) -> Rows:
        if self.frozen:
            return None
        before, names = self.at_hand(env, context, GROWING)
        name, value = self.pick(names), self.bounded(FLOAT, self.number(env, 1))
        options = [
            f"{name}.append({value})", f"{name}.append({value})", f"{name}.append({value})",
            f"{name}.insert(0, {value})", f"{name}.extend([{value}, {self.number(env, 1)}])",
            f"{name}.insert(len({name}) // 2, {value})", f"{name}[:0] = [{value}]",
            f"{name}.extend({self.array((2,), env, 1)})", f"{name}[len({name}):] = [{value}]",
        ]
        if name not in context.fixed:
            options.append(f"{name} += [{value}]")
        rows = [str(self.pick(options))]
        if self.chance(0.3) and depth > 0:
            rows = self.repeated(rows, env)
        return [*before, *rows]

    def shrink(self, env: Env, context: Context, depth: int) -> Rows:
        if self.frozen:
            return None
        before, names = self.at_hand(env, context, GROWING)
        name = self.pick(names)
        index = self.pick(["", "0", "-1"])
        if self.chance(0.3):
            row = self.pick([f"del {name}[{index or '-1'}]", f"{name}.clear()", f"del {name}[1:]"])
            return [*before, f"if {name}:", f"    {row}"]
        used = [n for n in self.of_type(env, FLOAT) if n not in context.fixed]
        if not used:
            return [*before, f"if {name}:", f"    {name}.pop({index})"]
        out = self.pick(used)
        return [*before, f"if {name}:", f"    {out} = {name}.pop({index}) * {self.number(env, 1)}"]

    def list_store(self, env: Env, context: Context, depth: int) -> Rows:
        before, names = self.at_hand(env, context, self.pick([GROWING, Floats(2), Floats(3)]))
        name = self.pick([*names, *self.of_class(env, Floats), *self.of_type(env, GROWING)])
        type_, operator = env[name], self.pick(["=", "=", *OPERATORS])
        value = self.factor(operator, self.bounded(FLOAT, self.number(env, 1)))
        if isinstance(type_, Floats) and type_.length:
            i, j = self.position(type_.length, env), self.position(type_.length, env)
            return [*before, self.pick([
                f"{name}[{i}] {operator} {value}", f"{name}[{i}] {operator} {value}",
                f"{name}[{i}], {name}[{j}] = {name}[{j}], {name}[{i}]",
                f"{name}[:1] = [{value}]",
            ])]
        index = self.pick(["0", "-1", f"len({name}) // 2"])
        rows = [f"if {name}:", f"    {name}[{index}] {operator} {value}"]
        if self.chance(0.3):
            i = self.fresh("i")
            rows = [f"for {i} in range(len({name})):",
                    f"    {name}[{i}] {operator} {value}"]
        return [*before, *rows]

    def list_order(self, env: Env, context: Context, depth: int) -> Rows:
        before, names = self.at_hand(env, context, self.pick([GROWING, Floats(3)]))
        name = self.pick([*names, *self.of_class(env, Floats)])
        options = [f"{name}.sort()", f"{name}.reverse()", f"{name}.sort(reverse=True)",
                   f"{name}.sort(key=abs)", f"{name}[:] = {name}[::-1]",
                   f"{name}[:] = [0.5 * value for value in {name}]"]
        if isinstance(env[name], Floats) and env[name].length and not self.frozen:
            options += [f"{name}.append({name}.pop(0))", f"{name}.insert(0, {name}.pop())"]
        return [*before, str(self.pick(options))]

    def stack_machine(self, env: Env, context: Context, depth: int) -> Rows:
        """A loop that empties a list."""
        used = [n for n in self.of_type(env, FLOAT) if n not in context.fixed]
        if not used or self.frozen:
            return None
        before, names = self.at_hand(env, context, GROWING)
        name, out = self.pick(names), self.pick(used)
        update = self.pick([f"{out} = np.sin({out} + {name}.pop())", f"{out} += {name}.pop(0)",
                            f"{out} = 0.5 * {out} * {name}.pop()"])
        return [*before, f"while len({name}) > {self.rng.randrange(2)}:", f"    {update}"]

    def collected(self, env: Env, context: Context, depth: int) -> Rows:
        """Append in a loop, then make one array of the list."""
        name, i, times = self.fresh("rows"), self.fresh("i"), 1 + self.rng.randrange(3)
        inner = {**env, i: Index(times)}
        arrays = [p for p in self.places(env) if p.shape and len(p.shape) == 1 and 0 not in p.shape]
        if arrays and self.chance(0.5):
            row = self.pick(arrays)
            shape: Any = (times, *(row.shape or ()))
            value = self.pick([f"{row.text} * {self.number(inner, 1)}", f"{row.text}.copy()",
                               row.text, f"np.sin({row.text} * ({i} + 1.0))"])
            made = self.pick([f"np.stack({name})", f"np.array({name})", f"np.vstack({name})"])
        else:
            shape, value = (times,), self.bounded(FLOAT, self.number(inner, 1))
            made = f"np.array({name})"
        body = [f"    {name}.append({value})"]
        written = self.part(inner)
        if written is not None and self.chance(0.4):
            body.append(f"    {written.text} = {self.fill(written, inner, 1)}")
        result = self.name_of(env, context, Arr(shape))
        return [f"{name} = []", f"for {i} in range({times}):", *body, f"{result} = {made}"]

    # -- lists of arrays, lists of lists -------------------------------------------------------

    def array_list(self, env: Env, context: Context, depth: int) -> Rows:
        place = self.place(env, self.pick([1, 2]), 1)
        if place is None or not place.shape:
            return None
        shape, length = place.shape, 2 + self.rng.randrange(2)
        items = [self.pick([place.text, self.array(shape, env, 1)]) for _ in range(length)]
        text = f"[{', '.join(items)}]"
        if self.chance(0.25):
            text, length, shape = f"list({place.text})", shape[0], shape[1:]
        if not shape:
            return None
        name = self.name_of(env, context, Arrays(shape, length))
        return [f"{name} = {text}"]

    def array_list_store(self, env: Env, context: Context, depth: int) -> Rows:
        before: list[str] = []
        if not self.of_class(env, Arrays):
            before = self.array_list(env, context, depth) or []
        names = self.of_class(env, Arrays)
        if not names:
            return None
        name = self.pick(names)
        type_ = env[name]
        i, j = self.position(type_.length, env), self.position(type_.length, env)
        item = Place(f"{name}[{i}]", type_.shape)
        operator = self.pick(OPERATORS)
        value = self.factor(operator, self.fill(item, env))
        x, scalar = self.fresh("x"), self.factor(operator, self.number(env, 1))
        options = [
            [f"{name}[{i}] = {self.array(type_.shape, env, 1)}"],
            [f"{name}[{i}] {operator} {value}"],
            [f"{name}[{i}], {name}[{j}] = {name}[{j}], {name}[{i}]"],
            [f"{name}.reverse()"], [f"{name}.append({name}.pop(0))"],
            [f"for {x} in {name}:", f"    {x} {operator} {scalar}"],
            [f"for {x} in {name}:", f"    {x}[0] = {self.number(env, 1)}"],
        ]
        if self.frozen:
            del options[4]
        return [*before, *self.pick(options)]

    def array_stack(self, env: Env, context: Context, depth: int) -> Rows:
        """Reorder, shorten and lengthen a list of arrays; read and write its items in between."""
        before: list[str] = []
        if not self.of_class(env, Arrays):
            before = self.array_list(env, context, depth) or []
        used = [n for n in self.of_type(env, FLOAT) if n not in context.fixed]
        names = self.of_class(env, Arrays)
        if not names or not used:
            return None
        source = self.pick(names)
        type_ = env[source]
        name, out = self.fresh("stack"), self.pick(used)
        rows = [f"{name} = " + self.pick([
            f"list({source})", f"[0.5 * item for item in {source}]",
            f"[item.copy() for item in {source}]", f"{source}[:]", f"{source}[::-1]",
        ])]
        if self.chance(0.3) and not self.frozen:
            name, rows = source, []
        length = type_.length
        for _ in range(3 + self.rng.randrange(4)):
            row, change = self.stack_step(name, length, out, type_.shape, env)
            if length + change >= 1:
                rows.append(row)
                length += change
        if name == source:
            rows += [f"{name}.pop()"] * (length - type_.length)
            rows += [f"{name}.insert(0, {self.array(type_.shape, env, 1)})"] * (
                type_.length - length)
        else:
            rows.append(f"{out} = 0.5 * {out} + np.sum({name}[{self.rng.randrange(length)}])")
        return [*before, *rows]

    def stack_step(
        self, name: str, length: int, out: str, shape: Any, env: Env
    ) -> tuple[str, int]:
        """Return a statement on a list of arrays, and by how much it lengthens the list."""
        i, j = (self.rng.randrange(-length, length) for _ in range(2))
        item = Place(f"{name}[{i}]", shape)
        operator = self.pick(OPERATORS)
        target = self.part(env, item) or item
        write = f"{target.text} {operator} {self.factor(operator, self.fill(target, env))}"
        return self.pick([
            (f"{out} = np.sin({out} + np.sum({name}[{i}] ** 2))", 0), (write, 0), (write, 0),
            (f"{name}[{i}] {operator} {self.factor(operator, self.number(env, 1))}", 0),
            (f"{name}.reverse()", 0), (f"{name}.sort(key=lambda item: float(np.sum(item)))", 0),
            (f"{name}[{i}] = {self.array(shape, env, 1)}", 0), (f"{name}.pop()", -1),
            (f"{out} = 0.5 * {out} + np.sum({name}.pop({i}) ** 2)", -1), (f"del {name}[{i}]", -1),
            (f"{out} *= np.sum(np.cos({name}.pop()))", -1),
            (f"{name}.append({self.array(shape, env, 1)})", 1),
            (f"{name}.insert({abs(i)}, {self.array(shape, env, 1)})", 1),
            (f"{name}.append({name}[{i}] * {self.number(env, 1)})", 1),
            (f"{name}.append({name}.pop(0))", 0), (f"{name} += [{name}[{i}].copy()]", 1),
            (f"{name}[{i}], {name}[{j}] = {name}[{j}], {name}[{i}]", 0),
            (f"{name}[{i}] = {name}[{j}]", 0),
            (f"for row in {name}: row *= {self.factor('*=', self.number(env, 1))}", 0),
            (f"{name} = [item * 1.5 for item in {name}]", 0), (f"{name} = {name} + {name}[:1]", 1),
            (f"for k in range(len({name})): {name}[k] {operator} {name}[k - 1]", 0),
        ])

    def grid(self, env: Env, context: Context, depth: int) -> Rows:
        rows, columns = 1 + self.rng.randrange(2), 2 + self.rng.randrange(2)
        text = self.pick([
            "[" + ", ".join("[" + ", ".join(self.number(env, 1) for _ in range(columns)) + "]"
                            for _ in range(rows)) + "]",
            f"[[{self.number(env, 1)}] * {columns} for _ in range({rows})]",
        ])
        name = self.name_of(env, context, Grid(rows, columns))
        return [f"{name} = {text}"]

    def grid_store(self, env: Env, context: Context, depth: int) -> Rows:
        before: list[str] = []
        if not self.of_class(env, Grid):
            before = self.grid(env, context, depth) or []
        name = self.pick(self.of_class(env, Grid))
        type_ = env[name]
        i, k = self.position(type_.rows, env), self.position(type_.rows, env)
        j, m = self.position(type_.columns, env), self.position(type_.columns, env)
        operator = self.pick(["=", "=", *OPERATORS])
        value = self.factor(operator, f"{name}[{k}][{m}] * {self.number(env, 1)}")
        kind = self.rng.randrange(5)
        if kind == 3:
            array = self.name_of(env, context, Arr((type_.rows, type_.columns)))
            return [*before, f"{name}[{i}][{j}] {operator} {value}", f"{array} = np.array({name})"]
        if kind == 4:
            row = self.name_of(env, context, Floats(type_.columns))
            return [*before, f"{row} = {name}[{i}]", f"{row}[{j}] {operator} {value}"]
        return [*before, self.pick([
            f"{name}[{i}][{j}] {operator} {value}",
            f"{name}[{i}] = {self.floats(type_.columns, env, 1)}",
            f"{name}[{i}], {name}[{k}] = {name}[{k}], {name}[{i}]",
        ])]

    # -- objects -------------------------------------------------------------------------------

    def boxed(self, env: Env, context: Context, depth: int) -> Rows:
        """An object whose attributes are stored into."""
        before: list[str] = []
        names = self.of_class(env, Boxed)
        if not names:
            place = self.place(env, self.pick([1, 2]), 1)
            if place is None or not place.shape:
                return None
            text = self.pick([f"Box({self.number(env, 1)}, {place.text})",
                              f"Box({self.leaf(env)}, {self.array(place.shape, env, 1)})"])
            names = [self.name_of(env, context, Boxed(place.shape))]
            before = [f"{names[0]} = {text}"]
        name = self.pick(names)
        shape = env[name].shape
        operator, value = self.pick(OPERATORS), self.number(env, 1)
        factor = self.factor(operator, value)
        target = self.part(env, Place(f"{name}.data", shape)) or Place(f"{name}.data[0]", None)
        used = self.name_of(env, context, FLOAT)
        return [*before, *self.pick([
            [f"{name}.level = {value}"], [f"{name}.level {operator} {factor}"],
            [f"{name}.data = {self.array(shape, env, 1)}"],
            [f"{target.text} {operator} {factor}"], [f"{name}.data {operator} {factor}"],
        ]), f"{used} = {name}.level * np.sum({name}.data)"]

    # -- dicts ---------------------------------------------------------------------------------

    def dict_store(self, env: Env, context: Context, depth: int) -> Rows:
        shape = self.pick([(3,), (2,)])
        types = [Table((("u", FLOAT), ("w", FLOAT))), Table((("u", FLOAT), ("w", Arr(shape))))]
        before, names = self.at_hand(env, context, self.pick(types))
        name = self.pick([*names, *self.of_class(env, Table)])
        key, type_ = self.pick(env[name].entries)
        value, operator = self.value(type_, env, 2), self.pick(OPERATORS)
        options = [[f"{name}[{key!r}] = {value}"], [f"{name}.update({key}={value})"],
                   [f"{name}.update({{{key!r}: {value}}})"],
                   [f"{name}[{key!r}] = {name}.pop({key!r})"]]
        if type_ == FLOAT:
            options += [[f"{name}[{key!r}] {operator} {self.factor(operator, value)}"]] * 3
        if isinstance(type_, Arr):
            target = self.part(env, Place(f"{name}[{key!r}]", type_.shape))
            if target is not None:
                options += [[f"{target.text} {operator} "
                             f"{self.factor(operator, self.fill(target, env, 1))}"]] * 3
        if {t for _, t in env[name].entries} == {FLOAT}:
            k = self.fresh("key")
            options.append([f"for {k} in {name}:", f"    {name}[{k}] *= {self.number(env, 1)}"])
        if self.frozen:
            del options[3]
        return [*before, *self.pick(options)]

    # -- iterators -----------------------------------------------------------------------------

    def lazy(self, env: Env, context: Context, depth: int) -> Rows:
        """Run through an iterator, with a write to what it reads before or meanwhile."""
        used = [n for n in self.of_type(env, FLOAT) if n not in context.fixed]
        arrays = [n for n, t in env.items() if isinstance(t, Arr) and len(t.shape) == 1]
        sources = [*arrays, *self.of_class(env, Floats), *self.of_type(env, GROWING)]
        if not used or not sources or self.frozen:
            return None
        name, out, factor = self.pick(sources), self.pick(used), self.number(env, 1)
        item, i = self.fresh("item"), self.fresh("i")
        made = self.pick([
            f"map(lambda {item}: {item} * {item}, {name})",
            f"({item} * {factor} for {item} in {name})",
            f"reversed({name})", f"iter({name})", f"[{item} * {item} for {item} in {name}]", name,
            f"{name}[::-1]", f"filter(lambda {item}: {item} > 0.25, {name})",
        ])
        write = f"{out} = 0.5 * {out}"
        if self.chance(0.3):
            write = self.pick([f"{name}[0] = {self.number(env, 1)}", f"{name}[-1] *= 0.5"])
        if self.chance(0.5):
            kept = self.fresh("kept")
            rows = [f"{kept} = {made}", f"if len({name}) > 0:", f"    {write}"]
            return [*rows, f"{out} = 0.5 * {out} + sum({kept})"]
        head = self.pick([f"for {i}, {item} in enumerate({made}):",
                          f"for {i}, {item} in zip(range(3), {made}):"])
        rows = [f"    {out} = 0.5 * {out} + ({i} + 1) * {item}", f"    {write}"]
        return [head, *(rows if self.chance(0.5) else rows[::-1])]

    def entries(self, env: Env, context: Context, depth: int) -> Rows:
        """Run over a dict, writing its entries meanwhile."""
        used = [n for n in self.of_type(env, FLOAT) if n not in context.fixed]
        if not used or self.frozen:
            return None
        before, names = self.at_hand(env, context, Table((("u", FLOAT), ("w", FLOAT))))
        name, out, k, v = self.pick(names), self.pick(used), self.fresh("k"), self.fresh("v")
        if self.chance(0.5):
            made = self.fresh("table")
            before.append(f"{made} = {{n: {self.number(env, 1)} * (n + 1) for n in range(3)}}")
            name = made
        key = "0" if name in "".join(before) and "range(3)" in before[-1] else "'u'"
        write = self.pick([f"{name}[{k}] = {v} * {self.number(env, 1)}", f"{name}[{key}] *= 0.5",
                           f"{name}[{k}] *= {name}[{key}]", f"{out} = 0.5 * {out}"])
        items = self.pick([f"{name}.items()", f"list({name}.items())"])
        head = f"for {k}, {v} in {items}:"
        rows = [f"    {out} = 0.5 * {out} + {v}", f"    {write}"]
        if self.chance(0.3):
            head, rows = f"for {k} in {name}:", [f"    {v} = {name}[{k}]", *rows]
        if self.chance(0.2):
            kept = self.fresh("kept")
            first = f"{kept} = {name}.values()"
            return [*before, first, f"{name}[{key}] = {self.number(env, 1)}",
                    f"{out} = 0.5 * {out} + sum({kept})"]
        return [*before, head, *rows]
