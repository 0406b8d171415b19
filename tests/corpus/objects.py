"""Programs with classes: state in attributes, methods, dataclasses, operators, properties."""

import math
from dataclasses import dataclass
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
)
