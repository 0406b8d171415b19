"""Control flow of every kind: exceptions, contexts, matches, searches, closures, generators."""

import itertools
import math
from functools import reduce

import numpy as np

from tests.corpus.program import Program


def log_likelihood_or_penalty(theta, data):
    """A Cholesky factorisation that may fail, and a penalty in its place."""
    a, b, c = theta
    cov = np.array([[a, b], [b, c]])
    try:
        L = np.linalg.cholesky(cov)
    except np.linalg.LinAlgError:
        return -10.0 * len(data) * (1.0 + (a * c - b * b) ** 2) - 0.5 * np.sum(data**2)
    z = np.linalg.solve(L, data.T)
    return -0.5 * np.sum(z * z) - len(data) * np.sum(np.log(np.diag(L)))


def cholesky_with_jitter(A, b):
    """Jitter grows until the factorisation succeeds."""
    jitter = 1e-6
    while True:
        try:
            L = np.linalg.cholesky(A + jitter * np.eye(len(A)))
            break
        except np.linalg.LinAlgError:
            jitter *= 10.0
            if jitter > 1e3:
                raise
    y = np.linalg.solve(L, b)
    return y @ y + 2.0 * np.sum(np.log(np.diag(L)))


def safe_divisions(xs, ys, default):
    total = 0.0
    for x, y in zip(xs, ys):
        try:
            total += x / y
        except ZeroDivisionError:
            total += default * x
    return total


def first_positive_log(values, fallback):
    for v in values:
        try:
            result = math.log(v)
        except ValueError:
            continue
        else:
            return result * v
        finally:
            fallback = fallback * 1.5
    return fallback


def lookup_with_default(table, keys, default):
    total = 0.0
    for n, key in enumerate(keys):
        try:
            value = table[key]
        except KeyError:
            value = default
        total += value ** (n + 1)
    return total


def parsed_quantities(rows, scale):
    """Numbers from text, where some entries are not numbers."""
    total = 0.0
    skipped = 0
    for text in rows:
        try:
            number = float(text)
        except ValueError:
            skipped += 1
            continue
        total += math.sqrt(number * scale)
    return total / (len(rows) - skipped)


class ConvergenceError(Exception):
    pass


def checked_newton(a, x):
    if a <= 0:
        raise ValueError("a must be positive")

    def iterate(x, limit):
        for _ in range(limit):
            new = 0.5 * (x + a / x)
            if abs(new - x) < 1e-14:
                return new
            x = new
        raise ConvergenceError(f"no convergence after {limit} steps")

    try:
        return iterate(x, 2)
    except ConvergenceError:
        return iterate(1.0, 50)


def quiet_entropy(p):
    p = p / np.sum(p)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0, -p * np.log(np.where(p > 0, p, 1.0)), 0.0)
    return terms.sum()


def shape_area(shape):
    match shape:
        case ("circle", radius):
            return math.pi * radius**2
        case ("rectangle", width, height):
            return width * height
        case ("polygon", sides, length) if sides >= 3:
            return 0.25 * sides * length**2 / math.tan(math.pi / sides)
        case _:
            raise ValueError(shape)


def total_area(r, w, h):
    shapes = [("circle", r), ("rectangle", w, h), ("polygon", 6, 0.5 * w), ("circle", h * r)]
    return sum(shape_area(s) for s in shapes)


def apply_commands(commands, x, y):
    """A turtle that is driven by tuples of different lengths."""
    heading = 0.0
    for command in commands:
        match command:
            case ["forward", distance]:
                x += distance * math.cos(heading)
                y += distance * math.sin(heading)
            case ["turn", angle]:
                heading += angle
            case ["jump", dx, dy]:
                x, y = x + dx, y + dy
            case ["scale" | "zoom", factor]:
                x, y = x * factor, y * factor
            case "reset":
                heading = 0.0
    return math.hypot(x, y) + heading


def configured_loss(config, residual):
    match config:
        case {"kind": "huber", "delta": delta}:
            size = abs(residual)
            return 0.5 * residual**2 if size <= delta else delta * (size - 0.5 * delta)
        case {"kind": "cauchy", "scale": c}:
            return 0.5 * c**2 * math.log1p((residual / c) ** 2)
        case {"kind": "power", **rest}:
            return abs(residual) ** rest["p"]
        case _:
            return residual**2


def first_crossing(values, level):
    """Where a sampled curve passes a level; ``else`` of the loop if it never does."""
    for i in range(1, len(values)):
        if (values[i - 1] - level) * (values[i] - level) < 0:
            position = i - 1 + (level - values[i - 1]) / (values[i] - values[i - 1])
            break
    else:
        position = float(len(values)) + 0.1 * level
    return position


def while_else_series(x, limit):
    term, total, n = 1.0, 1.0, 0
    while n < limit:
        n += 1
        term *= x / n
        total += term
        if abs(term) < 1e-12:
            break
    else:
        total += 0.5 * term
    return total


def nested_search(matrix, threshold):
    """The first row sum that passes, with breaks and continues at two levels."""
    score = 0.0
    for i, row in enumerate(matrix):
        partial = 0.0
        for value in row:
            if value < 0:
                continue
            partial += value
            if partial > threshold:
                break
        else:
            score -= 0.1 * partial
            continue
        score += partial * (i + 1)
        if score > 4.0 * threshold:
            break
    return score


def piecewise_tax(income, brackets):
    tax = 0.0
    lower = 0.0
    for upper, rate in brackets:
        if income <= upper:
            return tax + rate * (income - lower)
        tax += rate * (upper - lower)
        lower = upper
    return tax + 0.5 * (income - lower)


def state_machine(signal, gain):
    state, energy, output = "idle", 0.0, []
    for s in signal:
        if state == "idle":
            if s > 0.5:
                state = "charging"
        elif state == "charging":
            energy += gain * s
            if energy > 1.0:
                state = "firing"
        else:
            output.append(energy * s)
            energy *= 0.5
            state = "idle" if energy < 0.4 else "firing"
    return sum(output) + energy


def counter_closure(xs, decay):
    """A closure with state, by ``nonlocal``."""
    level = 0.0
    calls = 0

    def push(x):
        nonlocal level, calls
        level = decay * level + x
        calls += 1
        return level

    total = 0.0
    for x in xs:
        total += push(x) ** 2
    return total / calls


def make_integrator(f, n):
    h = 1.0 / n

    def integrate(a, b):
        width = (b - a) * h
        return width * sum(f(a + (k + 0.5) * width) for k in range(n))

    return integrate


def nested_integrals(a, b, c):
    inner = make_integrator(lambda t: math.exp(-c * t * t), 6)
    outer = make_integrator(lambda t: t * inner(0.0, t), 6)
    return outer(a, b)


def compose(*functions):
    return reduce(lambda f, g: lambda x: g(f(x)), functions)


def composed_pipeline(x, scale):
    pipeline = compose(lambda t: t * scale, math.sin, lambda t: t + scale, math.exp)
    return pipeline(x)


def generator_pipeline(values, scale):
    squares = (v * v for v in values)
    scaled = (scale * s for s in squares if s > 0.01)
    return sum(math.sqrt(1.0 + s) for s in scaled)


def pairwise_products(xs):
    return sum(a * b for a, b in itertools.combinations(xs, 2)) + max(
        abs(a - b) for a, b in itertools.product(xs, repeat=2)
    )


def walrus_halving(x, y):
    total = 0.0
    while (x := 0.6 * x) > 0.1:
        total += x * y
    if (rest := total - y) > 0:
        total += rest**2
    return total


def collatz_weights(n, x):
    value = x
    while n != 1:
        if n % 2 == 0:
            n //= 2
            value = math.sqrt(value)
        else:
            n = 3 * n + 1
            value = 1.5 * value + 0.1
    return value


def chained_comparisons(x, low, high):
    result = 0.0
    for v in x:
        if low < v <= high:
            result += (v - low) * (high - v)
        elif v > high or not v > low - 1.0:
            result += 0.1 * v**2
        else:
            result -= v
    return result


def flexible_arguments(x, *powers, scale=1.0, **extra):
    total = scale * sum(x**p for p in powers)
    for name, value in sorted(extra.items()):
        total += value * len(name)
    return total


def calls_with_unpacking(x, y):
    powers = (1, 2, 3)
    options = {"scale": y, "bias": x * y}
    first, *rest = powers
    return flexible_arguments(x, *powers, **options) + flexible_arguments(y, first, *rest)


def recursive_adaptive_simpson(a, b, k):
    def f(x):
        return math.exp(-k * x) * math.sin(3.0 * x)

    def simpson(lo, hi):
        return (hi - lo) / 6.0 * (f(lo) + 4.0 * f(0.5 * (lo + hi)) + f(hi))

    def refine(lo, hi, whole, tol, depth):
        middle = 0.5 * (lo + hi)
        left, right = simpson(lo, middle), simpson(middle, hi)
        delta = left + right - whole
        if depth == 0 or abs(delta) < 15.0 * tol:
            return left + right + delta / 15.0
        return refine(lo, middle, left, tol / 2, depth - 1) + refine(
            middle, hi, right, tol / 2, depth - 1
        )

    return refine(a, b, simpson(a, b), 1e-5, 8)


def even_term(x, n):
    return 1.0 if n == 0 else x * odd_term(x, n - 1) + 1.0


def odd_term(x, n):
    return even_term(x, n - 1) / (1.0 + x)


def mutual_recursion(x, n):
    return even_term(x, n) * even_term(0.5 * x, n - 2)


def power_by_squaring(x, n):
    result = 1.0
    while n:
        if n & 1:
            result *= x
        x *= x
        n >>= 1
    return result


def accept_or_retry(guesses, target):
    """Attempts are evaluated until one is accepted; early ones raise."""

    def attempt(g):
        if g < 0:
            raise ValueError("negative")
        if g > 10:
            raise OverflowError("too large")
        return (math.sqrt(g) - target) ** 2

    failures = 0
    for g in guesses:
        try:
            cost = attempt(g)
        except (ValueError, OverflowError) as error:
            failures += 1 if isinstance(error, ValueError) else 2
            continue
        return cost + 0.5 * failures
    return 100.0


PROGRAMS = (
    Program(
        log_likelihood_or_penalty,
        lambda rng: ([1.5, 4.0 * rng.random() - 1.0, 1.2], rng.normal(size=(5, 2))),
        argnums=(0, 1),
    ),
    Program(
        cholesky_with_jitter,
        lambda rng: (np.diag([1.0, 2.0, -0.03]) + 0.01 * rng.normal(), rng.normal(size=3)),
        argnums=(0, 1),
        step=1e-5,
    ),
    Program(
        safe_divisions,
        lambda rng: (rng.normal(size=4).tolist(), [0.5, 0.0, 2.0, 0.0], 0.3),
        argnums=(0, 2),
    ),
    Program(
        first_positive_log,
        lambda rng: ([-1.0, -0.5 - rng.random(), 2.0 + rng.random(), 3.0], 0.7),
        argnums=0,
    ),
    Program(
        lookup_with_default,
        lambda rng: ({"a": 1.1, "b": rng.random()}, ["a", "c", "b", "d"], 0.6),
        argnums=(0, 2),
    ),
    Program(
        parsed_quantities, lambda rng: (["1.5", "n/a", "2.25", ""], 1.0 + rng.random()), argnums=1
    ),
    Program(checked_newton, lambda rng: (2.0 + rng.random(), 9.0), argnums=0),
    Program(quiet_entropy, lambda rng: (rng.uniform(0.2, 1.0, size=5),), argnums=0),
    Program(total_area, lambda rng: tuple(rng.uniform(0.5, 2.0, size=3)), argnums=(0, 1, 2)),
    Program(
        apply_commands,
        lambda rng: (
            [["forward", 2.0], ["turn", 0.7], ["zoom", 1.5], ["jump", 0.1, -0.2], "reset"],
            rng.normal(),
            0.4,
        ),
        argnums=(1, 2),
    ),
    Program(
        first_crossing,
        lambda rng: (np.array([0.1, 0.4, 0.35, 1.2, 0.9]) + 0.01 * rng.normal(size=5), 0.8),
        argnums=(0, 1),
    ),
    Program(while_else_series, lambda rng: (1.0 + rng.random(), 6), argnums=0),
    Program(
        nested_search,
        lambda rng: (
            np.array([[0.5, -1.0, 0.2], [0.9, 0.6, 2.0], [1.3, 0.1, 0.1]])
            + 0.02 * rng.normal(size=(3, 3)),
            1.0,
        ),
        argnums=0,
    ),
    Program(
        piecewise_tax,
        lambda rng: (55.0 + rng.random(), [(10.0, 0.1), (40.0, 0.25), (80.0, 0.4)]),
        argnums=(0, 1),
    ),
    Program(
        state_machine,
        lambda rng: (np.array([0.1, 0.9, 0.8, 0.7, 1.1, 0.6, 0.2]), 0.9 + 0.02 * rng.random()),
        argnums=(0, 1),
    ),
    Program(counter_closure, lambda rng: (rng.normal(size=5), 0.7), argnums=(0, 1)),
    Program(nested_integrals, lambda rng: (0.1, 1.5, 0.5 + rng.random()), argnums=(0, 1, 2)),
    Program(composed_pipeline, lambda rng: (rng.normal(), 0.8), argnums=(0, 1)),
    Program(
        generator_pipeline,
        lambda rng: ((rng.normal(size=5) + 3.0).tolist(), 0.6),
        argnums=(0, 1),
    ),
    Program(pairwise_products, lambda rng: (rng.normal(size=4).tolist(),), argnums=0),
    Program(walrus_halving, lambda rng: (3.0 + 0.1 * rng.random(), 0.7), argnums=(0, 1)),
    Program(collatz_weights, lambda rng: (6, 1.0 + rng.random()), argnums=1),
    Program(
        chained_comparisons,
        lambda rng: (np.array([-2.0, -0.4, 0.3, 0.9, 1.7]) + 0.05 * rng.normal(), 0.0, 1.2),
        argnums=(0, 1, 2),
    ),
    Program(calls_with_unpacking, lambda rng: tuple(rng.normal(size=2).tolist()), argnums=(0, 1)),
    Program(
        recursive_adaptive_simpson, lambda rng: (0.0, 2.0, 0.4 + rng.random()), argnums=(0, 1, 2)
    ),
    Program(mutual_recursion, lambda rng: (0.5 + rng.random(), 6), argnums=0),
    Program(power_by_squaring, lambda rng: (0.8 + rng.random(), 11), argnums=0),
    Program(accept_or_retry, lambda rng: ([-1.0, 12.0, 2.0 + rng.random()], 0.4), argnums=(0, 1)),
)
