"""Dicts, tuples and lists of parameters: each entry has a variable, and a cotangent of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from adcompiler import grad, jvp, value_and_grad

RNG = np.random.default_rng(23)
X = np.array([0.4, 0.9])


def leaves(tree: Any) -> Iterator[np.ndarray]:
    """Yield the numbers in a container, as arrays."""
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (list, tuple)):
        for item in tree:
            yield from leaves(item)
    else:
        yield np.ravel(tree)


def moved(tree: Any, along: Any, by: float) -> Any:
    """Return a container of new numbers."""
    if isinstance(tree, dict):
        return {key: moved(tree[key], along[key], by) for key in tree}
    if isinstance(tree, (list, tuple)):
        return type(tree)(moved(*pair, by) for pair in zip(tree, along, strict=True))
    return tree + by * along


def like(tree: Any) -> Any:
    """Return a container of random numbers of the same form."""
    if isinstance(tree, dict):
        return {key: like(tree[key]) for key in tree}
    if isinstance(tree, (list, tuple)):
        return type(tree)(map(like, tree))
    return RNG.normal(size=np.shape(tree)) if np.ndim(tree) else float(RNG.normal())


def check(function: Callable[[Any], Any], tree: Any) -> None:
    """Compare both modes with differences, in a random direction."""
    along, h = like(tree), 1e-5
    wanted = (function(moved(tree, along, h)) - function(moved(tree, along, -h))) / (2.0 * h)
    value, gradient = value_and_grad(function)(moved(tree, along, 0.0))
    assert value == pytest.approx(function(moved(tree, along, 0.0)), rel=1e-12)
    found = sum(a @ b for a, b in zip(leaves(gradient), leaves(along), strict=True))
    assert found == pytest.approx(wanted, rel=1e-6, abs=1e-8)
    tangent = jvp(function, (moved(tree, along, 0.0),), (along,))[1]
    assert tangent == pytest.approx(wanted, rel=1e-6, abs=1e-8)


def W() -> Any:
    return RNG.normal(size=(2, 2))


def b() -> Any:
    return RNG.normal(size=2)


def steps(p):
    x = X
    for _ in range(3):
        x = np.tanh(p["W"] @ x + p["b"]) * p["s"]
    return np.sum(x)


def written(p):
    p["W"][0, 0] = p["b"][1] * 2.0
    p["s"] = p["s"] ** 2
    x = X
    for _ in range(2):
        x = p["W"] @ x * p["s"]
    return np.sum(x * p["W"][0])


def replaced(p):
    first = p["W"]
    p["W"] = first * 2.0
    q = dict(p)
    q["b"] = q["b"] * p["s"]
    return np.sum(p["W"] @ q["b"]) * first[0, 0] + np.sum(p["b"])


def by_entries(p):
    total = p["s"]
    for key, value in p.items():
        total += np.sum(value) * p["s"] if key != "s" else value
    p.pop("s")
    return total * len(p) + sum(np.sum(value) for value in p.values())


def handed_on(p):
    def update(q):
        q["b"][1] = q["s"] ** 2
        return q["W"]

    return np.sum(update(p) @ p["b"])


@pytest.mark.parametrize("function", [steps, written, replaced, by_entries, handed_on])
def test_dicts(function: Any) -> None:
    check(function, {"W": W(), "b": b(), "s": 0.7})


def in_tuples(p):
    (first, second), s = p
    x = X
    for _ in range(2):
        x = p[0][0] @ x * p[-1] + second
    p[0][0][0, 1] = s
    return np.sum(x * first[0])


def nested(p):
    x = X
    for _ in range(2):
        x = np.tanh(p["layer"]["W"] @ x + p["layer"]["b"])
    for layer in p["more"]:
        x = layer["W"] @ x
    p["layer"]["W"] = p["layer"]["W"] * p["more"][0]["s"]
    return np.sum(x) + np.sum(p["layer"]["W"])


def test_nested_containers() -> None:
    check(in_tuples, ((W(), b()), 0.4))
    layers = [{"W": W(), "b": b(), "s": 0.3} for _ in range(3)]
    check(nested, {"layer": layers[0], "more": layers[1:]})


def layered(p):
    x = X
    for i in range(0, len(p), 2):
        x = np.tanh(p[i] @ x + p[i + 1])
    return np.sum(x)


def run_over(p):
    total = 0.0
    for w in p:
        total += np.sum(w**2)
    return total * sum(np.prod(2.0 * w) for w in p)


def grown(p):
    p.append(p[0] * 2.0)
    p[1] = p[1] * p[0][0]
    first, second, *rest = p
    return np.sum(first @ second) * len(rest) + np.sum(p[-1] @ p[1])


def cut_and_joined(p):
    total = np.sum(p[1:][0]) * np.sum(p[:-1][0])
    p[1:] = [p[0] * 2.0, p[1]]
    more = p[:2] + [p[2] * 3.0]
    return total + np.sum(p[1]) * len(p) + sum(np.sum(w**2) for w in more)


def asked_by_while(p):
    total, i = 1.0, 0
    while i < len(p):
        total *= np.sum(p[i])
        i += 1
    return total


@pytest.mark.parametrize("function", [
    layered, run_over, grown, cut_and_joined, asked_by_while,
])
@pytest.mark.parametrize("layers", [1, 2])
def test_lists_of_arrays_of_several_dimensions(function: Any, layers: int) -> None:
    check(function, [part for _ in range(layers) for part in (W(), b())])


def turned_round(p):
    back = p[::-1]
    return np.sum(back[0] * back[1][0] * p[0]) * p[-1]


def repeated(p):
    twice = p * 2
    return np.sum(twice[3]) * np.sum(twice[4]) + len(twice)


def added_to(p):
    total = np.sum((p + [X])[-1] * p[0])
    p += [p[0] * 2.0]
    return np.sum(p[3]) * p[2] + total * len(p)


def side_by_side(p):
    total = 0.0
    for i, w in enumerate(p):
        total = total + np.sum(w) * (i + 1)
    for a, b in zip(p, p[1:], strict=False):
        total = total * 1.1 + np.sum(a) * np.sum(b)
    return total * max(np.sum(w) for w in p)


def left_early(p):
    k = 0
    for w in p:
        if np.ndim(w) == 2:
            break
        k += 1
    first, *rest = p
    return np.sum(p[k]) * k + np.sum(first) * sum(np.sum(w) ** 2 for w in rest)


def exchanged(p):
    p[0], p[1] = p[1], p[0]
    other = p
    other[2] = other[2] * 4.0
    i = int(p[2] > 100.0) + 1
    return np.sum(p[0]) * p[i][0] + p[2]


@pytest.mark.parametrize("function", [
    turned_round, repeated, added_to, side_by_side, left_early, exchanged,
])
def test_lists_of_vectors_matrices_and_numbers(function: Any) -> None:
    check(function, [b(), W(), 0.7])


def test_a_loop_adds_to_what_it_reads_alone() -> None:
    names = {"W": W(), "b": b(), "s": 0.7}
    (sweep,) = re.findall(r"while tape:\n(.*?)\n    #", grad(steps).source_for(names), re.S)
    assert "zeros_like" not in sweep
    assert "p_bar" not in sweep
    text = grad(layered).source_for([W(), b(), W(), b()])
    assert "np.ndim" not in text
    code = [line for line in text.splitlines() if "#" not in line]
    assert sum(line.count(" @ ") for line in code) == 3  # none for the cotangent of a constant
