"""Random statements of everyday code: output arguments, numbers of several classes, tuples that
grow, functions that call one another. Each method writes one statement (or a few).
"""

from __future__ import annotations

import ast
from random import Random

from tests.properties.attempts import Attempts
from tests.properties.places import Place
from tests.properties.values import FLOAT, Arr, Callee, Context, Env
from tests.properties.writes import Rows

ODD_NAMES = (
    "list", "dict", "tuple", "range", "slice", "len", "zip", "enumerate", "reversed", "float",
    "int", "complex", "np", "math", "min", "max", "abs", "seed", "add", "own", "like", "project",
    "operator", "value", "tape", "_", "x_bar", "f", "gradient", "residuals",
)
"""Names of builtins, modules, and what emitted code uses itself."""


class Everyday(Attempts):
    """Statements that call functions of several arguments and look at what values are."""

    def output_argument(self, env: Env, context: Context, depth: int) -> Rows:
        """Let a function write into an array: by name, by position, by a method of a ufunc."""
        place = self.place(env, least=1)
        if place is None or not place.shape:
            return None
        a, shape, rank = place.text, place.shape, len(place.shape)
        x = self.array(shape, env, 1)
        more = self.array((2, *shape), env, 1) if rank < 3 else None
        options = [
            f"np.multiply({x}, 0.5, {a})", f"np.tanh({x}, {a})", f"np.tanh({x}, out={a})",
            f"np.clip({x}, -0.5, 0.5, out={a})", f"({x}).clip(-0.5, 0.5, {a})",
            f"np.cumsum({x}, axis=0, out={a})", f"({x}).cumsum(0, None, {a})",
            f"np.add.accumulate({x}, 0, None, {a})", f"np.round({x}, 0, {a})",
            f"({x}).round(0, out={a})", f"np.subtract({a}, {self.number(env, 1)}, {a})",
        ]
        if more is not None:
            options += [
                f"np.sum({more}, axis=0, out={a})", f"({more}).sum(0, None, {a})",
                f"({more}).mean(0, None, {a})", f"({more}).prod(0, None, {a})",
                f"np.add.reduce({more}, 0, None, {a})", f"({more}).max(0, {a})",
                f"np.mean({more}, 0, out={a})",
            ]
        if rank == 2 and shape[0] == shape[1]:
            options += [f"np.dot({x}, {x}, {a})", f"np.matmul({x}, {x}, out={a})"]
        self.note("store", Place(a, shape))
        return [str(self.pick(options))]

    def several_outputs(self, env: Env, context: Context, depth: int) -> Rows:
        """Take apart what a function of several results gives."""
        names = [n for n in ("p", "q") if n not in env and n not in context.fixed]
        if len(names) < 2:
            return None
        p, q = names
        x = self.array((3,), env, 1)
        env.update({p: Arr((3,)), q: Arr((3,))})
        return [str(self.pick([
            f"{p}, {q} = np.modf({x})", f"{p}, {q} = np.divmod({x}, 2.0)",
            f"{p}, {q} = np.sin({x}), np.cos({x})",
            f"{p}, {q} = map(np.tanh, ({x}, {x}))",
        ]))]

    def mixed_numbers(self, env: Env, context: Context, depth: int) -> Rows:
        """Look at the classes of numbers in a list."""
        out = self.target(env, FLOAT, context)
        item = self.fresh("item")
        numbers = [self.pick(["1", "2", "True", "2.5", "0.5", "-1", "0"]) for _ in range(3)]
        source = f"[{', '.join(map(str, numbers))}]"
        test = self.pick([f"isinstance({item}, int)", f"type({item}) is float",
                          f"isinstance({item}, bool)", f"{item} // 2 == {item} / 2"])
        one, two = self.number(env, 1), self.number(env, 1)
        start = self.number(env, 1)
        env[out] = FLOAT
        k = self.fresh("k")
        return [
            f"{out} = {start}", f"{k} = {self.pick([1, 0, 2])}", f"for {item} in {source}:",
            f"    {out} = {out} + 0.3 * ({one} if {test} else {two}) * {k}",
            f"    {k} = {self.pick([f'{k} / 2', f'max({k}, {item})', f'min({k}, 2.5)', item])}",
        ]

    def growing_tuple(self, env: Env, context: Context, depth: int) -> Rows:
        """Put a tuple together in a loop, or out of pairs."""
        out, pairs = self.target(env, FLOAT, context), self.fresh("pairs")
        item = self.fresh("item")
        value = self.number({**env, item: FLOAT}, 1)
        add = self.pick([f"{pairs} = {pairs} + ({value},)", f"{pairs} += ({value}, 0.5)",
                         f"{pairs} = ({value}, *{pairs})"])
        env[out] = FLOAT
        rows = [f"{pairs} = ()", f"for {item} in ({self.number(env, 0)}, 0.4):", f"    {add}",
                f"{out} = {self.pick([f'sum({pairs})', f'{pairs}[-1] * {pairs}[0]'])}"]
        return rows

    def called_by_one_another(self, env: Env, context: Context, depth: int) -> Rows:
        """Two nested functions, each of which may call the other."""
        even, odd = self.fresh("even"), self.fresh("odd")
        context.fixed.update(env)
        inner = {**env, "t": FLOAT}
        one, two = self.number(inner, 1), self.number(inner, 1)
        self.callees.append(Callee(even, (FLOAT,), FLOAT, ("t",)))
        return [
            f"def {even}(t, k=2):",
            f"    return {one} if k <= 0 else 0.5 * {odd}(np.sin({two}), k - 1)",
            f"def {odd}(t, k):",
            f"    return t * 0.5 if k <= 0 else {even}(t, k - 1) + t",
        ]

    def default_axes(self, env: Env, context: Context, depth: int) -> Rows:
        """A function that makes a tuple of an argument with a default."""
        name, out = self.fresh("along"), self.target(env, FLOAT, context)
        given = self.pick(["", ", (0,)", ", axes=(1, 0)", ", 0"])
        x = self.array((2, 3), env, 1)
        env[out] = FLOAT
        return [
            f"def {name}(t, axes=(0, 1)):", "    if isinstance(axes, int):",
            "        axes = (axes,)", "    axes = tuple(axes)",
            "    return np.sum(np.mean(t, axis=axes)) * len(axes) + axes[-1]",
            f"{out} = 0.3 * {name}({x}{given})",
        ]


def renamed(source: str, rng: Random) -> str:
    """Return a program with some parameters of its last function called oddly."""
    tree = ast.parse(source)
    function = tree.body[-1]
    assert isinstance(function, ast.FunctionDef)
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} | {
        a.arg for a in ast.walk(tree) if isinstance(a, ast.arg)}
    free = [name for name in ODD_NAMES if name not in used]
    rng.shuffle(free)
    new = dict(zip((a.arg for a in function.args.args), free, strict=False))
    inner: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)) and node is not function:
            inner |= {a.arg for a in node.args.args}
    new = {old: name for old, name in new.items() if old not in inner}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id in new:
            node.id = new[node.id]
        elif isinstance(node, ast.arg) and node.arg in new:
            node.arg = new[node.arg]
    return ast.unparse(tree) + "\n"
