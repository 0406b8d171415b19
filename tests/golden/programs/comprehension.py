import numpy as np


def f(x, weights):
    terms = [np.sin(w * x) for w in weights]
    return np.sum(np.array(terms) ** 2)


call(f, 0.5, [1.0, 2.0, 3.0], argnums=(0, 1))
# output
import numpy as np
from adcompiler.runtime import as_gradient, zeros_like
from adcompiler.runtime.adjoints.shaping import like


def f_grad(x, weights):
    """Return the gradient of `f` with respect to x, weights."""
    # comprehension.py:5  terms = [np.sin(w * x) for w in weights]
    terms = []
    product_tape = []
    for w in weights:
        product = w * x
        product_tape.append(product)
        sin = np.sin(product)
        terms.append(sin)

    # reverse of comprehension.py:6
    terms_bar = like(2 * np.array(terms), terms)
    # reverse of comprehension.py:5
    weights_bar = zeros_like(weights)
    x_bar = 0.0
    for sin_bar, index, product, w in zip(
        reversed(terms_bar),
        reversed(range(len(weights))),
        reversed(product_tape),
        reversed(weights),
    ):
        product_bar = float(sin_bar * np.cos(product))
        w_bar = product_bar * x
        x_bar = x_bar + product_bar * w
        weights_bar[index] = weights_bar[index] + w_bar
    # reverse of comprehension.py:4
    x_bar = float(x_bar)
    weights_bar = as_gradient(weights_bar, weights)
    return x_bar, weights_bar
