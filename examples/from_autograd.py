"""Ten programs like those that autograd publishes as its examples, ported: the import is NumPy's.

Each function returns one number, and is differentiated in its first argument; ``CASES`` has
arguments for each. The test of this file runs the same text with autograd's NumPy where that is
installed, and compares gradients.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler import grad, hvp, value_and_grad


def tanh(x):
    """Return the hyperbolic tangent, by exponentials: the first example of autograd's README."""
    y = np.exp(-2.0 * x)
    return (1.0 - y) / (1.0 + y)


def sinusoid(x):
    """Return the sine by its Taylor series, whose length depends on the value."""
    term = total = x
    i = 0
    while np.abs(term) > 0.001:
        term = -term * x * x / ((2 * i + 3) * (2 * i + 2))
        total = total + term
        i += 1
    return total


def rosenbrock(x):
    """Return Rosenbrock's function, which is minimised in the example."""
    return 100.0 * (x[1] - x[0] ** 2) ** 2 + (1.0 - x[0]) ** 2


def log_sum_exp_loss(x):
    """Return a number made of ``log(sum(exp(x)))``; the example defines that one's gradient."""
    highest = np.max(x)
    return np.sum((highest + np.log(np.sum(np.exp(x - highest)))) * x**2)


def newton_root(a):
    """Return the square root as the fixed point of Newton's iteration."""
    x, before = 1.0, 0.0
    while np.abs(x - before) > 1e-10:
        before = x
        x = 0.5 * (x + a / x)
    return x


def gaussian_process(params, inputs, targets):
    """Return the negative log marginal likelihood of a Gaussian process."""
    mean, noise = params[0], np.exp(params[1]) + 0.001
    scale, lengths = np.exp(params[2]), np.exp(params[3:])
    scaled = inputs / lengths
    differences = scaled[:, None, :] - scaled[None, :, :]
    covariance = scale * np.exp(-0.5 * np.sum(differences**2, axis=2))
    covariance = covariance + noise * np.eye(len(targets))
    residuals = targets - mean
    _, log_determinant = np.linalg.slogdet(covariance)
    solved = np.linalg.solve(covariance, residuals)
    return 0.5 * (residuals @ solved + log_determinant + len(targets) * np.log(2.0 * np.pi))


def gaussian_mixture(params, data):
    """Return the negative log-likelihood of a mixture of Gaussians; ``params`` is a dict."""
    shares = params["shares"] - np.log(np.sum(np.exp(params["shares"])))
    total = 0.0
    for row in range(len(data)):
        centred = data[row] - params["means"]
        logs = shares - 0.5 * np.sum((centred * np.exp(-params["spreads"])) ** 2, axis=1)
        logs = logs - np.sum(params["spreads"], axis=1)
        total = total - np.log(np.sum(np.exp(logs)))
    return total


def neural_net(params, inputs, targets):
    """Return the loss of a regression by a network; ``params`` is a list of pairs."""
    hidden = inputs
    for k in range(len(params)):
        w, b = params[k]
        outputs = np.dot(hidden, w) + b
        hidden = np.tanh(outputs)
    return np.mean((outputs - targets) ** 2) + 0.01 * np.sum(params[0][0] ** 2)


def lstm(params, series):
    """Return the loss of predicting the next value of a series by a recurrent network."""
    def gate(name, joined):
        return 0.5 * (np.tanh(np.dot(params[name], joined)) + 1.0)

    state = cell = np.zeros(3)
    loss = 0.0
    for t in range(len(series) - 1):
        joined = np.concatenate((series[t:t + 1], state, np.ones(1)))
        cell = gate("forget", joined) * cell + gate("ingate", joined) * np.tanh(
            np.dot(params["change"], joined))
        state = gate("outgate", joined) * np.tanh(cell)
        loss = loss + (np.dot(params["predict"], state) - series[t + 1]) ** 2
    return loss


def black_box_svi(params, samples):
    """Return the negative evidence bound of a banana by a Gaussian, with the samples given."""
    mean, log_std = params[:2], params[2:]
    points = samples * np.exp(log_std) + mean
    mu, sigma = points[:, 0], points[:, 1]
    log_density = -0.5 * (sigma / 1.35) ** 2 - 0.5 * (mu / np.exp(sigma)) ** 2 - sigma
    entropy = np.log(2.0 * np.pi) + 1.0 + np.sum(log_std)
    return -(entropy + np.mean(log_density))


RNG = np.random.default_rng(0)
CASES: dict[Any, tuple[Any, ...]] = {
    tanh: (1.0,),
    sinusoid: (0.8,),
    rosenbrock: (np.array([-0.5, 1.3]),),
    log_sum_exp_loss: (np.array([1.0, 2.0, -0.5]),),
    newton_root: (2.0,),
    gaussian_process: (
        np.array([0.1, -1.0, 0.2, 0.0, 0.3]), RNG.normal(size=(12, 2)), RNG.normal(size=12)),
    gaussian_mixture: (
        {"shares": RNG.normal(size=3), "means": RNG.normal(size=(3, 2)),
         "spreads": 0.1 * RNG.normal(size=(3, 2))}, RNG.normal(size=(20, 2))),
    neural_net: (
        [(RNG.normal(size=(1, 8)), RNG.normal(size=8)), (RNG.normal(size=(8, 1)), np.zeros(1))],
        np.linspace(-1.0, 1.0, 15)[:, None], np.cos(np.linspace(-3.0, 3.0, 15))[:, None]),
    lstm: (
        {**{name: RNG.normal(size=(3, 5)) for name in ("forget", "ingate", "change", "outgate")},
         "predict": RNG.normal(size=3)}, np.sin(np.linspace(0.0, 5.0, 12))),
    black_box_svi: (np.array([-1.0, 0.3, -0.5, 0.2]), RNG.normal(size=(50, 2))),
}
"""The ten functions, and arguments of each."""


def newton_cg(x, steps=30):
    """Minimise Rosenbrock's function by Newton's method with products of the Hessian."""
    slope = grad(rosenbrock)
    for _ in range(steps):
        g = slope(x)
        hessian = np.array([hvp(rosenbrock, x, v) for v in np.eye(2)])
        x = x - np.linalg.solve(hessian, g)
    return x


def main() -> None:
    """Print the value of each program, and the size of its gradient."""
    for function, args in CASES.items():
        value, slope = value_and_grad(function)(*args)
        count = len(slope) if isinstance(slope, dict | list) else np.size(slope)
        print(f"{function.__name__:18} {float(value):12.6f}  gradient of {count} parts")
    print("minimum of rosenbrock", newton_cg(np.array([-1.2, 1.0])))


if __name__ == "__main__":
    main()
