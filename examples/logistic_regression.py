"""Logistic regression by SciPy's optimiser, reaching the optimum that scikit-learn finds.

The data is scikit-learn's bundled breast-cancer set: 569 samples of 30 features.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from adcompiler import value_and_grad

Array = npt.NDArray[np.float64]


def objective(parameters: Array, X: Array, signs: Array, strength: float) -> float:
    """Return the penalised negative log-likelihood that scikit-learn minimises.

    ``parameters`` holds the weights and, last, the intercept, which is not penalised; ``signs``
    are -1 or 1; ``strength`` is scikit-learn's ``C``, the weight of the data.
    """
    weights, intercept = parameters[:-1], parameters[-1]
    margins = signs * (X @ weights + intercept)
    return strength * np.sum(np.logaddexp(0.0, -margins)) + 0.5 * np.sum(weights * weights)


def data() -> tuple[Array, Array]:
    """Return the standardised features and the labels as -1 or 1."""
    features, labels = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(features), np.where(labels == 1, 1.0, -1.0)


def main() -> dict[str, Any]:
    """Fit by both, print the comparison, and return losses, coefficients and the last gradient."""
    X, signs = data()
    strength = 1.0
    start = np.zeros(X.shape[1] + 1)
    fitted = minimize(
        value_and_grad(objective),
        start,
        args=(X, signs, strength),
        jac=True,
        method="BFGS",
        options={"gtol": 1e-6, "maxiter": 1000},
    )

    model = LogisticRegression(C=strength, tol=1e-10, max_iter=10_000).fit(X, signs)
    reference = np.append(model.coef_[0], model.intercept_)
    losses = (float(fitted.fun), float(objective(reference, X, signs, strength)))
    apart = float(np.max(np.abs(fitted.x - reference)))
    print(f"loss          here {losses[0]:.12f}   scikit-learn {losses[1]:.12f}")
    print(f"coefficients  largest difference {apart:.1e}")
    print(f"iterations    {fitted.nit}")
    return {
        "losses": losses,
        "coefficients": (fitted.x, reference),
        "gradient": fitted.jac,
    }


if __name__ == "__main__":
    main()
