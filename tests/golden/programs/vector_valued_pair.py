import numpy as np


def f(x, A):
    return np.tanh(A @ x) * x


call(f, np.array([0.1, 0.2]), np.array([[1.0, 2.0], [3.0, 4.0]]), argnums=(0, 1), mode="vjp")
# output
import numpy as np
from adcompiler.runtime import same_shape


def f_augmented(x, A):
    """Return the value of `f` and what its pullback needs."""
    # vector_valued_pair.py:5  return np.tanh(A @ x) * x
    product = A @ x
    tanh = np.tanh(product)
    same_shape(product.shape, x.shape)
    # vector_valued_pair.py:4  def f(x, A):
    x_1 = np.copy(x)
    A = np.copy(A)
    return tanh * x, (x_1, tanh, A)


def f_pullback(residuals, value_bar):
    """Pull a cotangent of the value of `f` back to x, A."""
    # reverse of vector_valued_pair.py:4
    x, tanh, A = residuals
    # reverse of vector_valued_pair.py:5
    x_bar = value_bar * tanh
    product_bar = value_bar * x * (1.0 - tanh * tanh)
    A_bar = product_bar[..., np.newaxis] * x
    x_bar += A.T @ product_bar
    return x_bar, A_bar
