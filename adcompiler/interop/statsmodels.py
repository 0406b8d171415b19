"""Scores and Hessians of likelihoods for statsmodels."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.api.grad import grad
from adcompiler.api.hessians import hessian
from adcompiler.api.jacobians import jacobian


class Derivatives:
    """Gives a ``GenericLikelihoodModel`` derivatives by adcompiler in place of differences.

    It stands before ``GenericLikelihoodModel`` among the bases of a model that defines ``loglike``,
    ``loglikeobs`` or ``nloglikeobs``; these are compiled. A model that is made of functions needs
    no more than ``GenericLikelihoodModel(y, x, loglike=f, score=grad(f), hessian=hessian(f))``.

    Raises:
        ADError: At the first fit, for what the compiler refuses in the likelihood.

    Example:
        >>> import numpy as np
        >>> from statsmodels.base.model import GenericLikelihoodModel
        >>> from adcompiler.interop.statsmodels import Derivatives
        >>> class Poisson(Derivatives, GenericLikelihoodModel):
        ...     def loglikeobs(self, params):
        ...         along = self.exog @ params
        ...         return self.endog * along - np.exp(along)
        >>> model = Poisson(np.array([1.0, 3.0]), np.ones((2, 1)))
        >>> model.score(np.zeros(1)).tolist(), model.hessian(np.zeros(1)).tolist()
        ([2.0], [[-2.0]])
    """

    def score(self, params: np.ndarray) -> np.ndarray:
        """Return the gradient of the log-likelihood, of shape ``(n,)`` for ``n`` parameters."""
        return np.asarray(self._derived(grad, "loglike", params))

    def score_obs(self, params: np.ndarray, **options: Any) -> np.ndarray:
        """Return the scores of the observations, of shape ``(observations, n)``.

        ``options`` are those of differences, and not needed.
        """
        return np.asarray(self._derived(jacobian, "loglikeobs", params))

    def hessian(self, params: np.ndarray) -> np.ndarray:
        """Return the Hessian of the log-likelihood, of shape ``(n, n)``."""
        return np.asarray(self._derived(hessian, "loglike", params))

    def _derived(self, operator: Callable[..., Any], name: str, params: np.ndarray) -> Any:
        """Return a derivative of the method ``name``, which may be a function that was given."""
        point = np.asarray(params, dtype=float)
        method = getattr(self, name)
        function = getattr(method, "__func__", None)
        if function is None:
            return kept(operator, method, 0)(point)
        return kept(operator, function, 1)(method.__self__, point)


@functools.lru_cache(maxsize=64)
def kept(operator: Callable[..., Any], function: Callable[..., Any], argnum: int) -> Any:
    """Return a derivative of a function, the same one each time."""
    return operator(function, argnum)


__all__ = ["Derivatives"]
