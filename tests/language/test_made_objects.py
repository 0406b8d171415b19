"""Instances made inside of the function, by constructors and methods of any size."""

import numpy as np
import pytest

from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, -0.8, 0.4])
A = np.array([[2.0, 0.3, 0.1], [0.2, 1.5, 0.4], [0.1, 0.6, 1.8]])


class Filter:
    """A Kalman filter as packages have them: many attributes, some assigned from outside."""

    def __init__(self, size):
        self.size = size
        self.x = np.zeros(size)
        self.P = np.eye(size)
        self.Q = np.eye(size)
        self.F = np.eye(size)
        self.H = np.eye(size)
        self.R = np.eye(size)
        self.residual = None
        self.gain = None
        self._identity = np.eye(size)

    def predict(self, u=None):
        self.x = self.F @ self.x
        if u is not None:
            self.x = self.x + u
        self.P = self.F @ self.P @ self.F.T + self.Q

    def update(self, z):
        if z is None:
            return
        self.residual = z - self.H @ self.x
        S = self.H @ self.P @ self.H.T + self.R
        self.gain = self.P @ self.H.T @ np.linalg.inv(S)
        self.x = self.x + self.gain @ self.residual
        self.P = (self._identity - self.gain @ self.H) @ self.P


class Model:
    """Its results become attributes when it is fitted."""

    def __init__(self, size):
        self.size = size
        self.start = np.eye(size)

    def fit(self, x):
        self.a = x * x
        for _ in range(3):
            self.a = self.a + np.sin(self.a)
        self.b = self.start @ self.a
        self.c = self.b * self.b + 1.0
        self.d = self.c / (self.a + 2.0)
        self.e = self.d - self.c * self.b
        self.f = self.e * 2.0 + self.d * 3.0 + self.c * self.b
        self.g = self.f * 2.0 + self.e * 3.0 + self.d * self.c
        self.h = np.tanh(self.g * 0.1) + self.e * 0.3 + self.d * self.c
        self.total = np.sum(self.h * self.g)
        return self

    def fitted_total(self, x):
        self.fit(x)
        return self.total * np.sum(self.h)


@programs(A, V)
def filtered(F, z):
    kf = Filter(3)
    kf.F = F
    kf.Q *= 0.1
    for _ in range(2):
        kf.predict(z * 0.1)
        kf.update(z)
    return kf.x @ kf.x + np.trace(kf.P) + np.sum(kf.gain)


@programs(V)
def fitted(x):
    model = Model(3)
    model.fit(x)
    return model.total


@programs(V)
def fitted_by_another_method(x):
    return Model(3).fitted_total(x)


@programs(V)
def two_fitted(x):
    one, two = Model(3), Model(3)
    one.fit(x)
    two.fit(np.tanh(one.h))
    return np.sum(two.h * one.a) + one.size


@programs(V)
def fitted_twice(x):
    model = Model(3)
    before = model.fit(x).h
    return np.sum(before * model.fit(x * x).h)


class Holder:
    def __init__(self):
        self.count = 0
        self.held = None


@programs(V)
def given_an_attribute_after_a_loop(x):
    y = x * x
    holder = Holder()
    holder.held = y
    same = holder
    for _ in range(2):
        holder.count += 1
    holder.other = x * 3.0
    same.held = same.held * same.other
    same.held[0] = 1.0
    return np.sum(y * holder.held * holder.other) * holder.count


@pytest.mark.parametrize("case", programs, ids=str)
def test_derivative(case):
    programs.check(case)
