"""A user's program for type checkers: each line that is to be refused ends with ``# wrong``."""

import math
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

from adcompiler import (
    Derivative, compiled, derivative, grad, hessian, jacobian, sparse_hessian, sparse_jacobian,
    value_and_grad, vjp,
)

Vector = NDArray[np.float64]


@grad
def loss(w: Vector, x: float, power: int = 2) -> float:
    return float((w * x).sum() ** power)


@value_and_grad(argnums=(0, 1))
def product(w: float, x: float) -> float:
    return w * x


@compiled(backend="python")
def shifted(x: float) -> float:
    return x + 1.0


def scaled(x: Vector, k: float) -> Vector:
    return x * k


def energy(x: Vector) -> float:
    return float((x**4).sum())


class Spring:
    stiffness = 2.0

    @grad(argnums="x")
    def energy(self, x: float) -> float:
        return self.stiffness * x * x


W = np.ones(2)
loss(W, 1.0)
loss(W, 1.0, power=3)
loss("wrong", 1.0)  # wrong
loss(W, 1.0, typo=3)  # wrong
loss(W)  # wrong
loss.source_for(W, "x")  # wrong
loss.explain(W, 1.0).tape_bytes.bit_length()
loss.source.splitlines()
loss.as_linear_operator(W, 1.0)
assert_type(product(1.0, 2.0)[0], float)
product(1.0, "x")  # wrong
assert_type(shifted(1.0), float)
shifted([1.0])  # wrong

slope = derivative(math.sin)
slope(0.5)
J = jacobian(scaled)
J(W, 1.0)
J(W)  # wrong
J(W, k="k")  # wrong
H = hessian(energy)
H(W)
H(W, 1.0)  # wrong
S = sparse_jacobian(scaled)
S(W, 1.0)
S.pattern(W, 1.0)
sparse_hessian(energy).prepare(W)
Spring().energy(3.0)
Spring().energy("x")  # wrong
value, pullback = vjp(scaled, W, 2.0)
assert_type(value, Vector)
pullback(W)
named: Derivative[[float], float] = shifted
named("x")  # wrong
