"""Dicts and instances that a function makes for itself are taken apart; the others stay whole."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from adcompiler import grad, hessian, jvp
from tests.language.check import check

X = np.array([0.3, -0.7, 1.2, 0.9])


@dataclass
class State:
    r: Any
    v: Any
    t: float = 0.0

    def step(self, dt):
        self.v += -self.r * np.sin(self.r) * dt
        self.r = self.r + self.v * dt
        self.t += dt


class Plain:
    def __init__(self, x, k):
        self.x = x
        self.k = k

    def advance(self):
        self.x = self.x * self.k + 1
        self.k *= 0.9
        return self.x


def stepped(x):
    s = State(x[:2], x[2:].copy())
    for i in range(4):
        s.step(0.1 * (i + 1))
    return s.r @ s.v + s.t * s.r[0]


def nested(x):
    d = {"a": x[0], "b": {"c": x[1], "d": x[2:].copy()}}
    for i in range(3):
        if d["a"] > 0:
            d["a"] = d["a"] * d["b"]["c"] - 1
        else:
            d["b"]["c"] += d["a"] ** 2
        d["b"]["d"][i % 2] *= d["a"]
    return d["a"] + d["b"]["c"] * d["b"]["d"][0] + d["b"]["d"][1]


def exchanged(x):
    p, q = Plain(x[0], x[1]), Plain(x[2], x[3])
    for i in range(5):
        p, q = q, p
        p.advance()
        if i % 2:
            q.x += p.x
    return p.x * q.k + q.x


def of_two_names(x):
    p = Plain(x[0], x[1])
    q = p
    q.x = x[2] * p.x
    p.k = q.x + x[3]
    return q.k * p.x + p.advance()


def of_one_array(x):
    a = x[:2].copy()
    s = State(a, a)
    s.r[0] = x[3] * 2
    s.v[1] *= x[2]
    return np.sum(a * s.r) + np.sum(s.v)


def array_kept_beside(x):
    s = State(x[:2].copy(), x[2:].copy())
    old = s.r
    s.r[0] *= 2
    y = old[0] * s.v[1]
    s.r = old + 1
    old[1] = 7.0 * x[0]
    return y + np.sum(s.r * old)


def elements_of_an_array(x):
    d = {"w": x.copy(), "n": 0}
    for v in x:
        d["w"][d["n"]] *= v
        d["n"] += 1
        w = d["w"]
        w[0] += 0.1 * v
    return np.sum(d["w"] ** 2) * d["n"]


def replaced_whole(x):
    best = {"value": math.inf, "at": -1}
    for i, v in enumerate(x):
        f = (v - 0.5) ** 2
        if f < best["value"]:
            best = {"value": f, "at": i}
    return best["value"] * 3 + x[best["at"]]


def handed_to_helpers(x):
    def update(state, k):
        state["m"] = 0.9 * state["m"] + 0.1 * x[k]
        state["v"] = 0.99 * state["v"] + 0.01 * x[k] ** 2
        return state["m"] / np.sqrt(state["v"] + 1e-3)

    state, total = {"m": 0.0, "v": 0.0}, 0.0
    for k in range(4):
        total += update(state, k)
    return total + state["m"]


def until(x):
    s, i = State(np.zeros(2), np.ones(2)), 0
    while s.t < 0.35:
        s.step(0.1)
        s.r[i % 2] += x[i]
        i += 1
        if s.r[0] > 100:
            break
    return np.sum(s.v * s.r)


APART = [stepped, nested, exchanged, of_two_names, of_one_array, array_kept_beside,
         elements_of_an_array, replaced_whole, handed_to_helpers, until]
named = pytest.mark.parametrize("program", APART, ids=lambda program: program.__name__)


@named
def test_derivatives(program: Any) -> None:
    check(program, X)
    v = np.cos(np.arange(4.0))
    np.testing.assert_allclose(jvp(program, (X,), (v,))[1], grad(program)(X) @ v, rtol=1e-10)


@named
def test_nothing_is_left_of_them(program: Any) -> None:
    text = grad(program).source_for(X)
    code = [row.partition("#")[0] for row in text.splitlines()]
    for word in ("record(", " add(", " zeros_like(", "{"):
        assert not any(word in row for row in code), word


@pytest.mark.parametrize("program", [exchanged, nested, handed_to_helpers],
                         ids=lambda program: program.__name__)
def test_second_derivatives(program: Any) -> None:
    g, h = grad(program), 1e-5
    wanted = [(g(X + h * e) - g(X - h * e)) / (2 * h) for e in np.eye(4)]
    np.testing.assert_allclose(hessian(program)(X), wanted, rtol=1e-6, atol=1e-8)


def test_the_emitted_text() -> None:
    def cooled(x):
        p = {"rate": x[0], "heat": x[1], "air": x[2]}
        for _ in range(3):
            p["heat"] += p["rate"] * (p["air"] - p["heat"])
        return p["heat"]

    text = grad(cooled).source_for(X)
    assert [row.strip() for row in text.splitlines() if "tape" in row or "p_heat =" in row] == [
        "p_heat = x[1]", "difference_tape = []", "difference_tape.append(difference)",
        "p_heat = p_heat + p_rate * difference", "for difference in reversed(difference_tape):",
    ]
    check(cooled, X)


def returned(x):
    d = {"a": x[0] * 2}
    d["a"] *= x[1]
    return d


def in_a_list(x):
    kept = []
    for v in x:
        p = Plain(v, 2.0)
        p.advance()
        kept.append(p)
    kept[0].x *= x[1]
    return sum(p.x * p.k for p in kept)


def in_a_try(x):
    d = {"a": x[0], "b": x[1]}
    try:
        d["b"] = d["a"] * 2
        if x[0] > 0:
            raise KeyError("x")
        d["a"] = 0.0
    except KeyError:
        d["a"] += d["b"]
    return d["a"] + d["b"] * x[3]


def run_over(x):
    d = {"a": x[0], "b": x[1]}
    d["c"] = d["a"] * d["b"]
    return sum(v * v for v in d.values()) * len(d)


def maybe_none(x):
    s = SimpleNamespace(a=x[0], b=None)
    for _ in range(3):
        s.b = s.a * x[1] if s.b is None else s.b * s.a
        s.a = s.a + s.b
    return s.a * s.b



@pytest.mark.parametrize(
    "program", [in_a_list, in_a_try, run_over, maybe_none],
    ids=lambda program: program.__name__)
def test_what_stays_whole(program: Any) -> None:
    check(program, X)


def test_what_is_returned() -> None:
    check(returned, X)


@named
def test_native_loops(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_NATIVE", "plain")
    np.testing.assert_allclose(
        grad(program, backend="native")(X), grad(program)(X), rtol=1e-11, atol=1e-13)


def test_keys_with_the_names_of_methods() -> None:
    def listed(x):
        d = {"items": x[0], "keys": x[1] * x[2]}
        d["items"] *= x[3]
        return sum(value * value for _, value in d.items()) + d["keys"]

    def read(x):
        d = {"items": x[0], "get": x[1] * x[2]}
        for i in range(3):
            d["get"] = d["get"] * d["items"] + x[i]
        return d["get"]

    check(listed, X)
    check(read, X)


def test_an_argument_that_a_loop_replaces_stays_whole() -> None:
    def grown(p, n):
        for _ in range(n):
            p = Plain(p.x * p.k, p.k + 1.0)
        if n > 1:
            p = Plain(p.x, p.k * p.k)
        return p.x * p.k

    for n in (0, 1, 2):
        check(grown, Plain(0.5, 2.0), n, argnums=(0,))


def test_an_argument_stays_whole() -> None:
    def advanced(p):
        p["x"] = p["x"] * p["k"] + 1
        return p["x"] * 2

    check(advanced, {"x": 0.5, "k": 2.0})
