"""Products of Hessians with vectors, in gradients: what a step of Newton's method costs.

Twice the operations of a gradient, and two for what both share, is what counting says (A. Griewank
and A. Walther, *Evaluating Derivatives*, 2008, chapter 3). Each product is checked against central
differences of gradients before it is timed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from arrays import Array, mlp
from timing import Measurement, measure

from adcompiler import grad, hvp, vhp

BARS = {"hvp / gradient": ("<", 3.0)}


def logistic_loss(w: Array, X: Array, y: Array) -> float:
    """Return the mean cross-entropy of a logistic model with a ridge; shapes (k,), (n, k), (n,)."""
    return np.mean(np.logaddexp(0.0, -y * (X @ w))) + 0.05 * np.sum(w * w)


def network_loss(parameters: tuple[Array, ...], X: Array, Y: Array) -> float:
    """Return the loss of a network with two hidden layers of tanh units."""
    W1, b1, W2, b2, W3, b3 = parameters
    return mlp(W1, b1, W2, b2, W3, b3, X, Y)


def rosenbrock(x: Array) -> float:
    """Return the function of Rosenbrock, in slices."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def compare(case: str, function: Callable[..., Any], arguments: Sequence[Any]) -> Measurement:
    """Check the products with a random vector, then time them and the gradient."""
    rng = np.random.default_rng(1)
    gradient = grad(function)
    x, *rest = arguments
    v = like(x, lambda part: rng.normal(size=part.shape))
    contenders = {
        "gradient": lambda x, *rest: gradient(x, *rest),
        "hvp": lambda x, *rest: hvp(function, x, v, *rest),
        "vhp": lambda x, *rest: vhp(function, x, v, *rest),
    }
    h = 1e-6
    above = flat(gradient(moved(x, v, h), *rest))
    wanted = (above - flat(gradient(moved(x, v, -h), *rest))) / (2.0 * h)
    for name in ("hvp", "vhp"):
        found = flat(contenders[name](*arguments))
        assert np.allclose(found, wanted, rtol=1e-5, atol=1e-6 * np.max(np.abs(wanted))), name
    return Measurement(case, measure(contenders, arguments), BARS)


def like(x: Any, function: Callable[[Array], Array]) -> Any:
    """Return ``x``, an array or a tuple of them, with ``function`` applied to each array."""
    return tuple(map(function, x)) if isinstance(x, tuple) else function(x)


def moved(x: Any, v: Any, h: float) -> Any:
    """Return ``x + h * v``."""
    if isinstance(x, tuple):
        return tuple(a + h * b for a, b in zip(x, v, strict=True))
    return x + h * v


def flat(x: Any) -> Array:
    """Return all numbers of an array or a tuple of arrays."""
    return np.concatenate([np.ravel(part) for part in x]) if isinstance(x, tuple) else np.ravel(x)


def main() -> list[Measurement]:
    """Return the timings."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 20))
    y = np.where(rng.random(1000) > 0.5, 1.0, -1.0)
    sizes = (64, 64, 64, 10)
    parameters: list[Array] = []
    for inputs, outputs in pairwise(sizes):
        parameters += [rng.normal(size=(inputs, outputs)) / inputs**0.5, rng.normal(size=outputs)]
    batch = (rng.normal(size=(256, 64)), rng.normal(size=(256, 10)))
    return [
        compare("logistic loss, 1000 x 20", logistic_loss, (rng.normal(size=20), X, y)),
        compare("MLP 64-64-64-10, batch 256", network_loss, (tuple(parameters), *batch)),
        compare("Rosenbrock, 100000", rosenbrock, (rng.normal(size=100_000),)),
    ]
