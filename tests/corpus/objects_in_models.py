"""Programs with classes of their own: simulations, filters, markets, optics."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from tests.corpus.program import Program


class Polynomial:
    def __init__(self, coefficients):
        self.coefficients = list(coefficients)

    def __call__(self, x):
        result = 0.0
        for c in reversed(self.coefficients):
            result = result * x + c
        return result

    def __mul__(self, other):
        out = [0.0] * (len(self) + len(other) - 1)
        for i, a in enumerate(self.coefficients):
            for j, b in enumerate(other.coefficients):
                out[i + j] += a * b
        return Polynomial(out)

    def __len__(self):
        return len(self.coefficients)

    def __getitem__(self, k):
        return self.coefficients[k]

    def derivative(self):
        return Polynomial(k * self[k] for k in range(1, len(self)))


def polynomial_newton(p_coefficients, q_coefficients, x):
    p = Polynomial(p_coefficients) * Polynomial(q_coefficients)
    dp = p.derivative()
    for _ in range(2):
        x = x - p(x) / dp(x)
    return x


@dataclass
class Simulation:
    rate: float
    history: list = field(default_factory=list)
    level: float = 1.0

    def run(self, inputs):
        for u in inputs:
            self.level += self.rate * (u - self.level)
            self.history.append(self.level)
        return self

    def roughness(self):
        h = self.history
        return sum((a - 2 * b + c) ** 2 for a, b, c in zip(h, h[1:], h[2:]))


def chained_simulation(rate, inputs):
    slow = Simulation(rate).run(inputs)
    fast = Simulation(2.0 * rate, level=slow.level).run(slow.history)
    return slow.roughness() + fast.level


class RingBuffer:
    def __init__(self, size):
        self.data = np.zeros(size)
        self.position = 0
        self.filled = False

    def append(self, value):
        self.data[self.position] = value
        self.position = (self.position + 1) % len(self.data)
        self.filled = self.filled or self.position == 0

    def mean(self):
        return self.data.mean() if self.filled else self.data[: self.position].mean()


def smoothed_crossings(prices, gain):
    short, long = RingBuffer(2), RingBuffer(4)
    position, profit = 0.0, 0.0
    previous = prices[0]
    for price in prices:
        profit += position * (price - previous)
        short.append(price)
        long.append(price)
        position = np.tanh(gain * (short.mean() - long.mean()))
        previous = price
    return profit


class KalmanFilter1D:
    def __init__(self, q, r):
        self.x, self.p = 0.0, 1.0
        self.q, self.r = q, r
        self.log_likelihood = 0.0

    def predict(self):
        self.p += self.q
        return self

    def update(self, z):
        s = self.p + self.r
        y = z - self.x
        k = self.p / s
        self.x += k * y
        self.p *= 1.0 - k
        self.log_likelihood -= 0.5 * (math.log(2 * math.pi * s) + y * y / s)
        return self


def kalman_object_likelihood(q, r, zs):
    kf = KalmanFilter1D(q, r)
    for z in zs:
        kf.predict().update(z)
    return kf.log_likelihood


@dataclass(frozen=True)
class Market:
    spot: float
    rate: float
    vol: float


def scenario_spread(spot, rate, vol):
    """Bumped copies of a frozen record."""
    base = Market(spot, rate, vol)

    def forward_value(m):
        return m.spot * math.exp((m.rate + 0.5 * m.vol**2) * 2.0)

    up = replace(base, spot=base.spot * 1.01, vol=base.vol + 0.01)
    down = replace(base, rate=base.rate - 0.01)
    return forward_value(up) - forward_value(down)


class GridWorld:
    """Temporal-difference learning in a table of values on a dict."""

    def __init__(self, rewards, discount):
        self.rewards = rewards
        self.discount = discount
        self.table = dict.fromkeys(range(len(rewards)), 0.0)

    def backup(self, state, following, rate):
        target = self.rewards[state] + self.discount * self.table[following]
        self.table[state] += rate * (target - self.table[state])


def learned_values(rewards, discount, rate, walk=(0, 1, 2, 1, 0, 2, 3, 0, 1, 3)):
    world = GridWorld(rewards, discount)
    for state, following in zip(walk, walk[1:]):
        world.backup(state, following, rate)
    return sum(v * v for v in world.table.values())


class Matrix2:
    """Two by two matrices with an operator for their product."""

    __slots__ = ("a", "b", "c", "d")

    def __init__(self, a, b, c, d):
        self.a, self.b, self.c, self.d = a, b, c, d

    def __matmul__(self, other):
        return Matrix2(
            self.a * other.a + self.b * other.c,
            self.a * other.b + self.b * other.d,
            self.c * other.a + self.d * other.c,
            self.c * other.b + self.d * other.d,
        )

    @classmethod
    def lens(cls, focal):
        return cls(1.0, 0.0, -1.0 / focal, 1.0)

    @staticmethod
    def gap(distance):
        return Matrix2(1.0, distance, 0.0, 1.0)


def telescope_focal_length(f1, f2, distance):
    """Ray transfer matrices of two thin lenses."""
    system = Matrix2.lens(f2) @ Matrix2.gap(distance) @ Matrix2.lens(f1)
    return -1.0 / system.c


PROGRAMS = (
    Program(
        polynomial_newton,
        lambda rng: ([1.0 + rng.random(), 0.5, 2.0], [0.3, 1.2], -0.4),
        argnums=(0, 1, 2),
    ),
    Program(chained_simulation, lambda rng: (0.3, rng.normal(size=6).tolist()), argnums=(0, 1)),
    Program(smoothed_crossings, lambda rng: (rng.normal(size=8), 1.5), argnums=(0, 1)),
    Program(
        kalman_object_likelihood, lambda rng: (0.2, 0.5, rng.normal(size=6)), argnums=(0, 1, 2)
    ),
    Program(scenario_spread, lambda rng: (1.0 + rng.random(), 0.03, 0.2), argnums=(0, 1, 2)),
    Program(learned_values, lambda rng: (rng.normal(size=4).tolist(), 0.9, 0.5), argnums=(0, 1, 2)),
    Program(telescope_focal_length, lambda rng: (2.0 + rng.random(), 0.7, 1.3), argnums=(0, 1, 2)),
)
