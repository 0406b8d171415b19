import numpy as np


def entropy(p):
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = p * np.log(p)
    return -np.sum(terms)


call(entropy, np.array([0.25, 0.5, 0.25]))
# output
import numpy as np


def entropy_grad(p):
    """Return the gradient of `entropy` with respect to p."""
    # with_errstate.py:5  with np.errstate(divide="ignore", invalid="ignore"):
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.log(p)

    # reverse of with_errstate.py:5
    with np.errstate(divide="ignore", invalid="ignore"):
        # reverse of with_errstate.py:6
        p_bar = -log
        p_bar -= p / p
    return p_bar
