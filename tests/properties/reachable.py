"""Random small programs whose state is reached by names that are neither locals nor arguments.

    python -m tests.properties.reachable 2000 --seed 1

Four holders (an argument, a global, a captured variable, a class) have arrays, a number, a list, a
dict and a function as parts. Statements give parts to other parts, write into them, rebind them,
append, fill caches, and call methods and helpers that do so, some of them long enough to be
compiled apart; guards raise, loops carry. The value, the state left behind (values, and which names
mean one object), the gradient and a directional derivative are compared with plain Python.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np

from adcompiler import grad, jvp, value_and_grad, vjp
from tests.properties.running import Refusal, refusals, run
from tests.state import World, check_state

DEFINITIONS = '''
import functools
import types
import numpy as np

class Net:
    shared = np.array([0.2, 0.3])
    count = 0.0
    log = []

    def __init__(self, act):
        self.act = act
        self.u, self.w = np.array([0.4, 0.8]), np.array([1.1, 0.9])
        self.k, self.last, self.cache = 1.0, None, None
        self.d, self.l, self.__p = dict(), [], 0.5

    def early(self, x):
        if x < self.k:
            return None
        return self.u[1] * x

    def private(self, x):
        self.__p = self.__p + x
        return self.__p

    def memo(self, x):
        if self.cache is None:
            self.cache = np.sum(self.u) * 0.5
        return self.cache * x

    @functools.cached_property
    def total(self):
        return np.sum(self.w)

    def step(self, x):
        self.last = x
        self.k += 1.0
        return self.act(x) * self.k

    def long(self, x):
{padding}
        self.u[0] = x
        self.k = self.k + 0.5
        self.l.append(t)
        return self.act(t) + self.k

def made():
    return Net(lambda v: 0.5 * v * v)

def writes(h, x):
    h.u[1] = x
    h.k += x

def long(h, x):
{helper}
    h.w[0] = t
    h.k = h.k + 0.5
    h.last = t
    return h.act(t) * h.k

def counts(h, x, n):
    if n == 0:
        return x
    h.k = h.k + 1.0
    return counts(h, h.act(x) + 0.1, n - 1)

def noted(x, seen=[]):
    seen.append(1.0)
    return x * len(seen)

def scratch(x):
    scratch.buffer[0] = x
    return scratch.buffer[0] * x

scratch.buffer = np.zeros(1)
G = made()
V = np.array([0.3, 0.6])
'''
PROGRAM = '''
def program(x, a, b, o, n):
    global V
    s = 0.0
    y = a
{body}
    return s + 0.3 * np.sum(y) + 0.7 * np.sum(o.u) + o.k * 0.1 + x * np.sum(b) + 0.9 * np.sum(V)
'''
CAPTURED = '''
def around():
    c = made()
{inner}
    return program

program = around()
'''
HOLDERS = ("o", "o", "G", "c", "h")
ARRAYS = (".u", ".w")
STATEMENTS = (
    "{p} = {q}", "{p}, {q} = {q}, {p}", "{p} = {q}[:]", "{p}[0] = x", "{p} += x * 0.5",
    "{p}[1:] *= x", "{p} = {p} * x", "{p} = a", "{p} = np.array([x, 0.5])", "a[0] = {p}[1] * x",
    "y = {p}", "y[1] = x * x", "y = y * 0.5", "y += {p}", "a += b * x", "b = a",
    "x = x * 0.9 + 0.1",
    "{h}.k += x", "{h}.k = 0.5", "{h}.last = x", "{h}.d['s'] = x", "{h}.d[n] = {p}",
    "{h}.l.append(x)", "{h}.l.append({p})", "{h}.l = []", "{h}.act = {g}.act",
    "Net.count += 1.0", "Net.shared[0] = x", "Net.log.append(1.0)", "V = np.array([x, 1.0])",
    "V[0] = x", "V = a", "noted(x)", "writes({h}, x)", "{h}.private(x)", "h = {g}", "h = made()",
)
VALUES = (
    "x * {h}.k", "np.sum({p} * 0.7)", "{p}[0] * x", "x * len({h}.l)", "{h}.step(x)", "{h}.long(x)",
    "long({h}, x)", "counts({h}, x, 2)", "{h}.memo(x)", "{h}.total * x", "{h}.private(x)",
    "noted(x)", "scratch(x)", "x * Net.count", "np.sum(Net.shared) * x", "x * len(Net.log)",
    "V[0] * x", "np.sum(y) * 0.2", "{h}.d.get('s', 0.25) * x", "a[0] * b[1]",
    "(1.0 if {h}.early(x) is None else 2.0) * x", "(x if {h}.last is None else {h}.last * x)",
)
CONDITIONS = (
    "x > 0.3", "n == 1", "{h}.k > 1.2", "{p}[0] > 0.5", "{h}.last is None", "'s' in {h}.d",
)
GUARDS = ("if x > 90.0:", "if {p}[0] > 90.0:", "if n > 7:")
COUNTS = (0, 2)
POINT = 0.6, (0.3, 0.9), (1.2, 0.8)


def filled(rng: Random, text: str) -> str:
    """Return a text with random holders and parts in its places."""
    h, g = rng.choice(HOLDERS), rng.choice(HOLDERS)
    p, q = h + rng.choice(ARRAYS), rng.choice((h, g)) + rng.choice(ARRAYS)
    return text.format(h=h, g=g, p=p, q=q)


def block(rng: Random, depth: int, indent: int) -> Iterator[str]:
    """Yield the lines of one to three statements, with up to ``depth`` levels of regions."""
    margin = "    " * indent
    for _ in range(rng.randint(1, 3)):
        if depth and rng.random() < 0.35:
            head = rng.choice(("if", "if", "for", "guard"))
            if head == "guard":
                yield margin + filled(rng, rng.choice(GUARDS))
                yield f"{margin}    raise ValueError('far')"
                continue
            loop = f"for i{depth} in range(n):"
            yield margin + (
                loop if head == "for" else filled(rng, f"if {rng.choice(CONDITIONS)}:"))
            yield from block(rng, depth - 1, indent + 1)
            if head == "if" and rng.random() < 0.4:
                yield f"{margin}else:"
                yield from block(rng, depth - 1, indent + 1)
        elif rng.random() < 0.4:
            yield f"{margin}s += {filled(rng, rng.choice(VALUES))}"
        else:
            yield margin + filled(rng, rng.choice(STATEMENTS))


def padding(indent: int) -> str:
    """Return statements that make a function long enough to be compiled apart."""
    rows = ["t = x * 0.9"] + [f"t = t * 0.{90 + k % 9} + 0.0{k % 7 + 1}" for k in range(34)]
    return "\n".join("    " * indent + row for row in rows)


def source_of(seed: int) -> str:
    """Return the text of the module of a seed."""
    rng = Random(seed)
    body = ["    h = G" if rng.random() < 0.5 else "    h = made()"]
    body += block(rng, 2, 1)
    body += [f"    s += {filled(rng, rng.choice(VALUES))}" for _ in range(2)]
    program = PROGRAM.format(body="\n".join(body))
    return DEFINITIONS.format(padding=padding(2), helper=padding(1)) + CAPTURED.format(
        inner="\n".join("    " + row for row in program.splitlines()))


def loaded(seed: int) -> SimpleNamespace:
    """Return what the module of a seed defines."""
    text, file = source_of(seed), f"<reachable {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope = {"__name__": f"reachable_{seed}"}
    exec(compile(text, file, "exec"), scope)
    return SimpleNamespace(**scope)


def fresh(module: SimpleNamespace, seed: int) -> tuple[Any, ...]:
    """Return the arguments: of some programs an array is passed twice, or overlaps a part."""
    x, a, b = POINT[0], np.array(POINT[1]), np.array(POINT[2])
    o = module.made()
    sharing = Random(seed).random()
    if sharing < 0.15:
        b = a
    elif sharing < 0.25:
        o.u = a
    elif sharing < 0.3:
        o.w = o.u
    return x, a, b, o


def outcome(seed: int) -> str:
    """Return "clean", "refused" or "discarded"; raises AssertionError for what is wrong."""
    verdicts = {compared(loaded(seed), count, seed) for count in COUNTS}
    return next(word for word in ("refused", "clean", "discarded") if word in verdicts)


def compared(module: SimpleNamespace, count: int, seed: int) -> str:
    """Compare one run of a program, and its derivatives, with plain Python."""
    program = module.program
    x, *rest = (*fresh(module, seed), count)
    args = (x, *rest)
    world = World(program, args)

    def at(step: float) -> Any:
        world.restore()
        return program(x + step, *rest)

    try:
        value = at(0.0)
        slope, again = ((at(h) - at(-h)) / (2.0 * h) for h in (1e-6, 3e-6))
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, UnboundLocalError):
        return "discarded"
    finally:
        world.restore()
    if not np.isclose(slope, again, rtol=1e-5, atol=1e-7):
        return "discarded"
    told = f"with n = {count}, seed {seed}"
    verdicts = []
    for mode, call, leaves_args in (
        ("value_and_grad", value_and_grad(program), True),
        ("grad", lambda *a: (value, grad(program)(*a)), True),
        ("vjp", lambda *a: opened(vjp(program, *a, argnums=0)), False),
        ("jvp", lambda *a: jvp(lambda z: program(z, *a[1:]), (a[0],), (1.0,)), False),
    ):
        try:
            with refusals():
                found = check_state(program, call, args, leaves_args)
        except Refusal:
            world.restore()
            verdicts.append("refused")
            continue
        except AssertionError as error:
            raise AssertionError(f"{mode}: {error} {told}") from None
        assert np.isclose(found[0], value, rtol=1e-9), (
            f"{mode}: value {found[0]}, not {value} {told}")
        assert np.isclose(found[1], slope, rtol=1e-5, atol=1e-6), (
            f"{mode}: slope {found[1]}, not {slope} {told}")
        verdicts.append("clean")
    return "refused" if "refused" in verdicts else "clean"


def opened(pair: Any) -> tuple[Any, Any]:
    """Return the value of ``vjp``, and what its pullback gives both times."""
    value, pullback = pair
    first, second = pullback(1.0), pullback(1.0)
    one, other = (g[0] if isinstance(g, tuple) else g for g in (first, second))
    assert one == other, f"the second call of the pullback gives {other}, not {one}"
    return value, one


if __name__ == "__main__":
    sys.exit(run(__doc__, outcome))
