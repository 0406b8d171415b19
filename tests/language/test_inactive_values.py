"""Strings, integers, sets, classes and containers that only steer differentiated code."""

import collections
import math
import numbers
import time
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple

import numpy as np
import pytest

from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, -1.5, 2.0, 0.25])
TABLE = {"a": 0.5, "b": 1.5, "c": -2.0}
Point = namedtuple("Point", "x y")
WEIGHTS = OrderedDict([("first", 2.0), ("second", 3.0)])
COUNTS = Counter("abracadabra")
DEFAULTS = defaultdict(float, {"a": 2.0})
WINDOW = deque([1.0, 2.0, 3.0], maxlen=3)
NAMES = frozenset({"sin", "cos"})


# -- strings ---------------------------------------------------------------------------------------


@programs(1.5, "Tanh, sin")
def string_methods(x, text):
    total = x
    for word in text.lower().split(","):
        name = word.strip()
        if name.startswith("tan") and name.endswith("h"):
            total = total * math.tanh(x)
        elif name.replace("i", "o") == "son" or name.upper() == "COS":
            total = total + math.sin(x)
    return total * len(text) * text.count("n") + x * text.find("sin")


@programs(1.5, "a,b,a")
def string_indexing(x, text):
    return x * sum(2.0 if c == "a" else 0.5 for c in text) * (3.0 if "b" in text else 1.0) + (
        x * x if text[0] == text[-1] and text[::-1].isalpha() is False else 0.0
    )


@programs(TABLE, "a-b")
def string_keys(d, text):
    left, right = text.split("-")
    middle = "-".join([left, right])
    return d[left] * d[right] + d["{}".format("c")] * d[f"{left}"] * (middle == text)


@programs(TABLE, 1.5)
def formatted_text(d, x):
    key = "%s" % "a"
    text = f"{x:.2f} {key!r:>5} {len(d):03d}"
    return d[key] * len(text) * x + d["%c" % 98] * x + d[chr(ord("b") + 1)]


@programs(1.5, "3.5 2")
def numbers_from_text(x, text):
    a, n = text.split()
    return x ** int(n) * float(a) + x * int("101", 2) + x * int("0x1f", 16)


@programs(1.5, "relu")
def dispatch_on_text(x, name):
    functions = {"relu": lambda v: max(v, 0.0), "tanh": math.tanh}
    if name not in functions:
        raise ValueError(f"unknown {name}")
    return (functions["relu"](x) if name == "relu" else functions["tanh"](x)) * x


@programs(1.5, b"ab")
def byte_strings(x, data):
    return x * data[0] + x * x * len(data) + x * (data[:1] == b"a") + x * sum(b"ab")


@programs(1.5)
def text_methods_of_constants(x):
    parts = "a b c".split()
    return x ** len(parts) * ("x".join(parts).count("x")) * (1.0 if "b".isalpha() else 2.0)


# -- integers --------------------------------------------------------------------------------------


@programs(1.5, 13)
def power_by_bits(x, n):
    result = 1.0
    while n:
        if n & 1:
            result = result * x
        x = x * x
        n >>= 1
    return result


@programs(1.5, 12)
def integer_operators(x, n):
    return (
        x * (n ^ 5) + x * (n | 3) + x * ~n + x * (n << 2) + x * (n // 5) + x * (n % 7) + x * -n
        + x * n.bit_length() + x * bin(n).count("1") + x * pow(n, 3, 7) + x * math.gcd(n, 8)
        + x * math.comb(n, 2) + x * math.factorial(3) + x * divmod(n, 5)[1] + x**abs(-2)
    )


@programs(1.5)
def integer_facts(x):
    return x * (6).bit_length() * int(3.7) * (10).__index__() + x * hash(5) * (2.0).is_integer()


@programs(V, 3)
def collatz(x, n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return x[steps % len(x)] ** 2 * steps


# -- sets ------------------------------------------------------------------------------------------


@programs(TABLE)
def sets_of_keys(d):
    wanted = {"a", "b"} | {"c"}
    rest = set(d) - {"a"}
    total = 0.0
    for key in sorted(wanted):
        total = total * 0.5 + d[key] ** 2
    for key in sorted(rest & {"b", "z"}):
        total = total + d[key]
    return total * len(rest) + (d["a"] if "a" in wanted else 0.0)


@programs(V)
def set_of_positions(x):
    skipped = {1, 2}
    seen = set()
    total = 0.0
    for i, v in enumerate(x):
        if i in skipped or i in seen:
            continue
        seen = seen | {i}
        total += v * v
    return total * len(seen)


@programs(1.5, "sin")
def sets_of_the_module(x, name):
    return (x if name in NAMES else x * x) * len(NAMES.union({"tan"})) * len(
        NAMES.intersection(["sin"])
    )


@programs(1.5)
def set_comparisons(x):
    a, b = {1, 2}, frozenset((1, 2, 3))
    return x * (2.0 if a <= b and a.issubset(b) else 3.0) * (
        5.0 if a.isdisjoint({7}) else 1.0) * len(b.difference(a)) * max(a) * sum({n * n for n in b})


# -- classes of values -----------------------------------------------------------------------------


def dispatched(x):
    if isinstance(x, np.ndarray):
        return np.sum(x * x)
    if isinstance(x, (list, tuple)):
        return sum(dispatched(v) for v in x)
    if isinstance(x, dict):
        return sum(dispatched(v) for v in x.values())
    if isinstance(x, (int, float)) and not isinstance(x, bool):
        return x * x
    raise TypeError(type(x).__name__)


@programs(1.5, V, [0.5, 1.5], (1.0, 2.0), TABLE)
def dispatch_on_classes(x, v, xs, t, d):
    return dispatched(x) * dispatched(v) + dispatched(xs) * dispatched(t) + dispatched(d)


@programs(1.5, V)
def class_tests(x, v):
    total = x if np.isscalar(x) and not np.isscalar(v) else v[0]
    total = total * (2.0 if type(x) is float else 3.0) * (2.0 if type(v) is np.ndarray else 3.0)
    total = total * len(type(x).__name__) * len(type(v).__name__)
    if np.ndim(x) == 0 and np.ndim(v) == 1 and hasattr(v, "shape") and not hasattr(x, "shape"):
        total = total * v[1]
    if isinstance(x, numbers.Number) and isinstance(x, numbers.Real) and issubclass(bool, int):
        total = total + getattr(v, "size", 0) * x + getattr(x, "missing", 2.0) * v[2]
    if callable(math.sin) and not callable(x) and type(x) in (int, float):
        total = total + x
    if isinstance(v[0], float) and isinstance(v, collections.abc.Iterable):
        total = total + v[0]
    return total


@programs(1.5, V)
def attributes_by_name(x, v):
    f = getattr(math, "sin")
    g = getattr(np, "exp" if hasattr(np, "exp") else "log")
    return f(x) * np.sum(g(v)) * getattr(v, "sum")() + getattr(v, "T")[0]


@programs(1.5)
def none_and_identity(x, y=None):
    z = x if y is None else y
    return z * z if z is not None and not isinstance(z, str) else 0.0


# -- containers that are read ----------------------------------------------------------------------


@programs(TABLE, "b")
def dict_reads(d, key):
    total = d.get("a", 2.0) * d.get("z", 3.0) + d[key] ** 2
    total = total * (1.0 if d.get("nothing") is None else 2.0)
    for k in d.keys():
        total = total * 0.5 + d[k] * len(k)
    for k, v in d.items():
        total = total * 0.5 + v * (2.0 if k == "b" else 1.0)
    return total + len(d) * sum(d.values()) + ("a" in d) * d["a"] + ("a" in d.keys()) * d["c"]


@programs(TABLE, "b")
def dict_get_by_data(d, key):
    return d.get(key, 0.0) ** 2 + d.get(key + "z", 3.0) * d["a"]


@programs(TABLE)
def dict_merges(d):
    e = d | {"a": d["b"] * 2.0}
    f = {**d, "z": e["a"]}
    g = {k: v * v for k, v in e.items() if k != "c"}
    h = dict(d, a=1.5 * d["a"])
    i = d.copy()
    return e["a"] * f["z"] + sum(g.values()) * g["b"] + h["a"] * i["c"] + len(g)


@programs(TABLE)
def dict_views(d):
    keys, values = list(d), list(d.values())
    pairs = list(d.items())
    return values[0] * values[-1] + pairs[1][1] * d[keys[0]] + dict(pairs)["b"] * len(d.keys())


@programs([0.5, -1.5, 2.0], ["u", "v", "w"])
def list_reads(xs, names):
    i = names.index("v")
    ys = xs + [xs[i] * 2.0] + xs[1:] + xs[::-1]
    zs = xs * 2 + 2 * [xs[0]]
    return ys[3] * zs[4] * xs.copy()[2] + names.count("u") * sum(ys[1:-1]) + sum(zs) * len(ys)


@programs([4, 5, 7], 1.5)
def membership(xs, x):
    return x * (2.0 if 7 in xs else 3.0) * (2.0 if x not in (1.0, 2.0) else 5.0) * xs.index(5)


@programs((0.5, -1.5, 2.0))
def tuple_reads(t):
    a, *rest = t
    ns = (3, 4, 3)
    return a * sum(rest) + (t + (a * a,))[3] * ns.count(3) + ns.index(4) * t[-1] + (t * 2)[4]


@programs(Point(0.5, 2.0))
def namedtuple_reads(p):
    q = Point(y=p.x, x=p.y * p.y)
    x, y = q
    r = q._replace(x=p.x * 3.0)
    return x * y + q[0] + len(p._fields) * p.x + r.x * r.y + q._asdict()["x"] + sum(p)


@programs(1.5, "a")
def collections_of_the_module(x, key):
    total = x * WEIGHTS["first"] + x * x * COUNTS["a"] + x * COUNTS["zz"] + x * DEFAULTS["a"]
    for name, weight in WEIGHTS.items():
        total = total * 0.5 + x * weight * len(name)
    for w in WINDOW:
        total = total + x * w
    return total * COUNTS[key] + WINDOW[0] * x + len(WINDOW) * COUNTS.most_common(1)[0][1] * x


@programs(1.5)
def collections_made_here(x):
    counts = Counter("aab")
    window = deque([1, 2, 3])
    order = OrderedDict(a=2.0, b=3.0)
    return x * counts["a"] + x * window[-1] * len(window) + x * x * order["b"] * sum(order.values())


# -- harmless calls --------------------------------------------------------------------------------


@programs(1.5)
def clocks(x):
    start = time.perf_counter()
    y = x * x
    elapsed = time.perf_counter() - start
    return y if elapsed >= 0.0 and time.time() > 0.0 else x


@programs(1.5, V)
def comparisons(x, v):
    close = math.isclose(x, 1.5, abs_tol=0.1) and np.isclose(v[0], 0.5, atol=0.1) and np.allclose(v, V, atol=0.1)
    return x * v[0] if close and not math.isnan(x) and math.isfinite(v[1]) else x


@pytest.mark.parametrize("case", programs, ids=str)
def test_derivative(case):
    programs.check(case)
