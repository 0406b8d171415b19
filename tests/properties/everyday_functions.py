"""Everyday functions of vectors, matrices and numbers, as source, written at random.

Values stay of order one and away from kinks; the results are arrays, numbers, lists and tuples.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

SIZE = 3

HELPERS = '''
import math
import numpy as np


def soft(v):
    e = np.exp(v - np.max(v))
    return e / np.sum(e)


def square_sum(v, scale=2.0):
    return scale * np.sum(v * v - scale * v)


def running(v):
    y = np.zeros(len(v))
    total = 0.0
    for i in range(len(v)):
        total = total + v[i] * (1.0 + i)
        y[i] = total
    return y


def smooth(v):
    y = v.copy()
    for i in range(1, len(y)):
        y[i] = 0.5 * y[i - 1] + y[i]
    y[0] += y[-1]
    return y


def halved(x, n):
    return x if n == 0 else halved(0.5 * x + 0.1 * x * x, n - 1)


def both(v, s):
    return v * s, np.sum(v) + s


class Model:
    def __init__(self, w):
        self.w = w

    def apply(self, v):
        return self.w * v + np.tanh(v)


'''

SCALARS = (
    "np.sum({v})", "{v}.mean()", "{v} @ {v}", "np.linalg.norm({v} + 2.0)", "{v}[0]", "{v}[-1]",
    "np.sum({v} * {v} - 2.0 * {v})", "np.prod(1.0 + 0.1 * {v})", "np.var({v})", "np.max({v})",
    "{s} * {s}", "{s} + {s}", "2 * {s} - 1", "np.sin({s})", "{s} / (1.0 + {s} * {s})",
    "float(np.sum({v}))", "np.dot({v}, {v})", "square_sum({v})", "-{s}", "np.sum(-{v}) / 2",
    "np.sum(2.0 * {v} + 2.0 * {v})", "halved({s}, 3)", "({s} if n > 1 else {s})", "np.sum({m})",
    "np.trace({m})", "{m}[1, 2]", "np.sum({v} / 3.0 - {v})", "np.mean({m} * 0.5)",
    "both({v}, {s})[1]",
    "np.median({v})", "np.sum(np.abs({v} - 7.0))", "sum([{s}, {s}])", "np.log(2.0 + {s} * {s})",
    "math.tanh({s})", "np.einsum('i,i->', {v}, {v})", "np.asarray({s}) * 2", "n * {s}",
    "np.sum(np.square({v}), keepdims=True)[0]", "np.linalg.norm({m})", "{v}.std()", "{m}.sum() * 2",
)
VECTORS = (
    "a", "a", "b", "{v} * {v}", "{v} + {s}", "{s} * {v} - {v}", "np.sin({v})", "np.cumsum({v})",
    "np.where({v} > 0.45, {v}, {v} * 2.0)", "{v}[::-1]", "np.concatenate([{v}[:1], {v}[1:]])",
    "{m} @ {v}", "{v} @ {m}", "np.outer({v}, {v}).sum(axis=0)", "soft({v})", "{v} * n", "-{v}",
    "np.array([{s}, {s}, {s}])", "np.stack([{s}, {s}, {s}])", "np.roll({v}, 1)",
    "{v} - np.mean({v})",
    "{v} / (2.0 + np.sum({v} ** 2))", "running({v})", "smooth({v})", "both({v}, {s})[0]",
    "np.maximum({v}, {v} - 3.0)", "{m}.sum(axis=1)", "{m}[:, 0]", "{m}[1]", "np.diag({m})",
    "Model({s}).apply({v})", "Model({v}).apply({v})", "np.append({v}[1:], {s})",
    "np.diff({v}, append=1.0)",
    "np.hstack([{s}, {v}[:2]])", "{v}[[2, 0, 0]]", "np.full(3, 0.5) * {v}", "{m}.mean(axis=0)",
    "np.einsum('ij,j->i', {m}, {v})", "np.array([x * {s} for x in {v}])", "np.repeat({s}, 3)",
    "np.clip({v}, -9.0, 9.0)", "np.tile({v}, 2)[1:4]", "np.sort({v})", "np.convolve({v}, {v})[:3]",
    "np.ones(3) * {s}", "np.linalg.solve(np.eye(3) * 4.0 + 0.1 * {m}, {v})", "{v} ** 2 / 2",
    "np.cross({v}, {v} + a)", "np.interp(0.5, [0.0, 1.0], [1.0, 2.0]) * {v}", "np.flip({v})",
    "np.broadcast_to({s}, (3,))", "np.expand_dims({v}, 0)[0]", "np.average({m}, axis=0)",
)
MATRICES = (
    "np.outer({v}, {v})", "m", "m", "m * {v}", "{m}.T", "{m} @ {m}", "np.stack([{v}, {v}, {v}])",
    "{v}[:, None] * {v}", "{m} * {s}", "np.tile({v}, (3, 1))", "np.array([{v}, {v}, {v}])",
    "{m} + np.eye(3)", "{m}[::-1]", "np.diag({v})", "np.vstack([{v}, {m}[1:]])", "np.tanh({m})",
    "np.cumsum({m}, axis=0)", "{m} - {m}.mean(axis=1, keepdims=True)", "np.triu({m})",
    "np.reshape(np.concatenate([{v}, {v}, {v}]), (3, 3))", "np.kron({v}, {v}).reshape(3, 3)",
)
RESULTS = (
    "{v}", "{v}", "np.array([{s}, {s}])", "np.array([{s}, {s}, {s}])", "np.stack([{s}, {s}])",
    "np.concatenate([{v}, [{s}]])", "{s}", "{m}", "np.array([{s}, {v}[0], {v}[1]])",
    "{v}[:2] * {s}",
    "np.array({s})", "[{s}, {v}]", "({v}, {s})", "{m}[:2]", "{v}[1:] * {v}[:-1]",
    "np.concatenate([{v}, {v}])", "np.array([{s}])", "{m}.ravel()[:7]", "{{'a': {s}, 'b': {v}}}",
)
STATEMENTS = (
    "{t} = {v}", "{u} = {s}", "{w} = {m}",
    "{t} = {v} * 1.0\n{t}[1] = {s}", "{t} = {v} + 0.0\n{t}[1:] *= {s}",
    "{t} = np.zeros(3)\nfor i in range(3):\n    {t}[i] = {v}[i] * {s} + i",
    "{u} = 0.0\nfor x in {v}:\n    {u} = {u} + x * {s}",
    "{u} = {s}\nif {u} > 0.3:\n    {u} = {u} * {s}\nelse:\n    {u} = {s}",
    "{u} = 1\nfor i in range(n):\n    {u} = {u} * 0.5 + {v}[i]",
    "{w} = np.zeros((3, 3))\n{w}[0] = {v}\n{w}[1:, 1] += {s}",
    "rows = []\nfor i in range(3):\n    rows.append({v}[i] * {v})\n{w} = np.array(rows)",
    "rows = []\nfor i in range(3):\n    rows.append({s} * a[i])\n{t} = np.array(rows)",
    "try:\n    {t} = {v} * {s}\nexcept ValueError:\n    {t} = {v}",
    "k = 0\n{t} = {v}\nwhile k < 2:\n    {t} = 0.5 * {t} + np.sin({v})\n    k += 1",
    "{t} = {v} + 0\n{t} += {v}\n{t} -= np.sum({v} * {v} - 2.0 * {v})",
)


class Everyday:
    """Writes one function ``f(a, b, m, n)`` of two vectors, a matrix and an int."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.known: dict[str, list[str]] = {"v": [], "s": [], "m": []}

    def filled(self, template: str, depth: int) -> str:
        """Return a template with its places filled, by what is known or other templates."""
        for kind, templates in (("v", VECTORS), ("s", SCALARS), ("m", MATRICES)):
            place = "{" + kind + "}"
            while place in template:
                template = template.replace(place, self.value(kind, templates, depth), 1)
        return template.replace("{{", "{").replace("}}", "}")

    def value(self, kind: str, templates: tuple[str, ...], depth: int) -> str:
        """Return a value of a kind."""
        plain = {"v": "a", "s": "a[1]", "m": "m"}
        if self.known[kind] and self.rng.random() < 0.5:
            return self.rng.choice(self.known[kind])
        if depth == 0:
            return plain[kind]
        found = self.filled(self.rng.choice(templates), depth - 1)
        return found if found.isidentifier() else f"({found})"

    def statement(self, number: int) -> str:
        """Return a statement that binds new names."""
        names = {"t": f"v{number}", "u": f"s{number}", "w": f"m{number}"}
        template = self.rng.choice(STATEMENTS)
        written = template
        for place, name in names.items():
            written = written.replace("{" + place + "}", name)
        text = self.filled(written, 1)
        for kind, place in (("v", "t"), ("s", "u"), ("m", "w")):
            if "{" + place + "}" in template:
                self.known[kind].append(names[place])
        return text

    def source(self) -> str:
        """Return the source of a module with the function."""
        rows = [self.statement(i) for i in range(self.rng.randrange(3))]
        rows.append("return " + self.filled(self.rng.choice(RESULTS), 2))
        body = "\n".join(rows).replace("\n", "\n    ")
        return f"{HELPERS}def f(a, b, m, n):\n    {body}\n"


def everyday(seed: int) -> tuple[str, tuple[Any, ...]]:
    """Return the source of the function of a seed, and arguments for it."""
    rng = Random(seed)
    text = Everyday(rng).source()
    values = np.random.default_rng(seed)
    a = np.array([0.7, 0.31, 0.93]) + 0.01 * values.random(SIZE)
    b = np.array([0.57, 1.2, 0.23]) + 0.01 * values.random(SIZE)
    m = 0.2 + 0.5 * values.random((SIZE, SIZE))
    return text, (a, b, m, 2)
