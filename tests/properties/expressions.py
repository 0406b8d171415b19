"""Random expressions of a wanted type: numbers, conditions, arrays and lists."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.properties.values import (
    FLOAT, SHAPES, Arr, Callee, Env, Float, Floats, Growing, Index, ReadOnly, Table, Tup,
)


class Expressions:
    """Writes random expressions; simple choices come first, as hypothesis shrinks towards them."""

    def __init__(self, rng: Random, size: int = 5) -> None:
        self.rng = rng
        self.size = size
        self.callees: list[Callee] = []
        self.count = 0
        self.used: set[str] = set()  # the kinds of statements written
        self.frozen = 0  # positive while lists must keep their length

    # -- choices -------------------------------------------------------------------------------

    def chance(self, probability: float) -> bool:
        return self.rng.randrange(100) >= 100 - int(100 * probability)

    def pick(self, options: Any) -> Any:
        options = list(options)
        return options[self.rng.randrange(len(options))]

    def constant(self) -> str:
        return self.pick(["0.5", "1.0", "2.0", "0.3", "-0.7", "1.3", "0.9", "SCALE", "2", "-1"])

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    @staticmethod
    def of_type(env: Env, type_: Any) -> list[str]:
        return [name for name, found in env.items() if found == type_]

    def of_class(self, env: Env, cls: type) -> list[str]:
        return [name for name, found in env.items() if isinstance(found, cls)]

    def value(self, type_: Any, env: Env, depth: int) -> str:
        """Return an expression of a type."""
        match type_:
            case Float():
                return self.number(env, depth)
            case Arr(shape):
                return self.array(shape, env, depth)
            case Floats(length):
                return self.floats(length, env, depth)
            case Tup(items):
                known = self.of_type(env, type_)
                if known and self.chance(0.3):
                    return str(self.pick(known))
                inner = [self.value(i, env, depth - 1) for i in items]
                return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"
            case Table(entries):
                known = self.of_type(env, type_)
                if known and self.chance(0.3):
                    return str(self.pick(known))
                return "{" + ", ".join(
                    f"{key!r}: {self.value(t, env, depth - 1)}" for key, t in entries) + "}"
            case Index(bound):
                return str(self.rng.randrange(bound))
        raise AssertionError(type_)

    # -- numbers -------------------------------------------------------------------------------

    def number(self, env: Env, depth: int) -> str:
        if depth <= 0 or self.chance(0.15):
            return self.leaf(env)
        return str(self.pick([
            self.binary, self.binary, self.unary, self.reduction, self.unary,
            self.product_of_arrays, self.called,
            self.chosen, self.over_list, self.leaf_of, self.called,
        ])(env, depth - 1))

    def leaf_of(self, env: Env, depth: int) -> str:
        return self.leaf(env)

    def leaf(self, env: Env) -> str:
        options: list[Any] = self.of_type(env, FLOAT) * 2
        for name, type_ in env.items():
            match type_:
                case Arr(shape) | ReadOnly(shape) if 0 not in shape:
                    options.append((name, shape))
                case Floats(length) if length:
                    options.append((name, (length,)))
                case Tup(items):
                    options += [f"{name}[{i}]" for i, t in enumerate(items) if t == FLOAT]
                case Table(entries):
                    options += [f"{name}[{k!r}]" for k, t in entries if t == FLOAT]
        if not options or self.chance(0.15):
            return self.constant()
        found = self.pick(options)
        if isinstance(found, str):
            return found
        name, shape = found
        return f"{name}[{self.subscript(shape, env)}]"

    def position(self, length: int, env: Env) -> str:
        options = ["0", "-1", str(length - 1)]
        valid = [n for n, t in env.items() if isinstance(t, Index) and t.bound <= length]
        options += [*valid, *(f"{n} - 1" for n in valid)]
        return str(self.pick(options))

    def subscript(self, shape: tuple[int, ...], env: Env) -> str:
        return ", ".join(self.position(n, env) for n in shape) or "()"

    def binary(self, env: Env, depth: int) -> str:
        x, y = self.number(env, depth), self.number(env, depth)
        return str(self.pick([
            f"({x} + {y})", f"{x} * {y}", f"({x} - {y})", f"({x}) / (1.5 + ({y}) ** 2)",
            f"max({x}, {y} + 0.01)", f"math.hypot({x}, 1.0 + ({y}) ** 2)",
        ]))

    def unary(self, env: Env, depth: int) -> str:
        x = self.number(env, depth)
        return str(self.pick([
            f"np.sin({x})", f"math.tanh({x})", f"-({x})", f"({x}) ** 2", f"math.cos({x})",
            f"math.exp(0.3 * np.sin({x}))", f"math.sqrt(1.0 + ({x}) ** 2)", f"abs({x})",
            f"np.tanh({x}) ** 3", f"np.log(1.5 + ({x}) ** 2)", f"float({x})",
        ]))

    def reduction(self, env: Env, depth: int) -> str:
        shape = self.pick(SHAPES)
        x = self.array(shape, env, depth)
        return str(self.pick([
            f"np.sum({x})", f"({x}).sum()", f"np.mean({x})", f"np.sum(np.sin({x}) ** 2)",
            f"np.prod(1.0 + 0.3 * np.tanh({x}))", f"np.max({x})",
            f"({x})[{', '.join('0' * len(shape))}]",
        ]))

    def product_of_arrays(self, env: Env, depth: int) -> str:
        shape = self.pick([(3,), (2,)])
        x, y = self.array(shape, env, depth), self.array(shape, env, depth)
        return str(self.pick([f"({x}) @ ({y})", f"np.dot({x}, {y})", f"np.sum(({x}) * ({y}))"]))

    def chosen(self, env: Env, depth: int) -> str:
        x, y = self.number(env, depth), self.number(env, depth)
        options = [f"({x} if {self.condition(env)} else {y})"]
        options.append(f"({x} or {y})")
        options.append(f"float(np.where({self.condition(env, plain=True)}, {x}, {y}))")
        return str(self.pick(options))

    def over_list(self, env: Env, depth: int) -> str:
        known = [n for n, t in env.items() if isinstance(t, (Floats, Growing))]
        if known and self.chance(0.4):
            return f"sum({self.pick(known)})"
        if self.chance(0.3):
            source, bound = self.iterated(env)
            inner = {**env, "k": bound}
            return f"sum({self.element(inner, depth)} for k in {source})"
        return f"sum({self.floats(None, env, depth)})"

    def called(self, env: Env, depth: int) -> str:
        return self.call(FLOAT, env, depth) or self.unary(env, depth)

    def call(self, result: Any, env: Env, depth: int) -> str:
        usable = [c for c in self.callees if c.result == result]
        if not usable:
            return ""
        callee = self.pick(usable)
        words: list[str] = []
        for position, type_ in enumerate(callee.params):
            value = self.value(type_, env, min(depth, 1))
            keyword = position < len(callee.keywords) and (
                any("=" in w[:3] for w in words) or self.chance(0.2)
            )
            if keyword or any(w.startswith(tuple(k + "=" for k in callee.keywords)) for w in words):
                words.append(f"{callee.keywords[position]}={value}")
            else:
                words.append(value)
        return f"{callee.name}({', '.join(words)})"

    # -- conditions ----------------------------------------------------------------------------

    def condition(self, env: Env, plain: bool = False) -> str:
        bound = self.pick(["0.4", "0.1", "-0.2", "0.8", "1.1"])
        options = [f"{self.leaf(env)} > {bound}", f"{self.number(env, 1)} < {bound}"]
        if plain:
            return str(self.pick(options))
        options.append(f"-1.3 < {self.leaf(env)} <= {bound}")
        options.append(f"not {self.leaf(env)} > {bound}")
        options.append(f"{self.leaf(env)} > {bound} and {self.leaf(env)} < 0.9")
        options.append(f"{self.leaf(env)} > {bound} or {self.leaf(env)} < -0.3")
        for name in self.of_class(env, Index):
            options += [f"{name} == 1", f"{name} % 2 == 0", f"{name} > 0"]
        for name in [*self.of_class(env, Floats), *self.of_class(env, Growing)]:
            options += [f"len({name}) > 1", name]
        return str(self.pick(options))

    # -- arrays --------------------------------------------------------------------------------

    def array(self, shape: tuple[int, ...], env: Env, depth: int) -> str:
        known = self.of_type(env, Arr(shape))
        if depth <= 0 or (known and self.chance(0.3)):
            if known:
                return str(self.pick(known))
            return self.made(shape, env, 0)
        methods = [self.array_unary, self.array_binary, self.reshaped, self.made, self.array_binary,
                   self.array_called]
        return str(self.pick(methods)(shape, env, depth - 1))

    def array_called(self, shape: tuple[int, ...], env: Env, depth: int) -> str:
        return self.call(Arr(shape), env, depth) or self.array_unary(shape, env, depth)

    def array_unary(self, shape: tuple[int, ...], env: Env, depth: int) -> str:
        x = self.array(shape, env, depth)
        return str(self.pick([
            f"np.sin({x})", f"-({x})", f"np.tanh({x})", f"({x}) ** 2", f"np.exp(0.3 * np.sin({x}))",
            f"np.sqrt(1.0 + ({x}) ** 2)", f"np.cos({x}) ** 3", f"({x})[::-1]", f"np.abs({x})",
            f"np.cumsum({x}, axis=0)", f"np.maximum({x}, 0.05)",
            f"({x}) / np.sum(1.0 + ({x}) ** 2, axis=-1, keepdims=True)", f"({x}).copy()",
        ]))

    def array_binary(self, shape: tuple[int, ...], env: Env, depth: int) -> str:
        x = self.array(shape, env, depth)
        others = [self.array(shape, env, depth), self.number(env, depth)]
        if len(shape) == 2:
            others.append(self.array(shape[1:], env, depth))
            others.append(f"({self.array((shape[0],), env, depth)})[:, None]")
        y = self.pick(others)
        return str(self.pick([
            f"({x} + {y})", f"({x}) * ({y})", f"({x} - {y})", f"({x}) / (1.5 + ({y}) ** 2)",
            f"np.where(({x}) > 0.35, {x}, {y})", f"({y} - {x})",
        ]))

    def made(self, shape: tuple[int, ...], env: Env, depth: int) -> str:
        if len(shape) == 2:
            rows = [self.array(shape[1:], env, depth - 1) for _ in range(shape[0])]
            x = self.array((shape[0],), env, depth - 1)
            y = self.array((shape[1],), env, depth - 1)
            return str(self.pick([
                f"np.stack([{', '.join(rows)}])", f"np.outer({x}, {y})",
                f"({x})[:, None] * ({y})[None, :]", f"np.array([{', '.join(rows)}])",
                f"np.zeros({shape}) + {self.number(env, depth)}",
            ]))
        items = [self.number(env, depth) for _ in range(shape[0])]
        options = [f"np.array([{', '.join(items)}])", f"np.full({shape}, {items[0]})",
                   f"np.linspace(0.2, 0.8, {shape[0]}) * {items[0]}"]
        source, bound = self.iterated(env, shape[0])
        element = self.element({**env, "k": bound}, depth)
        options.append(f"np.array([{element} for k in {source}])")
        if shape == (3,):
            pair = self.array((2,), env, depth - 1)
            options.append(f"np.concatenate([{pair}, np.array([{items[0]}])])")
        return str(self.pick(options))

    def reshaped(self, shape: tuple[int, ...], env: Env, depth: int) -> str:
        options: list[str] = []
        inner = depth - 1
        if len(shape) == 1:
            n = shape[0]
            longer = self.array((n + 1,), env, inner) if n < 3 else None
            if longer:
                options += [f"({longer})[1:]", f"({longer})[:-1]"]
            if n in (2, 3):
                tall = self.array((n, 3), env, inner)
                options += [f"np.sum({tall}, axis=1)", f"({tall})[:, {self.position(3, env)}]",
                            f"({tall}) @ ({self.array((3,), env, inner)})",
                            f"({tall}).mean(axis=1)"]
            if n == 3:
                wide = self.array((2, 3), env, inner)
                options += [f"({wide})[{self.position(2, env)}]", f"np.sum({wide}, axis=0)",
                            f"({self.array((2,), env, inner)}) @ ({wide})",
                            f"({self.array((3,), env, inner)})[[0, 2, 1]]"]
            if n == 1:
                options.append(f"np.sum({self.array((2, 3), env, inner)}).reshape(1)")
        else:
            m, n = shape
            options += [f"({self.array((m, 3), env, inner)}) @ ({self.array((3, n), env, inner)})"]
            if m == n:
                options.append(f"({self.array(shape, env, inner)}).T")
            whole = self.array(shape, env, inner)
            options.append(f"np.reshape({whole}, ({m * n},)).reshape({m}, {n})")
            options.append(f"({self.array(shape, env, inner)})[:, ::-1]")
        return str(self.pick(options)) if options else self.made(shape, env, depth)

    # -- lists ---------------------------------------------------------------------------------

    def iterated(self, env: Env, length: int | None = None) -> tuple[str, Any]:
        """Return something to iterate over, and the type of its items."""
        options: list[tuple[str, Any]] = [(f"range({length or 2})", Index(length or 2))]
        for name, type_ in env.items():
            match type_:
                case Arr((n,)) if length in (n, None):
                    options += [(name, FLOAT), (name, FLOAT)]
                case Arr((n, m)) if length in (n, None):
                    options.append((name, Arr((m,))))
                case Floats(n) if length is None or n == length:
                    options += [(name, FLOAT), (name, FLOAT)]
                case Growing() if length is None:
                    options += [(name, FLOAT), (name, FLOAT)]
                case Tup(items) if length in (len(items), None) and set(items) == {FLOAT}:
                    options.append((name, FLOAT))
                case Table(entries) if length in (len(entries), None) and (
                    {t for _, t in entries} == {FLOAT}
                ):
                    options.append((f"{name}.values()", FLOAT))
        return self.pick(options)  # type: ignore[no-any-return]

    def element(self, env: Env, depth: int) -> str:
        """Return a number that uses ``k``, the item of a comprehension."""
        match env["k"]:
            case Float():
                return str(self.pick([f"np.sin(k) * {self.number(env, depth)}", "k * k", "k"]))
            case Index():
                return f"(k + 1) * {self.number(env, min(depth, 1))}"
            case Arr():
                return str(self.pick([
                    "np.sum(k)", f"np.sum(np.sin(k)) * {self.leaf(env)}", "k @ k",
                ]))
        return self.number(env, depth)

    def floats(self, length: int | None, env: Env, depth: int) -> str:
        known = [n for n, t in env.items() if isinstance(t, Floats) and length in (t.length, None)]
        if known and self.chance(0.3):
            return str(self.pick(known))
        if length is None and self.chance(0.3):
            source, item = self.iterated(env)
            inner = {**env, "k": item}
            return f"[{self.element(inner, depth)} for k in {source} if {self.condition(inner)}]"
        if self.chance(0.5):
            source, item = self.iterated(env, length)
            return f"[{self.element({**env, 'k': item}, depth)} for k in {source}]"
        items = [self.number(env, depth - 1) for _ in range(2 if length is None else length)]
        return f"[{', '.join(items)}]"
