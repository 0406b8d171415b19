"""Random statements that write into arrays: stores, in-place operators, NumPy's writers."""

from __future__ import annotations

from tests.properties.places import Place, Places
from tests.properties.values import FLOAT, Arr, Context, Env, Index, Ints

Rows = list[str] | None
OPERATORS = ["+=", "+=", "-=", "*=", "*=", "/="]


class Writes(Places):
    """Each method writes one statement (or a few), or returns None where nothing fits."""

    # -- stores --------------------------------------------------------------------------------

    def store(self, env: Env, context: Context, depth: int) -> Rows:
        target = self.part(env)
        if target is None:
            return None
        self.note("store", target)
        return [f"{target.text} = {self.fill(target, env)}"]

    def augmented_store(self, env: Env, context: Context, depth: int) -> Rows:
        target = self.part(env)
        if target is None:
            return None
        self.note("augment", target)
        operator = self.pick(OPERATORS)
        return [f"{target.text} {operator} {self.factor(operator, self.fill(target, env))}"]

    def whole_store(self, env: Env, context: Context, depth: int) -> Rows:
        place = self.place(env)
        if place is None:
            return None
        subscript = self.pick([":", "..."]) if place.shape else "()"
        return [f"{place.text}[{subscript}] = {self.fill(place, env)}"]

    def whole_augment(self, env: Env, context: Context, depth: int) -> Rows:
        names = [n for n, t in env.items() if isinstance(t, Arr) and n not in context.fixed]
        if not names:
            return None
        name = self.pick(names)
        operator = self.pick(OPERATORS)
        value = self.fill(Place(name, env[name].shape), env)
        if self.chance(0.1):
            square = len(env[name].shape) == 2 and len({*env[name].shape}) == 1
            return [f"{name} @= {self.array(env[name].shape, env, 1)}" if square
                    else f"{name} **= 2"]
        return [f"{name} {operator} {self.factor(operator, value)}"]

    def overlap(self, env: Env, context: Context, depth: int) -> Rows:
        """Read and write overlapping parts of one array in one statement."""
        place = self.place(env, self.pick([1, 2, None]), 1)
        if place is None or not place.shape:
            return None
        a = place.text
        options = [
            f"{a}[1:] += {a}[:-1]", f"{a}[:-1] -= 0.5 * {a}[1:]", f"{a}[:] = {a}[::-1]",
            f"{a}[1:] = {a}[:-1]", f"{a}[:-1] = {a}[1:] * {self.number(env, 1)}",
            f"{a}[1:] *= {a}[:-1]", f"{a}[::-1] += {a}", f"{a}[::-1] *= {a}",
            f"{a}[1:], {a}[:-1] = {a}[:-1], {a}[1:]", f"{a}[...] = np.sin({a}) * {a}[::-1]",
            f"{a}[1:-1] = 0.5 * ({a}[:-2] + {a}[2:])", f"{a} /= 1.5 + {a}[::-1] ** 2",
        ]
        if len(place.shape) == 2:
            options += [f"{a}[:, 1:] += {a}[:, :-1]", f"{a}[:, ::-1] -= 0.3 * {a}",
                        f"{a}[1:, 1:] = {a}[:-1, :-1]", f"{a}[:] = {a}[0]",
                        f"{a}[:, 0] = {a}[0, 0]"]
            if place.shape[0] == place.shape[1]:
                options += [f"{a}[...] = {a}.T", f"{a}[...] += 0.5 * {a}.T", f"{a}.T[...] *= {a}"]
        text = str(self.pick(options))
        rebinds = text.startswith(f"{a} ")
        if rebinds and (a in context.fixed or a not in env):
            return None
        return [text]

    def chained_store(self, env: Env, context: Context, depth: int) -> Rows:
        one, two = self.scalar_part(env), self.scalar_part(env)
        if one is None or two is None:
            return None
        value = self.bounded(FLOAT, self.number(env, 1))
        if self.chance(0.1):
            return [f"for {one.text} in {self.array((2,), env, 1)}:",
                    f"    {two.text} += {one.text} * {self.leaf(env)}"]
        if self.chance(0.3):
            name = self.target(env, FLOAT, context)
            env[name] = FLOAT
            one = Place(name, ())
        elif self.chance(0.4):
            one, two = self.part(env) or one, self.part(env) or two
        return [f"{one.text} = {two.text} = {value}"]

    def scalar_part(self, env: Env) -> Place | None:
        place = self.place(env, least=1)
        if place is None or place.shape is None:
            return None
        return Place(f"{place.text}[{self.one_element(place, env)}]", ())

    def tuple_store(self, env: Env, context: Context, depth: int) -> Rows:
        one, two = self.scalar_part(env), self.part(env)
        if one is None or two is None:
            return None
        values = f"{self.number(env, 1)}, {self.fill(two, env, 1)}"
        if self.chance(0.2):
            array = self.array((2,), env, 1)
            other = self.scalar_part(env) or one
            return [f"{one.text}, {other.text} = {array}"]
        return [f"{one.text}, {two.text} = {values}"]

    def swap_elements(self, env: Env, context: Context, depth: int) -> Rows:
        one, two = self.scalar_part(env), self.scalar_part(env)
        if one is None or two is None:
            return None
        names = [n for n in self.of_type(env, FLOAT) if n not in context.fixed]
        if names and self.chance(0.3):
            two = Place(self.pick(names), ())
        return [f"{one.text}, {two.text} = {two.text}, {one.text}"]

    def swap_rows(self, env: Env, context: Context, depth: int) -> Rows:
        place = self.place(env, self.pick([1, 2, 2]), 2)
        if place is None or not place.shape:
            return None
        a, n = place.text, place.shape[0]
        i, j = self.position(n, env), self.position(n, env)
        options = [f"{a}[[{i}, {j}]] = {a}[[{j}, {i}]]", f"{a}[[0, 1]] = {a}[[1, 0]]"]
        if len(place.shape) == 2:
            options += [f"{a}[{i}], {a}[{j}] = {a}[{j}], {a}[{i}]",
                        f"{a}[{i}], {a}[{j}] = {a}[{j}].copy(), {a}[{i}].copy()",
                        f"{a}[:, [0, 1]] = {a}[:, [1, 0]]"]
        return [str(self.pick(options))]

    def recurrence(self, env: Env, context: Context, depth: int) -> Rows:
        """A loop in which each element depends on those before it."""
        place = self.place(env, self.pick([1, 1, 2]), 1)
        if place is None or not place.shape:
            return None
        a, n, i = place.text, place.shape[0], self.fresh("i")
        inner = {**env, i: Index(n)}
        if len(place.shape) == 2:
            j, m = self.fresh("j"), place.shape[1]
            inner[j] = Index(m)
            value = self.bounded(FLOAT, f"{a}[{i} - 1, {j}] * {self.number(inner, 1)}")
            bound = self.pick([f"range({m})", f"range({min(n, m)} - {i} * 0)",
                               f"range(min({i} + 1, {m}))"])
            return [f"for {i} in range({n}):", f"    for {j} in {bound}:",
                    f"        {a}[{i}, {j}] {self.pick(['=', '+='])} {value}"]
        value = self.bounded(FLOAT, f"{a}[{i} - 1] * {self.number(inner, 1)}")
        rows = [f"{a}[{i}] {self.pick(['=', '+=', '-=', '*='])} {value}"]
        if self.chance(0.3):
            rows = [f"if {self.condition(inner)}:", *(f"    {row}" for row in rows)]
        start = self.pick([f"range({n})", f"range(1, {n})", f"range({n - 1}, -1, -1)"])
        return [f"for {i} in {start}:", *(f"    {row}" for row in rows)]

    # -- NumPy's writers -----------------------------------------------------------------------

    def ufunc_out(self, env: Env, context: Context, depth: int) -> Rows:
        """``out=``, sometimes with ``where=``."""
        place = self.place(env, least=1)
        if place is None or not place.shape:
            return None
        target = place
        if self.chance(0.4):
            view = self.slices(place, env)
            shape = self.shape_of(view or ":", place.shape, env)
            if shape:
                target = Place(f"{place.text}[{view or ':'}]", shape)
        shape = target.shape or ()
        x, y = self.array(shape, env, 1), self.fill(target, env, 1)
        where = ""
        if self.chance(0.35):
            where = self.pick([f"{target.text} > 0.35", f"np.arange({shape[-1]}) != 1"])
            where = f", where={where}"
        call = self.pick([
            f"np.sin({x}, out={target.text}{where})", f"np.tanh({x}, out={target.text}{where})",
            f"np.add({x}, {y}, out={target.text}{where})",
            f"np.multiply({x}, {y}, out={target.text}{where})",
            f"np.subtract({target.text}, {y}, out={target.text}{where})",
            f"np.negative({target.text}, {target.text}{where})",
        ])
        if not where and self.chance(0.2):
            call = self.pick([f"np.cumsum({x}, axis=0, out={target.text})",
                              f"np.clip({x}, -0.4, 0.6, out={target.text})"])
        if self.chance(0.2):
            name = self.target(env, Arr(shape), context)
            env[name] = Arr(shape)
            return [f"{name} = {call}"]
        return [str(call)]

    def numpy_writer(self, env: Env, context: Context, depth: int) -> Rows:
        place = self.place(env, least=1)
        if place is None or not place.shape:
            return None
        a, n, value = place.text, place.shape[0], self.number(env, 1)
        options = [
            f"np.copyto({a}, {self.fill(place, env)})",
            f"np.copyto({a}, {self.fill(place, env, 1)}, where={a} > 0.35)",
            f"np.copyto({a}, {value}, where=np.arange({place.shape[-1]}) != 1)",
            f"{a}.fill({value})", f"np.putmask({a}, {a} < 0.3, {value})",
            f"np.put({a}, [0, -1], {value})",
            f"{a}.put([{n - 1}], {value})", f"{a}.flat[{n - 1}] = {value}",
            f"np.put({a}, [0, 0], [{value}, {self.number(env, 1)}])",
        ]
        if len(place.shape) == 2:
            options += [f"np.fill_diagonal({a}, {value})"] * 3
            options.append(f"np.fill_diagonal({a}, {self.array((min(place.shape),), env, 1)})")
        return [str(self.pick(options))]

    def scatter_add(self, env: Env, context: Context, depth: int) -> Rows:
        place = self.place(env, least=2)
        if place is None or not place.shape:
            return None
        a, n = place.text, place.shape[0]
        index = self.pick(["[0, 0, 1]", "[1, -1]", "[0, 1]", "0", "slice(1, None)",
                           *(k for k, t in env.items() if isinstance(t, Ints) and t.bound <= n)])
        if len(place.shape) == 2 and self.chance(0.4):
            index = "([0, 1, 0], [1, 1, 1])"
        name = self.pick(["np.add.at", "np.add.at", "np.subtract.at"])
        return [f"{name}({a}, {index}, {self.number(env, 1)})"]

    def sort_in_place(self, env: Env, context: Context, depth: int) -> Rows:
        place = self.place(env, least=1)
        if place is None or not place.shape:
            return None
        if len(place.shape) == 2 and self.chance(0.5):
            return [f"{place.text}.sort(axis=0)"]
        return [f"{place.text}.sort()"]

    # -- bookkeeping ---------------------------------------------------------------------------

    def note(self, verb: str, place: Place) -> None:
        self.used.add(f"{verb} {place.kind}")
