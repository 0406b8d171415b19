import numpy as np


def f(parameters, x):
    w, b = parameters["w"], parameters["b"]
    low, high = x
    return np.sum(w * low + b) * high


call(f, {"w": np.array([1.0, 2.0]), "b": 0.5}, (np.array([0.3, 0.4]), 2.0), argnums=(0, 1))
# output
import numpy as np
from adcompiler.runtime import as_gradient, same_shape


def f_grad(parameters, x):
    """Return the gradient of `f` with respect to parameters, x."""
    # tuples_and_dicts.py:4  def f(parameters, x):
    w = parameters["w"]
    low, high = x
    # tuples_and_dicts.py:7  return np.sum(w * low + b) * high
    same_shape(w.shape, low.shape)

    # reverse of tuples_and_dicts.py:4
    parameters_bar = {"w": high * low, "b": float(np.full_like(w, high).sum())}
    x_bar = high * w, float(np.sum(w * low + parameters["b"]))
    parameters_bar = as_gradient(parameters_bar, parameters)
    x_bar = as_gradient(x_bar, x)
    return parameters_bar, x_bar
