import numpy as np


def f(A, B, x):
    y = A @ (B @ x)
    return y @ y


rng = np.random.default_rng(0)
call(f, rng.normal(size=(3, 4)), rng.normal(size=(4, 2)), rng.normal(size=2), argnums=(0, 1, 2))
# output
import numpy as np


def f_grad(A, B, x):
    """Return the gradient of `f` with respect to A, B, x."""
    # matrix_chain.py:5  y = A @ (B @ x)
    product = B @ x
    y = A @ product

    # reverse of matrix_chain.py:6
    y_bar = 2.0 * y
    # reverse of matrix_chain.py:5
    A_bar = y_bar[..., np.newaxis] * product
    product_bar = A.T @ y_bar
    B_bar = product_bar[..., np.newaxis] * x
    x_bar = B.T @ product_bar
    return A_bar, B_bar, x_bar
