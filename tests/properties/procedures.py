"""Random functions that write into what they are given or have captured."""

from __future__ import annotations

from typing import Any

from tests.properties.containers import Containers
from tests.properties.values import FLOAT, GROWING, Arr, Callee, Context, Env, Float, Floats, Index
from tests.properties.writes import Rows

RAMP = [(3,), (3,), (4,), (2,), (2, 3), (3, 3)]


class Procedures(Containers):
    """Writes helpers, closures and the calls of them."""

    def call_procedure(self, env: Env, context: Context, depth: int) -> Rows:
        usable = [c for c in self.callees
                  if c.result is None and not (self.frozen and c.name.startswith("push"))]
        if not usable:
            return None
        return self.calling(self.pick(usable), env, context)

    def calling(self, callee: Callee, env: Env, context: Context) -> list[str]:
        """Return a statement that calls a function, after others that make what it needs."""
        rows = []
        for type_ in callee.params:
            if not isinstance(type_, (Index, Float)) and not self.of_type(env, type_):
                text = self.value(type_, env, 1)
                rows.append(f"{self.name_of(env, context, type_)} = {text}")
        text = self.call_of(callee, env)
        if text is None:
            return rows
        if callee.result is not None:
            text = f"{self.name_of(env, context, callee.result)} = {text}"
        return [*rows, text]

    def uncalled(self, body: list[str], env: Env, context: Context) -> list[str]:
        """Return calls of the functions that nothing has called yet."""
        rows: list[str] = []
        for callee in self.callees:
            if not any(f"{callee.name}(" in row for row in [*body, *rows]):
                rows += self.calling(callee, env, context)
        return rows

    def call_of(self, callee: Callee, env: Env) -> str | None:
        """Return a call whose array arguments are arrays at hand, sometimes one array twice."""
        words: list[str] = []
        last: dict[Any, str] = {}
        for type_ in callee.params:
            if isinstance(type_, Index):
                known = [n for n, t in env.items()
                         if isinstance(t, Index) and t.bound <= type_.bound]
                words.append(self.pick([*map(str, range(type_.bound)), *known]))
                continue
            if type_ == GROWING or isinstance(type_, Floats):
                options = self.of_type(env, type_)
            elif isinstance(type_, Arr):
                options = [p.text for p in self.places(env) if p.shape == type_.shape]
                for _ in range(3):
                    found = self.part(env)
                    if found is not None and found.shape == type_.shape != ():
                        options.append(found.text)
            else:
                options = [self.value(type_, env, 1)]
            if type_ in last and self.chance(0.3):
                options = [last[type_]]
            if not options:
                return None
            words.append(self.pick(options))
            if isinstance(type_, Arr):
                last[type_] = words[-1]
        return f"{callee.name}({', '.join(words)})"

    def writing_helper(self) -> list[str]:
        """A function of the module that writes into its arguments."""
        kind = self.rng.randrange(6)
        name = self.fresh("change")
        if kind == 0:
            return self.descent(name)
        if kind == 1:
            return self.identity(name)
        params: tuple[Any, ...] = (Arr(self.pick(RAMP)),)
        params += (self.pick([params[0], params[0], Arr((3,)), FLOAT, Index(2)]),)
        if self.chance(0.3):
            params += (self.pick([FLOAT, Arr((3,)), Index(3), params[0]]),)
        result = self.pick([None, None, FLOAT, params[0]])
        names = ["t", "o", "l"][: len(params)]
        env: Env = dict(zip(names, params, strict=True))
        return self.written_function(name, names, params, result, env, 1)

    def written_function(
        self, name: str, names: list[str], params: tuple[Any, ...], result: Any, env: Env,
        depth: int,
    ) -> list[str]:
        self.frozen += 1  # lists that it captured or was given may be being walked over
        context = Context(False, result if result is not None else "nothing", False,
                          set(env) - set(names))
        first = self.store(env, context, 0) or ["pass"]
        body, falls = self.block(env, 2, context, depth)
        if falls and result is not None:
            same = [n for n, t in zip(names, params, strict=True) if t == result]
            value = self.value(result, env, 2)
            if same and self.chance(0.6):
                value = self.pick(same)
            body.append(f"return {value}")
        self.frozen -= 1
        self.callees.append(Callee(name, params, result, tuple(names)))
        return [f"def {name}({', '.join(names)}):", *(f"    {row}" for row in [*first, *body])]

    def descent(self, name: str) -> list[str]:
        """A recursive function that writes into smaller and smaller parts."""
        step = self.pick(["t[1:] += t[:-1] * x", "t[0] *= x", "t[-1] = np.sin(t[0]) * x",
                          "t[:] = t[::-1]", "t[1:] -= 0.5 * t[0]"])
        smaller = self.pick(["t[1:]", "t[:-1]", "t[::2]", "t[len(t) // 2 + len(t) % 2:]"])
        self.callees.append(Callee(name, (Arr(self.pick([(3,), (4,)])), FLOAT), None, ("t", "x")))
        return [f"def {name}(t, x):", "    if len(t) < 2:", "        return", f"    {step}",
                f"    {name}({smaller}, x)"]

    def identity(self, name: str) -> list[str]:
        """A function that returns one of its arguments, written or not."""
        type_ = Arr(self.pick(RAMP))
        env: Env = {"t": type_, "o": type_}
        rows = self.written(env, self.pick(["t", "o"]), type_)
        last = self.pick([
            ["return t"], ["return o"], [f"return t if {self.condition(env)} else o"],
            [f"if {self.condition(env)}:", "    return o", "return t"], ["return t[:]"],
        ])
        self.callees.append(Callee(name, (type_, type_), type_, ("t", "o")))
        return [f"def {name}(t, o):", *(f"    {row}" for row in [*rows, *last])]

    def writing_closure(self, env: Env, context: Context, depth: int) -> Rows:
        """An inner function that writes into arrays of the outer one; called at once or later."""
        if not self.places(env):
            return None
        name = self.fresh("put")
        context.fixed.update(env)
        params = self.pick([(Index(2), FLOAT), (FLOAT,), (Arr((3,)),)])
        names = ["t", "o"][: len(params)]
        inner = {**env, **dict(zip(names, params, strict=True))}
        result = self.pick([None, None, FLOAT])
        rows = self.written_function(name, names, params, result, inner, 0)
        call = self.call_of(self.callees[-1], env) if not self.frozen else None
        return rows + ([] if call is None else [call])

    def push_closure(self, env: Env, context: Context, depth: int) -> Rows:
        """An inner function that appends to a list of the outer one."""
        if self.frozen:
            return None
        before, lists = self.at_hand(env, context, GROWING)
        name, target = self.fresh("push"), self.pick(lists)
        context.fixed.update(env)
        inner = {**env, "t": FLOAT}
        rows = [f"def {name}(t):", f"    {target}.append(t * {self.number(inner, 1)})"]
        self.callees.append(Callee(name, (FLOAT,), None, ("t",)))
        return [*before, *rows, f"{name}({self.number(env, 1)})"]
