"""Gradients of array code, against autograd and against adjoints written by hand.

The adjoints by hand are what someone who knows NumPy and the mathematics would write: every
intermediate value is computed once, values that only the loss itself needs are not computed, the
shift by the maximum in softmax is known to carry no derivative, and temporaries are reused in
place where that costs no clarity. The closed form of the logistic loss goes one step further and
cancels ``p`` against ``1 / p``; it is shown for comparison, without a bar.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import peers
from checks import assert_gradients
from timing import Measurement, measure

from adcompiler import grad

Array = npt.NDArray[np.float64]
BARS = {
    "adcompiler / hand-written": ("<", 1.15),
    "autograd / adcompiler": (">", 1.0),
}


def logistic_loss(w: Array, b: float, X: Array, y: Array) -> float:
    """Return the mean cross-entropy of a logistic model; shapes (k,), (), (n, k), (n,)."""
    p = 1.0 / (1.0 + np.exp(-(X @ w + b)))
    return -np.mean(y * np.log(p) + (1.0 - y) * np.log(1.0 - p))


def logistic_loss_by_hand(w: Array, b: float, X: Array, y: Array) -> tuple[Array, float]:
    """Return the derivatives of ``logistic_loss`` with respect to ``w`` and ``b``."""
    p = 1.0 / (1.0 + np.exp(-(X @ w + b)))
    q = 1.0 - p
    t_bar = y / p
    t_bar -= (1.0 - y) / q
    t_bar *= -1.0 / p.size
    t_bar *= p
    t_bar *= q
    return t_bar @ X, float(t_bar.sum())


def logistic_loss_closed_form(w: Array, b: float, X: Array, y: Array) -> tuple[Array, float]:
    """Return the same with ``(y / p - (1 - y) / q) * p * q`` simplified to ``y - p``."""
    t_bar = 1.0 / (1.0 + np.exp(-(X @ w + b)))
    t_bar -= y
    t_bar *= 1.0 / t_bar.size
    return t_bar @ X, float(t_bar.sum())


def mlp(
    W1: Array, b1: Array, W2: Array, b2: Array, W3: Array, b3: Array, X: Array, Y: Array
) -> float:
    """Return the mean squared error of a network with two hidden layers of tanh units."""
    h1 = np.tanh(X @ W1 + b1)
    h2 = np.tanh(h1 @ W2 + b2)
    error = h2 @ W3 + b3 - Y
    return np.mean(error * error)


def mlp_by_hand(
    W1: Array, b1: Array, W2: Array, b2: Array, W3: Array, b3: Array, X: Array, Y: Array
) -> tuple[Array, ...]:
    """Return the derivatives of ``mlp`` with respect to its six parameters."""
    h1 = np.tanh(X @ W1 + b1)
    h2 = np.tanh(h1 @ W2 + b2)
    out_bar = h2 @ W3
    out_bar += b3
    out_bar -= Y
    out_bar *= 2.0 / out_bar.size

    z2_bar = out_bar @ W3.T
    z2_bar *= 1.0 - h2 * h2
    z1_bar = z2_bar @ W2.T
    z1_bar *= 1.0 - h1 * h1
    return (
        X.T @ z1_bar,
        z1_bar.sum(axis=0),
        h1.T @ z2_bar,
        z2_bar.sum(axis=0),
        h2.T @ out_bar,
        out_bar.sum(axis=0),
    )


def softmax_cross_entropy(W: Array, b: Array, X: Array, labels: npt.NDArray[np.intp]) -> float:
    """Return the mean cross-entropy of a linear classifier; shapes (k, c), (c,), (n, k), (n,)."""
    logits = X @ W + b
    shift = np.max(logits, axis=1)
    total = shift + np.log(np.sum(np.exp(logits - shift[:, np.newaxis]), axis=1))
    return np.mean(total - logits[np.arange(labels.size), labels])


def softmax_cross_entropy_by_hand(
    W: Array, b: Array, X: Array, labels: npt.NDArray[np.intp]
) -> tuple[Array, Array]:
    """Return the derivatives of ``softmax_cross_entropy`` with respect to ``W`` and ``b``."""
    logits_bar = X @ W + b
    logits_bar -= logits_bar.max(axis=1, keepdims=True)
    np.exp(logits_bar, logits_bar)
    logits_bar /= logits_bar.sum(axis=1, keepdims=True)
    logits_bar[np.arange(labels.size), labels] -= 1.0
    logits_bar *= 1.0 / labels.size
    return X.T @ logits_bar, logits_bar.sum(axis=0)


def with_numpy(function: Callable[..., Any], other: Any) -> Callable[..., Any]:
    """Return ``function`` with ``np`` standing for a peer's ``numpy``."""
    return type(function)(function.__code__, {**function.__globals__, "np": other})


def compare(
    case: str,
    primal: Callable[..., Any],
    by_hand: dict[str, Callable[..., Any]],
    arguments: Sequence[Any],
    argnums: tuple[int, ...],
    peer: dict[str, Any] | None,
) -> Measurement:
    """Check the contenders' gradients with respect to ``argnums``, then time them."""
    contenders: dict[str, Callable[..., Any]] = {"adcompiler": grad(primal, argnums=argnums)}
    contenders |= by_hand
    if peer:
        contenders["autograd"] = peer["grad"](with_numpy(primal, peer["numpy"]), argnums)
    assert_gradients(primal, contenders, arguments, argnums)
    return Measurement(case, measure(contenders, arguments), BARS)


def main() -> list[Measurement]:
    """Return the timings."""
    rng = np.random.default_rng(0)
    peer = peers.autograd()
    logistic = (
        rng.normal(size=20),
        0.3,
        rng.normal(size=(1000, 20)),
        (rng.random(1000) > 0.5) * 1.0,
    )
    sizes = (64, 64, 64, 10)
    parameters: list[Array] = []
    for inputs, outputs in pairwise(sizes):
        parameters += [rng.normal(size=(inputs, outputs)) / inputs**0.5, rng.normal(size=outputs)]
    network = (*parameters, rng.normal(size=(256, 64)), rng.normal(size=(256, 10)))
    classifier = (
        rng.normal(size=(64, 10)) / 8.0,
        rng.normal(size=10),
        rng.normal(size=(256, 64)),
        rng.integers(0, 10, 256),
    )
    logistic_by_hand: dict[str, Callable[..., Any]] = {
        "hand-written": logistic_loss_by_hand,
        "closed form": logistic_loss_closed_form,
    }
    softmax = {"hand-written": softmax_cross_entropy_by_hand}
    return [
        compare(
            "logistic loss, 1000 x 20", logistic_loss, logistic_by_hand, logistic, (0, 1), peer
        ),
        compare(
            "MLP 64-64-64-10, batch 256",
            mlp,
            {"hand-written": mlp_by_hand},
            network,
            (0, 1, 2, 3, 4, 5),
            peer,
        ),
        compare(
            "softmax cross-entropy, 256 x 64 x 10",
            softmax_cross_entropy,
            softmax,
            classifier,
            (0, 1),
            peer,
        ),
    ]
