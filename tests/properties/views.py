"""Random views and aliases: several names for one array, which are then written and read."""

from __future__ import annotations

from math import prod

from tests.properties.places import Place
from tests.properties.values import FLOAT, Arr, Arrays, Context, Env, ReadOnly, Table, Tup
from tests.properties.writes import OPERATORS, Rows, Writes


class Views(Writes):
    """Each method writes one statement (or a few), or returns None where nothing fits."""

    def name_of(self, env: Env, context: Context, type_: object, new: float = 0.8) -> str:
        name = self.target(env, type_, context, new)
        env[name] = type_
        return name

    def buffer(self, env: Env, context: Context, depth: int) -> Rows:
        """A new array."""
        place = self.place(env)
        shape = self.pick([(3,), (2, 3), (4,), (3, 3), (1,), (2, 2, 2), (0,), ()])
        options = [f"np.zeros({shape})", f"np.ones({shape})"]
        if shape:
            options += [f"np.zeros({shape}) + {self.number(env, 1)}"]
        if place is not None and place.shape and self.chance(0.6):
            shape = place.shape
            options = [f"np.zeros_like({place.text})", f"{place.text}.copy()",
                       f"np.array({place.text})", f"np.ones_like({place.text})",
                       f"np.zeros({place.text}.shape)", f"np.full_like({place.text}, 0.4)"]
        row, start = self.pick(options), self.number(env, 1)
        name = self.name_of(env, context, Arr(shape))
        if place is not None and place.shape and self.chance(0.15) and name not in start:
            return [f"{name} = np.empty({shape})", f"{name}[...] = {start}"]
        return [f"{name} = {row}"]

    # -- views ---------------------------------------------------------------------------------

    def a_view(self, env: Env, place: Place) -> Place | None:
        """Return a view (or a copy that looks like one) of an array."""
        a, shape = place.text, place.shape or ()
        if self.chance(0.5):
            found = self.part(env, place)
            if found is None or found.shape is None or found.kind == "one_element":
                return Place(f"{a}[..., None]", (*shape, 1))
            return found
        flat = (prod(shape),)
        options = [
            Place(f"{a}.reshape(-1)", flat), Place(f"{a}.ravel()", flat),
            Place(f"np.ravel({a})", flat), Place(f"{a}.flatten()", flat),
            Place(f"np.asarray({a})", shape), Place(f"{a}[...]", shape),
            Place(f"{a}.view()", shape), Place(f"np.expand_dims({a}, 0)", (1, *shape)),
            Place(f"np.squeeze({a}[None])", tuple(n for n in shape if n != 1)),
        ]
        if shape:
            options += [Place(f"np.flip({a}, 0)", shape)]
        if len(shape) == 1:
            options.append(Place(f"np.atleast_2d({a})", (1, *shape)))
        if len(shape) >= 2:
            back = shape[::-1]
            options += [Place(f"{a}.T", back), Place(f"{a}.transpose()", back),
                        Place(f"np.transpose({a})", back), Place(f"{a}.T.reshape(-1)", flat),
                        Place(f"{a}.swapaxes(0, 1)", (shape[1], shape[0], *shape[2:])),
                        Place(f"np.swapaxes({a}, 0, 1)", (shape[1], shape[0], *shape[2:])),
                        Place(f"np.moveaxis({a}, 0, -1)", (*shape[1:], shape[0])),
                        Place(f"{a}.reshape({back})", back), Place(f"{a}.T.ravel()", flat)]
        return self.pick(options)  # type: ignore[no-any-return]

    def view(self, env: Env, context: Context, depth: int) -> Rows:
        place = self.place(env)
        found = None if place is None else self.a_view(env, place)
        if found is None or found.shape is None:
            return None
        name = self.name_of(env, context, Arr(found.shape))
        return [f"{name} = {found.text}"]

    def view_then_write(self, env: Env, context: Context, depth: int) -> Rows:
        """Take a view, write through it or into its base, then read both."""
        place = self.place(env, least=1)
        found = None if place is None else self.a_view(env, place)
        if place is None or found is None or found.shape is None or found.shape == ():
            return None
        free = [n for n in ("view", "part", "row", "side") if n not in env]
        if not free:
            return None
        view = free[0]
        rows = [f"{view} = {found.text}"]
        inner = {**env, view: Arr(found.shape)}
        written, read = Place(view, found.shape), place
        if self.chance(0.5):
            written, read = read, written
        target = self.part(inner, written) or Place(f"{written.text}[...]", written.shape)
        operator = self.pick(["=", "=", *OPERATORS])
        value = self.fill(target, inner)
        rows.append(f"{target.text} {operator} {self.factor(operator, value)}")
        value = f"{self.reduced(read, env)} * {self.number(env, 1)}"
        rows.append(f"{self.name_of(env, context, FLOAT)} = {value}")
        env[view] = Arr(found.shape)
        return rows

    def read_only_view(self, env: Env, context: Context, depth: int) -> Rows:
        place = self.place(env, self.pick([1, 2]), 1)
        if place is None or not place.shape:
            return None
        a, shape = place.text, place.shape
        if len(shape) == 1:
            shape = self.pick([(2, *shape), (1, *shape), shape])
            text = f"np.broadcast_to({a}, {shape})"
        else:
            shape = (min(shape),)
            text = self.pick([f"np.diagonal({a})", f"{a}.diagonal()", f"np.diag({a})"])
        name = self.fresh("seen")
        env[name] = ReadOnly(shape)
        return [f"{name} = {text}"]

    def split_view(self, env: Env, context: Context, depth: int) -> Rows:
        place = self.place(env, self.pick([1, 2]), 2)
        if place is None or not place.shape:
            return None
        a, (n, *rest) = place.text, place.shape
        one, two = self.fresh("u"), self.fresh("u")
        shapes = [(1, *rest), (n - 1, *rest)]
        options = [(f"np.split({a}, [1])", shapes), (f"{a}[:1], {a}[1:]", shapes)]
        if n % 2 == 0:
            half = [(n // 2, *rest)] * 2
            options += [(f"np.split({a}, 2)", half), (f"{a}[::2], {a}[1::2]", half)]
        if n == 2 and rest:
            options.append((a, [tuple(rest)] * 2))
        text, parts = self.pick(options)
        env[one], env[two] = Arr(parts[0]), Arr(parts[1])
        return [f"{one}, {two} = {text}"]

    def view_in_container(self, env: Env, context: Context, depth: int) -> Rows:
        place, other = self.place(env, least=1), self.place(env, least=1)
        if place is None or other is None or not place.shape:
            return None
        found = self.a_view(env, place)
        if found is None or found.shape is None or found.shape == ():
            return None
        one, two = Arr(found.shape), Arr(other.shape or ())
        kind = self.rng.randrange(3)
        if kind == 0 and other.shape:
            name = self.name_of(env, context, Tup((one, two)))
            return [f"{name} = ({found.text}, {other.text})"]
        if kind == 1 and other.shape:
            name = self.name_of(env, context, Table((("u", one), ("w", two))))
            return [f"{name} = {{'u': {found.text}, 'w': {other.text}}}"]
        second = self.pick([found.text, self.array(found.shape, env, 1)])
        name = self.name_of(env, context, Arrays(found.shape, 2))
        return [f"{name} = [{found.text}, {second}]"]

    # -- aliases -------------------------------------------------------------------------------

    def pair(self, env: Env) -> tuple[str, str, Arr] | None:
        """Return two arrays of one shape."""
        places = self.places(env)
        pairs = [(p, q) for p in places for q in places if p.shape == q.shape and p is not q]
        if not pairs:
            return None
        one, two = self.pick(pairs)
        return one.text, two.text, Arr(one.shape)

    def alias(self, env: Env, context: Context, depth: int) -> Rows:
        place = self.place(env)
        if place is None:
            return None
        name = self.name_of(env, context, Arr(place.shape or ()))
        return [f"{name} = {place.text}"] if name != place.text else None

    def chosen_alias(self, env: Env, context: Context, depth: int) -> Rows:
        pair = self.pair(env)
        if pair is None:
            return None
        one, two, type_ = pair
        text = self.pick([
            f"{one} if {self.condition(env)} else {two}",
            f"{one} if {self.leaf(env)} > 0.4 else {two}",
            f"({one}, {two})[{self.position(2, env)}]", f"[{one}, {two}][{self.position(2, env)}]",
        ])
        name = self.name_of(env, context, type_)
        return [f"{name} = {text}", *self.written(env, name, type_)]

    def written(self, env: Env, name: str, type_: Arr) -> list[str]:
        """Return a statement that writes into ``name``, often."""
        target = self.part(env, Place(name, type_.shape))
        if target is None or self.chance(0.3):
            return []
        operator = self.pick(["=", "+=", "*="])
        return [f"{target.text} {operator} {self.fill(target, env, 1)}"]

    def branch_alias(self, env: Env, context: Context, depth: int) -> Rows:
        pair = self.pair(env)
        if pair is None:
            return None
        one, two, type_ = pair
        condition = self.condition(env)
        name = self.name_of(env, context, type_)
        first, second = self.written(env, name, type_), self.written(env, name, type_)
        rows = [f"if {condition}:", f"    {name} = {one}", *(f"    {row}" for row in first),
                "else:", f"    {name} = {two}", *(f"    {row}" for row in second)]
        return rows + self.written(env, name, type_)

    def swap_names(self, env: Env, context: Context, depth: int) -> Rows:
        arrays = [n for n, t in env.items() if isinstance(t, Arr) and n not in context.fixed]
        pairs = [(m, n) for m in arrays for n in arrays if m != n and env[m] == env[n]]
        if not pairs:
            return None
        one, two = self.pick(pairs)
        return [f"{one}, {two} = {two}, {one}", *self.written(env, one, env[one])]

    def double_buffer(self, env: Env, context: Context, depth: int) -> Rows:
        """Two arrays that change their roles in a loop."""
        place = self.place(env, self.pick([1, 1, 2]), 1)
        if place is None or not place.shape or "old" in env:
            return None
        a, k, times = place.text, self.fresh("k"), 1 + self.rng.randrange(3)
        new = self.pick([f"np.zeros_like({a})", f"np.empty_like({a})", f"{a}.copy()"])
        step = self.pick([
            ["new[...] = np.sin(old)"], ["new[:] = old[::-1] * 0.9", "new[0] += old[0]"],
            ["new[0] = old[-1]", "new[1:] = old[:-1] * old[1:]"],
            ["np.multiply(old, old, out=new)"],
            ["for j in range(len(old)):", "    new[j] = old[j] * old[j - 1]"],
        ])
        inner = {**env, "old": Arr(place.shape), "new": Arr(place.shape)}
        extra = self.written(inner, "old", Arr(place.shape)) if self.chance(0.3) else []
        rows = [f"old, new = {a}, {new}", f"for {k} in range({times}):",
                *(f"    {row}" for row in [*step, *extra]), "    old, new = new, old"]
        env["old"] = Arr(place.shape)
        return rows

    def same_in_container(self, env: Env, context: Context, depth: int) -> Rows:
        """A container that holds one array twice."""
        place = self.place(env)
        if place is None or not place.shape:
            return None
        type_ = Arr(place.shape)
        kind = self.rng.randrange(3)
        if kind == 0:
            name = self.name_of(env, context, Arrays(place.shape, 2))
            rows = [f"{name} = [{place.text}, {place.text}]"]
            inner = [f"{name}[0]", f"{name}[1]"]
        elif kind == 1:
            name = self.name_of(env, context, Tup((type_, type_)))
            rows = [f"{name} = ({place.text}, {place.text})"]
            inner = [f"{name}[0]", f"{name}[1]"]
        else:
            name = self.name_of(env, context, Table((("u", type_), ("w", type_))))
            rows = [f"{name} = {{'u': {place.text}, 'w': {place.text}}}"]
            inner = [f"{name}['u']", f"{name}['w']"]
        return rows + self.written(env, self.pick(inner), type_)

    def returned_argument(self, env: Env, context: Context, depth: int) -> Rows:
        """Call a function that returns the array that it was given."""
        usable = [c for c in self.callees if isinstance(c.result, Arr) and c.result in c.params]
        if not usable or self.frozen:
            return None
        callee = self.pick(usable)
        text = self.call_of(callee, env)
        if text is None:
            return None
        name = self.name_of(env, context, callee.result)
        return [f"{name} = {text}", *self.written(env, name, callee.result)]
