"""Where a program may write: arrays by name or in containers, and every kind of subscript."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from tests.properties.expressions import Expressions
from tests.properties.values import (
    FLOAT, Arr, Arrays, Boxed, Env, Index, Ints, Mask, ReadOnly, Table, Tup,
)

Shape = tuple[int, ...]
SLICES = ["1:", ":-1", "::-1", "::2", ":", "-2:", ":2", "1:3", "::-2", "-1:0:-1", "2:0:-1", "1::2"]
NO_ROWS: list[str] = []


@dataclass(frozen=True)
class Place:
    """Something that may be read or written; of a shape that only running tells if that is None."""

    text: str
    shape: Shape | None
    kind: str = "whole"


class Places(Expressions):
    """Writes subscripts, and reads and fills what they select."""

    writing = False

    def constant(self) -> str:
        if self.writing:  # an int among floats would make an array of ints, which truncates
            return str(self.pick(["0.5", "1.0", "2.0", "0.3", "-0.7", "1.3", "0.9", "SCALE"]))
        return super().constant()

    # -- arrays that may be written ------------------------------------------------------------

    def places(self, env: Env) -> list[Place]:
        """Return all arrays that are at hand, by name or inside a container."""
        found = []
        for name, type_ in env.items():
            found += self.places_in(name, type_, env)
        return found

    def places_in(self, text: str, type_: Any, env: Env) -> list[Place]:
        match type_:
            case Arr(shape):
                return [Place(text, shape)]
            case Tup(items):
                return [place for i, t in enumerate(items)
                        for place in self.places_in(f"{text}[{i}]", t, env)]
            case Table(entries):
                return [place for key, t in entries
                        for place in self.places_in(f"{text}[{key!r}]", t, env)]
            case Boxed(shape):
                return [Place(f"{text}.data", shape)]
            case Arrays(shape, length):
                return [Place(f"{text}[{self.position(length, env)}]", shape)]
        return []

    def place(self, env: Env, ndim: int | None = None, least: int = 0) -> Place | None:
        """Return an array with ``ndim`` axes, each of ``least`` elements or more."""
        fitting = [
            p for p in self.places(env) if p.shape is not None
            and ndim in (None, len(p.shape)) and all(n >= least for n in p.shape)
        ]
        return self.pick(fitting) if fitting else None

    # -- subscripts ----------------------------------------------------------------------------

    def part(self, env: Env, of: Place | None = None) -> Place | None:
        """Return an element or selection of an array."""
        place = of or self.place(env)
        if place is None or place.shape is None:
            return None
        kinds = [
            self.one_element, self.one_element, self.one_element,
            self.slices, self.slices, self.slices, self.partial, self.newaxis, self.integers,
            self.repeats, self.constant_mask, self.computed_mask, self.dynamic, self.everything,
        ]
        for _ in range(6):
            kind = self.pick(kinds)
            text = kind(place, env)
            if text is None:
                continue
            unknown = kind in (self.computed_mask, self.dynamic)
            shape = None if unknown else self.shape_of(text, place.shape, env)
            if unknown or shape is not None:
                return Place(f"{place.text}[{text}]", shape, kind.__name__)
        return None

    def shape_of(self, subscript: str, shape: Shape, env: Env) -> Shape | None:
        """Return the shape of what a subscript selects, whatever the indices in it are."""
        names: dict[str, Any] = {"np": np, "x": np.zeros(shape)}
        for name, type_ in env.items():
            match type_:
                case Index():
                    names[name] = 0
                case Ints(length):
                    names[name] = np.zeros(length, int)
        try:
            return np.shape(eval(f"x[{subscript}]", names))
        except (IndexError, NameError):
            return None

    def one_element(self, place: Place, env: Env) -> str | None:
        return None if 0 in place.shape else self.subscript(place.shape, env)

    def position(self, length: int, env: Env) -> str:
        if not self.writing:
            return super().position(length, env)
        valid = [n for n, t in env.items() if isinstance(t, Index) and t.bound <= length]
        arrays = [n for n, t in env.items() if isinstance(t, Ints) and t.bound <= length]
        valid += [f"{n}[{self.rng.randrange(3)}]" for n in arrays]
        more = [(f"{n}", f"{n} - 1", f"-{n} - 1", f"({n} + 1) % {length}", f"{length - 1} - {n}",
                 f"{n} // 2") for n in valid]
        return str(self.pick(["0", "-1", str(length - 1), str(-length), *sum(more, ())]))

    def slices(self, place: Place, env: Env) -> str | None:
        if not place.shape:
            return None
        axes = [
            self.pick(SLICES) if self.chance(0.7) or not n else self.position(n, env)
            for n in place.shape
        ]
        axes[self.rng.randrange(len(axes))] = self.pick(SLICES)
        return ", ".join(axes[: 1 + self.rng.randrange(len(axes))])

    def partial(self, place: Place, env: Env) -> str | None:
        if len(place.shape) < 2 or 0 in place.shape:
            return None
        first, last = self.position(place.shape[0], env), self.position(place.shape[-1], env)
        return str(self.pick([first, f":, {last}" if len(place.shape) == 2 else f"..., {last}",
                              f"{first}, ...", f"..., {last}"]))

    def newaxis(self, place: Place, env: Env) -> str | None:
        if not place.shape:
            return "None"
        axes = [self.pick(["1:", ":", "::-1", ":2"]) for _ in place.shape]
        axes.insert(self.rng.randrange(len(axes) + 1), self.pick(["None", "np.newaxis"]))
        return ", ".join(axes)

    def integers(self, place: Place, env: Env) -> str | None:
        shape = place.shape
        if not shape or min(shape) < 2:
            return None
        m, n = shape[0], shape[-1]
        one = self.pick([f"[{m - 1}, 0]", "[0, 1]", f"[-1, {m - 2}]", f"np.array([1, {1 - m}])"])
        two = self.pick([f"[{n - 1}, 0]", "[0, 1]", "[1, 0]"])
        options = [one]
        if len(shape) >= 2:
            options += [f"..., {two}", f"{one}, 1:", f"{one}, 0", f"::-1, {two}"]
        if len(shape) == 2:
            options += [f"{one}, {two}", f"np.ix_({one}, {two})", f"[[0], [1]], {two}"]
        return str(self.pick(options))

    def repeats(self, place: Place, env: Env) -> str | None:
        shape = place.shape
        if not shape or min(shape) < 2:
            return None
        arrays = [n for n, t in env.items() if isinstance(t, Ints) and t.bound <= shape[0]]
        one = self.pick(["[0, 0]", "[1, 0, 1]", "[0, -1, 0]", "np.array([1, 1])",
                         "[[0, 1], [1, 1]]", *arrays, *arrays])
        if len(shape) == 1 or one in arrays or self.chance(0.5):
            return str(one)
        return str(self.pick([":, [1, 0, 1]" if len(shape) == 2 else "..., [1, 1]",
                              "[0, 1, 0], [1, 0, 1]", "[0, 0], [1, 0]"]))

    def constant_mask(self, place: Place, env: Env) -> str | None:
        if not place.shape:
            return None
        flags = [str(self.chance(0.6)) for _ in range(place.shape[0])]
        text = f"[{', '.join(flags)}]"
        if not place.shape[0]:
            return "np.zeros(0, bool)"
        return str(self.pick([f"np.array({text})", text, f"np.arange({place.shape[0]}) != 1"]))

    def computed_mask(self, place: Place, env: Env) -> str | None:
        if not place.shape:
            return None
        bound = self.pick(["0.35", "0.1", "-0.2", "0.8"])
        same = [n for n, t in env.items() if isinstance(t, Arr) and t.shape == place.shape]
        first = [n for n, t in env.items() if isinstance(t, Arr) and t.shape == place.shape[:1]]
        masks = [n for n, t in env.items() if isinstance(t, Mask) and t.length == place.shape[0]]
        masks += [f"~{n}" for n in masks]
        return str(self.pick([
            f"{place.text} > {bound}", *(f"{n} < {bound}" for n in [*same, *first]), *masks * 2,
            f"({place.text} > {bound}) & ({place.text} < 0.9)",
        ]))

    def dynamic(self, place: Place, env: Env) -> str | None:
        names = self.of_class(env, Index)
        if not names or not place.shape:
            return None
        name = self.pick(names)
        text = self.pick([f":{name}", f"{name}:", f"{name} + 1:", f"{name}::-1", f":-1 - {name}",
                          f"{name}:{name} + 1"])
        if len(place.shape) == 2 and self.chance(0.5):
            return str(self.pick([f":, {text}", f"{text}, 0", f"{text}, ::-1"]))
        return str(text)

    def everything(self, place: Place, env: Env) -> str | None:
        return "..." if not place.shape else str(self.pick([":", "..."]))

    # -- values --------------------------------------------------------------------------------

    def bounded(self, type_: Any, expression: str) -> str:
        if type_ == FLOAT and self.chance(0.6):
            return str(self.pick([f"np.sin({expression})", f"math.tanh({expression})"]))
        if isinstance(type_, Arr) and type_.shape and self.chance(0.6):
            return f"np.tanh({expression})"
        return expression

    def fill(self, target: Place, env: Env, depth: int = 1) -> str:
        """Return a value that NumPy stretches to the shape of ``target``."""
        depth += self.chance(0.25)
        if target.shape == () or self.chance(0.35):
            return self.bounded(FLOAT, self.number(env, depth))
        if target.shape is None or self.chance(0.1):
            kept = self.pick([f"{target.text} * {self.number(env, 1)}", f"np.sin({target.text})",
                              f"{target.text}[::-1]", f"{self.number(env, 1)} - {target.text}"])
            return str(kept)
        shape = target.shape
        if self.chance(0.3):
            shape = shape[self.rng.randrange(len(shape)) :]
            ones = self.rng.randrange(len(shape) + 1)
            shape = tuple(1 if i < ones else n for i, n in enumerate(shape))
        return self.bounded(Arr(shape), self.array(shape, env, depth))

    def factor(self, operator: str, value: str) -> str:
        """Return the right side of ``x op= value`` that keeps x of order one."""
        if operator == "/=":
            return f"1.5 + ({value}) ** 2"
        return value

    def array(self, shape: Shape, env: Env, depth: int) -> str:
        if self.writing and shape and self.chance(0.3):
            found = self.selected(shape, env)
            if found is not None:
                return found
        if shape and len(shape) < 3 and 0 not in shape:
            return super().array(shape, env, depth)
        return self.odd_array(shape, env, depth - 1)

    def selected(self, shape: Shape, env: Env) -> str | None:
        """Return a selection of this shape from an array that is at hand."""
        for name, type_ in env.items():
            if type_ == ReadOnly(shape) and self.chance(0.3):
                return f"(1.0 * {name})"
        for _ in range(4):
            found = self.part(env)
            if found is not None and found.shape == shape:
                return found.text
        return None

    def odd_array(self, shape: Shape, env: Env, depth: int) -> str:
        """Return an array with no axis, with three, or without elements."""
        known = [p.text for p in self.places(env) if p.shape == shape]
        number = self.number(env, depth)
        options = [f"np.array({number})" if not shape else f"np.full({shape}, {number})", *known,
                   *(f"{name}.copy()" for name in known)]
        if shape:
            options += [*(f"np.sin({name})" for name in known), f"np.ones({shape}) * ({number})"]
            options += [f"({name}) * ({number})" for name in known]
            if prod(shape[-1:]):
                row = self.array(shape[-1:], env, min(depth, 1))
                options.append(f"np.ones({shape}) * ({row})")
        options += [
            f"{p.text}.reshape({shape})" for p in self.places(env)
            if p.shape not in (None, shape) and prod(p.shape) == prod(shape)
        ]
        return str(self.pick(options))

    def over_list(self, env: Env, depth: int) -> str:
        if self.writing and self.chance(0.3):
            arrays = [n for n, t in env.items() if isinstance(t, Arr) and t.shape[:1] > (0,)]
            source = self.pick(["range(3)", *arrays])
            item: Any = Index(3) if source == "range(3)" else Arr(env[source].shape[1:])
            item = FLOAT if item == Arr(()) else item
            element = self.element({**env, "k": item}, depth)
            return f"{self.pick(['max', 'min'])}({element} for k in {source})"
        return super().over_list(env, depth)

    def reduction(self, env: Env, depth: int) -> str:
        if self.writing and self.chance(0.6):
            found = self.part(env) if self.chance(0.5) else self.place(env)
            if found is not None:
                return self.reduced(found, env)
        return super().reduction(env, depth)

    def reduced(self, place: Place, env: Env) -> str:
        x = place.text
        options = [f"np.sum({x})", f"({x}).sum()" if place.shape else f"np.sum({x})",
                   f"np.sum({x} * {x})", f"np.sum(np.sin({x}) * {x})"]
        if place.shape and place.shape[0]:
            options.append(f"np.sum({x}, axis=0).sum()")
            counting = f"np.arange(1.0, {place.shape[-1] + 1}.0)"
            options += [f"np.sum({x} * {counting})"] * 4
            if prod(place.shape):
                options += [f"np.max({x})", f"np.mean({x})", f"np.min({x})"]
        return str(self.pick(options))
