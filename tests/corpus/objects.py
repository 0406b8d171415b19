"""Programs with classes: state in attributes, methods, dataclasses, operators, properties."""

import math
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from tests.corpus.program import Program


class Perceptron:
    def __init__(self, n):
        self.w = np.zeros(n)
        self.b = 0.0

    def score(self, x):
        return np.tanh(self.w @ x + self.b)

    def update(self, x, target, rate):
        error = target - self.score(x)
        self.w += rate * error * x
        self.b += rate * error
        return error


def perceptron_training(X, targets, rate):
    model = Perceptron(X.shape[1])
    total = 0.0
    for _ in range(2):
        for x, target in zip(X, targets):
            total += model.update(x, target, rate) ** 2
    return total + model.b


class Adam:
    def __init__(self, rate, beta1=0.9, beta2=0.99):
        self.rate = rate
        self.beta1, self.beta2 = beta1, beta2
        self.m = None
        self.v = None
        self.t = 0

    def step(self, params, grads):
        if self.m is None:
            self.m = [np.zeros_like(p) for p in params]
            self.v = [np.zeros_like(p) for p in params]
        self.t += 1
        for i, (p, g) in enumerate(zip(params, grads)):
            self.m[i] = self.beta1 * self.m[i] + (1 - self.beta1) * g
            self.v[i] = self.beta2 * self.v[i] + (1 - self.beta2) * g**2
            m_hat = self.m[i] / (1 - self.beta1**self.t)
            v_hat = self.v[i] / (1 - self.beta2**self.t)
            p -= self.rate * m_hat / (np.sqrt(v_hat) + 1e-6)


class RunningStatistics:
    """Welford's algorithm as an object that is asked for its results."""

    def __init__(self):
        self.n = 0
        self.mean = 0.0
        self._m2 = 0.0

    def push(self, x):
        self.n += 1
        delta = x - self.mean
        self.mean += delta / self.n
        self._m2 += delta * (x - self.mean)

    @property
    def variance(self):
        return self._m2 / (self.n - 1) if self.n > 1 else 0.0


def sharpe_ratio(returns, riskfree):
    stats = RunningStatistics()
    for r in returns:
        stats.push(r - riskfree)
    return stats.mean / math.sqrt(stats.variance)


class PIDController:
    def __init__(self, kp, ki, kd):
        self.kp, self.ki, self.kd = kp, ki, kd
        self.integral = 0.0
        self.previous = None

    def __call__(self, error, dt):
        self.integral += error * dt
        derivative = 0.0 if self.previous is None else (error - self.previous) / dt
        self.previous = error
        return self.kp * error + self.ki * self.integral + self.kd * derivative


def heated_room_cost(kp, ki, kd, outside):
    controller = PIDController(kp, ki, kd)
    temperature, cost, dt = outside, 0.0, 0.25
    for _ in range(12):
        power = controller(20.0 - temperature, dt)
        temperature += dt * (0.4 * power - 0.2 * (temperature - outside))
        cost += dt * ((20.0 - temperature) ** 2 + 0.05 * power**2)
    return cost


@dataclass
class Particle:
    position: np.ndarray
    velocity: np.ndarray
    mass: float = 1.0

    def kick(self, force, dt):
        self.velocity += force / self.mass * dt

    def drift(self, dt):
        self.position = self.position + dt * self.velocity

    def kinetic(self):
        return 0.5 * self.mass * np.dot(self.velocity, self.velocity)


def spring_chain_energy(positions, masses, stiffness):
    particles = [Particle(p.copy(), np.zeros(len(p)), float(m)) for p, m in zip(positions, masses)]
    for _ in range(4):
        for left, right in zip(particles[:-1], particles[1:]):
            stretch = right.position - left.position
            length = np.linalg.norm(stretch)
            force = stiffness * (length - 1.0) * stretch / length
            left.kick(force, 0.1)
            right.kick(-force, 0.1)
        for p in particles:
            p.drift(0.1)
    return sum(p.kinetic() for p in particles)


@dataclass(frozen=True)
class Vector:
    x: float
    y: float

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor)

    __rmul__ = __mul__

    def __abs__(self):
        return math.hypot(self.x, self.y)


def projectile_with_drag(speed, angle, drag):
    position = Vector(0.0, 0.0)
    velocity = Vector(speed * math.cos(angle), speed * math.sin(angle))
    gravity = Vector(0.0, -9.81)
    dt = 0.05
    while True:
        previous = position
        acceleration = gravity - drag * abs(velocity) * velocity
        position = position + dt * velocity
        velocity = velocity + dt * acceleration
        if position.y < 0.0:
            break
    fraction = previous.y / (previous.y - position.y)
    return previous.x + fraction * (position.x - previous.x)


class Dual(NamedTuple):
    value: float
    slope: float

    def times(self, other):
        return Dual(self.value * other.value, self.value * other.slope + self.slope * other.value)

    def sin(self):
        return Dual(math.sin(self.value), self.slope * math.cos(self.value))


def slope_by_dual_numbers(x):
    """A derivative by forward mode, as a function to be differentiated once more."""
    d = Dual(x, 1.0)
    y = d.times(d).sin()
    return y.times(d).slope


class Tape:
    """Reverse mode in thirty lines; its gradient is itself differentiated."""

    def __init__(self):
        self.values = []
        self.parents = []

    def push(self, value, parents=()):
        self.values.append(value)
        self.parents.append(parents)
        return len(self.values) - 1

    def add(self, a, b):
        return self.push(self.values[a] + self.values[b], ((a, 1.0), (b, 1.0)))

    def mul(self, a, b):
        x, y = self.values[a], self.values[b]
        return self.push(x * y, ((a, y), (b, x)))

    def sin(self, a):
        x = self.values[a]
        return self.push(math.sin(x), ((a, math.cos(x)),))

    def gradient(self, output):
        bars = [0.0] * len(self.values)
        bars[output] = 1.0
        for i in range(output, -1, -1):
            for parent, slope in self.parents[i]:
                bars[parent] += slope * bars[i]
        return bars


def gradient_norm_by_tape(x, y):
    tape = Tape()
    a, b = tape.push(x), tape.push(y)
    z = tape.mul(tape.sin(a), b)
    z = tape.add(z, tape.mul(a, tape.mul(a, b)))
    bars = tape.gradient(z)
    return bars[a] ** 2 + bars[b] ** 2


class Layer:
    def __init__(self, weight, activation):
        self.weight = weight
        self.activation = activation
        self.cache = None

    def forward(self, x):
        z = x @ self.weight
        self.cache = (x, z)
        return np.tanh(z) if self.activation == "tanh" else z

    def backward(self, grad):
        x, z = self.cache
        if self.activation == "tanh":
            grad = grad * (1 - np.tanh(z) ** 2)
        self.grad_weight = x.T @ grad
        return grad @ self.weight.T


class Network:
    def __init__(self, weights):
        last = len(weights) - 1
        self.layers = [
            Layer(w.copy(), "linear" if i == last else "tanh") for i, w in enumerate(weights)
        ]

    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def train_step(self, x, y, rate):
        error = self.forward(x) - y
        grad = 2 * error / len(x)
        for layer in reversed(self.layers):
            grad = layer.backward(grad)
        for layer in self.layers:
            layer.weight -= rate * layer.grad_weight
        return np.mean(error**2)


class Account:
    """A base class with a rule for interest that subclasses refine."""

    fee = 1.0

    def __init__(self, balance, rate):
        self.balance = balance
        self.rate = rate

    def interest(self):
        return self.balance * self.rate

    def end_of_year(self):
        self.balance += self.interest() - self.fee


class BonusAccount(Account):
    fee = 0.5

    def interest(self):
        base = super().interest()
        return base + 0.1 * base if self.balance > 100.0 else base


def accounts_after_years(deposit, rate, years=3):
    accounts = [Account(deposit, rate), BonusAccount(2.0 * deposit, rate)]
    for _ in range(years):
        for account in accounts:
            account.end_of_year()
    return sum(a.balance for a in accounts)


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


class LinkedNode:
    def __init__(self, value, following=None):
        self.value = value
        self.following = following


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
        perceptron_training,
        lambda rng: (rng.normal(size=(4, 2)), [1.0, -1.0, 1.0, -1.0], 0.3),
        argnums=(0, 2),
    ),
    Program(sharpe_ratio, lambda rng: (rng.normal(size=6).tolist(), 0.1), argnums=(0, 1)),
    Program(
        heated_room_cost,
        lambda rng: (0.5 + rng.random(), 0.2, 0.05, 8.0),
        argnums=(0, 1, 2, 3),
    ),
    Program(
        spring_chain_energy,
        lambda rng: (rng.normal(size=(3, 2)), np.array([1.0, 0.7, 1.4]), 2.0),
        argnums=(0, 1, 2),
    ),
    Program(
        projectile_with_drag,
        lambda rng: (10.0 + rng.random(), 0.8, 0.02),
        argnums=(0, 1, 2),
        step=1e-4,
    ),
    Program(slope_by_dual_numbers, lambda rng: (rng.normal(),), argnums=0),
    Program(gradient_norm_by_tape, lambda rng: tuple(rng.normal(size=2).tolist()), argnums=(0, 1)),
    Program(accounts_after_years, lambda rng: (60.0 + 10.0 * rng.random(), 0.03), argnums=(0, 1)),
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
