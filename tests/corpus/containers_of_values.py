"""Lists, dicts, heaps and trees of values: tables, recursions with memory, updates."""

import itertools
import math
import operator
from collections import Counter, namedtuple
from functools import reduce

import numpy as np

from tests.corpus.program import Program


Body = namedtuple("Body", ["mass", "x", "v"])


def word_scores(text, weights):
    """Logarithms of weighted counts; the counts themselves are data."""
    counts = Counter(text.split())
    score = 0.0
    for word, count in sorted(counts.items()):
        score += math.log1p(count * weights.get(word, 0.5))
    return score


def cumulative_products(factors, start):
    levels = list(itertools.accumulate(factors, lambda a, b: a * (1.0 + b), initial=start))
    drawdown = sum(max(levels[: i + 1]) - level for i, level in enumerate(levels))
    return levels[-1] - 0.5 * drawdown


def horner_by_reduce(coefficients, x):
    return reduce(lambda acc, c: acc * x + c, coefficients, 0.0)


def dot_by_map(xs, ys):
    products = map(operator.mul, xs, ys)
    norm = math.sqrt(math.fsum(x * x for x in xs)) * math.sqrt(math.fsum(y * y for y in ys))
    return math.fsum(products) / norm


def elastic_collisions(bodies, steps=3):
    """Named tuples are replaced in a list, pair by pair."""
    bodies = [Body(*b) for b in bodies]
    for _ in range(steps):
        for i in range(len(bodies) - 1):
            a, b = bodies[i], bodies[i + 1]
            total = a.mass + b.mass
            va = ((a.mass - b.mass) * a.v + 2 * b.mass * b.v) / total
            vb = ((b.mass - a.mass) * b.v + 2 * a.mass * a.v) / total
            bodies[i] = a._replace(v=va, x=a.x + 0.1 * va)
            bodies[i + 1] = b._replace(v=vb, x=b.x + 0.1 * vb)
    return sum(b.mass * b.x * b.v for b in bodies)


def tree_sum(tree, decay):
    """Nested tuples (value, children), visited by recursion."""
    value, children = tree
    return value**2 + decay * sum(tree_sum(child, decay) for child in children)


def expression_tree(node, env):
    """An interpreter of tuples ("op", left, right)."""
    if isinstance(node, str):
        return env[node]
    if isinstance(node, float):
        return node
    op, *operands = node
    values = [expression_tree(o, env) for o in operands]
    if op == "add":
        return sum(values)
    if op == "mul":
        product = 1.0
        for v in values:
            product *= v
        return product
    if op == "sin":
        (v,) = values
        return math.sin(v)
    raise KeyError(op)


def memoized_bessel_ratio(x, n):
    cache = {}

    def term(k):
        if k not in cache:
            cache[k] = 1.0 if k == 0 else term(k - 1) * (x / 2) ** 2 / (k * (k + n))
        return cache[k]

    return sum(term(k) for k in range(8))


def knapsack_fractional(values, weights, capacity):
    """Greedy by value per weight; the last item is taken in part."""
    items = sorted(zip(values, weights), key=lambda item: item[0] / item[1], reverse=True)
    total = 0.0
    for value, weight in items:
        if weight >= capacity:
            total += value * capacity / weight
            break
        total += value
        capacity -= weight
    return total


def longest_weighted_path(values, edges):
    """Dynamic programming over a small acyclic graph."""
    best = dict(enumerate(values))
    for a, b in sorted(edges):
        candidate = best[a] * 0.9 + values[b]
        if candidate > best[b]:
            best[b] = candidate
    top = max(best, key=best.get)
    return best[top]


def matrix_chain_cost(sizes):
    n = len(sizes) - 1
    cost = [[0.0] * n for _ in range(n)]
    for span in range(1, n):
        for i in range(n - span):
            j = i + span
            cost[i][j] = min(
                cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                for k in range(i, j)
            )
    return cost[0][n - 1]


def pascal_weights(p, n=5):
    """Binomial probabilities from a triangle that is a list of growing rows."""
    rows = [[1.0]]
    for _ in range(n):
        last = rows[-1]
        row = [last[0] * (1 - p)]
        for a, b in zip(last, last[1:]):
            row.append(a * p + b * (1 - p))
        row.append(last[-1] * p)
        rows.append(row)
    return np.array(rows[-1])


def nested_updates(params, rate):
    """A dict of lists and dicts, changed at several depths."""
    state = {"layers": [{"w": w, "count": 0} for w in params["weights"]], "log": []}
    for epoch in range(3):
        for layer in state["layers"]:
            layer["w"] -= rate * math.sin(layer["w"] + params["shift"])
            layer["count"] += 1
        state["log"].append(sum(layer["w"] for layer in state["layers"]))
    first, *_, last = state["log"]
    return last**2 + first / state["layers"][0]["count"]


def sieve_of_values(x):
    """Elements are deleted and inserted while a list is worked down."""
    xs = list(x)
    total = 0.0
    while len(xs) > 1:
        a = xs.pop(0)
        b = xs.pop()
        total += a * b
        if len(xs) % 2:
            xs.insert(0, 0.5 * (a + b))
            del xs[-1]
    return total + sum(xs)


def running_extremes(values):
    lows, highs = [], []
    low, high = math.inf, -math.inf
    for v in values:
        low, high = min(low, v), max(high, v)
        lows.append(low)
        highs.append(high)
    return sum(b - a for a, b in zip(lows, highs))


def convex_hull_area(points):
    """Andrew's monotone chain over a list of pairs."""
    pts = sorted(points)

    def cross(o, a, b):
        return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])

    hull = []
    for chain in (pts, pts[::-1]):
        part = []
        for p in chain:
            while len(part) >= 2 and cross(part[-2], part[-1], p) <= 0:
                part.pop()
            part.append(p)
        hull.extend(part[:-1])
    return 0.5 * sum(a[0] * b[1] - a[1] * b[0] for a, b in zip(hull, hull[1:] + hull[:1]))


PROGRAMS = (
    Program(
        word_scores,
        lambda rng: ("the cat and the dog and the bird", {"the": 0.1, "cat": rng.uniform(1, 2)}),
        argnums=1,
    ),
    Program(
        cumulative_products,
        lambda rng: ((0.1 * rng.normal(size=6)).tolist(), 100.0),
        argnums=(0, 1),
        step=3e-4,
    ),
    Program(horner_by_reduce, lambda rng: (rng.normal(size=4).tolist(), 1.3), argnums=(0, 1)),
    Program(
        dot_by_map,
        lambda rng: (rng.normal(size=4).tolist(), rng.normal(size=4).tolist()),
        argnums=(0, 1),
    ),
    Program(
        elastic_collisions,
        lambda rng: ([(1.0, 0.0, 0.5), (2.0 + rng.random(), 1.0, -0.3), (0.7, 2.0, 0.1)],),
        argnums=0,
    ),
    Program(
        tree_sum, lambda rng: ((1.0, [(rng.normal(), []), (0.5, [(2.0, [])])]), 0.7), argnums=1
    ),
    Program(
        expression_tree,
        lambda rng: (
            ("add", ("mul", "x", "y", 2.0), ("sin", ("add", "x", 1.0))),
            {"x": rng.normal(), "y": 0.4},
        ),
        argnums=1,
    ),
    Program(memoized_bessel_ratio, lambda rng: (1.0 + rng.random(), 2), argnums=0),
    Program(
        knapsack_fractional,
        lambda rng: ([6.0, 10.0, 12.0 + rng.random()], [1.0, 2.2, 3.3], 4.5),
        argnums=(0, 1, 2),
    ),
    Program(
        longest_weighted_path,
        lambda rng: (rng.normal(size=5).tolist(), [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]),
        argnums=0,
    ),
    Program(matrix_chain_cost, lambda rng: (rng.uniform(1.0, 3.0, size=5).tolist(),), argnums=0),
    Program(pascal_weights, lambda rng: (0.2 + 0.5 * rng.random(),), argnums=0),
    Program(
        nested_updates,
        lambda rng: ({"weights": rng.normal(size=3).tolist(), "shift": 0.4}, 0.2),
        argnums=(0, 1),
    ),
    Program(sieve_of_values, lambda rng: (rng.normal(size=8),), argnums=0),
    Program(running_extremes, lambda rng: (rng.normal(size=6),), argnums=0),
    Program(
        convex_hull_area,
        lambda rng: ([tuple(p) for p in rng.normal(size=(7, 2)).tolist()],),
        argnums=0,
    ),
)
